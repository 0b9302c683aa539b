"""Changed code loaded into this process, or tried in a child, once it was written."""
