"""The exports of a package's `__init__`: `__all__`, imports, and lazy tables."""
