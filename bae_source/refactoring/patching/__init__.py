"""Patches planned: the files that they name, what becomes of each, and what does not fit."""
