"""Where our own files lie."""
