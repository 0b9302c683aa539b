"""Import statements of one module: what they bind and when, where a new one goes, and how it is merged into others."""
