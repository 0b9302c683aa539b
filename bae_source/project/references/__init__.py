"""References: names looked up across files, receivers inferred, uses found and judged."""
