"""What a verified change costs and finds, against the whole suite of a real project."""
