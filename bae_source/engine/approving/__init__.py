"""Decide what becomes of a planned change: made at once, kept for a person, or refused."""
