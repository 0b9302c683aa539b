"""The engine's own source, read and changed through the same requests as a project's."""
