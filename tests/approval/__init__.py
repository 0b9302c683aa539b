"""Tests of policy, proposals and the ledger."""
