"""The command line: words to a request, and an outcome to what is printed."""
