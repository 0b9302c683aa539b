"""The Python API: methods to requests, and outcomes to values."""
