"""Unified diffs over bytes, as `git apply` reads them: changed, created, deleted and moved files.

Lines end at `\\n` alone, as git has it; a carriage return is part of its line. Only the lines that the edits touch
are compared, so small edits of a large file cost little, however far apart they are. What is no text stands as git's
binary patch; of what is very large, only that it differs.
"""

from __future__ import annotations

import stat
from base64 import b85encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from zlib import compress

from bae_source.model.changeset import ChangeSet, Edit, FileChange

CONTEXT = 3
_LARGEST = 8_000_000
"""Bytes of a binary file of which a patch is shown."""
_MOST_PAIRS = 500_000
"""Pairs of equal lines, one before and one after, up to which every line of a window is compared with every other."""
_NOTHING = "0" * 40
_PATCH_LINE = 52
_Opcode = tuple[str, int, int, int, int]
_Window = tuple[int, int, int, int]
"""Lines before a change, from and to, and lines after it."""


def unified_diff(
    changes: ChangeSet, contents: Mapping[str, bytes], mode_of: Callable[[str], int | None] = lambda _: None
) -> str:
    """Draw `changes` as a unified diff that `git apply` takes.

    Parameters:
        contents: the bytes before the change, by path; a created file may be missing.
        mode_of: the permission bits that a file has before the change, None where that is unknown; called only of files
            that do not simply keep theirs.

    Returns:
        The diff as text. Bytes that are not UTF-8 stand as surrogate escapes, so that
        `.encode("utf-8", "surrogateescape")` gives the exact bytes of the patch.
    """
    moved = _moves(changes)
    gone = set(moved.values())
    staying = {file.path for file in changes.files if file.before is not None and file.after is not None}
    drawn = []
    for change in changes.files:
        origin = moved.get(change.path)
        if origin is not None:
            drawn.append(_moved(change, origin, contents.get(origin, b""), "rename", mode_of))
        elif change.before is None and change.origin in staying:  # something else takes its place
            drawn.append(_moved(change, change.origin, contents.get(change.origin, b""), "copy", mode_of))
        elif change.path not in gone:
            drawn.append(_file(change, contents.get(change.path, b""), mode_of))
    return "".join(drawn)


def _moves(changes: ChangeSet) -> dict[str, str]:
    """Return the old paths of files that were moved and not copied, by their new ones."""
    deleted = {file.path for file in changes.files if file.after is None}
    moved: dict[str, str] = {}
    for file in changes.files:
        if file.before is None and file.origin is not None and file.origin in deleted:
            deleted.remove(file.origin)  # a second file from there is a copy
            moved[file.path] = file.origin
    return moved


def _file(change: FileChange, before: bytes, mode_of: Callable[[str], int | None]) -> str:
    after = change.apply(before)
    left, right = f"a/{change.path}", f"b/{change.path}"
    lines = [f"diff --git {_quoted(left)} {_quoted(right)}\n"]
    was, shall = _git_modes(change, mode_of)
    if change.before is None:
        lines.append(f"new file mode {shall}\n")
        left = "/dev/null"
    elif change.after is None:
        lines.append(f"deleted file mode {was}\n")
        right = "/dev/null"
    else:
        lines.append(_mode_change(was, shall))
    if before == after and change.before is not None and change.after is not None:
        return "".join(lines) if was != shall else ""
    sides = (None if change.before is None else before, None if change.after is None else after)
    return "".join(lines) + _content(left, right, *sides, change.edits)


def _git_modes(change: FileChange, mode_of: Callable[[str], int | None]) -> tuple[str, str]:
    """Return git's modes of a file before and after; both are the same where it keeps its own."""
    source = change.path if change.origin is None and not change.anew else change.origin
    keeps = change.after is not None and change.mode is None and change.executable is None and source == change.path
    was = None if keeps or change.before is None else mode_of(change.path)
    if change.executable is not None:
        return _git_mode(was), _git_mode(stat.S_IXUSR * change.executable)
    shall = change.mode if change.mode is not None or source is None or keeps else mode_of(source)
    return _git_mode(was), _git_mode(shall)


def _mode_change(was: str, shall: str) -> str:
    return f"old mode {was}\nnew mode {shall}\n" if was != shall else ""


def _git_mode(mode: int | None) -> str:
    return "100755" if (mode or 0) & stat.S_IXUSR else "100644"


def _moved(change: FileChange, origin: str, before: bytes, how: str, mode_of: Callable[[str], int | None]) -> str:
    """Draw a file that was moved; what it held does not show unless it changed.

    Parameters:
        how: `rename`, or for git `copy` where its old name is taken.
    """
    after = change.apply(b"")
    same = 100 if before == after else _similarity(before, after)
    was, shall = ("", "") if change.executable is None else _git_modes(change, lambda _: mode_of(origin))
    header = (
        f"diff --git {_quoted(f'a/{origin}')} {_quoted(f'b/{change.path}')}\n"
        f"{_mode_change(was, shall)}"
        f"similarity index {same}%\n{how} from {_quoted(origin)}\n{how} to {_quoted(change.path)}\n"
    )
    whole = (Edit(start=0, old=before, new=after),)
    return header + (_content(f"a/{origin}", f"b/{change.path}", before, after, whole) if before != after else "")


def _similarity(before: bytes, after: bytes) -> int:
    """Return, in percent and below 100, how much of the larger side the lines come to that both have."""
    common = set(before.split(b"\n")) & set(after.split(b"\n"))
    kept = sum(len(line) + 1 for line in before.split(b"\n") if line in common)
    return min(99, 100 * kept // max(len(before), len(after), 1))


def _content(left: str, right: str, before: bytes | None, after: bytes | None, edits: Sequence[Edit]) -> str:
    """Draw the changes in a file; nothing for one that appears or goes empty."""
    if not before and not after:
        return ""
    if any(b"\0" in content for content in (before, after) if content):  # which git takes for no text
        if max(len(before or b""), len(after or b"")) > _LARGEST:
            return f"Binary files {_quoted(left)} and {_quoted(right)} differ\n"
        return _binary(before, after)
    old, new = _lines(before or b""), _lines(after or b"")
    codes = _opcodes(old, new, _touched(before or b"", after or b"", edits))
    hunks = "".join(_hunk(old, new, group) for group in _groups(codes))
    return f"--- {_ended(left)}\n+++ {_ended(right)}\n{hunks}"


def _ended(path: str) -> str:
    """Quote a path for a line that a time could follow: git ends it with a tab where it holds a space."""
    return _quoted(path) + ("\t" if " " in path else "")


def _quoted(path: str) -> str:
    """Quote a path as git does where it holds a quote, a backslash, a control character or a byte beyond ASCII."""
    if path.isascii() and path.isprintable() and not any(char in path for char in '"\\'):
        return path
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}"
        for byte in path.encode("utf-8", "surrogateescape")
    )
    return f'"{escaped}"'


def _lines(content: bytes) -> list[bytes]:
    if b"\r" not in content:
        return content.splitlines(keepends=True)  # which takes a carriage return for a line end, too
    lines = content.split(b"\n")
    tail = lines.pop()
    return [line + b"\n" for line in lines] + ([tail] if tail else [])


def _touched(before: bytes, after: bytes, edits: Sequence[Edit]) -> list[tuple[int, int]]:
    """Return the first lines, before and after, of what each edit touches; edits whose lines meet are one.

    Between two of them, only the lines next to the first may differ: those that its edits touch.
    """
    starts: list[tuple[int, int]] = []
    moved = here = there = 0  # the growth of the edits until now, and where the last of them ends on both sides
    line = line_after = 0
    last = -1
    for edit in edits:
        line += before.count(b"\n", here, edit.start)
        line_after += after.count(b"\n", there, edit.start + moved)
        if line > last:
            starts.append((line, line_after))
        line += edit.old.count(b"\n")
        line_after += edit.new.count(b"\n")
        moved += edit.growth
        here, there, last = edit.end, edit.end + moved, line + 1
    return starts


def _opcodes(old: Sequence[bytes], new: Sequence[bytes], starts: Sequence[tuple[int, int]]) -> list[_Opcode]:
    """Compare lines: in each part that begins with what edits touch, what lies between its equal ends.

    A change shows as late in the file as it may.
    """
    codes: list[_Opcode] = []
    a = c = 0
    for b, d in (*starts[1:], (len(old), len(new))):
        head, tail = _equal_ends(old[a:b], new[c:d])
        if head == b - a == d - c:
            continue
        codes.append(("equal", a, a + head, c, c + head))
        codes += _compared(old, new, (a + head, b - tail, c + head, d - tail))
        a, c = b - tail, d - tail
    return [*codes, ("equal", a, len(old), c, len(new))]


def _equal_ends(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[int, int]:
    """Return the numbers of equal lines at the head, and of the others at the tail."""
    shorter = min(len(old), len(new))
    if len(old) == len(new) and old[:1] != new[:1] and old[1:] == new[1:]:
        return 0, shorter - 1  # as it is mostly, and quick to see
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _compared(old: Sequence[bytes], new: Sequence[bytes], window: _Window) -> Iterator[_Opcode]:
    """Compare the lines of a window.

    Where too many lines are alike, the frequent ones do not align it; what then lies between the others is compared
    again by all of its lines.
    """
    start, end, start_new, end_new = window
    left, right = old[start:end], new[start_new:end_new]
    counts = Counter(right)
    rough = sum(counts[line] for line in left) > _MOST_PAIRS
    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=rough).get_opcodes():
        inner = (a + start, b + start, c + start_new, d + start_new)
        if tag == "replace" and rough and inner != window:
            yield from _compared(old, new, inner)
        else:
            yield (tag, *inner)


def _groups(codes: list[_Opcode]) -> Iterator[list[_Opcode]]:
    """Split opcodes into hunks: changes with at most CONTEXT equal lines around them."""
    group: list[_Opcode] = []
    for index, (tag, a, b, c, d) in enumerate(codes):
        if tag != "equal":
            group.append((tag, a, b, c, d))
            continue
        first, last = index == 0, index == len(codes) - 1
        if group and (last or b - a > 2 * CONTEXT):
            group.append((tag, a, min(b, a + CONTEXT), c, min(d, c + CONTEXT)))
            yield group
            group = []
        if not last and (first or not group):
            group = [(tag, max(a, b - CONTEXT), b, max(c, d - CONTEXT), d)]
        elif not last:
            group.append((tag, a, b, c, d))


def _hunk(old: Sequence[bytes], new: Sequence[bytes], group: list[_Opcode]) -> str:
    first, last = group[0], group[-1]
    lines = [f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"]
    for tag, a, b, c, d in group:
        if tag == "equal":
            lines += (_line(" ", line) for line in old[a:b])
            continue
        lines += (_line("-", line) for line in old[a:b])
        lines += (_line("+", line) for line in new[c:d])
    return "".join(lines)


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _line(mark: str, line: bytes) -> str:
    text = mark + line.decode("utf-8", "surrogateescape")
    return text if text.endswith("\n") else f"{text}\n\\ No newline at end of file\n"


def _binary(before: bytes | None, after: bytes | None) -> str:
    """Return the lines below the header of a binary file: whole contents, packed, forwards and backwards.

    `git apply` takes it in a repository that names objects by SHA-1, and there `git apply --reverse` as well. The lines
    are base85 as in RFC 1924, of 52 bytes, each with its length in front: A to Z for 1 to 26, a to z from there.
    """
    from hashlib import sha1

    def named(content: bytes | None) -> str:
        if content is None:
            return _NOTHING
        return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()

    def literal(content: bytes) -> str:
        packed = compress(content)
        lines = [f"literal {len(content)}\n"]
        for start in range(0, len(packed), _PATCH_LINE):
            piece = packed[start : start + _PATCH_LINE]
            length = chr((64 if len(piece) <= 26 else 70) + len(piece))
            lines.append(f"{length}{b85encode(piece, pad=True).decode('ascii')}\n")
        return "".join(lines)

    index = f"index {named(before)}..{named(after)}\n"
    return f"{index}GIT binary patch\n{literal(after or b'')}\n{literal(before or b'')}\n"
