"""The disk as writing needs it: files reached, staged, written and put back by descriptors."""
