"""Readings made of several: names, lines of files, and what stands around a symbol."""
