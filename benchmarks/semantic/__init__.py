"""Seeded renames and moves in real packages, by ours and by rope, each judged by the package's own tests."""
