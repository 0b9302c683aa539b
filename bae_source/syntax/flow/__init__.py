"""Variables of one function: which scope binds a name, and which values a piece of code takes and leaves."""
