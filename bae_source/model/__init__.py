"""Frozen values that the whole engine speaks in; no libcst, no disk, no behaviour beyond arithmetic on themselves."""
