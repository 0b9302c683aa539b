"""Many files: where modules lie, what a name means, one snapshot to read and plan on; nothing here writes."""
