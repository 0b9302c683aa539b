"""The addresses of the symbols that summaries list, and the one that a line lies in.

def f(): ...             mod.f
@property                mod.C.x        a group that stands together is one symbol
def x(self): ...
@x.setter
def x(self, value): ...
if A:                    mod.g[0]       what stands apart is named one by one
    def g(): ...
else:                    mod.g[1]
    def g(): ...
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.files.packages import Nameable
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE, after_comments
from bae_source.syntax.outline.summary import Entry, Summary, summarise
from bae_source.syntax.text.source import Source

_FIRST = re.compile(r"[^.\[@]*")


class Named(Struct, frozen=True):
    """One symbol of a module.

    Parameters:
        address: the symbol's dotted name behind the module's.
        path: the same as plain names, without which of several.
        index: of its first entry.
    """

    address: str
    path: tuple[str, ...]
    index: int


def symbols_of(summary: Summary) -> Iterator[Named]:
    """Yield every symbol of a module once, in source order."""
    entries = summary.entries
    leaders = Counter((entry.parent, name) for entry in entries if entry.leads for name in entry.names)
    counted: Counter[tuple[int, str]] = Counter()
    lead: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for index, entry in enumerate(entries):
        shown, plain = lead[entry.parent] if entry.parent != MODULE else ((), ())
        lead.append(((*shown, entry.component or entry.names[0]), (*plain, entry.names[0])))
        for position, name in enumerate(entry.names):
            key = (entry.parent, name)
            number = counted[key]
            counted[key] += 1
            if leaders[key] > 1:
                last = (entry.component if position == 0 else "") or f"{name}[{number}]"
            elif entry.leads:
                last = name
            else:
                continue
            yield Named(".".join((*shown, last)), (*plain, name), index)


def summary_for(workspace: Workspace, path: str, content: bytes) -> Summary:
    """Return the summary of a file whose bytes have been searched, also where it has changed since.

    Raises:
        SourceError: it does not parse or cannot be decoded.
    """
    summary = workspace.index.summary(path)
    return summary if workspace.glance(path) == content else summarise(workspace.kept.trees.get(content))


def is_method(summary: Summary, entry: Entry) -> bool:
    """Return whether an entry is a function that stands directly in a class."""
    return entry.kind == "function" and entry.parent != MODULE and summary.entries[entry.parent].kind == "class"


class SymbolsByLine:
    """The symbol on each line of a module; built once for a file, then asked for as many lines as one likes.

    1  class C:           the last entry that begins no later than the line, by bisection; from there outwards:
    2      def f(): ...
    3                     f ends before 3, and C holds it
    4      x = 1
    5      # comment      x ends before 5, and it is one of the comments below C that still belong to it

    Invariants:
    - of the entries that hold a line, the last one in the order of the source is meant;
    - an entry that ends before one that follows it holds no line that the other does not hold, so it is skipped: a walk
      outwards takes as many steps as definitions are nested.

    Parameters:
        summary: of the module.
        source: its text.
    """

    def __init__(self, summary: Summary, source: Source) -> None:
        self._entries = summary.entries
        self._source = source
        self._starts = list(accumulate((entry.first for entry in summary.entries), max))
        self._outer = _outer(summary.entries)
        self._comments: dict[int, int] = {}

    def at(self, line: int) -> str:
        """Return the symbol, as a name inside the module, that a line lies in; empty for the module's own lines."""
        found = bisect_right(self._starts, line) - 1
        while found != MODULE and not self._holds(found, line):
            found = self._outer[found]
        parts: list[str] = []
        while found != MODULE:
            entry = self._entries[found]
            parts.append(entry.component or entry.names[0])
            found = entry.parent
        return ".".join(reversed(parts))

    def _holds(self, index: int, line: int) -> bool:
        """Return whether a line lies in an entry, or is one of the comments below it that still belong to it."""
        entry = self._entries[index]
        if line <= entry.last:
            return True
        if not _has_suite(entry) or not self._source.lines.cut(line).lstrip(" \t\f").startswith("#"):
            return False
        if index not in self._comments:
            self._comments[index] = self._behind(entry)
        return self._comments[index] > self._source.lines.start(line)

    def _behind(self, entry: Entry) -> int:
        """Return the offset behind the comments that belong to an entry."""
        lines = self._source.lines
        indent = lines.indentation(entry.keyword).rpartition("\f")[2]
        return after_comments(self._source.text, lines.end(entry.last), indent)


def _outer(entries: Sequence[Entry]) -> list[int]:
    """Return, for each entry, the one before it to ask next for a line behind its end.

    That is the nearest one that ends later, or on the same line if it is one that comments may belong to.
    """
    outer: list[int] = []
    open_ones: list[int] = []
    for index, entry in enumerate(entries):
        while open_ones and not _reaches(entries[open_ones[-1]], entry.last):
            open_ones.pop()
        outer.append(open_ones[-1] if open_ones else MODULE)
        open_ones.append(index)
    return outer


def _reaches(entry: Entry, last: int) -> bool:
    return entry.last > last or (entry.last == last and _has_suite(entry))


def _has_suite(entry: Entry) -> bool:
    return entry.kind in ("class", "function")


def address_in(workspace: Workspace, module: str, path: str, inner: str) -> str:
    """Return the address of a symbol of a module, with a marker where its package has a module of the same name.

    Of a file that no dotted name can mean, its symbols have none either: it is what searches take for the file.

    Parameters:
        path: of the module's file.
        inner: the symbol's name behind the module's; empty for the module itself.
    """
    if not inner or not has_name(workspace, path):
        return module
    if path.endswith("/__init__.py") and workspace.census.find(f"{module}.{_FIRST.match(inner)[0]}"):  # type: ignore[index]
        return f"{module}@module.{inner}"
    return f"{module}.{inner}"


def has_name(workspace: Workspace, path: str) -> bool:
    """Return whether a dotted name can mean a file of the census."""
    known: dict[str, bool] = workspace.derived.get(has_name, dict)
    if path not in known:
        nameable = workspace.derived.get(Nameable, lambda: Nameable(workspace.census))
        module = workspace.census.module(path)
        known[path] = module is None or nameable.has_name(module)
    return known[path]


def module_address(workspace: Workspace, name: str) -> str:
    """Return a module's name, with a marker where its package has an attribute of the same name."""
    package, _, last = name.rpartition(".")
    home = next(iter(workspace.census.find(package)), "") if package else ""
    if not home.endswith("/__init__.py"):
        return name
    try:
        summary = workspace.index.summary(home)
        if not any(last in entry.names for entry in summary.entries if entry.parent == MODULE) and not any(
            binding.name == last for binding in summary.imports
        ):
            return name
        return str(resolve(workspace, name).address)
    except ResourceError as error:
        marked = f"{name}@module"
        return marked if marked in error.candidates else name
