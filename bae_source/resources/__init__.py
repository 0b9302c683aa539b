"""Other facts of a project than its code, as places: its tests, dependencies, settings and logs."""
