"""Requests that are neither queries nor changes."""
