"""The session: a project's places and their tools as plain names, in a process of its own, and a shell for people."""
