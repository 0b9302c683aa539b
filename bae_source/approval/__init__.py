"""Policy, proposals and the ledger: what may be done, what waits for a person, and the record of both."""
