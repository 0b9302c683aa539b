"""Calls, callees, and definitions without uses."""
