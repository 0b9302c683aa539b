"""Approving: what a planned change touches, how much it may break, and who has to agree before it is made."""
