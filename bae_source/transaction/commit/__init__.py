"""One change on its way: lock, journal, states, recovery."""
