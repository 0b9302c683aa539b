"""Who uses what: names looked up across files, receivers inferred, references found and judged."""
