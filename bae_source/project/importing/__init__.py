"""Imports across modules: the graph of them, importers, what a change brings, and circles that it would make."""
