"""The interactive shell: a person's way into a session, on a terminal or through a pipe."""
