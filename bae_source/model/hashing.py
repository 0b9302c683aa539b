"""SHA-256 without OpenSSL, which takes longer to load than all that one small request hashes.

Where something else has loaded it, or much is to be hashed, OpenSSL is used: it is five times faster.
"""

from __future__ import annotations

import sys

_MUCH = 1_000_000


def sha256(content: bytes) -> str:
    """Return the SHA-256 of `content` in hexadecimal."""
    if len(content) < _MUCH and "hashlib" not in sys.modules:
        try:
            from _sha2 import sha256 as plain  # type: ignore[import-not-found]  # Python 3.12 and later
        except ImportError:
            try:
                from _sha256 import sha256 as plain  # type: ignore[import-not-found]
            except ImportError:  # another Python than CPython
                from hashlib import sha256 as plain
    else:
        from hashlib import sha256 as plain
    digest: str = plain(content).hexdigest()
    return digest
