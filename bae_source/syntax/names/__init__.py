"""Scopes, bindings and mentions of one file: what its code refers to."""
