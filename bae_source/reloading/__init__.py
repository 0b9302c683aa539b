"""What loads changed code into this process, or tries it in a child, once it was written."""
