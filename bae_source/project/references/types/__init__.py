"""What expressions give, as far as code says it without being run."""
