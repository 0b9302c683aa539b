"""Hints of a language server: its protocol, its process, and one conversation with it."""
