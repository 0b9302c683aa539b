"""Undo and redo planned on the history, and the history as people read it."""
