"""The machine: child processes, their ends, clock, ids, hashing, descriptors and temporary folders."""
