"""Imports of a file, by its text alone."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from bae_source.errors import ResourceError
from bae_source.project.workspace import Workspace


def may_import(workspace: Workspace, path: str, words: Collection[str]) -> bool:
    """Return whether a file's text may have an import statement with one of some words in it."""
    try:
        content = workspace.glance(path) or b""
    except ResourceError:
        return True
    if not content.isascii() and not all(word.encode() in content for word in words):
        return True  # it may be written in characters that Python reads as these
    return _import_of(tuple(sorted(words))).search(content) is not None


@lru_cache(8)
def _import_of(words: tuple[str, ...]) -> re.Pattern[bytes]:
    """Return an expression for import statements with one of some words in them, however many lines they take."""
    line = rb"(?:[^\n\\]|\\\r?\n|\\[^\n])*?"
    any_of = b"|".join(re.escape(word.encode()) for word in words)
    return re.compile(rb"\b(?:from|import)\b" + line + rb"(?:\([^)]*?)?\b(?:" + any_of + rb")\b")
