"""Imports across modules: what a change brings, and circles that it would make."""
