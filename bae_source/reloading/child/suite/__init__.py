"""Programs for the project's interpreter that run its tests and say for each how it went."""
