"""Say of a project whether its files are all as before a change, all as after it, or neither.

This script imports nothing of what it judges. It reads requests from its input, one JSON object a line:

    {"root": "...", "before": {"a.py": "<sha256>", ...}, "after": {...}}

and answers each by a line: `before`, `after`, or what is wrong: `torn ...` for a file that is neither, `lost ...` for
one that should be there in both states and is not, `stray ...` for one that belongs to neither, `mixed ...` for whole
files of both states side by side.

    python benchmarks/crash/judge.py < requests
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

STATE = ".bae-source"


def found_in(root: str) -> dict[str, str]:
    """Return the digest of every file below a folder, by relative path, without the state of the engine."""
    return {path.relative_to(root).as_posix(): _digest(path) for path in _files(root)}


def verdict(found: dict[str, str], before: dict[str, str], after: dict[str, str]) -> str:
    """Judge what was found."""
    if found == before:
        return "before"
    if found == after:
        return "after"
    for path in sorted(before.keys() | after.keys()):
        if path not in found and path in before and path in after:
            return f"lost {path}"
        if path in found and found[path] not in (before.get(path), after.get(path)):
            return f"torn {path}"
    for path in sorted(found.keys() - before.keys() - after.keys()):
        return f"stray {path}"
    changed = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
    return "mixed " + " ".join(path for path in changed if found.get(path) == after.get(path))


def _files(root: str) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != STATE]
        yield from (Path(folder, name) for name in names)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        request = json.loads(line)
        print(verdict(found_in(request["root"]), request["before"], request["after"]), flush=True)


if __name__ == "__main__":
    main()
