"""Lists of names that several changes work on: `from m import a, b` and `__all__ = ["a", "b"]`.

Invariant: only a plain list is understood, without comments and with each name once; others give None.
"""

from __future__ import annotations

import re

_FROM = re.compile(r"(\s*from\s+[\w.]+\s+import)[ \t]*(\(?)([\w\s,]*?)(\)?)\s*")
_ALL = re.compile(r"(\s*__all__\s*(?::[^=]*)?[+]?=)\s*([\[(])([\w\s,\"']*?)([\])])\s*")
_ITEM = re.compile(r"[^\W\d]\w*(?:\s+as\s+[^\W\d]\w*)?|\"\w+\"|'\w+'")


def head_of(text: str) -> str:
    """Return the head of a statement with a list of names; "" where it is none."""
    found = _match(text)
    return " ".join(found[1].split()) if found else ""


def relisted(left: str, now: str, aim: str | None) -> str | None:
    """Return a list as it is now, without what a change added to it and with what the change took away.

    Parameters:
        left: the list as the change left it.
        aim: as it was before the change; None where there was none.

    Returns:
        The statement; None where it is not understood, or no name is left.
    """
    before, there = _items(left), _items(now)
    wanted = [] if aim is None else _items(aim)
    if before is None or there is None or wanted is None:
        return None
    added = [item for item in before if item not in wanted]
    taken = [item for item in wanted if item not in before]
    if not set(added) <= set(there) or set(taken) & set(there):
        return None
    text = now
    for item in added:
        text = _without(text, item)
    for item in taken:
        text = _with(text, item, wanted)
    expected = (set(there) - set(added)) | set(taken)
    return text if expected and set(_items(text) or ()) == expected else None


def _match(text: str) -> re.Match[str] | None:
    found = _FROM.fullmatch(text) or _ALL.fullmatch(text)
    if found is None or found[2] + found[4] not in ("", "()", "[]"):
        return None
    return found


def _items(text: str) -> list[str] | None:
    """Return the names of a list as written, each run of white space as one space; None where it is not plain."""
    found = _match(text)
    if found is None:
        return None
    items = [" ".join(item[0].split()) for item in _ITEM.finditer(found[3])]
    written = [" ".join(piece.split()) for piece in found[3].split(",")]
    is_plain = [piece for piece in written if piece] == items and len(set(items)) == len(items)
    return items if is_plain else None


def _places(text: str) -> list[tuple[str, int, int]]:
    found = _match(text)
    assert found is not None
    start = found.start(3)
    return [(" ".join(each[0].split()), start + each.start(), start + each.end()) for each in _ITEM.finditer(found[3])]


def _without(text: str, item: str) -> str:
    places = _places(text)
    number = next(number for number, each in enumerate(places) if each[0] == item)
    if number + 1 < len(places):
        return text[: places[number][1]] + text[places[number + 1][1] :]
    if number:
        return text[: places[number - 1][2]] + text[places[number][2] :]
    return text[: places[0][1]] + text[places[0][2] :]


def _with(text: str, item: str, order: list[str]) -> str:
    """Put a name behind the one that stood before it, else before the one behind it, else at the end."""
    places = _places(text)
    at = {each: (start, end) for each, start, end in places}
    separator = text[places[0][2] : places[1][1]] if len(places) > 1 else ", "
    position = order.index(item)
    before = next((each for each in reversed(order[:position]) if each in at), None)
    if before is not None:
        end = at[before][1]
        return text[:end] + separator + item + text[end:]
    after = next((each for each in order[position + 1 :] if each in at), None)
    if after is not None:
        start = at[after][0]
        return text[:start] + item + separator + text[start:]
    end = places[-1][2] if places else len(text)
    return text[:end] + separator + item + text[end:]
