"""Pieces of code that become functions, variables, constants or parameters of their own."""
