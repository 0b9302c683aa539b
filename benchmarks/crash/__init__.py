"""Transactions that are killed, fail, or lose power, and what becomes of the files."""
