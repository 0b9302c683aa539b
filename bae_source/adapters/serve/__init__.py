"""A process that keeps a project warm, so that a read from a shell costs little more than the start of Python."""
