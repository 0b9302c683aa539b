"""The addresses of what summaries list, and which of them a line lies in.

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
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.resolve import resolve
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline import MODULE, after_comments
from bae_source.syntax.source import Source
from bae_source.syntax.summary import Entry, Summary, summarise

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
    """Say whether an entry is a function that stands directly in a class."""
    return entry.kind == "function" and entry.parent != MODULE and summary.entries[entry.parent].kind == "class"


def innermost(summary: Summary, source: Source, line: int) -> str:
    """Return the symbol, as a name inside the module, that a line lies in; empty for the module's own lines."""
    found = MODULE
    for index, entry in enumerate(summary.entries):
        if entry.first > line:
            break
        if line <= entry.last or (entry.kind in ("class", "function") and _trails(entry, source, line)):
            found = index
    parts: list[str] = []
    while found != MODULE:
        entry = summary.entries[found]
        parts.append(entry.component or entry.names[0])
        found = entry.parent
    return ".".join(reversed(parts))


def _trails(entry: Entry, source: Source, line: int) -> bool:
    """Say whether a line is one of the comments below a definition that still belong to it."""
    lines = source.lines
    if not lines.cut(line).lstrip(" \t\f").startswith("#"):
        return False
    indent = lines.indentation(entry.keyword).rpartition("\f")[2]
    return after_comments(source.text, lines.end(entry.last), indent) > lines.start(line)


def address_in(workspace: Workspace, module: str, path: str, inner: str) -> str:
    """Return the address of a symbol of a module, with a marker where its package has a module of the same name.

    Parameters:
        path: of the module's file.
        inner: the symbol's name behind the module's; empty for the module itself.
    """
    if not inner:
        return module
    if path.endswith("/__init__.py") and workspace.census.find(f"{module}.{_FIRST.match(inner)[0]}"):  # type: ignore[index]
        return f"{module}@module.{inner}"
    return f"{module}.{inner}"


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
