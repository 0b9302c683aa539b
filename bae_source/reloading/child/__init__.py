"""The project's interpreter: found, run for a moment, and what it says."""
