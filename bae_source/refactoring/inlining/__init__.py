"""What is put in the place of a name that goes: values, and bodies of functions."""
