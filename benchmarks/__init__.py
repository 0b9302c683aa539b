"""Measurements on real code and against other engines; no part of the package or of its test run."""

import os

os.environ.setdefault("BAE_SOURCE_SERVE", "off")  # each process is measured as it is by itself
