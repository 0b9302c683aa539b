"""Plans of changes: splices and contents checked, several joined, what goes along and what is left."""
