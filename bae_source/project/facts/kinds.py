"""The kinds of facts that are worked out from one file's bytes and kept by their digest: one declaration for each.

    SUMMARY         what it defines      (outline.summary)
    USES            what it refers to    (names.uses)
    WORDING         what it says         (outline.wording)

Invariants:
- facts depend on the bytes, and besides on nothing but what `key` names;
- that a file has no facts, because it does not parse or cannot be decoded, is a fact, and kept like the others;
- nothing here knows of files, folders or processes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from bae_source.errors import SourceError
from bae_source.syntax.text.source import Source, parsable
from bae_source.system.own_path import own_path

if TYPE_CHECKING:
    from bae_source.syntax.names.kept import KeptUses
    from bae_source.syntax.names.uses import Uses
    from bae_source.syntax.outline.summary import Summary
    from bae_source.syntax.outline.wording import Wording

T = TypeVar("T")
Content = bytes | memoryview

_FORMAT = 1
_OURS = (
    "model", "system", "syntax/text", "syntax/outline", "syntax/names", "syntax/importing", "project",
    "project/files", "project/facts", "project/interfaces", "project/naming", "project/references/classes",
)  # fmt: skip
"""Folders of the code that works out the kept facts."""
_FACTS, _FAILURE = b"\x01", b"\x00"
_ENCODE = msgspec.msgpack.Encoder().encode
_FAILED = msgspec.msgpack.Decoder(tuple[str, str, str, tuple[str, ...], tuple[str, ...], dict[str, Any]])


class FactKind(Generic[T]):
    """One kind of facts.

    Parameters:
        name: tells it from the others, in the cache too.
        decoding: returns what turns kept bytes into a value; called when it is needed first.
        extracting: returns what works out what is encoded and kept of a file, likewise.
    """

    def __init__(
        self,
        name: str,
        decoding: Callable[[], Callable[[Content], T]],
        extracting: Callable[[], Callable[[Source], object]],
    ) -> None:
        self.name = name
        self._decoding = decoding
        self._extracting = extracting

    @cached_property
    def _decoded(self) -> Callable[[Content], T]:
        return self._decoding()

    @cached_property
    def _extracted(self) -> Callable[[Source], object]:
        return self._extracting()

    def extract(self, content: bytes) -> bytes:
        """Work out the facts of a file's bytes, or why it has none, as bytes to keep."""
        try:
            return _FACTS + _ENCODE(self._extracted(parsable(content)))
        except SourceError as error:
            fields = error.code, error.subject, error.reason, error.hints, error.candidates, error.details
            return _FAILURE + _ENCODE(fields)

    def decode(self, kept: bytes) -> T | SourceError:
        """Return the result of `extract`.

        Raises:
            ValueError: these are no bytes of this kind.
        """
        inner = memoryview(kept)[1:]
        if kept.startswith(_FACTS):
            return self._decoded(inner)
        code, subject, reason, hints, candidates, details = _FAILED.decode(inner)
        return SourceError(code, reason, subject=subject, hints=hints, candidates=candidates, details=details)


def _summaries() -> Callable[[Content], Summary]:
    from bae_source.syntax.outline.summary import Summary

    return msgspec.msgpack.Decoder(Summary).decode


def _summary() -> Callable[[Source], Summary]:
    from bae_source.syntax.outline.summary import summarise
    from bae_source.syntax.outline.tree import parse

    return lambda source: summarise(parse(source))


def _kept_uses() -> Callable[[Content], Uses]:
    from bae_source.syntax.names.kept import recalled

    return recalled


def _uses() -> Callable[[Source], KeptUses]:
    from bae_source.syntax.names.kept import kept
    from bae_source.syntax.names.reading import uses_of  # 10 ms, which only a search for references needs

    return lambda source: kept(uses_of(source))


def _wordings() -> Callable[[Content], Wording]:
    from bae_source.syntax.outline.wording import Wording

    return msgspec.msgpack.Decoder(Wording).decode


def _wording() -> Callable[[Source], Wording]:
    from bae_source.syntax.outline.wording import wording_of  # which only a search for words needs

    return wording_of


SUMMARY = FactKind("summary", _summaries, _summary)
USES = FactKind("uses", _kept_uses, _uses)
WORDING = FactKind("wording", _wordings, _wording)
KINDS: Mapping[str, FactKind[Any]] = {kind.name: kind for kind in (SUMMARY, USES, WORDING)}


def key() -> str:
    """Return the key of all that facts depend on besides a file's bytes: our code, Python, the parser for newer syntax.

    Our own code is identified by the stamps of its files, so that no change of it, released or not, is missed.
    """
    home = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    names = [f"{folder}/{name}" for folder in _OURS for name in sorted(os.listdir(f"{home}/{folder}"))]
    status = [(name, os.stat(f"{home}/{name}")) for name in names if name.endswith(".py")]
    ours = [f"{name} {its.st_size} {its.st_mtime_ns}" for name, its in status]
    python = f"{sys.implementation.cache_tag} {'.'.join(map(str, sys.version_info[:3]))}"
    return "\n".join([str(_FORMAT), python, _newer_parser(), *ours])


def _newer_parser() -> str:
    """Return the release of libcst by its folder of metadata: the library itself would have to be loaded."""
    for folder in own_path():
        try:
            if os.path.isdir(os.path.join(folder, "libcst")):
                names = [name for name in os.listdir(folder or ".") if name.startswith("libcst-")]
                return " ".join(sorted(name for name in names if name.endswith(".dist-info")))
        except OSError:
            continue  # it may not be listed, so nothing is imported from it either
    return ""
