"""Definitions of one file and their spans, by CPython's parser, or by libcst for newer syntax."""
