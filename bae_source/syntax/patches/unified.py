"""Unified diffs, as git, diff and models write them.

    From 3f9c… Mon Sep 17 …             what begins a commit of `git format-patch`; its prose is passed over
    diff --git a/old.py b/new.py
    similarity index 90%
    rename from old.py
    rename to new.py
    index 2e0996000..07fc6b65e 100644   the names that git has for the contents
    --- a/old.py<tab>2026-11-29 …       without a `diff --git` line, this is the first one
    +++ b/new.py
    @@ -1,3 +1,4 @@

Source of the format: git-diff(1), "Generating patch text with -p", and diff(1) of GNU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.syntax.patches.hunk_text import NUMBERS, hunk_at
from bae_source.syntax.patches.patch import Action, Hunk, Section, malformed

GIT = "diff --git "
_NOWHERE = "/dev/null"
_COMMIT = re.compile(r"(?:From|commit) [0-9a-f]{40}")
_BINARY = re.compile(r"GIT binary patch|Binary files .* differ|Files .* differ")
_COMBINED = re.compile(r"diff --(?:cc|combined) ")
_ENDS = re.compile(
    r"@@|diff --git |diff -|Index: |={10}|```|~~~|\*\*\* |Only in |GIT binary patch|Binary files "
    r"|(?:From|commit) [0-9a-f]{40}"
)
_SIGNATURE = re.compile(r"\d+\.\d+|\s*")
_TIME = re.compile(r"(?:\t.*|\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*)")
_PREFIX = re.compile(r"[abciow]/")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_PLAIN = {"100644": False, "100755": True, "100664": False}
_SPECIAL = {"120000": "a symbolic link", "160000": "a submodule", "040000": "a folder"}


class _Head(Struct):
    """The lines above the hunks of one file, as far as they were read."""

    at: int
    line: str = ""
    old: str | None = None
    new: str | None = None
    words: dict[str, str] = {}
    sides: tuple[str | None, str | None] | None = None


_WORDS = (
    "old mode", "new mode", "deleted file mode", "new file mode", "copy from", "copy to", "rename from", "rename to",
    "similarity index", "dissimilarity index", "index",
)  # fmt: skip


class Reader:
    """A reader of unified diffs.

    Parameters:
        lines: of the text.
        closing: a word on a line of its own that ends it, as shells have it; "" for none.
    """

    def __init__(self, lines: Sequence[str], closing: str = "") -> None:
        self._lines = lines
        self._closing = closing
        self._series = 0

    def sections(self) -> Iterator[Section]:
        """Yield the files of the diff.

        Raises:
            RequestError: `invalid_arguments`.
        """
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            if line.startswith(GIT) or self._begins_sides(at):
                section, at = self._section(at)
                yield section
                continue
            if _COMBINED.match(line):
                raise malformed("that is a diff of a merge, with a column for each parent", at + 1)
            if NUMBERS.match(line):
                raise malformed("a hunk stands there, and no file is named above it", at + 1)
            if self._begins_context_diff(at):
                raise malformed("that is a context diff", at + 1, "Give a unified diff (diff -u).")
            self._series += _COMMIT.match(line) is not None
            at += 1

    def _line(self, at: int) -> str:
        return self._lines[at] if at < len(self._lines) else ""

    def _begins_sides(self, at: int) -> bool:
        return self._line(at).startswith("--- ") and self._line(at + 1).startswith("+++ ")

    def _begins_context_diff(self, at: int) -> bool:
        begins = ("*** ", "--- ", "*****")
        return all(self._line(at + ahead).startswith(each) for ahead, each in enumerate(begins))

    def _ends(self, at: int) -> bool:
        """Return whether a hunk ends before a line, whatever its header counts."""
        line = self._lines[at]
        if _ENDS.match(line) or (self._closing and line.rstrip() == self._closing):
            return True
        if line.rstrip() == "--" and _SIGNATURE.fullmatch(self._line(at + 1)[:4].rstrip()):
            return not any(self._line(at + ahead)[:1] in ("+", "-") for ahead in (1, 2))
        return self._begins_sides(at)

    def _section(self, at: int) -> tuple[Section, int]:
        head = _Head(at=at + 1)
        if self._lines[at].startswith(GIT):
            head.line = self._lines[at].removeprefix(GIT).rstrip("\r")
            at += 1
            while word := next((each for each in _WORDS if self._line(at).startswith(f"{each} ")), None):
                head.words[word] = self._lines[at].removeprefix(f"{word} ").rstrip("\r")
                at += 1
        if _BINARY.match(self._line(at)):
            raise malformed(
                "what it changes is binary", at + 1, "Take binary files out of the patch; git diff -- '*.py' does."
            )
        if self._begins_sides(at):
            head.sides = (_side(self._lines[at][4:]), _side(self._lines[at + 1][4:]))
            at += 2
        section = _named(head)
        hunks: list[Hunk] = []
        while self._line(at).startswith("@@"):
            hunk, at = hunk_at(self._lines, at, len(hunks) + 1, self._ends)
            hunks.append(hunk)
        _check_whole(section, hunks)
        return replace(section, hunks=tuple(hunks), series=self._series), at


def _named(head: _Head) -> Section:
    """Return a section without its hunks."""
    words = head.words
    _check_plain(head)
    action: Action = "change"
    blobs = _blobs(words.get("index", ""))
    if "rename to" in words or "copy to" in words:
        action = "rename" if "rename to" in words else "copy"
        old, new = (_unquoted(words.get(f"{action} {side}", "")) for side in ("from", "to"))
        return _section(head, action, old, new, blobs, prefixed=False)
    left, right = head.sides or _from_line(head)
    if "new file mode" in words or left is None:
        action, left = "create", None
    elif "deleted file mode" in words or right is None:
        action, right = "delete", None
    if left is None and right is None:
        raise malformed("the file has no name", head.at)
    prefixed = all(name is None or _PREFIX.match(name) for name in (left, right))
    return _section(head, action, left, right, blobs, prefixed=prefixed)


def _section(
    head: _Head, action: Action, old: str | None, new: str | None, blobs: tuple[str, str] | None, *, prefixed: bool
) -> Section:
    mode = head.words.get("new file mode") or head.words.get("new mode")
    executable = _PLAIN.get(mode) if mode else None
    if action == "create" and not executable:
        executable = None
    return Section(action=action, at=head.at, old=old, new=new, prefixed=prefixed, executable=executable, blobs=blobs)


def _check_plain(head: _Head) -> None:
    """Refuse what is no file with text in it."""
    modes = [head.words.get(word, "") for word in _WORDS[:4]]
    for mode in (*modes, head.words.get("index", "").rpartition(" ")[2]):
        if mode in _SPECIAL:
            raise malformed(
                f"{head.line or 'what it changes'} is {_SPECIAL[mode]}, and only text files are changed", head.at,
                "Take it out of the patch, and change it by hand.",
            )  # fmt: skip


def _check_whole(section: Section, hunks: Sequence[Hunk]) -> None:
    says = section.executable is not None or section.action != "change"
    if not hunks and not says:
        raise malformed(f"{section.name} is named, and no hunk follows", section.at)
    if section.action == "create" and any(hunk.old for hunk in hunks):
        raise malformed(f"{section.name} is to be new, and the hunk takes lines of it away", hunks[0].at)
    if section.action == "delete" and any(hunk.adds for hunk in hunks):
        raise malformed(f"{section.name} is to go, and the hunk adds lines to it", hunks[0].at)


def _blobs(words: str) -> tuple[str, str] | None:
    old, dots, new = words.partition(" ")[0].partition("..")
    if not dots or len(old) < 7 or len(new) < 7:
        return None
    return old, new


def _side(text: str) -> str | None:
    """Return the name that a `---` or `+++` line has; None for no file."""
    if text.startswith('"'):
        return _unquoted(text)
    name = _TIME.sub("", text.rstrip("\r"), count=1)
    return None if name == _NOWHERE else name


def _from_line(head: _Head) -> tuple[str | None, str | None]:
    """Return both names of a `diff --git` line, which are alike but for their prefixes.

    a/my file.txt b/my file.txt     "a/\\303\\251.txt" "b/\\303\\251.txt"     x.py x.py
    """
    line = head.line
    if match := re.fullmatch(r'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)', line):
        return _unquoted(match[1]), _unquoted(match[2])
    for space in (found.start() for found in re.finditer(" ", line)):
        left, right = line[:space], line[space + 1 :]
        if left == right or (_PREFIX.match(left) and _PREFIX.match(right) and left[2:] == right[2:]):
            return left, right
    raise malformed(f"{line[:80]!r} does not tell two names", head.at)


def _unquoted(text: str) -> str:
    """Return a name that git may have put in quotes, with escapes for bytes."""
    text = text.strip("\r")
    if len(text) < 2 or not (text.startswith('"') and text.rstrip().endswith('"')):
        return text
    content = text.rstrip()[1:-1].encode("utf-8", "surrogateescape")

    def plain(match: re.Match[bytes]) -> bytes:
        escape = match[1]
        return bytes([int(escape, 8) & 0xFF]) if len(escape) == 3 else _ESCAPED.get(escape, escape)

    return _ESCAPE.sub(plain, content).decode("utf-8", "surrogateescape")
