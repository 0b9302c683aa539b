"""What verification looks for in a project before anything is run: one kind of finding a file; nothing is written."""
