"""Reference cases as text: a small project whose lines are labelled by hand with what a question about it must find.

    A parameter of the function's name is another thing.      <- what the case shows, up to the first section

    --- file: app/core.py                                     <- a file; its module's name follows from the path,
    def f():                                                     or stands behind it: `src/app/core.py as app.core`
        return 1

    def g(f):
        return f()                                            <- no marker: nothing is found on this line

    print(f, f())  #~ sure read, sure call in app.core        <- what is found on it, from left to right

    --- ask: references app.core.f                            <- a verb of the API and its target

A marker is taken off its line before the project is made, so it may stand where Python has no comments, and in other
files than Python's. A label is `sure KIND`, `unsure KIND` or `string`; `@7` behind it gives the column, `in ADDRESS`
the symbol that refers. Where the rule leaves two answers open they are written `sure|unsure read`; `open` means that
nothing is compared on the line. Any other comment that looks like a marker is an error, never a pass.

Several questions about one project have a tag each, `--- ask a: references app.core.A.m`, which their labels name:
`#~ a: sure call, b: unsure call`. A question may depend on the running Python: `--- ask old before 3.12: …`.

Questions of `LISTING` have no markers; what they find stands below them, `ADDRESS CERTAINTY [line N]` each, in any
order, or a single `error: CODE`, which every question may have. `--- incomplete: app.broken` says that the answers are
not complete and name these modules in a warning, on some Pythons where it is `--- incomplete before 3.12: app.newer`;
`--- complete: open` says that either is right; else they are complete.

In files, pictures and ⟪e9⟫ stand for what editors like to change, as in the other cases.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cases.reader import unpictured

LABELLED = ("references", "callers", "importers_of")
LISTING = ("callees", "imports_of", "subclasses", "overrides", "unused")
CERTAINTIES = ("sure", "probable", "unsure")
KINDS = (
    "import", "call", "read", "write", "delete", "base", "decorator", "annotation", "keyword", "export", "mention",
    "request", "definition",
)  # fmt: skip

_FILE = re.compile(r"(?P<path>[^\s]+)(?: as (?P<module>[\w.@]+))?")
_ASK = re.compile(r"(?P<verb>\w+) (?P<target>\S+)")
_HEADER = re.compile(r"--- (?P<word>\w+)(?: (?P<rest>[^:]*))?: ?(?P<value>.*)")
_WHEN = re.compile(r"(?:(?P<tag>[a-z]+))?(?: ?(?P<when>before|from) (?P<version>3\.\d+))?")
_LOOKALIKE = re.compile(r"#\s*~|~#|#.*\b(?:un)?sure\b|#\W*(?:string|open)\W*$")
_LABEL = re.compile(
    r"(?:(?P<tag>[a-z]+): )?(?P<what>string|open|(?P<certainty>[a-z|]+) (?P<kind>[a-z|]+))"
    r"(?: @(?P<column>\d+))?(?: in (?P<address>\S+))?"
)
_LISTED = re.compile(r"(?P<address>\S+) (?P<certainty>[a-z|]+)(?: line (?P<line>\d+))?")


@dataclass(frozen=True, kw_only=True)
class Label:
    """What must be found at one place; several certainties or kinds where any of them is right."""

    certainties: tuple[str, ...]
    kinds: tuple[str, ...]
    tag: str = ""
    column: int | None = None
    address: str | None = None

    @property
    def open(self) -> bool:
        """Whether nothing is compared."""
        return not self.certainties

    def fits(self, certainty: str, kind: str, column: int, address: str) -> bool:
        """Whether this is what was found."""
        return (
            certainty in self.certainties
            and kind in self.kinds
            and self.column in (None, column)
            and self.address in (None, address)
        )

    def __str__(self) -> str:
        """Write it the way it stands in a marker."""
        text = "string" if self.kinds == ("string",) else f"{'|'.join(self.certainties)} {'|'.join(self.kinds)}"
        text += f" @{self.column}" if self.column is not None else ""
        return text + (f" in {self.address}" if self.address is not None else "")


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One thing that a listing question must find."""

    address: str
    certainties: tuple[str, ...]
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One question: labels by module and line, or a listing, or the code of an error."""

    verb: str
    target: str
    tag: str = ""
    labels: Mapping[tuple[str, int], tuple[Label, ...]]
    listing: tuple[Listed, ...] = ()
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReferenceCase:
    """One case: the content of its files by path, the modules they are, and what is asked on the running Python."""

    name: str
    about: str
    files: Mapping[str, str]
    modules: Mapping[str, str]
    asks: tuple[Ask, ...]
    complete: bool | None = True
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Section:
    word: str
    rest: str
    value: str
    lines: list[str]


def read(path: Path, version: tuple[int, int] = sys.version_info[:2]) -> ReferenceCase:
    """Read a case; raise ValueError where it is malformed.

    Parameters:
        version: the Python whose questions are wanted.
    """
    try:
        return _parse(path.stem, path.read_text(encoding="utf-8"), version)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error


def _parse(name: str, text: str, version: tuple[int, int]) -> ReferenceCase:
    about, sections = _sections(text)
    files: dict[str, str] = {}
    modules: dict[str, str] = {}
    labels: dict[tuple[str, int], tuple[Label, ...]] = {}
    for section in sections:
        if section.word == "file":
            path, module = _file(section, modules)
            files[path], found = _unmarked(section.lines)
            modules[path] = module
            labels.update({(module, line): of_line for line, of_line in found.items()})
    asking = [section for section in sections if section.word == "ask"]
    if not about or not files or not asking:
        raise ValueError("a case needs a sentence, a file, and a question")
    asks = [ask for section in asking if (ask := _ask(section, labels, version))]
    _check_tags(asking, labels)
    if not asks:
        raise ValueError(f"nothing is asked on Python {version[0]}.{version[1]}")
    complete, unreadable = _completeness(sections, set(modules.values()), version)
    return ReferenceCase(
        name=name,
        about=about,
        files=files,
        modules=modules,
        asks=tuple(asks),
        complete=complete,
        unreadable=unreadable,
    )


def _sections(text: str) -> tuple[str, list[_Section]]:
    about: list[str] = []
    sections: list[_Section] = []
    lines = about
    for line in text.split("\n"):
        if line.startswith("---"):
            header = _HEADER.fullmatch(line)
            if not header or header["word"] not in ("file", "ask", "incomplete", "complete"):
                raise ValueError(f"{line!r} opens no section")
            lines = []
            sections.append(_Section(header["word"], header["rest"] or "", header["value"], lines))
        else:
            lines.append(line)
    for part in (about, *(section.lines for section in sections)):
        while part and not part[-1]:
            part.pop()
    return "\n".join(about).strip(), sections


def _file(section: _Section, known: Mapping[str, str]) -> tuple[str, str]:
    match = _FILE.fullmatch(section.value)
    if not match or section.rest:
        raise ValueError(f"{section.value!r} is no file")
    path = match["path"]
    if path in known:
        raise ValueError(f"{path} is there twice")
    stem = path.rpartition(".")[0].replace("/", ".")
    module = match["module"] or stem.removesuffix(".__init__")
    if module in known.values():
        raise ValueError(f"{module} is the module of two files; say `as` which one {path} is")
    return path, module


def _unmarked(lines: Sequence[str]) -> tuple[str, dict[int, tuple[Label, ...]]]:
    """Take the markers off; return the text and the labels by line."""
    text: list[str] = []
    found: dict[int, tuple[Label, ...]] = {}
    for number, line in enumerate(lines, start=1):
        code, mark, labels = line.rpartition("#~ ")
        if mark:
            found[number] = tuple(_label(label) for label in labels.split(", "))
            line = code.rstrip()
        if _LOOKALIKE.search(line):
            raise ValueError(f"{line.strip()!r} looks like a marker and is none")
        text.append(line)
    return unpictured("".join(f"{line}\n" for line in text)), found


def _label(text: str) -> Label:
    match = _LABEL.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is no label")
    tag, column, address = match["tag"] or "", int(match["column"]) if match["column"] else None, match["address"]
    if match["what"] == "open":
        return Label(certainties=(), kinds=(), tag=tag)
    if match["what"] == "string":
        return Label(certainties=("mention",), kinds=("string",), tag=tag, column=column, address=address)
    certainties = _choices(match["certainty"], CERTAINTIES)
    kinds = _choices(match["kind"], KINDS)
    if "mention" in kinds and certainties != ("unsure",):
        raise ValueError(f"{text!r}: a mention is unsure")
    return Label(certainties=certainties, kinds=kinds, tag=tag, column=column, address=address)


def _choices(text: str, known: Iterable[str]) -> tuple[str, ...]:
    chosen = tuple(text.split("|"))
    if unknown := set(chosen) - set(known):
        raise ValueError(f"{', '.join(sorted(unknown))} is none of {', '.join(known)}")
    return chosen


def _ask(
    section: _Section, labels: Mapping[tuple[str, int], tuple[Label, ...]], version: tuple[int, int]
) -> Ask | None:
    """Return a question; None where it is one for other versions of Python."""
    match, when = _ASK.fullmatch(section.value), _WHEN.fullmatch(section.rest)
    if not match or not when or match["verb"] not in (*LABELLED, *LISTING):
        raise ValueError(f"{section.value!r} is no question")
    tag = when["tag"] or ""
    labelled = match["verb"] in LABELLED
    error = section.lines[0].removeprefix("error: ") if "".join(section.lines).startswith("error: ") else None
    if section.lines and ((labelled and not error) or (error and len(section.lines) > 1)):
        raise ValueError(f"{section.lines[-1]!r} stands below a question that has markers or an error")
    mine = {place: kept for place, found in labels.items() if (kept := tuple(x for x in found if x.tag == tag))}
    ask = Ask(
        verb=match["verb"],
        target=match["target"],
        tag=tag,
        labels=mine if labelled else {},
        listing=() if error or labelled else tuple(_listed(line) for line in section.lines if line),
        error=error,
    )
    return ask if _holds(when, version) else None


def _holds(when: re.Match[str], version: tuple[int, int]) -> bool:
    """Say whether a section is one for this version of Python."""
    if when["when"] is None:
        return True
    older = version < tuple(int(part) for part in when["version"].split("."))
    return older == (when["when"] == "before")


def _check_tags(asking: Sequence[_Section], labels: Mapping[tuple[str, int], tuple[Label, ...]]) -> None:
    """Refuse labels that belong to no question, and questions that share a tag."""
    tags = [section.rest.split(" ")[0] for section in asking if section.value.split(" ")[0] in LABELLED]
    tags = ["" if tag in ("before", "from") else tag for tag in tags]
    if len(set(tags)) != len(tags):
        raise ValueError("several questions with markers have a tag each")
    for (module, line), found in labels.items():
        if strangers := {label.tag for label in found} - set(tags):
            raise ValueError(f"{module}, line {line}: no question has the tag {strangers.pop()!r}")


def _listed(text: str) -> Listed:
    match = _LISTED.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is no line of a listing")
    certainties = _choices(match["certainty"], CERTAINTIES)
    return Listed(address=match["address"], certainties=certainties, line=int(match["line"]) if match["line"] else None)


def _completeness(
    sections: Sequence[_Section], modules: set[str], version: tuple[int, int]
) -> tuple[bool | None, tuple[str, ...]]:
    stated = [section for section in sections if section.word in ("complete", "incomplete")]
    if not stated:
        return True, ()
    (section,) = stated
    if section.word == "complete":
        if section.value != "open":
            raise ValueError("an answer is complete unless the case says otherwise: open, or `--- incomplete`")
        return None, ()
    when, unreadable = _WHEN.fullmatch(section.rest), tuple(section.value.split(", "))
    if not when or when["tag"]:
        raise ValueError(f"{section.rest!r} is no version of Python")
    if unknown := set(unreadable) - modules:
        raise ValueError(f"{', '.join(sorted(unknown))} is no module of the case")
    return (False, unreadable) if _holds(when, version) else (True, ())
