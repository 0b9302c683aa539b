"""Cases as text: a small project, one request, and what must come of it. Adding one needs no Python.

    A suite that is pasted too deep moves back to its place.      <- what the case shows, up to the first section

    [file mod.py]                 <- a file of the project; attributes may follow its name (see `_bytes`)
    def f():
        return 1

    [request]                     <- one `key: value` a line: `do`, and parameters of that verb by their names, again
                                     for several; `import`, `export_name`, `name` and `statement` for one of the lists
                                     of them; `true` for a flag; `python: before 3.12` or `from 3.12`
    do: edit
    target: mod.f

    [new_source]                  <- or [source]; also [old], [new] and [comment], where they take several lines
            def f():
                return 2

    [pattern], [replacement]      <- where these take several lines

    [diff]                        <- the exact diff; an empty section where nothing changes
    ...                              or [error] with code, exit, message and hint (fragments), candidate (all of them)
    [warnings]                    <- codes, one a line; `syntax_unchecked before 3.12` counts on older Pythons only
    [changed]                     <- addresses, one a line; not compared where the section is missing
    [report]                      <- what a refactoring leaves, all of it, one place a line: `probable app.web:7`,
                                     `unsure app.web:9`, `mention :guide.md:3`, `unparsed app.old`

Blank lines at the end of a section do not count. What editors like to change is written as a picture: ␉ is a tab, ␌ a
form feed, ␍ a carriage return, ␊ a line feed, ␠ a space, ␀ a NUL, ␘ a byte order mark, and ⟪e9⟫ the byte 0xE9 where it
is no UTF-8.

File attributes: `crlf` and `cr` for the line ends, `bom`, `no-final-newline`, the name of a codec such as `latin-1`,
`mode=444`, or `from sources/crlf.py` for a file of fixtures/ as it is. [new_source], [old] and [new] take `crlf`, `cr`
and `no-final-newline` too; [old] and [new] have no newline at their end unless they say `final-newline`.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bae_source.engine.registry import REQUESTS
from bae_source.model.context import steering
from bae_source.model.request import fits, parameters

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"

_HEADER = re.compile(
    r"\[(file|request|source|new_source|old|new|comment|pattern|text|replacement|diff|error|warnings|changed|report)"
    r"((?: [^\]]+)?)\]"
)
_PICTURES = {"␉": "\t", "␌": "\f", "␍": "\r", "␊": "\n", "␠": " ", "␀": "\0", "␘": "\N{ZERO WIDTH NO-BREAK SPACE}"}
_RAW_BYTE = re.compile(r"⟪([0-9a-f]{2})⟫")
_ONE_OF = {"import": "imports", "export_name": "export", "name": "names", "statement": "statements"}
"""Keys for one item of a parameter that takes several."""
_ERROR_KEYS = {"code", "exit", "message", "hint", "candidate"}


@dataclass(frozen=True, kw_only=True)
class File:
    """A file of a case's project."""

    content: bytes
    mode: int = 0o644


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What must come of the request: a diff, or an error."""

    diff: str | None = None
    code: str = ""
    exit: int = 0
    messages: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    changed: tuple[str, ...] | None = None
    report: tuple[str, ...] | None = None


@dataclass(kw_only=True)
class Case:
    """One case; `request` has the parameters by name, `do` among them; `is_due` if it is for the running Python."""

    name: str
    about: str
    is_due: bool = True
    files: dict[str, File] = field(default_factory=dict)
    request: dict[str, str | list[str] | bool | int] = field(default_factory=dict)
    expected: Expected = field(default_factory=Expected)


def read(path: Path) -> Case:
    """Read a case; raise ValueError where it is malformed."""
    try:
        return _parse(path.stem, path.read_text(encoding="utf-8"))
    except (ValueError, LookupError) as error:
        raise ValueError(f"{path.name}: {error}") from error


def _parse(name: str, text: str) -> Case:
    about, sections = _sections(text)
    case = Case(name=name, about=about)
    outcome: dict[str, list[str]] = {}
    for kind, attributes, lines in sections:
        if kind == "file":
            case.files[attributes[0]] = _file(lines, attributes[1:])
        elif kind == "request":
            versions = [line.removeprefix("python: ") for line in lines if line.startswith("python: ")]
            case.is_due = all(map(_is_running, versions))
            _add_request(case.request, [line for line in lines if not line.startswith("python: ")])
        elif kind in ("source", "new_source", "old", "new", "comment", "pattern", "text", "replacement"):
            ended = kind in ("source", "new_source", "comment") or "final-newline" in attributes
            extra = [] if ended else ["no-final-newline"]
            case.request[kind] = _text(lines, [*(a for a in attributes if a != "final-newline"), *extra])
        else:
            outcome[kind] = lines
    if not about or not case.files or "do" not in case.request:
        raise ValueError("a case needs a sentence, a file, and a request with do")
    if ("diff" in outcome) == ("error" in outcome):
        raise ValueError("a case needs either [diff] or [error]")
    case.expected = _expected(outcome)
    return case


def _sections(text: str) -> tuple[str, list[tuple[str, list[str], list[str]]]]:
    about: list[str] = []
    sections: list[tuple[str, list[str], list[str]]] = []
    lines = about
    for line in text.split("\n"):
        if header := _HEADER.fullmatch(line):
            lines = []
            sections.append((header[1], header[2].split(), lines))
        else:
            lines.append(line)
    for part in (about, *(lines for _, _, lines in sections)):
        while part and not part[-1]:
            part.pop()
    return "\n".join(about).strip(), sections


def _is_running(versions: str) -> bool:
    how, version = versions.split()
    is_older = sys.version_info[:2] < tuple(map(int, version.split(".")))
    return is_older if {"before": True, "from": False}[how] else not is_older


def _add_request(request: dict[str, str | list[str] | bool | int], lines: Sequence[str]) -> None:
    given: dict[str, list[str]] = {}
    for key, value in _pairs(lines):
        given.setdefault(key, []).append(value)
    [verb] = given.pop("do", [""])
    kind = REQUESTS.named(verb)
    if kind is None:
        raise ValueError(f"{verb!r} is no verb")
    request["do"] = verb
    declared = {each.name: each for each in (*parameters(kind), *steering(kind))}
    for key, values in given.items():
        name = _ONE_OF.get(key, key)
        if name not in declared:
            raise ValueError(f"{verb} takes no {key}")
        request[name] = _converted(declared[name].annotation, values, is_item=key in _ONE_OF)


def _converted(annotation: Any, values: list[str], *, is_item: bool) -> str | list[str] | bool | int:
    """Return what lines with one key give a parameter."""
    [value, *more] = values
    if not is_item and value in ("true", "false") and fits(annotation, True):
        return value == "true"
    if is_item or more or (fits(annotation, tuple(values)) and not fits(annotation, value)):
        return values
    return int(value) if value.isdigit() and fits(annotation, int(value)) else value


def _expected(outcome: dict[str, list[str]]) -> Expected:
    warnings = tuple(filter(None, map(_if_due, outcome.get("warnings", ()))))
    report = tuple(outcome["report"]) if "report" in outcome else None
    if "diff" in outcome:
        lines = [line or " " for line in outcome["diff"]]
        diff = unpictured("".join(f"{line}\n" for line in lines))
        changed = tuple(outcome["changed"]) if "changed" in outcome else None
        return Expected(diff=diff, warnings=warnings, changed=changed, report=report)
    pairs = list(_pairs(outcome["error"], _ERROR_KEYS))
    single = dict(pairs)
    return Expected(
        code=single["code"],
        exit=int(single["exit"]),
        messages=tuple(value for key, value in pairs if key == "message"),
        hints=tuple(value for key, value in pairs if key == "hint"),
        candidates=tuple(value for key, value in pairs if key == "candidate"),
        warnings=warnings,
        report=report,
    )


def _if_due(line: str) -> str | None:
    """Return a warning's code; None if only older Pythons than the running one give it."""
    code, _, version = line.partition(" before ")
    due = not version or sys.version_info[:2] < tuple(map(int, version.split(".")))
    return code if due else None


def _pairs(lines: Sequence[str], known: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    for line in filter(None, lines):
        key, colon, value = line.partition(": ")
        if not colon or (known and key not in known):
            raise ValueError(f"{line!r} is no `key: value` with a key of {', '.join(sorted(known))}")
        yield key, unpictured(value)


def _file(lines: Sequence[str], attributes: list[str]) -> File:
    mode = next((int(a.removeprefix("mode="), 8) for a in attributes if a.startswith("mode=")), 0o644)
    attributes = [a for a in attributes if not a.startswith("mode=")]
    if attributes[:1] == ["from"]:
        if any(lines):
            raise ValueError("a file that is taken from fixtures/ has no text of its own")
        return File(content=(FIXTURES / attributes[1]).read_bytes(), mode=mode)
    return File(content=_bytes(lines, attributes), mode=mode)


def _bytes(lines: Sequence[str], attributes: Sequence[str]) -> bytes:
    codec = next((a for a in attributes if a not in ("crlf", "cr", "bom", "no-final-newline")), "utf-8")
    text = _text(lines, [a for a in attributes if a not in ("bom", codec)])
    content = text.encode(codec, "surrogateescape")
    return codecs.BOM_UTF8 + content if "bom" in attributes else content


def _text(lines: Sequence[str], attributes: Sequence[str]) -> str:
    unknown = set(attributes) - {"crlf", "cr", "no-final-newline"}
    if unknown:
        raise ValueError(f"unknown attributes: {', '.join(sorted(unknown))}")
    newline = "\r\n" if "crlf" in attributes else "\r" if "cr" in attributes else "\n"
    text = unpictured("".join(f"{line}{newline}" for line in lines))
    return text.removesuffix(newline) if "no-final-newline" in attributes else text


def unpictured(text: str) -> str:
    """Return the text that pictures stand for."""
    for picture, char in _PICTURES.items():
        text = text.replace(picture, char)
    return _RAW_BYTE.sub(lambda match: bytes.fromhex(match[1]).decode("ascii", "surrogateescape"), text)


def pictured(text: str) -> str:
    """Return a diff as it stands in a case."""
    text = "\n".join(
        re.sub(r" +$", lambda m: "␠" * len(m[0]), line) if line != " " else "" for line in text.split("\n")
    )
    for picture, char in _PICTURES.items():
        if char not in "\n ":
            text = text.replace(char, picture)
    text = re.sub(r"[\ud800-\udfff]", lambda m: f"⟪{ord(m[0]) - 0xDC00:02x}⟫", text)
    lines = text.split("\n")
    if len(lines) > 1 and lines[-1] == "" and lines[-2] == "":
        lines[-2] = "␠"
    return "\n".join(lines)
