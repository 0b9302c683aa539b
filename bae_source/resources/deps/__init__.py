"""What a project declares to need, what is installed of it, and who imports it."""
