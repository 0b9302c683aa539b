"""Unified diffs over bytes, as `git apply` reads them: changed, created, deleted and moved files.

Lines end at `\\n` alone, as git has it; a carriage return is part of its line. Only the window between the common
head and the common tail of a file is compared, so a small edit of a large file costs little. What is no text stands
as git's binary patch; of what is very large, only that it differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from bae_source.model.changeset import ChangeSet, FileChange

CONTEXT = 3
_LARGEST = 8_000_000
"""Bytes of a binary file of which a patch is shown."""
_Opcode = tuple[str, int, int, int, int]


def unified_diff(changes: ChangeSet, contents: Mapping[str, bytes]) -> str:
    """Draw `changes` as a unified diff that `git apply` takes.

    Parameters:
        contents: the bytes before the change, by path; a created file may be missing.

    Returns:
        The diff as text. Bytes that are not UTF-8 stand as surrogate escapes, so that
        `.encode("utf-8", "surrogateescape")` gives the exact bytes of the patch.
    """
    moved = _moves(changes)
    gone = set(moved.values())
    drawn = []
    for change in changes.files:
        origin = moved.get(change.path)
        if origin is not None:
            drawn.append(_moved(change, origin, contents.get(origin, b"")))
        elif change.path not in gone:
            drawn.append(_file(change, contents.get(change.path, b"")))
    return "".join(drawn)


def _moves(changes: ChangeSet) -> dict[str, str]:
    """Return where each file came from that was moved and not copied, by its new path."""
    deleted = {file.path for file in changes.files if file.after is None}
    moved: dict[str, str] = {}
    for file in changes.files:
        if file.origin is not None and file.origin in deleted:
            deleted.remove(file.origin)  # a second file from there is a copy
            moved[file.path] = file.origin
    return moved


def _file(change: FileChange, before: bytes) -> str:
    after = change.apply(before)
    left, right = f"a/{change.path}", f"b/{change.path}"
    lines = [f"diff --git {_quoted(left)} {_quoted(right)}\n"]
    if change.before is None:
        lines.append("new file mode 100644\n")
        left = "/dev/null"
    if change.after is None:
        lines.append("deleted file mode 100644\n")
        right = "/dev/null"
    sides = (None if change.before is None else before, None if change.after is None else after)
    return "".join(lines) + _content(left, right, *sides)


def _moved(change: FileChange, origin: str, before: bytes) -> str:
    """Draw a file that was moved; what it held does not show unless it changed."""
    after = change.apply(b"")
    same = 100 if before == after else _similarity(before, after)
    header = (
        f"diff --git {_quoted(f'a/{origin}')} {_quoted(f'b/{change.path}')}\n"
        f"similarity index {same}%\nrename from {_quoted(origin)}\nrename to {_quoted(change.path)}\n"
    )
    return header + (_content(f"a/{origin}", f"b/{change.path}", before, after) if before != after else "")


def _similarity(before: bytes, after: bytes) -> int:
    """Return, in percent and below 100, how much of the larger side the lines come to that both have."""
    common = set(before.split(b"\n")) & set(after.split(b"\n"))
    kept = sum(len(line) + 1 for line in before.split(b"\n") if line in common)
    return min(99, 100 * kept // max(len(before), len(after), 1))


def _content(left: str, right: str, before: bytes | None, after: bytes | None) -> str:
    """Draw what changed in a file; nothing for one that appears or goes empty."""
    if not before and not after:
        return ""
    if any(b"\0" in content for content in (before, after) if content):  # which git takes for no text
        if max(len(before or b""), len(after or b"")) > _LARGEST:
            return f"Binary files {_quoted(left)} and {_quoted(right)} differ\n"
        from bae_source.model.binary_patch import binary_patch  # hashing and packing, which text need not load

        return binary_patch(before, after)
    old, new = _lines(before or b""), _lines(after or b"")
    hunks = "".join(_hunk(old, new, group) for group in _groups(_opcodes(old, new)))
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
    lines = content.split(b"\n")
    tail = lines.pop()
    return [line + b"\n" for line in lines] + ([tail] if tail else [])


def _opcodes(old: Sequence[bytes], new: Sequence[bytes]) -> list[_Opcode]:
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    codes = [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in middle.get_opcodes()]
    end_old, end_new = len(old) - tail, len(new) - tail
    return [
        ("equal", 0, head, 0, head),
        *codes,
        ("equal", end_old, len(old), end_new, len(new)),
    ]


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
