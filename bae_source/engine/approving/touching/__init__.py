"""Tell what a planned change touches, by every name, and how much it may break."""
