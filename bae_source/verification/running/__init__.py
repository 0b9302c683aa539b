"""Tests run by the project's interpreter, as values."""
