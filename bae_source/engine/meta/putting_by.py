"""Old text of the engine, put by before a change of it is made, for a program that needs no engine to bring it back.

    STATE/before/01764390000123456789/manifest.json      the files, and digests of what the change makes of them
    STATE/before/01764390000123456789/0                  the old text of the first of them

    python PACKAGE/engine/meta/way_back.py STATE/before/01764390000123456789

Invariant: no more than the newest twenty stay.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

from msgspec import Struct

from bae_source.engine.meta import way_back
from bae_source.model.changeset import Contents
from bae_source.state.folders import ForeignState, StateFolders, foreign
from bae_source.system.clock import nanoseconds
from bae_source.system.hashing import sha256
from bae_source.transaction.commit.failures import no_state

_MOST = 20


class PutBy(Struct, frozen=True, kw_only=True):
    """Old text that was put by.

    Parameters:
        folder: where it lies.
        root: the folder above the package.
        before: the content of the files, by path from there; None where there was none.
    """

    folder: Path
    root: Path
    before: Contents

    @property
    def way_back(self) -> str:
        """The command that brings it back, for a person."""
        words = [sys.executable, str(way_back.__file__), str(self.folder)]
        return f"If the engine does not start any more, this brings the old text back: {shlex.join(words)}"

    def drop_if_unchanged(self) -> None:
        """Remove it where the files are as they were, so the change was not made."""
        if all(_content(self.root / path) == content for path, content in self.before.items()):
            shutil.rmtree(self.folder, ignore_errors=True)


def put_by(folders: StateFolders, before: Contents, after: Contents) -> PutBy:
    """Put old text by.

    Parameters:
        folders: where our state lies; paths are relative to its root.
        before, after: the content of the files of a change, by path; None where there is none.

    Raises:
        Refused: `forbidden`, where our state cannot be written.
    """
    try:
        folders.check()
        above = folders.make(folders.base / "before")
        for old in sorted(above.iterdir())[: 1 - _MOST]:
            shutil.rmtree(old)
        folder = above / f"{nanoseconds():020d}"
        folder.mkdir(mode=0o700)
        listed = []
        for number, (path, content) in enumerate(before.items()):
            planned = after[path]
            if content is not None:
                (folder / str(number)).write_bytes(content)
            old_name = None if content is None else str(number)
            listed.append({"path": path, "before": old_name, "after": None if planned is None else sha256(planned)})
        manifest = {"root": str(folders.root), "files": listed}
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    except ForeignState as error:
        raise foreign(error.standing, error.place) from None
    except OSError as error:
        raise no_state(error) from error
    return PutBy(folder=folder, root=folders.root, before=before)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
