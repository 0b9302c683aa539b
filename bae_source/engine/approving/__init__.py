"""What is done and tried, judged by the policy, kept waiting for a person, and entered in the ledger."""
