"""One file's text: bytes and characters, lines, tokens, brackets, and splices on it."""
