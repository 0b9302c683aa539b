"""What names mean across files, from bindings and static imports."""
