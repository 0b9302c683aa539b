"""The folders and files of our own."""
