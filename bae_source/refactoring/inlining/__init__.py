"""The values and bodies that take the place of a name that goes."""
