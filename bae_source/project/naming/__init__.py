"""From dotted names and selectors to the one thing that they mean."""
