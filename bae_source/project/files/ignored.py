"""The files that are no part of a project: virtual environments, build output, VCS folders, and what git ignores.

Source of the pattern rules: gitignore(5); the matching itself is pathspec's. Because that costs 45 ms to import, a
cheap test comes first: a pattern can only match if its last component matches one of the path's, and that has to stand
in the very folder that the pattern names, if it names one.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.files.port import FileKind, Files, Folder, read_or_none
from bae_source.project.files.settings import content_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_NEVER = frozenset(
    {".git", ".hg", ".svn", ".bzr", "__pycache__", ".bae-source", ".tox", ".nox", ".eggs", ".venv", "node_modules",
     "site-packages", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints"}
)  # fmt: skip
GIT_INDEX = ".git/index"
_READABLE_INDEX = 3
_SIGN = r"[*?\\[]|//"
"""Characters that make a pattern match other paths than the one it spells."""
_OUTPUT = frozenset({"build", "dist"})
"""Folders of build output at the root, unless they are packages."""


def is_ignored(files: Files, path: str) -> bool:
    """Return whether a file, or a folder if `path` ends in a slash, is no part of the project, though it lies in it."""
    parts = path.rstrip("/").split("/")
    named = parts if path.endswith("/") else parts[:-1]
    if any(part in _NEVER or part.endswith((".egg-info", ".dist-info")) for part in named):
        return True
    folders = ["/".join(named[:n]) for n in range(1, len(named) + 1)]
    if any(files.kind(f"{folder}/pyvenv.cfg") is FileKind.FILE for folder in folders):
        return True
    if named and named[0] in _OUTPUT and files.kind(f"{named[0]}/__init__.py") is None:
        return True
    return _excluded(files, path, folders) and not _tracked(files, path)


def never_entered(name: str) -> bool:
    """Return whether folders of that name belong to no project."""
    return name in _NEVER or name.endswith((".egg-info", ".dist-info"))


class Patterns:
    """Patterns met on a walk from the outside in: a cheap test of the paths that need `is_ignored`."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._by_folder: dict[str, re.Pattern[str] | None] = {}  # of those that patterns reach or may begin in
        self._named: dict[str, list[str]] = {}  # by folder, what patterns exclude that name this very one

    def enter(self, folder: Folder) -> None:
        """Note the patterns that begin in a folder of the walk; the folders around it come before it."""
        if not folder.path or ".gitignore" in folder.files:
            self._by_folder[folder.path] = self._pattern(folder)
        elif outer := self._by_folder.get(folder.path.rpartition("/")[0]):
            self._by_folder[folder.path] = outer

    def reach(self, folder: Folder) -> bool:
        """Return whether anything directly in a folder that was entered may be ignored."""
        path, files = folder.path, folder.files
        return not path or "pyvenv.cfg" in files or path in self._named or self._by_folder.get(path) is not None

    def may_exclude(self, folder: Folder, name: str) -> bool:
        """Return whether `name`, directly in a folder of the walk, may be ignored."""
        return bool(self.suspects(folder, (name,)))

    def suspects(self, folder: Folder, names: Sequence[str]) -> Sequence[str]:
        """Return those of some names, directly in a folder of the walk, that may be ignored."""
        if not names or "pyvenv.cfg" in folder.files:
            return names
        if folder.path not in self._by_folder:
            self.enter(folder)
        pattern, named = self._by_folder.get(folder.path), self._named.get(folder.path)
        output = _OUTPUT if not folder.path else ()
        return [
            name
            for name in names
            if (pattern is not None and pattern.match(name))
            or name in output
            or (named and any(fnmatch.fnmatchcase(name, last) for last in named))
        ]

    def _pattern(self, folder: Folder) -> re.Pattern[str] | None:
        """Return one expression for the last components of all patterns that reach into a folder.

        Those of patterns that name a folder reach into no other, and are noted for it.
        """
        outer = self._by_folder.get(folder.path.rpartition("/")[0]) if folder.path else None
        places = [f"{folder.path}/.gitignore" if folder.path else ".gitignore"] if ".gitignore" in folder.files else []
        places += [".git/info/exclude"] if not folder.path else []
        lines = [line for place in places for line in _lines(self.files, place)]
        own: list[str] = []
        for target in filter(None, map(_target, lines)):
            if target.folder is None:
                own.append(fnmatch.translate(target.last))
            else:
                self._named.setdefault("/".join(filter(None, (folder.path, target.folder))), []).append(target.last)
        return re.compile("|".join([*([outer.pattern] if outer else []), *own])) if own else outer


def _excluded(files: Files, path: str, folders: list[str]) -> bool:
    """Return whether git's patterns exclude a file: the deepest match decides, unless a folder is excluded itself."""
    specs = list(_specs(files, path, folders))
    if not specs:
        return False
    for prefix in (*(f"{folder}/" for folder in folders), *([] if path.endswith("/") else [path])):
        decided = None
        for folder, spec in specs:
            if prefix.startswith(folder) and prefix != folder:
                include = spec.check_file(prefix[len(folder) :]).include
                decided = include if include is not None else decided
        if decided:
            return True
    return False


def _specs(files: Files, path: str, folders: list[str]) -> Iterator[tuple[str, GitIgnoreSpec]]:
    """Yield the patterns that could exclude a file, by the folder that they are relative to, the outermost first."""
    places = [("", ".git/info/exclude"), ("", ".gitignore"), *((f"{it}/", f"{it}/.gitignore") for it in folders)]
    found = [(folder, lines) for folder, place in places if (lines := _lines(files, place))]
    if any(_may_match(folder, pattern, path) for folder, patterns in found for pattern in patterns):
        for folder, patterns in found:
            yield folder, _spec(patterns)


@lru_cache(maxsize=64)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns)
    except (ValueError, re.error):
        return GitIgnoreSpec.from_lines(filter(_is_understood, patterns))


def _is_understood(pattern: str) -> bool:
    """Return whether a line is a pattern; `!` alone or a backslash at its end is none, and matches nothing in git."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([pattern])
    except (ValueError, re.error):
        return False
    return True


def _lines(files: Files, place: str) -> tuple[str, ...]:
    content = content_of(files, place)
    return tuple(content.decode("utf-8", "replace").splitlines()) if content else ()


class _Target(Struct, frozen=True):
    """The parts that a path must have for an excluding pattern to match.

    Parameters:
        folder: the one in which that stands, from where the pattern's file is; None for any.
        last: what the component matches.
    """

    folder: str | None
    last: str


def _may_match(base: str, pattern: str, path: str) -> bool:
    """Return whether a pattern may match a path.

    Parameters:
        base: the folder that it is relative to, with a slash behind it; nothing for the root.
    """
    target = _target(pattern)
    if target is None:
        return False
    if target.folder is None:
        return any(fnmatch.fnmatchcase(part, target.last) for part in path.split("/"))
    lead = f"{base}{target.folder}/" if target.folder else base
    return path.startswith(lead) and fnmatch.fnmatchcase(path[len(lead) :].partition("/")[0], target.last)


def _target(pattern: str) -> _Target | None:
    """Return the name that a pattern excludes, with `*` where it needs a closer look; None for any other line."""
    pattern = pattern.rstrip()
    if not pattern or pattern.startswith(("#", "!")):
        return None
    folder, slash, last = pattern.rstrip("/").rpartition("/")
    is_spelt = slash and not re.search(_SIGN, f"{folder}/") and "**" not in last
    return _Target(folder.removeprefix("/") if is_spelt else None, "*" if "\\" in last else last)


def _tracked(files: Files, path: str) -> bool:
    """Return whether git's index holds the file; tracked files are not ignored, whatever the patterns say.

    Where the index cannot be read (a linked worktree has it elsewhere, version 4 packs it), the answer is yes: a module
    too many does less harm than one that has vanished.
    """
    if files.kind(".git") is FileKind.FILE:
        return True
    try:
        index = read_or_none(files, GIT_INDEX)
    except ResourceError:
        return True
    if index is None:
        return False
    if int.from_bytes(index[4:8], "big") > _READABLE_INDEX:
        return True
    name = path.encode()
    if path.endswith("/"):
        return name in index
    return any(_is_entry(index, match.start(), len(name)) for match in re.finditer(re.escape(name) + b"\\0", index))


def _is_entry(index: bytes, start: int, length: int) -> bool:
    """Return whether a path begins there: its length stands before it, in the low 12 bits of the flags."""
    flags = (int.from_bytes(index[start - back : start - back + 2], "big") & 0xFFF for back in (2, 4))
    return min(length, 0xFFF) in flags
