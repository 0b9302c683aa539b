"""Tests that are known to fail on some content of a project, so that they need not be run again to know it.

A project whose tests need a network fails some of them for every change. A test that fails with a change is not blamed
on it where it failed in the same place, with the same message, on the very content that the change was planned on.

Invariants:
- content is that of all modules, so an edit of any of them makes what is known of it void; data files, settings and
  what is installed are not part of it;
- what cannot be read or written is not known, and the tests are run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec

from bae_source.project.workspace import Workspace
from bae_source.resources.tests.run import TestResult

_FILE = "failing.json"
_MOST = 8
"""Contents that are remembered, the last ones."""
_OBJECT = re.compile(r"\b0x[0-9a-fA-F]+")
_Known = dict[str, dict[str, str]]


class FailingBefore:
    """Known failures of tests, by content.

    Parameters:
        folder: where it is kept; None for nowhere.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = folder / _FILE if folder else None

    def on(self, workspace: Workspace, failed: Iterable[TestResult]) -> set[str]:
        """Return the ids of those that are known to fail on a content as they do now."""
        known = self._read().get(_key(workspace), {})
        return {each.id for each in failed if each.id and known.get(each.id) == _how(each)}

    def note(self, workspace: Workspace, failed: Iterable[TestResult]) -> None:
        """Remember that tests fail on a content."""
        if self._file is None:
            return
        known, key = self._read(), _key(workspace)
        known[key] = known.pop(key, {}) | {each.id: _how(each) for each in failed if each.id}
        kept = dict(list(known.items())[-_MOST:])
        draft = self._file.with_suffix(".new")
        try:
            draft.write_bytes(msgspec.json.encode(kept))
            draft.replace(self._file)
        except OSError:
            return

    def _read(self) -> _Known:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_Known) if self._file else {}
        except (OSError, msgspec.MsgspecError):
            return {}


def _how(failed: TestResult) -> str:
    """Return place and message of a failure, without addresses of objects, which differ from run to run."""
    return _OBJECT.sub("0x", f"{failed.place}: {failed.message.partition(chr(10))[0]}")


def _key(workspace: Workspace) -> str:
    """Return a digest of the content of all modules."""
    found = blake2b(digest_size=16)
    contents: Mapping[str, bytes | None] = {path: workspace.content(path) for path in workspace.census.paths}
    for path, content in sorted(contents.items()):
        found.update(blake2b(path.encode("utf-8", "surrogateescape") + b"\0" + (content or b"")).digest())
    return found.hexdigest()
