"""Sections of pyproject.toml that standards define, and what is wrong in them.

    [project]             PEP 621 and 639: names and types of keys, version, requirements, entry points, what is dynamic
    [build-system]        PEP 517 and 518: requirements, backend, a path inside the project
    [dependency-groups]   PEP 735: names, requirements, groups that are included, no circles

Invariants:
- any other section is plain TOML, of which nothing is known;
- requirements and versions are read by `packaging`, as installers do; nothing is looked up or run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from bae_source.model.closest import closest
from bae_source.resources.config.key import Path, written_key
from bae_source.resources.config.written import kind_of

STANDARD = ("project", "build-system", "dependency-groups", "tool")
"""The tables that a file has at its top; all others are kept free by PEP 518."""
_LONGEST = 2_000
"""Characters of a requirement or a version; none is as long."""
_SHOWN = 80
_NAME = re.compile(r"[A-Z0-9]|[A-Z0-9][A-Z0-9._-]*[A-Z0-9]", re.IGNORECASE)
_DOTTED = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
_BACKEND = re.compile(rf"{_DOTTED}(:{_DOTTED})?")
_ENTRY = re.compile(rf"\s*({_DOTTED})\s*(:\s*{_DOTTED}\s*)?(\[[\w\s,.-]*\]\s*)?")
"""Module, object and extras of an entry point."""
_REQUIRED = ("name", "version")
_NEVER_DYNAMIC = ("name", "dynamic")


class Problem(Struct, frozen=True):
    """Something that is wrong.

    Parameters:
        text: a clause that names it; without numbers of items, which change with others.
        refuses: whether a change that makes it is refused; else it is a notice, to be mended by another change.
    """

    text: str
    refuses: bool = True


def problems(data: Mapping[str, Any]) -> list[Problem]:
    """Return the problems in the sections that standards define, each once.

    Parameters:
        data: the file, as Python's reader gives it.
    """
    found = [
        problem
        for name, check in (("project", _project), ("build-system", _build_system), ("dependency-groups", _groups))
        if name in data
        for problem in _section(name, data[name], check)
    ]
    return list(dict.fromkeys(found))


def new_problems(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Problem]:
    """Return the problems that a change adds."""
    known = {each.text for each in problems(before)}
    return [each for each in problems(after) if each.text not in known]


def _section(name: str, value: Any, check: Callable[[Mapping[str, Any]], Iterable[Problem]]) -> Iterable[Problem]:
    return check(value) if isinstance(value, dict) else [_no("a table", (name,), value)]


def _project(table: Mapping[str, Any]) -> Iterator[Problem]:
    dynamic = table.get("dynamic", [])
    dynamic = dynamic if isinstance(dynamic, list) else []
    for name in _REQUIRED:
        if name not in table and name not in dynamic:
            yield Problem(f"[project] has no {name}", refuses=False)
    for name, value in table.items():
        check = _KEYS.get(name)
        if check is None:
            yield Problem(f"project.{name[:_SHOWN]} is no key that the standard knows{_close(name)}", refuses=False)
        else:
            yield from check(("project", name), value)
        if name not in _NEVER_DYNAMIC and name in dynamic:
            yield Problem(f"project.{name} is there, and dynamic as well")


def _build_system(table: Mapping[str, Any]) -> Iterator[Problem]:
    if "requires" not in table:
        yield Problem("[build-system] has no requires", refuses=False)
    for name, value in table.items():
        path = ("build-system", name)
        if name == "requires":
            yield from _requirements(path, value)
        elif name == "build-backend":
            yield from _text(path, value, _backend)
        elif name == "backend-path":
            yield from _items(path, value, _inside)
        else:
            yield Problem(f"build-system.{name[:_SHOWN]} is no key that the standard knows", refuses=False)


def _groups(table: Mapping[str, Any]) -> Iterator[Problem]:
    names = {_normal(name): name for name in table}
    for name, items in table.items():
        path = ("dependency-groups", name)
        yield from _named(path, name)
        if names[_normal(name)] != name:
            yield Problem(f"the groups {name} and {names[_normal(name)]} have one name to installers")
        if not isinstance(items, list):
            yield _no("an array", path, items)
            continue
        for each in items:
            if isinstance(each, dict):
                yield from _included(path, each, names)
            else:
                yield from _text(path, each, _requirement, "an item of ")
    yield from _circles(table, names)


def _included(path: Path, item: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[Problem]:
    group = item.get("include-group")
    if list(item) != ["include-group"] or not isinstance(group, str):
        yield Problem(f"a table in {written_key(path)} has something else than include-group with a group's name")
    elif _normal(group) not in names:
        yield Problem(f"{written_key(path)} includes the group {group[:_SHOWN]}, which is not there")


def _circles(table: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[Problem]:
    """Yield groups that include themselves, by whatever way: what is left once groups go that include no other."""
    includes = {
        key: {
            _normal(each["include-group"])
            for each in (table[name] if isinstance(table[name], list) else ())
            if isinstance(each, dict) and isinstance(each.get("include-group"), str)
        }
        & names.keys()
        for key, name in names.items()
    }
    users: dict[str, list[str]] = {key: [] for key in names}
    for key, inner in includes.items():
        for each in inner:
            users[each].append(key)
    waiting = [key for key, inner in includes.items() if not inner]
    while waiting:
        done = waiting.pop()
        for user in users[done]:
            includes[user].discard(done)
            if not includes[user]:
                waiting.append(user)
    if left := sorted(names[key] for key, inner in includes.items() if inner):
        yield Problem(f"groups include each other in a circle: {', '.join(left)[:_SHOWN]}")


Check = Callable[[Path, Any], Iterator[Problem]]
Text = Callable[[str], str | None]
"""Returns the reason why a text is wrong."""


def _text(path: Path, value: Any, check: Text, what: str = "") -> Iterator[Problem]:
    if not isinstance(value, str):
        yield _no("a string", path, value, what)
    elif reason := check(value):
        yield Problem(f"{what}{written_key(path)} {reason}: {value[:_SHOWN]!r}")


def _items(path: Path, value: Any, check: Text) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield _no("an array", path, value)
        return
    for each in value:
        yield from _text(path, each, check, "an item of ")


def _each(check: Text) -> Check:
    return lambda path, value: _items(path, value, check)


def _table_of(check: Check, *, are_names: bool = False) -> Check:
    """Return the check of a table whose values have one each."""

    def checked(path: Path, value: Any) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield _no("a table", path, value)
            return
        for name, each in value.items():
            if are_names:
                yield from _named((*path, name), name)
            yield from check((*path, name), each)

    return checked


def _entry_points(path: Path, value: Any) -> Iterator[Problem]:
    yield from _table_of(_points)(path, value)
    own = {"console_scripts": "scripts", "gui_scripts": "gui-scripts"}
    for name in own.keys() & value.keys() if isinstance(value, dict) else ():
        yield Problem(f"project.entry-points.{name} belongs into project.{own[name]}")


def _people(path: Path, value: Any) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield _no("an array", path, value)
        return
    for each in value:
        fits = isinstance(each, dict) and each and each.keys() <= {"name", "email"}
        if not fits or not all(isinstance(one, str) for one in each.values()):
            yield Problem(f"an item of {written_key(path)} is no table of name and email")


def _file_or_text(path: Path, value: Any, further: str = "") -> Iterator[Problem]:
    """Judge `{ file = … }` and `{ text = … }`, of which there is one."""
    known = {"file", "text", *([further] if further else [])}
    if not value.keys() <= known or not all(isinstance(each, str) for each in value.values()):
        yield Problem(f"{written_key(path)} is a table with something else than {', '.join(sorted(known))} as strings")
    elif ("file" in value) == ("text" in value):
        yield Problem(f"{written_key(path)} needs either file or text")


def _readme(path: Path, value: Any) -> Iterator[Problem]:
    yield from _file_or_text(path, value, "content-type") if isinstance(value, dict) else _plain(path, value)


def _license(path: Path, value: Any) -> Iterator[Problem]:
    yield from _file_or_text(path, value) if isinstance(value, dict) else _text(path, value, _expression)


def _checked(check: Text) -> Check:
    return lambda path, value: _text(path, value, check)


def _anything(_: str) -> None:
    return None


def _project_name(text: str) -> str | None:
    return None if _NAME.fullmatch(text) else "is no name of a distribution"


def _version(text: str) -> str | None:
    from packaging.version import Version  # 40 ms with what it brings, as below

    return _unread(text, Version, "is no version (PEP 440)")


def _specifiers(text: str) -> str | None:
    from packaging.specifiers import SpecifierSet

    return _unread(text, SpecifierSet, "is no set of version specifiers")


def _requirement(text: str) -> str | None:
    from packaging.requirements import Requirement

    return _unread(text, Requirement, "is no requirement (PEP 508)")


def _expression(text: str) -> str | None:
    from packaging.licenses import canonicalize_license_expression

    return _unread(text, canonicalize_license_expression, "is no SPDX license expression (PEP 639)")


def _unread(text: str, read: Callable[[str], object], reason: str) -> str | None:
    if len(text) > _LONGEST:
        return "is too long"
    try:
        read(text)
    except ValueError:  # of which the errors of packaging are
        return reason
    return None


def _backend(text: str) -> str | None:
    return None if _BACKEND.fullmatch(text) else "is no name of a backend, as module or module:object"


def _script(text: str) -> str | None:
    found = _ENTRY.fullmatch(text[:_LONGEST])
    return None if found and ":" in text else "is no entry point, as module:function"


def _entry(text: str) -> str | None:
    return None if _ENTRY.fullmatch(text[:_LONGEST]) else "is no entry point, as module or module:object"


def _inside(text: str) -> str | None:
    parts = text.replace("\\", "/").split("/")
    depth = 0
    for part in parts:
        depth += 0 if part in ("", ".") else -1 if part == ".." else 1
        if depth < 0:
            return "leads out of the project"
    return "leads out of the project" if not text or text[0] in "/\\" or ":" in parts[0] else None


def _pattern(text: str) -> str | None:
    return "leads out of the project" if ".." in text.split("/") or text.startswith("/") else None


def _may_be_dynamic(text: str) -> str | None:
    return None if text in _KEYS and text not in _NEVER_DYNAMIC else "is no key that may be dynamic"


def _named(path: Path, name: str) -> Iterator[Problem]:
    if not _NAME.fullmatch(name):
        yield Problem(f"{written_key(path)[:_SHOWN]} is no name that can be normalised")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _no(kind: str, path: Path, value: Any, what: str = "") -> Problem:
    return Problem(f"{what}{written_key(path)} is {kind_of(value)}, and has to be {kind}")


def _close(name: str) -> str:
    close = closest(name[:_SHOWN], _KEYS, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


_plain = _checked(_anything)
_texts, _requirements = _each(_anything), _each(_requirement)
_scripts, _points = _table_of(_checked(_script)), _table_of(_checked(_entry))
_KEYS: Mapping[str, Check] = {
    "name": _checked(_project_name),
    "version": _checked(_version),
    "description": _plain,
    "readme": _readme,
    "requires-python": _checked(_specifiers),
    "license": _license,
    "license-files": _each(_pattern),
    "authors": _people,
    "maintainers": _people,
    "keywords": _texts,
    "classifiers": _texts,
    "urls": _table_of(_plain),
    "scripts": _scripts,
    "gui-scripts": _scripts,
    "entry-points": _entry_points,
    "dependencies": _requirements,
    "optional-dependencies": _table_of(_requirements, are_names=True),
    "import-names": _texts,
    "import-namespaces": _texts,
    "dynamic": _each(_may_be_dynamic),
}
"""The checks of the keys of [project]."""
