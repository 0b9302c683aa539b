"""Parameters of functions and arguments of calls: how they are read, bound to each other and written anew."""
