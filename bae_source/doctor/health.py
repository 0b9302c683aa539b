"""The result of an examination of a project: facts, and faults with how to mend them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Trouble(Struct, frozen=True, kw_only=True):
    """Something that is wrong.

    Parameters:
        code: lower-case, such as `git_missing`.
        message: one sentence.
        mend: what to type, or the line to write; ready as it stands.
    """

    code: str
    message: str
    mend: str


class Part(Struct, frozen=True, kw_only=True):
    """One thing that was looked at.

    Parameters:
        name: what it is.
        lines: what is known of it.
        troubles: what is wrong with it.
    """

    name: str
    lines: tuple[str, ...] = ()
    troubles: tuple[Trouble, ...] = ()


def drawn(parts: Iterable[Part]) -> str:
    """Draw the facts in two columns, and below them each trouble with what mends it."""
    parts = tuple(parts)
    width = max((len(part.name) for part in parts), default=0) + 2
    lines = [
        f"{part.name if number == 0 else '':<{width}}{line}".rstrip()
        for part in parts
        for number, line in enumerate(part.lines)
    ]
    troubles = [trouble for part in parts for trouble in part.troubles]
    if not troubles:
        return "\n".join([*lines, "", "Nothing is wrong."])
    lines += ["", "1 finding:" if len(troubles) == 1 else f"{len(troubles)} findings:"]
    for trouble in troubles:
        lines += [f"  {trouble.code}: {trouble.message}", f"    mend: {trouble.mend}"]
    return "\n".join(lines)
