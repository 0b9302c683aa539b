"""LibCST's codemods: what runs in the project's interpreter to load one and to run it on many files."""
