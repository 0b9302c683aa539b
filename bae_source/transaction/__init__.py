"""Everything that writes the project; it knows bytes and changesets, not Python."""
