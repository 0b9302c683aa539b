"""Code rewritten wherever a pattern matches: conditions, places, and names that the replacement needs."""
