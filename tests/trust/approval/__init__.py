"""Hostile cases against policy, approval and ledger: a table for each theme, and none of them gets through."""
