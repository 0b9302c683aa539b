"""What is no part of a project: virtual environments, build output, VCS folders, and what git ignores.

Source of the pattern rules: gitignore(5); the matching itself is pathspec's. Because that costs 45 ms to import, a
cheap test comes first: a pattern can only match if its last component matches one of the path's.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator

from bae_source.project.files import FileKind, Files, read_or_none

_NEVER = frozenset(
    {".git", ".hg", ".svn", ".bzr", "__pycache__", ".bae-source", ".tox", ".nox", ".eggs", ".venv", "node_modules",
     "site-packages", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints"}
)  # fmt: skip


def is_ignored(files: Files, path: str) -> bool:
    """Say whether a file is no part of the project, though it lies in its folder."""
    parts = path.split("/")
    if any(part in _NEVER or part.endswith((".egg-info", ".dist-info")) for part in parts[:-1]):
        return True
    folders = ["/".join(parts[:n]) for n in range(1, len(parts))]
    if any(files.kind(f"{folder}/pyvenv.cfg") is FileKind.FILE for folder in folders):
        return True
    return any(_matches(files, folder, path) for folder in ["", *folders]) and not _tracked(files, path)


def _matches(files: Files, folder: str, path: str) -> bool:
    """Say whether the `.gitignore` of a folder excludes a file below it."""
    content = read_or_none(files, f"{folder}/.gitignore" if folder else ".gitignore")
    if content is None:
        return False
    patterns = content.decode("utf-8", "replace").splitlines()
    inner = path[len(folder) + 1 :] if folder else path
    if not any(_may_match(pattern, inner) for pattern in patterns):
        return False
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns).match_file(inner)


def _may_match(pattern: str, path: str) -> bool:
    pattern = pattern.strip()
    if not pattern or pattern.startswith(("#", "!")):
        return False
    last = pattern.rstrip("/").rpartition("/")[2]
    return "\\" in last or any(fnmatch.fnmatchcase(part, last) for part in path.split("/"))


def _tracked(files: Files, path: str) -> bool:
    """Say whether git's index holds the file; what is tracked is not ignored, whatever the patterns say."""
    return any(path.encode() in index for index in _indexes(files))


def _indexes(files: Files) -> Iterator[bytes]:
    content = read_or_none(files, ".git/index")
    if content is not None:
        yield content
