"""Logs: which there are, and their lines, through the doors that users take."""
