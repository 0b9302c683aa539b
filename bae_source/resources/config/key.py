"""Keys of TOML: how a caller writes the way to a value, and how a file does.

tool.ruff.lint.select                   ("tool", "ruff", "lint", "select")
tool."my.tool".x                        ("tool", "my.tool", "x")
tool.mypy.overrides[1].module           ("tool", "mypy", "overrides", 1, "module")
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bae_source.errors import RequestError
from bae_source.model.text import is_text

Path = tuple[str | int, ...]
"""The way to a value: names of tables and keys, and numbers of items, counted from 0."""

MOST_PARTS = 50
_BARE = re.compile(r"[A-Za-z0-9_-]+")
NAME = re.compile(r"""[A-Za-z0-9_-]++|"(?>(?:[^"\\\n]|\\.)*)"|'[^'\n]*+'""")
"""A part of a key as a file writes it."""
_INDEX = re.compile(r"[ \t]*\[[ \t]*([0-9]{1,9})[ \t]*\]")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_LONGEST = 100


def path_of(key: str | Path) -> Path:
    """Return the way that a key writes.

    Raises:
        RequestError: `invalid_arguments` if it is none.
    """
    if not isinstance(key, str):
        return key
    text = key.strip()
    path: list[str | int] = []
    position = 0
    while position < len(text) or not path:
        name = NAME.match(text, position)
        if name is None:
            raise _no_key(key)
        path.append(_named(name[0], key))
        position = name.end()
        while index := _INDEX.match(text, position):
            path.append(int(index[1]))
            position = index.end()
        dot = _DOT.match(text, position)
        if position < len(text) and (dot is None or dot.end() == len(text)):
            raise _no_key(key)
        position = dot.end() if dot else position
    if len(path) > MOST_PARTS:
        raise RequestError("invalid_arguments", f"A key has at most {MOST_PARTS} parts.", hints=["Shorten it."])
    return tuple(path)


def decoded(name: str) -> str:
    """Return the name of a part of a key, which a file writes bare, or in quotes of either kind.

    Raises:
        ValueError: an escape in it is none.
    """
    if name[0] not in "\"'":
        return name
    if "\\" not in name or name[0] == "'":
        return name[1:-1]
    import tomllib  # 8 ms, for escapes alone

    found: str = tomllib.loads(f"_ = {name}")["_"]
    return found


def written_name(name: str) -> str:
    """Return a part of a key as a file has it: bare where that can be."""
    if _BARE.fullmatch(name):
        return name
    from tomlkit import item  # 40 ms, for few keys

    text: str = item(name).as_string()
    return text


def written_key(path: Sequence[str | int]) -> str:
    """Return a way as a caller writes it."""
    pieces = [f"[{part}]" if isinstance(part, int) else f".{written_name(part)}" for part in path]
    return "".join(pieces).removeprefix(".")


def keys_below(value: object, path: Path = ()) -> Iterator[Path]:
    """Yield the way to each key and item in a value.

    Parameters:
        path: the way to the value.
    """
    if isinstance(value, Mapping):
        inner: Iterable[tuple[str | int, object]] = value.items()
    else:
        inner = enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield (*path, name)
        yield from keys_below(each, (*path, name))


def header_of(path: Sequence[str | int]) -> str:
    """Return a way as the header of a table has it: without the numbers of items."""
    return ".".join(written_name(part) for part in path if isinstance(part, str))


def _named(name: str, key: str) -> str:
    try:
        found = decoded(name)
    except ValueError:
        raise _no_key(key) from None
    if not is_text(found):
        raise _no_key(key)
    return found


def _no_key(key: str) -> RequestError:
    shown = "An empty text" if not key.strip() else repr(key[:_LONGEST])
    return RequestError(
        "invalid_arguments",
        f"{shown} is no key of TOML.",
        hints=['Write it as tool.ruff.line-length; quote parts with other signs, and number items: a."b.c".d[0].'],
    )
