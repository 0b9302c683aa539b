"""Moving definitions to another module: their imports there, their users, and the rest of the old module."""
