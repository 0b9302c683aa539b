"""The dependencies of a project: declared, locked, installed and imported."""
