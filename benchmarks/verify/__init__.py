"""Cost and findings of a verified change, against the whole suite of a real project."""
