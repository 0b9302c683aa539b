"""What a package's `__init__` exposes: `__all__`, imports, and lazy tables."""
