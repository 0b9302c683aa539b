"""Finding and reading, side by side with other engines on django's source distribution: `python -m benchmarks.read`."""
