"""Patches: their text read, and their hunks fitted into the text of a file."""
