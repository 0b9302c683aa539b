"""Replacements with holes, filled with the text that the holes of a pattern stand for."""
