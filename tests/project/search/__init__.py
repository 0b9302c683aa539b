"""Tests of looking for names, text, code and words."""
