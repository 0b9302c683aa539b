"""The record of what was done to a project, and the ways back and forth in it."""
