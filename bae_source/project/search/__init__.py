"""Looking for names, text, code and words in a project."""
