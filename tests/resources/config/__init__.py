"""Tests of a project's settings."""
