"""The language server protocol, as far as hover and definition need it: messages, a child process, a session."""
