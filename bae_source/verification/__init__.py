"""Judges of a planned change: tests, types, commands, import cycles, and what is staged."""
