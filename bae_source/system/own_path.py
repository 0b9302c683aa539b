"""The search path of what we run with, also where a session has its project's modules found in the same process."""

from __future__ import annotations

import sys

OURS = frozenset(
    {"bae_source", "git", "gitdb", "libcst", "msgspec", "packaging", "pathspec", "smmap", "tomlkit",
     "typing_extensions"}
)  # fmt: skip
"""Top-level modules, besides Python's, that run before and while a project is read or changed."""


def own_path() -> list[str]:
    """Return the folders in which our own modules are found: those of a finder that has some, else all."""
    kept = (getattr(finder, "own_path", None) for finder in sys.meta_path)
    return next((path for path in kept if isinstance(path, list)), sys.path)
