"""Decisions about proposals by a person at a terminal."""
