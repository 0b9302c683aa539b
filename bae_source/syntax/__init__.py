"""One file's text and tree: pure functions from text to values and from values to text; the home of libcst."""
