"""The form in which git writes changes of files that are no text: whole contents, compressed, in printable lines.

    index 0000000000000000000000000000000000000000..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391
    GIT binary patch
    literal 2                      forwards: what the file holds afterwards
    JcmZ>8WMlvU00031

    literal 0                      backwards: what it held
    HcmV?d00001

Invariant: `git apply` takes it in a repository that names objects by SHA-1, and there `git apply --reverse` as well.

Source: gitformat of `git diff --binary`; base85 as in RFC 1924, 52 bytes a line, each line with its length in front.
"""

from __future__ import annotations

from base64 import b85encode
from hashlib import sha1
from zlib import compress

_NOTHING = "0" * 40
_LINE = 52


def binary_patch(before: bytes | None, after: bytes | None) -> str:
    """Return what stands below the header of a file's patch.

    Parameters:
        before, after: what it holds; None where there is no file.
    """
    index = f"index {_object_name(before)}..{_object_name(after)}\n"
    return f"{index}GIT binary patch\n{_literal(after or b'')}\n{_literal(before or b'')}\n"


def _object_name(content: bytes | None) -> str:
    """Return the name under which git keeps a content."""
    if content is None:
        return _NOTHING
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _literal(content: bytes) -> str:
    packed = compress(content)
    pieces = (packed[start : start + _LINE] for start in range(0, len(packed), _LINE))
    lines = (f"{_length(len(piece))}{b85encode(piece, pad=True).decode('ascii')}\n" for piece in pieces)
    return f"literal {len(content)}\n{''.join(lines)}"


def _length(count: int) -> str:
    """Return how git writes the number of bytes of a line: A to Z for 1 to 26, a to z from there."""
    return chr(ord("A") + count - 1 if count <= 26 else ord("a") + count - 27)
