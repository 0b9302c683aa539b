"""The form in which an operation is written as a commit, and read back from one.

    message                       summary, why, and as its last line the entry as JSON, but for the request
    request.json                  the request
    before/<path>, after/<path>   the content of every file it touched; absent where there was no file

Invariants:
- the message alone tells everything but contents and the request, so a walk over the history reads nothing else;
- what was not written by this version is read as nothing, never as something else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from bae_source.history.record.entry import Entry
from bae_source.model.changeset import Contents

REQUEST = "request.json"
BEFORE = "before/"
AFTER = "after/"


def commit_of(ref: str, entry: Entry, before: Contents, after: Contents, *, parent: str | None) -> bytes:
    """Return the input of `git fast-import` for the commit of an operation.

    Parameters:
        ref: the ref that moves to it.
        parent: what it comes after; None for the first one, and where the stream itself has made the one before.

    Raises:
        TypeError, ValueError: the request cannot be written as JSON.
    """
    request = msgspec.json.format(msgspec.json.encode(entry.request), indent=1)
    lines = [*_head(ref, entry), *([f"from {parent}\n".encode()] if parent else []), b"deleteall\n"]
    lines += _file(REQUEST, request)
    for path in sorted(before.keys() | after.keys()):  # side by side, so that git keeps but their difference
        for folder, contents in ((BEFORE, before), (AFTER, after)):
            content = contents.get(path)
            lines += [] if content is None else _file(folder + path, content)
    return b"".join(lines)


def commit_again(ref: str, entry: Entry, tree: str) -> bytes:
    """Return the input of `git fast-import` for the same commit once more, on top of the one just made.

    Parameters:
        tree: the tree of the commit as it was.
    """
    return b"".join((*_head(ref, entry), f"M 040000 {tree} \n".encode()))


def entry_of(message: str) -> Entry | None:
    """Return the entry that a commit's message holds, without its request; None if it was not written by us."""
    try:
        return _DECODER.decode(message.rstrip().rpartition("\n")[2])
    except msgspec.DecodeError:
        return None


def request_of(content: bytes | None) -> dict[str, Any]:
    """Return the request; empty where it cannot be read."""
    try:
        return msgspec.json.decode(content or b"{}", type=dict[str, Any])
    except msgspec.DecodeError:
        return {}


_DECODER = msgspec.json.Decoder(Entry)


def _head(ref: str, entry: Entry) -> Iterable[bytes]:
    stamp = f"{int(datetime.fromisoformat(entry.when).timestamp())} +0000"
    yield f"commit {ref}\n".encode()
    yield _person("author", entry.who, stamp)
    yield _person("committer", "bae_source", stamp)
    yield _data(message(entry))


def message(entry: Entry) -> bytes:
    """Return the message of an entry's commit: its sentence and reason, and the entry itself on the last line."""
    line = msgspec.json.encode(replace(entry, request={}))
    words = "\n\n".join(text for text in (entry.summary, entry.why) if text).replace("\0", "")
    return words.encode("utf-8", "replace") + b"\n\n" + line + b"\n"


def _person(role: str, name: str, stamp: str) -> bytes:
    plain = "".join(char for char in name if char.isprintable() and char not in "<>").strip() or "unknown"
    return f"{role} {plain} <bae_source@localhost> {stamp}\n".encode("utf-8", "replace")


def _file(path: str, content: bytes) -> list[bytes]:
    return [b"M 100644 inline ", _quoted(path), b"\n", _data(content)]


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    """Quote a path as fast-import reads it: every byte that is not plain as an octal escape."""
    plain = b"".join(
        b"%c" % byte if 32 < byte < 127 and byte not in b'"\\' else b"\\%03o" % byte for byte in os.fsencode(path)
    )
    return b'"' + plain + b'"'
