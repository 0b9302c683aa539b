"""Policies, and what they govern."""
