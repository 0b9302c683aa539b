"""Calls, what is called, and what nothing calls."""
