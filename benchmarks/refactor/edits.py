"""What an engine plans, in one form for all: the places whose text changes, whatever form the plan has.

    from app.core import run, walk          app.core.run -> go changes the word at column 22, and nothing else
    from app.core import go, walk

Invariants:
- a place is the first character of a word of the text as it was, lines and columns counted from 1;
- a file that gets another name is the place 0:0 of it;
- ends of lines are not compared: whether an engine keeps them is no question of places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from benchmarks.read.subjects import Place

_WORDS = re.compile(r"\w+|\W")
_HUNK = re.compile(r"@@ -(\d+)")


def of_texts(path: str, before: str, after: str) -> Iterator[Place]:
    """Yield the places that change from one text of a file to the next."""
    old, new = before.replace("\r\n", "\n").split("\n"), after.replace("\r\n", "\n").split("\n")
    if len(old) == len(new):
        yield from _of_lines(path, 1, old, new)
        return
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from _of_lines(path, first + 1, old[first:last], new[start:end])


def of_diff(diff: str) -> Iterator[Place]:
    """Yield the places that a unified diff changes, as git writes it."""
    path, line, inside = "", 0, False
    old, new = list[str](), list[str]()
    for text in (*diff.split("\n"), "diff "):
        if inside and text.startswith(("-", "+")):
            (old if text.startswith("-") else new).append(text[1:].removesuffix("\r"))
            continue
        if text.startswith("\\"):
            continue  # no newline at the end of the file
        yield from _of_lines(path, line, old, new)
        line += len(old)
        old, new = [], []
        if inside := (found := _HUNK.match(text)) is not None or (inside and text.startswith(" ")):
            line = int(found[1]) if found else line + 1
        elif text.startswith("rename from "):
            path = text.removeprefix("rename from ")
            yield Place(path, 0, 0)
        elif text.startswith("--- a/"):
            path = text.removeprefix("--- a/")


def of_workspace_edit(root: Path, edit: Mapping[str, Any]) -> Iterator[Place]:
    """Yield the places that a language server's edit changes; its columns come in UTF-16 units."""
    documents: dict[str, list[dict[str, Any]]] = {
        uri: list(edits) for uri, edits in (edit.get("changes") or {}).items()
    }
    for change in edit.get("documentChanges") or ():
        if "textDocument" in change:
            documents.setdefault(change["textDocument"]["uri"], []).extend(change["edits"])
        elif change["kind"] == "rename":
            yield Place(_path(root, change["oldUri"]), 0, 0)
    for uri, edits in documents.items():
        path = _path(root, uri)
        before = (root / path).read_bytes().decode("utf-8")
        yield from of_texts(path, before, _applied(before, edits))


def _path(root: Path, uri: str) -> str:
    file = Path(unquote(urlsplit(uri).path))
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)


def _applied(text: str, edits: Iterable[dict[str, Any]]) -> str:
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(position: dict[str, int]) -> int:
        units = lines[position["line"]].encode("utf-16-le")[: 2 * position["character"]]
        return starts[position["line"]] + len(units.decode("utf-16-le"))

    spans = [(offset(each["range"]["start"]), offset(each["range"]["end"]), each["newText"]) for each in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _of_lines(path: str, first: int, old: Iterable[str], new: Iterable[str]) -> Iterator[Place]:
    for number, (before, after) in enumerate(zip_longest(old, new, fillvalue=""), first):
        if before != after:
            words = _WORDS.findall(before)
            columns = [1]
            for word in words:
                columns.append(columns[-1] + len(word))
            for tag, start, end, _, _ in SequenceMatcher(None, words, _WORDS.findall(after), False).get_opcodes():
                if tag == "insert":
                    yield Place(path, number, columns[start])
                elif tag != "equal":
                    changed = [at for at in range(start, end) if words[at].isidentifier()] or [start]
                    yield from (Place(path, number, columns[at]) for at in changed)
