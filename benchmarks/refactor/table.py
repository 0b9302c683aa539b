"""The comparison of one rename as a table of Markdown, for readers who want to know more than counts.

The last column is written by hand and read off each engine's own source and documentation, at the pinned releases; it
speaks of a rename alone.

Invariants:
- an engine without a plan has a row that gives its reason;
- seconds are those of a whole fresh process, by the wall clock and of CPU, until its plan is complete, or its files are
  written and it has answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct

from bae_source import __version__
from benchmarks.read.processes import Cost
from benchmarks.read.subjects import Place
from benchmarks.refactor.engines import OURS, ROPE
from benchmarks.refactor.subjects import Renaming
from benchmarks.refactor.writers import CODENAV

_HEAD = ("engine", "right", "missed", "wrong in code", "strings, prose, text", "seconds (CPU)", "needs and leaves")
_AT_A_POSITION = "file and position"


class Fared(Struct, frozen=True, kw_only=True):
    """How the places of a plan fare.

    Parameters:
        right: places that have to change, and do.
        missed: those that do not.
        wrong: places in code that must not change.
        strings, prose, text: places that change without having to, by the kind of text.
    """

    right: frozenset[Place]
    missed: frozenset[Place]
    wrong: frozenset[Place]
    strings: frozenset[Place]
    prose: frozenset[Place]
    text: frozenset[Place]


class Measured(Struct, frozen=True, kw_only=True):
    """The outcome of one rename, by engine.

    Parameters:
        costs: of each engine that planned it or was ended by its time limit.
        results: of each engine that planned it.
        refused: the reason of each other one.
        left: places that any of them names as unsure.
    """

    costs: Mapping[str, Cost]
    results: Mapping[str, Fared]
    refused: Mapping[str, str]
    left: frozenset[Place] = frozenset()


class About(Struct, frozen=True, kw_only=True):
    """Facts about an engine that no run shows.

    Parameters:
        package: that is installed as the engine; empty where none is.
        leaves: in a few words, how the symbol is named, and whether the rename is checked, can be undone, and names
            places it is unsure of.
    """

    package: str
    leaves: str


ABOUT = {
    OURS: About(package="", leaves="its name; a plan alone; lists unsure places"),
    ROPE: About(package="rope", leaves=f"{_AT_A_POSITION}; no check; undo; unsure places go to a callback, or unnamed"),
    "rope, no collector": About(package="rope", leaves="the same, `gc.disable()` by its caller"),
    "jedi": About(package="jedi", leaves=f"{_AT_A_POSITION}; a diff; no check, no undo; reads 30 files, and is silent"),
    "ty": About(package="ty", leaves=f"{_AT_A_POSITION}, an editor that applies it; no check, silent if unsure"),
    "basedpyright": About(
        package="basedpyright", leaves=f"{_AT_A_POSITION}, an editor that applies it; no check, silent if unsure"
    ),
    "ours, written": About(
        package="", leaves="its name; modules imported, tests compiled before writing; undo; lists unsure places"
    ),
    "LibCST": About(
        package="libcst",
        leaves="full name, local name, files; no check, no undo, silent; no types",
    ),
    "Serena": About(
        package="serena-agent", leaves="name path, file, node; no check, no undo, silent if unsure; leaves `.serena`"
    ),
    "codenav-mcp": About(
        package="codenav-mcp",
        leaves="its name; checks types in 60 files; undo until it ends; lists 6 unsure places",
    ),
    "codenav": About(package="", leaves="another project than codenav-mcp: browses and searches code"),
}


def markdown(renaming: Renaming, count: int, measured: Measured, version: Callable[[str], str]) -> str:
    """Return the table of one rename.

    Parameters:
        count: of the places that have to change.
        version: gives the release of an installed package.
    """
    lines = [f"`{renaming.target}` to `{renaming.new}`: {count} places have to change", "", _line(_HEAD)]
    lines.append(_line(["---", *["---:"] * 5, "---"]))
    for name, about in ABOUT.items():
        if result := measured.results.get(name):
            cost = measured.costs[name]
            cells = [*_counts(result), f"{cost.wall:.1f} ({cost.cpu:.1f})", about.leaves]
        elif reason := measured.refused.get(name):
            cells = [*["–"] * 5, f"{reason}; {about.leaves}"]
        else:
            continue
        engine, comma, way = name.partition(",")
        lines.append(_line([f"{engine} {_version(name, about, version)}{comma}{way}", *cells]))
    return "\n".join(lines)


def _version(name: str, about: About, version: Callable[[str], str]) -> str:
    if about.package:
        return version(about.package)
    return CODENAV if name == "codenav" else __version__


def _counts(result: Fared) -> Collection[str]:
    apart = len(result.strings) + len(result.prose) + len(result.text)
    return [str(each) for each in (len(result.right), len(result.missed), len(result.wrong), apart)]


def _line(cells: Collection[str]) -> str:
    return f"| {' | '.join(cells)} |"
