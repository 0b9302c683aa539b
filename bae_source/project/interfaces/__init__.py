"""Outlines of projects, packages, modules and definitions, as text."""
