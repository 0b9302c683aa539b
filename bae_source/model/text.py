"""Which strings are text that can be written anywhere."""

from __future__ import annotations


def is_text(string: str) -> bool:
    """Say whether a string can be encoded: half a pair of surrogates, which an escape may stand for, cannot."""
    try:
        string.encode()
    except UnicodeEncodeError:
        return False
    return True
