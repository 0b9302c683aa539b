"""SHA-256 without OpenSSL, which takes as long to load as Python's own code takes for a megabyte.

Where something else has loaded it, or more than that came to be hashed, OpenSSL is used: it is five times faster.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

_MUCH = 1_000_000


class _Hashed:
    """How many bytes this process has hashed; threads that miscount lose a little time."""

    size = 0


def sha256(content: bytes) -> str:
    """Return the SHA-256 of `content` in hexadecimal."""
    _Hashed.size += len(content)
    hashed = _openssl() if _Hashed.size > _MUCH or "hashlib" in sys.modules else _plain()
    digest: str = hashed(content).hexdigest()
    return digest


@cache
def _openssl() -> Callable[[bytes], Any]:
    from hashlib import sha256

    return sha256


@cache
def _plain() -> Callable[[bytes], Any]:
    """Return what hashes without OpenSSL, where this Python has it."""
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256 as plain  # type: ignore[import-not-found]
        else:
            from _sha256 import sha256 as plain  # type: ignore[import-not-found]
    except ImportError:  # another Python than CPython
        from hashlib import sha256 as plain
    return plain  # type: ignore[no-any-return]
