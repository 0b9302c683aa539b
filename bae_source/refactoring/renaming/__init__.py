"""Renaming a symbol: everything that bears its name, where each place stands in the text, and what would go wrong."""
