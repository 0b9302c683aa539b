"""Tests of who uses what, beside the labelled cases of tests/cases/references."""
