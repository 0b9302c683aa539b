"""Measurements on real code and against other engines; no part of the package or of its test run."""
