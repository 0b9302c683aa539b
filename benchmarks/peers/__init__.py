"""Programs that run inside the peers' own environment, not ours: each asks one engine one question, as a script."""
