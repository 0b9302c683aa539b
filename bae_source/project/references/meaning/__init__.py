"""Meanings of names across files, from bindings and static imports."""
