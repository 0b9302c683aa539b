"""Values that expressions give, as far as code says it without being run."""
