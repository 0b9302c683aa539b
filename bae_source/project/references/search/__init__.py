"""The search for references, its verdicts and its answers."""
