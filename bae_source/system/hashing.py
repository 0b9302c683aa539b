"""SHA-256, and git's SHA-1, without OpenSSL, which takes as long to load as Python's own code for a megabyte.

Where something else has loaded it, or more than that came to be hashed, OpenSSL is used: it is five times faster.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

_MUCH = 1_000_000
_MODULES = {"sha1": "_sha1", "sha256": "_sha2" if sys.version_info >= (3, 12) else "_sha256"}


class _Hashed:
    """The number of bytes that this process has hashed; threads that miscount lose a little time."""

    size = 0


def sha256(content: bytes) -> str:
    """Return the SHA-256 of `content` in hexadecimal."""
    return _hashed("sha256", content)


def sha1(content: bytes) -> str:
    """Return the SHA-1 of `content` in hexadecimal."""
    return _hashed("sha1", content)


def _hashed(name: str, content: bytes) -> str:
    _Hashed.size += len(content)
    hashed = _openssl(name) if _Hashed.size > _MUCH or "hashlib" in sys.modules else _plain(name)
    digest: str = hashed(content, usedforsecurity=False).hexdigest()
    return digest


@cache
def _openssl(name: str) -> Callable[..., Any]:
    import hashlib

    found: Callable[..., Any] = getattr(hashlib, name)
    return found


@cache
def _plain(name: str) -> Callable[..., Any]:
    """Return a hash function without OpenSSL, where this Python has it."""
    try:
        found: Callable[..., Any] = getattr(import_module(_MODULES[name]), name)
    except ImportError:  # another Python than CPython
        return _openssl(name)
    return found
