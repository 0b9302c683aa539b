"""Findings about what git has staged, one kind of them a file."""
