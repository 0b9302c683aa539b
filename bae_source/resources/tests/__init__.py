"""A project's tests: which there are, and how their last runs went."""
