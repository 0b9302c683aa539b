"""Renaming a symbol: everything that has its name, where each place stands in the text, and what would go wrong."""
