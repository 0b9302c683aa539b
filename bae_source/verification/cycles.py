"""Import cycles that a change creates, worked out from the code without running it.

    app.a imports app.b; the change makes app.b import app.a      app.b -> app.a -> app.b: created
    app.a and app.b import each other; the change edits app.a     not created
    app.b imports app.a in another way than before                not created: they were on a cycle already
    app.b did not parse before                                    not created: what it imported then is not known

Invariants:
- only imports that the change adds are looked at, and only what can be reached from them;
- a module that is moved stays the same module, so what moves with its cycles creates none;
- what functions import is not followed, even if a module calls them as it runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.model.changeset import ChangeSet
from bae_source.model.outcome import Check, Notice
from bae_source.project.files.census import PYTHON
from bae_source.project.importing.graph import Edge, ImportGraph
from bae_source.project.workspace import Workspace

_MOST_SHOWN = 3
_MOST_NAMES = 12


class Cycle(Struct, frozen=True, kw_only=True):
    """A cycle of imports that is closed by a new one.

    Parameters:
        modules: in the order in which they import each other; the first one has the new import, and is not repeated.
        lines: what closes the cycle first: each import as `app.a:3: import app.b`.
        new: whether each of these imports is new.
        tangled: whether its modules were on a cycle before, or may have been, so that the new import only adds another
            way round.
    """

    modules: tuple[str, ...]
    lines: tuple[str, ...]
    new: tuple[bool, ...]
    tangled: bool

    def __str__(self) -> str:
        names = list(self.modules)
        if len(names) > _MOST_NAMES:
            names[_MOST_NAMES - 1 : -1] = [f"… ({len(names) - _MOST_NAMES} more) …"]
        return " -> ".join((*names, names[0]))


def check_cycles(before: Workspace, changes: ChangeSet) -> tuple[Notice | Check, ...]:
    """Check that a change creates no cycle of imports.

    Returns:
        What it adds to a cycle that there was, and the result.

    Raises:
        Refused: `unsafe_change`, with each cycle and its imports.
    """
    cycles = new_cycles(before, changes)
    created = [cycle for cycle in cycles if not cycle.tangled]
    if created:
        raise _refused(created)
    found: list[Notice | Check] = []
    if widened := [f"{cycle} (the new import is {cycle.lines[0]})" for cycle in cycles]:
        text = f"Modules that imported each other before, or may have, now do so in one more way: {_listed(widened)}."
        found.append(Notice("cycle_widened", text))
    return (*found, Check(name="cycles", result="passed", digest=changes.digest))


def new_cycles(before: Workspace, changes: ChangeSet) -> tuple[Cycle, ...]:
    """Return the cycles that a change makes, and those that it widens."""
    return tuple(_Comparison(before, changes).cycles())


class _Comparison:
    """The imports before a change against those after it."""

    def __init__(self, before: Workspace, changes: ChangeSet) -> None:
        after = before.after(changes)
        same_files = all(file.before is not None and file.after is not None for file in changes.files)
        self.was = ImportGraph(before, before.census)
        self.will = ImportGraph(after, before.census if same_files else after.census)
        self.changed = [file.path for file in changes.files if file.after is not None and file.path.endswith(PYTHON)]
        self.origins = {file.path: file.origin for file in changes.files if file.origin is not None}

    def cycles(self) -> Iterator[Cycle]:
        seen: set[frozenset[str]] = set()
        new = [step for path in self.changed for step in self._new(path)]
        for step in new:
            way = self.will.way(step.imported, step.importer)
            if way is None:
                continue
            steps = [step, *way]
            modules = tuple(self.will.name(each.importer) for each in steps)
            if frozenset(modules) not in seen:
                seen.add(frozenset(modules))
                yield Cycle(
                    modules=modules,
                    lines=tuple(map(self._drawn, steps)),
                    new=tuple(each in new for each in steps),
                    tangled=self._is_tangled(step),
                )

    def _was_there(self, path: str) -> bool:
        return path in self.was.workspace.census.stamps

    def _new(self, path: str) -> Iterator[Edge]:
        origin = self._before(path)
        had = set(self.was.imports(origin)) if self._was_there(origin) else set()
        for target in self.will.imports(path):
            if self._before(target) not in had:
                yield self.will.edge(path, target)

    def _before(self, path: str) -> str:
        """Return the path of a module before the change: `a/__init__.py` may have been `a.py`."""
        if path in self.origins or path in self.was.workspace.census.stamps:
            return self.origins.get(path, path)
        return next(iter(self.was.workspace.census.find(self.will.name(path))), path)

    def _is_tangled(self, step: Edge) -> bool:
        importer, imported = self._before(step.importer), self._before(step.imported)
        if importer in self.was.unreadable:
            return True  # what it imported then is not known
        return imported in self.was.circle(importer)

    def _drawn(self, step: Edge) -> str:
        number, text = self.will.line(step)
        return f"{self.will.name(step.importer)}:{number}: {text}"


def _refused(cycles: list[Cycle]) -> Refused:
    first = cycles[0]
    more = f" (and {len(cycles) - 1} more)" if len(cycles) > 1 else ""
    shown = [f"{line}  <- new" if new else line for cycle in cycles[:_MOST_SHOWN] for line, new in _rows(cycle, cycles)]
    return Refused(
        "unsafe_change",
        f"The change makes modules import each other in a circle: {first}{more}; nothing was written.",
        hints=[
            "\n  ".join(["The imports of it:", *shown]),
            f"Put the import into the function of {first.modules[0]} that needs it, under `if TYPE_CHECKING` where "
            "only annotations do, or what both need into a module of its own.",
        ],
        candidates=first.modules,
        details={"cycles": [{"modules": cycle.modules, "imports": cycle.lines, "new": cycle.new} for cycle in cycles]},
    )


def _rows(cycle: Cycle, cycles: list[Cycle]) -> Iterator[tuple[str, bool]]:
    if len(cycles) > 1:
        yield f"{cycle}:", False
    yield from zip(cycle.lines[:_MOST_NAMES], cycle.new, strict=False)
    if len(cycle.lines) > _MOST_NAMES:
        yield f"… and {len(cycle.lines) - _MOST_NAMES} more imports", False


def _listed(texts: list[str]) -> str:
    more = f" and {len(texts) - _MOST_SHOWN} more" if len(texts) > _MOST_SHOWN else ""
    return "; ".join(texts[:_MOST_SHOWN]) + more
