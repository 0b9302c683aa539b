"""Renames across a project, side by side with other engines."""
