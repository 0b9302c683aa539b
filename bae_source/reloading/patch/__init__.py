"""New source poured into the functions and classes that this process has."""
