"""The settings of a project: pyproject.toml, and files that are written as setup.cfg is.

Invariants:
- a file of settings is a regular file of the project, and no more of it is read than `LARGEST` bytes; of a lock it is
  as many as its reader allows;
- the time that it takes to read one grows with its length, whatever stands in it;
- a file that cannot be read is an error of ours that names it, whatever the reader of the format raises.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from bae_source.errors import SourceError
from bae_source.project.files.port import Files

LARGEST = 2_000_000
"""Bytes of a file of settings; a larger one is refused, and so is a change that would make it larger."""

_ESCAPED = (b"\\u", b"\\U", b"\\x")
_MOST_PARTS = 100
"""Most components of a key: the time that Python's reader takes grows with the square of their number."""
_STRINGS = (
    r'"""(?>(?:[^\\"]++|\\.|"(?!""))*)(?:""")?'
    r"|'''(?>(?:[^']++|'(?!''))*)(?:''')?"
    r'|"(?>(?:[^"\\\n]++|\\.)*)"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+"
)
_OF_USER = "bae-source/settings.toml"
_LARGEST_NUMBER = 2**63
_LONGEST_REASON = 300


def content_of(files: Files, path: str, *, largest: int = LARGEST) -> bytes | None:
    """Return the content of a file of settings; None where there is no such file.

    Parameters:
        largest: how many bytes it may have.

    Raises:
        SourceError: `syntax_invalid` if it is too long for one.
        Refused: `forbidden` if it may not be read.
    """
    pieces: list[bytes] = []
    try:
        for piece in files.pieces(path):
            pieces.append(piece)
            if sum(map(len, pieces)) > largest:
                raise _unreadable(path, f"it has more than {largest:,} bytes")
    except FileNotFoundError:
        return None
    return b"".join(pieces)


def settings_of(files: Files, folder: str = "", *, only: Iterable[tuple[str, ...]] = ()) -> dict[str, Any]:
    """Return the settings in a folder's pyproject.toml; empty where there is none.

    Parameters:
        only: keys that are looked at, each behind some of those that it stands below; where a file cannot hold any of
            them, it is not parsed, and nothing is returned.

    Raises:
        SourceError: `syntax_invalid` if it does not parse.
    """
    return toml_of(files, posixpath.join(folder, "pyproject.toml"), only=only)


def toml_of(files: Files, path: str, *, only: Iterable[tuple[str, ...]] = (), largest: int = LARGEST) -> dict[str, Any]:
    """Return the settings in a TOML file; empty where there is none.

    Parameters:
        only: as `settings_of` takes it.
        largest: how many bytes it may have.

    Raises:
        SourceError: `syntax_invalid` if it does not parse.
    """
    content = content_of(files, path, largest=largest)
    if not content or (only and not may_hold(content, only)):
        return {}
    return parsed_toml(content, path, largest=largest)


def parsed_toml(content: bytes, path: str, *, largest: int = LARGEST) -> dict[str, Any]:
    """Return the settings in the content of a TOML file.

    Parameters:
        path: the file, for messages.
        largest: bytes that it may have.

    Raises:
        SourceError: `syntax_invalid` if it does not parse.
    """
    import tomllib  # 8 ms with parsing, which a project without settings need not pay

    if len(content) > largest:
        raise _unreadable(path, f"it has more than {largest:,} bytes")
    try:
        text = content.decode("utf-8-sig")
        if any(line.count(".") >= _MOST_PARTS for line in text.split("\n")) and _has_long_key(text):
            raise _unreadable(path, f"a key has more than {_MOST_PARTS} components")
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _unreadable(path, str(error)[:_LONGEST_REASON], verb="does not parse") from None
    except RecursionError:
        raise _unreadable(path, "its values are nested too deeply") from None
    except ValueError:  # which Python says of a number of thousands of digits
        raise _unreadable(path, "a number in it is too large") from None
    if _has_large_number(found):
        raise _unreadable(path, "a number in it is too large")
    return found


def place_of_user_settings(environment: Mapping[str, str]) -> tuple[str, str | None]:
    """Return how the user's own file of settings is named in messages, and where it is; None for nowhere.

    Parameters:
        environment: `XDG_CONFIG_HOME` and `HOME` say where it is.
    """
    given, home = environment.get("XDG_CONFIG_HOME", ""), environment.get("HOME", "")
    has_own = os.path.isabs(given)  # noqa: PTH117 - pathlib takes longer
    name = f"{'$XDG_CONFIG_HOME' if has_own else '~/.config'}/{_OF_USER}"
    if not (has_own or os.path.isabs(home)):  # noqa: PTH117 - likewise
        return name, None
    return name, f"{given if has_own else f'{home}/.config'}/{_OF_USER}"


def own_settings(files: Files, *, only: str = "") -> dict[str, Any]:
    """Return our own settings in the project's pyproject.toml; empty where there are none.

    Parameters:
        only: what the keys begin with that are looked at, if not all are; see `settings_of`.

    Raises:
        SourceError: `syntax_invalid` if it does not parse.
    """
    return table(settings_of(files, only=[("bae-source", only)] if only else ()), "tool", "bae-source")


def table(settings: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """Return the table at a path of names; an empty one where there is none, or something else."""
    value: Any = settings
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return dict(value) if isinstance(value, Mapping) else {}


def oldest_python(files: Files, *, below: tuple[int, int] | None = None) -> tuple[int, int] | None:
    """Return the oldest Python 3 that `requires-python` lets in, if it is not newer than the one running here.

    Parameters:
        below: look up to this version instead; where nothing is required, the one just below it may have to do.
    """
    asked = table(settings_of(files), "project").get("requires-python")
    end = below[1] if below else sys.version_info.minor + 1
    if below and lets_in(asked, "3") is None:
        return 3, end - 1
    for minor in range(7, end):
        if lets_in(asked, f"3.{minor}.99"):
            return 3, minor
    return None


def lets_in(specifier: object, version: str) -> bool | None:
    """Return whether a `requires-python` lets a version of Python in; None if it says no versions."""
    if not isinstance(specifier, str) or len(specifier) > _LONGEST_REASON:
        return None
    from packaging.specifiers import SpecifierSet  # 40 ms, which reading need not pay

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except ValueError:  # of packaging, or of Python where a version is a number of thousands of digits
        return None


def sections(files: Files, path: str) -> dict[str, dict[str, str]]:
    """Return the entries under each title of a file in the format of setup.cfg; other lines are left out.

    Python's own reader takes time that grows with the square of the lines that it does not understand.

    Raises:
        SourceError: `syntax_invalid` if it is too long for settings.
    """
    found: dict[str, dict[str, list[str]]] = {}
    section: dict[str, list[str]] = {}
    value: list[str] | None = None
    depth = 0
    for line in (content_of(files, path) or b"").decode("utf-8-sig", "replace").split("\n"):
        text, indented = line.strip(), len(line) - len(line.lstrip())
        if not text or text[0] in "#;":
            continue
        if value is not None and indented > depth:
            value.append(text)
            continue
        depth, value = indented, None
        if text[0] == "[" and "]" in text:
            section = found.setdefault(text[1 : text.rindex("]")], {})
        elif sign := re.search("[=:]", text):
            value = section[text[: sign.start()].rstrip().lower()] = [text[sign.end() :].lstrip()]
    return {title: {name: "\n".join(value) for name, value in each.items()} for title, each in found.items()}


def may_hold(content: bytes, keys: Iterable[tuple[str, ...]]) -> bool:
    """Return whether one of some keys, each behind those above it, may stand in a TOML file, however it is spelt.

    Bare, dotted, quoted and escaped.
    """
    if any(mark in content for mark in _ESCAPED):
        return True
    return any(all(word.encode() in content for word in key) for key in keys)


def _has_long_key(text: str) -> bool:
    """Return whether a key has more components than allowed; text in strings does not count."""
    bare = re.sub(_STRINGS, "s", text, flags=re.DOTALL)
    return any(key.count(".") >= _MOST_PARTS for key in re.split(r"[^\w. \t-]+", bare))


def _has_large_number(found: object) -> bool:
    """Return whether a whole number has more than the 64 bits that TOML wants to be understood."""
    waiting = [found]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int) and not -_LARGEST_NUMBER <= value < _LARGEST_NUMBER:
            return True
    return False


def _unreadable(path: str, reason: str, *, verb: str = "cannot be read as settings") -> SourceError:
    return SourceError("syntax_invalid", f"{path} {verb}: {reason}.", hints=[f"Mend {path} first."])
