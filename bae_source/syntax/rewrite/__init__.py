"""New source fitted into its place: replaced, inserted, removed, and what must hold afterwards."""
