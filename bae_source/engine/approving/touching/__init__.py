"""The subjects of a planned change, by every name, and how much it may break."""
