"""A project's settings: pyproject.toml by its sections, read and changed without the loss of a byte."""
