"""Unified diffs over bytes, as `git apply` reads them.

Lines end at `\\n` alone, as git has it; a carriage return is part of its line. Only the window between the common
head and the common tail of a file is compared, so a small edit of a large file costs little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from bae_source.model.changeset import ChangeSet, FileChange

CONTEXT = 3
_Opcode = tuple[str, int, int, int, int]


def unified_diff(changes: ChangeSet, contents: Mapping[str, bytes]) -> str:
    """Draw `changes` as a unified diff that `git apply` takes.

    Parameters:
        contents: the bytes before the change, by path; a created file may be missing.

    Returns:
        The diff as text. Bytes that are not UTF-8 stand as surrogate escapes, so that
        `.encode("utf-8", "surrogateescape")` gives the exact bytes of the patch.
    """
    return "".join(_file(change, contents.get(change.path, b"")) for change in changes.files)


def _file(change: FileChange, before: bytes) -> str:
    after = change.apply(before)
    old, new = _lines(before), _lines(after)
    if not old and not new:
        return _header(change)
    header = _header(change)
    hunks = "".join(_hunk(old, new, group) for group in _groups(_opcodes(old, new)))
    return header + hunks


def _header(change: FileChange) -> str:
    left, right = f"a/{change.path}", f"b/{change.path}"
    lines = [f"diff --git {_quoted(left)} {_quoted(right)}\n"]
    if change.before is None:
        lines.append("new file mode 100644\n")
        left = "/dev/null"
    if change.after is None:
        lines.append("deleted file mode 100644\n")
        right = "/dev/null"
    if any(edit.old or edit.new for edit in change.edits):
        lines += [f"--- {_ended(left)}\n", f"+++ {_ended(right)}\n"]
    return "".join(lines)


def _ended(path: str) -> str:
    """Quote a path for a line that a time could follow: git ends it with a tab where it holds a space."""
    return _quoted(path) + ("\t" if " " in path else "")


def _quoted(path: str) -> str:
    """Quote a path as git does where it holds a quote, a backslash, a control character or a byte beyond ASCII."""
    if path.isascii() and path.isprintable() and not any(char in path for char in '"\\'):
        return path
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in path.encode()
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
