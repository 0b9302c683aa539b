"""The project's dependencies: declared in pyproject.toml, locked, installed in its environment, and imported."""
