"""Moving definitions to another module: what they need there, who uses them, and what is left behind."""
