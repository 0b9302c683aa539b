"""The shape of a repository of ours, checked before git starts on it, since git obeys much of what else may lie there.

    history.git/config                                        `configuration`, with the id of the folder around it
                HEAD  packed-refs  bae-source-count           and what `git gc`, or a git that was killed, leaves
                refs/…
                objects/pack/pack-….pack .idx .rev
                objects/ab/cdef…

Everything else is strange: other settings, alternates, hooks, attributes, a common folder, shallow commits, packs that
promise objects of a remote; and a link, or another user's file, of any name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from bae_source.state.binding import user
from bae_source.system.own_files import beginning_of

_FILES = re.compile(
    r"HEAD|config|packed-refs|bae-source-count|fast_import_crash_\d+"
    r"|(?:HEAD|config|packed-refs)\.(?:lock|new)"
    r"|refs/[\w./-]+"
    r"|objects/maintenance\.lock"
    r"|objects/[0-9a-f]{2}/(?:[0-9a-f]{38}|tmp_obj_\w+)"
    r"|info/refs"
    r"|objects/info/(?:packs|commit-graph|commit-graphs/(?:commit-graph-chain|graph-[0-9a-f]{40}\.graph))"
    r"|objects/pack/(?:pack-[0-9a-f]{40}\.(?:pack|idx|rev|keep|bitmap|mtimes)|\.?tmp[_-][\w.-]+|multi-pack-index)"
)
_FOLDERS = re.compile(r"info|objects(?:/(?:[0-9a-f]{2}|info(?:/commit-graphs)?|pack))?|refs(?:/[\w./-]+)?")
_MOST = 4_096


def configuration(state_id: str) -> bytes:
    """Return the settings of a repository of ours.

    Parameters:
        state_id: the id of the folder of ours that it lies in.
    """
    core = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfilemode = false\n"
    return f"{core}[bae-source]\n\tid = {state_id}\n".encode("ascii")


def strange_in(repository: Path, state_id: str) -> str:
    """Return the name of something in a repository that we did not put there; empty where there is none.

    Raises:
        OSError: it cannot be looked at.
    """
    if repository.is_symlink() or repository.lstat().st_uid != user():
        return repository.name
    if beginning_of(repository / "config", _MOST) != configuration(state_id):
        return "config"
    return next(_strange(str(repository), ""), "")


def _strange(folder: str, below: str) -> Iterator[str]:
    ours = user()
    with os.scandir(folder) as found:
        for each in found:
            name = f"{below}{each.name}"
            is_folder = each.is_dir(follow_symlinks=False)
            expected = _FOLDERS if is_folder else _FILES
            if not expected.fullmatch(name) or each.is_symlink() or each.stat(follow_symlinks=False).st_uid != ours:
                yield name
            elif is_folder:
                yield from _strange(each.path, f"{name}/")
            elif not each.is_file(follow_symlinks=False):
                yield name
