"""Names: as the caller gave them (`DottedName`), and resolved (`Address`).

    Address  = Module ["@stub" | "@module"] ("." Name [ "[" n "]" | "@" Accessor ])* ["@" Part] | [Package] ":" Resource
    Accessor = getter | setter | deleter | overload[n] | impl
    Part     = signature | decorators | docstring | body          of a module: docstring | imports | main

`@module` says where the module ends, for the rare name that is both a submodule and an attribute of its package:
`pkg.run@module` is the module, `pkg@module.run` the attribute. Parsing never looks at a project: it refuses what no
project could hold (paths, `..`, NUL, empty parts, absurd lengths), and leaves the rest to `naming.resolve`: `a.py` is
a name where a module `a` defines `py`, and only else a path.
"""

from __future__ import annotations

import re
from enum import Enum

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.model.call import Call
from bae_source.model.text import normalised

SELECTOR = "sym://"
"""The beginning of a selector, and of no name."""
MAX_LENGTH = 1000
MAX_PARTS = 100

_SUFFIX = r"\[(?P<index>\d{1,6})\]|@(?P<word>[a-z]+)(?:\[(?P<number>\d{1,6})\])?"
"""Compiled for a name that has one."""
_NO_PYTHON = (
    r"\w\.(?:md|rst|adoc|txt|toml|ya?ml|json|jsonl|json5|cfg|ini|conf|lock|x?html?|css|scss|jsx?|tsx?|xml|csv|tsv|sql|sh"
    r"|bash|bat|ps1|svg|png|jpe?g|gif|ico|pdf|ipynb|env|log|po|pot|mo|j2|jinja2?|tmpl|proto|zip|gz|tar|whl|patch|diff)$"
)
"""Compiled where a name has failed, or a module is to be made."""
_NO_ENDING = frozenset({"Makefile", "Dockerfile", "Justfile", "Procfile", "LICENSE", "COPYING", "README", "CHANGELOG"})
_ACCESSORS = ("getter", "setter", "deleter", "overload", "impl")
_SHAPE = "A name looks like pkg.mod.Class.method, one of several like f[0] or x@setter, a part like f@body."


class Part(Enum):
    """A piece of a definition, or of a module, that can be read and edited on its own."""

    SIGNATURE = "signature"
    DECORATORS = "decorators"
    DOCSTRING = "docstring"
    BODY = "body"
    IMPORTS = "imports"
    MAIN = "main"


class Marker(Enum):
    """The suffix of a module's last component: for its stub, or to say that the module ends there."""

    STUB = "stub"
    MODULE = "module"


class Segment(Struct, frozen=True):
    """One component of a name, and which one of several it asks for.

    Parameters:
        name: a module's file stem, or an identifier in NFKC form.
        index: the n-th definition of that name in source order, from 0.
        accessor: `getter`, `setter`, `deleter`, `overload` or `impl`.
        number: the n-th overload, from 0; only with `overload`.
    """

    name: str
    index: int | None = None
    accessor: str | None = None
    number: int | None = None

    def __str__(self) -> str:
        if self.index is not None:
            return f"{self.name}[{self.index}]"
        if self.accessor is None:
            return self.name
        return f"{self.name}@{self.accessor}" + (f"[{self.number}]" if self.number is not None else "")

    @property
    def plain(self) -> bool:
        """Return whether the segment asks for a name alone."""
        return self.index is None and self.accessor is None


class DottedName(Struct, frozen=True, kw_only=True):
    """A name as asked: where its module ends is not known yet, unless `marked` says so.

    Parameters:
        segments: the components; `<locals>` is left out.
        marked: how many of them are the module, and by which marker.
        part: a part of the definition.
        resource: what follows the colon of a data file; there are no segments if it lies in no package.
    """

    segments: tuple[Segment, ...]
    marked: tuple[int, Marker] | None = None
    part: Part | None = None
    resource: str | None = None

    def __str__(self) -> str:
        pieces = []
        for index, segment in enumerate(self.segments):
            mark = f"@{self.marked[1].value}" if self.marked and self.marked[0] == index + 1 else ""
            pieces.append(f"{segment}{mark}")
        text = ".".join(pieces)
        if self.resource is not None:
            return f"{text}:{self.resource}"
        return text + (f"@{self.part.value}" if self.part else "")


class Address(Struct, frozen=True, kw_only=True):
    """A name resolved: it is in the project, and it is one thing.

    Parameters:
        module: dotted name of the module; a package stands for its `__init__`.
        qualname: the path inside the module; empty for the module itself.
        part: a part of the definition.
        marker: `STUB` for the module's stub; `MODULE` where the text needs it to be unambiguous.
        resource: a data file of the package `module`.
    """

    module: str
    qualname: tuple[Segment, ...] = ()
    part: Part | None = None
    marker: Marker | None = None
    resource: str | None = None

    def __str__(self) -> str:
        if self.resource is not None:
            return f"{self.module}:{self.resource}"
        head = self.module + (f"@{self.marker.value}" if self.marker else "")
        text = ".".join((head, *map(str, self.qualname)))
        return text + (f"@{self.part.value}" if self.part else "")

    @property
    def name(self) -> str:
        """The last component, without which-of-several."""
        return self.qualname[-1].name if self.qualname else self.module.rpartition(".")[2]

    @property
    def whole(self) -> Address:
        """The definition that a part belongs to."""
        return Address(module=self.module, qualname=self.qualname, marker=self.marker, resource=self.resource)


def is_selector(text: str) -> bool:
    """Return whether a text means to be a selector (`model.selector`), well-formed or not."""
    return text.startswith(SELECTOR)


def is_pattern(text: str) -> bool:
    """Return whether a text means to be a pattern over names; brackets alone make none, since `f[0]` is a name."""
    return ("*" in text or "?" in text) and not is_selector(text)


def parse_name(text: str) -> DottedName:
    """Parse a dotted name.

    Raises:
        RequestError: `invalid_name`, with the name that a path would mean as the hint.
    """
    _refuse_hostile(text)
    if is_selector(text):
        raise RequestError(
            "invalid_name",
            "A selector is taken by reading requests only; a change names its target by a dotted name.",
            hints=[Call("read", target=text, then="tells the dotted name of what it finds.")],
        )
    path = re.match(r"([^:]*\.pyi?)(?::|$)", text) if ".py" in text else None
    if path and re.search(r"[\\/:]", text):  # the way tracebacks, linters and pytest name a place
        raise path_given(path[1], text)
    name, colon, resource = text.partition(":")
    if colon and re.search(r"[\\/]|^\.", name):
        raise path_given(name, text)
    if colon:
        return DottedName(segments=_parse_package(name, text), resource=_parse_resource(resource, text))
    if "/" in text or "\\" in text or re.match(r"\.\w", text):
        raise path_given(text, text)
    return _parse_symbol(text)


def _refuse_hostile(text: str) -> None:
    if not text:
        raise RequestError(
            "invalid_name", "A name is empty.", hints=["Give a dotted name such as pkg.mod.Class.method."]
        )
    if len(text) > MAX_LENGTH:
        raise RequestError(
            "invalid_name", f"A name of {len(text):,} characters is longer than {MAX_LENGTH:,}.", hints=[_SHAPE]
        )
    if any(character < " " or character == "\x7f" for character in text):
        raise RequestError("invalid_name", f"{text!r} holds a control character, which no name has.", hints=[_SHAPE])


def path_given(path: str, text: str) -> RequestError:
    """Return the error for a path where a dotted name belongs, with the name or the address that it means.

    Parameters:
        path: the path in `text`.
    """
    parts = [part for part in re.split(r"[\\/]+", path) if part != "."]
    if not parts or ".." in parts or "" in parts[:-1]:
        return RequestError("invalid_name", f"{text!r} is a path; code is addressed by dotted name.", hints=[_SHAPE])
    python = path.endswith((".py", ".pyi"))
    file = f":{'/'.join(filter(None, parts))}"
    if not python and ("." in parts[-1] or any(part.startswith(".") for part in parts)):
        return file_given(text, file)
    parts = [re.sub(r"\.pyi?$", "", part) for part in parts if part not in ("src", "")]
    if parts and parts[-1] == "__init__":
        parts.pop()
    hint = f"Try {'.'.join(parts)}." if parts else _SHAPE
    message = f"{text!r} is a path; code is addressed by dotted name."
    return RequestError(
        "invalid_name", message, hints=[hint] if python else [hint, f"A file that is no Python: {file}."]
    )


def file_given(text: str, address: str) -> RequestError:
    """Return the error for the path of a file that is no Python where a name belongs.

    Parameters:
        address: what the path means.
    """
    message = f"{text!r} is the path of a file, whose address is {address}."
    return RequestError("invalid_name", message, hints=[f"Try {address}."], candidates=[address])


def is_plainly_no_python(text: str) -> bool:
    """Return whether a text is what a file is called that holds no Python: `README.md`, `Makefile`."""
    return bool(re.search(_NO_PYTHON, text, re.IGNORECASE)) or text in _NO_ENDING


def _parse_symbol(text: str) -> DottedName:
    segments: list[Segment] = []
    marked: tuple[int, Marker] | None = None
    part: Part | None = None
    position = 0
    while position <= len(text):
        if part is not None or len(segments) >= MAX_PARTS:
            raise _malformed(text, f"more than {MAX_PARTS} components" if part is None else "a name behind a part")
        if text.startswith("<locals>.", position) and segments:
            position += len("<locals>.")
            continue
        end = _end_of_name(text, position)
        name = _component(text[position:end], text)
        segment = Segment(name)
        position = end
        while text.startswith(("[", "@"), position) and (match := re.compile(_SUFFIX).match(text, position)):
            segment, marker, part = _suffix(match, segment, part, marked is not None, text)
            if marker is not None:
                marked = (len(segments) + 1, marker)
            position = match.end()
        segments.append(segment)
        if position == len(text):
            break
        if text[position] != ".":
            raise _malformed(text, f"unexpected {text[position]!r}")
        position += 1
    return DottedName(segments=tuple(segments), marked=marked, part=part)


def _end_of_name(text: str, start: int) -> int:
    end = start
    while end < len(text) and text[end] not in ".[@":
        end += 1
    return end


def _component(name: str, text: str) -> str:
    if not name:
        raise _malformed(text, "an empty component" if ".." not in text else "'..'")
    if name.isidentifier():
        return normalised(name)
    if re.fullmatch(r"\w(?:[\w\-+ ]*[\w+])?", name):
        return name  # a module's file stem need not be an identifier: `0001_initial`, `my-script`
    raise _malformed(text, f"{name!r} is no name")


def _suffix(
    match: re.Match[str], segment: Segment, part: Part | None, marked: bool, text: str
) -> tuple[Segment, Marker | None, Part | None]:
    word, number = match["word"], match["number"]
    if part is not None:
        raise _malformed(text, "something behind a part")
    if word is None:
        if not segment.plain:
            raise _malformed(text, "two choices for one component")
        return Segment(segment.name, index=int(match["index"])), None, None
    if word in _ACCESSORS and segment.plain and (number is None or word == "overload"):
        chosen = int(number) if number is not None else None
        return Segment(segment.name, accessor=word, number=chosen), None, None
    if word in Marker._value2member_map_ and number is None and not marked and segment.plain:
        return segment, Marker(word), None
    if word in Part._value2member_map_ and number is None:
        return segment, None, Part(word)
    known = ", ".join(["@" + word for word in (*_ACCESSORS, *(part.value for part in Part))])
    raise _malformed(text, f"{match[0]!r} is not known there; known are {known}")


def _parse_package(name: str, text: str) -> tuple[Segment, ...]:
    if not name:
        return ()
    parsed = _parse_symbol(name)
    if parsed.part or parsed.marked or not all(segment.plain for segment in parsed.segments):
        raise _malformed(text, "before the colon stands a package's name alone")
    return parsed.segments


def _parse_resource(resource: str, text: str) -> str:
    parts = resource.split("/")
    if "\\" in resource or ":" in resource or any(part in ("", ".", "..") for part in parts):
        raise _malformed(
            text, "a file is named by its path inside the package, or below the root, with '/' and without '..'"
        )
    return resource


def _malformed(text: str, problem: str) -> RequestError:
    shown = text if len(text) <= 100 else text[:97] + "..."
    return RequestError(
        "invalid_name",
        f"{shown!r} is no dotted name: {problem}.",
        hints=[_SHAPE],
    )
