"""What runs with a new import and may run into a module that has not got that far, which its steps cannot tell.

    pkg/__init__.py    from .new import A           pkg has not bound Later
                       Later = 1
    pkg/new.py         from .tools import look
                       A = look()                   and look takes Later of pkg when it is called

Functions, methods and decorators are looked up as far as names lead to them, and nobody knows which way through them is
taken: so this is said, where no import verifies it, and decides nothing.

Invariants:
- only what takes a name that is not bound by then, and is later, or takes modules in a way that cannot be read off;
- only what modules do that are imported anew;
- nothing is executed, and what lies outside the project is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.text import listed
from bae_source.project.files.layout import import_name
from bae_source.project.importing.circle import Modules
from bae_source.project.importing.order import FROM_THE_START, Walk
from bae_source.project.workspace import Workspace

if TYPE_CHECKING:
    from bae_source.syntax.importing.bodies import Bodies, Body
    from bae_source.syntax.importing.steps import Step

_MOST_PIECES = 2_000
_MOST_TURNS = 20
"""Re-exports and classes above each other, one after the other."""
_SHOWN = 3
_WHEN_MADE = ("__init__", "__new__", "__post_init__")


def unfollowed(before: Workspace, after: Workspace, module: ModuleFile) -> tuple[Notice, ...]:
    """Return what is to be said of a package's import of a module where nothing is imported to verify it.

    Parameters:
        before: the project without the import.
        after: the project with it.
    """
    modules, name = Modules(after), import_name(module)
    pieces = _Pieces(after, modules)
    if not pieces.lead_anywhere(name):
        return ()
    top = name.partition(".")[0]
    walk = Walk(modules, until=name)
    arrival = walk.arrival(top)
    if arrival is None:
        return ()
    late = {each: found for each in arrival.began if (found := _late(modules, walk, each))}
    if not late:
        return ()
    search = _Search(pieces, late, walk.bound)
    if not any(search.found(arrival.new)):
        return ()
    was = Walk(Modules(before))
    if was.early(top) is not None:
        return ()
    said = list(dict.fromkeys(search.found([each for each in arrival.new if each not in was.bound])))
    if not said:
        return ()
    text = (
        f"Nothing was imported, so it is not known whether the export makes a circular import: while {name} is "
        f"imported, {listed(said, _SHOWN)}."
    )
    return (Notice("export_not_verified", text),)


def _late(modules: Modules, walk: Walk, name: str) -> frozenset[str]:
    """Return the names that a module has begun without and binds in the end."""
    bound = walk.bound[name]
    if bound & {"*", "__getattr__"}:
        return frozenset()
    missing = modules.names(name) - bound - FROM_THE_START
    return frozenset(
        each
        for each in missing
        if each.isidentifier() and modules.file(f"{name}.{each}") is None and not modules.may_be_outside(name, each)
    )


class _Pieces:
    """The pieces of modules, and where names lead to in them.

    Parameters:
        workspace: the project.
        modules: its modules by their names.
    """

    def __init__(self, workspace: Workspace, modules: Modules) -> None:
        self.modules = modules
        self._workspace = workspace
        self._known: dict[str, Bodies | None] = {}
        self._names: dict[str, Mapping[str, Step]] = {}

    def of(self, name: str) -> Bodies | None:
        """Return the pieces of a module; None where it is none of the project's, or cannot be read."""
        if name not in self._known:
            from bae_source.syntax.importing.bodies import bodies_of  # seldom needed

            file = self.modules.file(name)
            try:
                self._known[name] = bodies_of(self._workspace.tree(file).text) if file is not None else None
            except ResourceError:
                self._known[name] = None
        return self._known[name]

    def lead_anywhere(self, name: str) -> bool:
        """Say whether a module imports anything of the project, whenever it does, or what cannot be read off."""
        bodies = self.of(name)
        for body in bodies.pieces.values() if bodies is not None else ():
            bases = (self.modules.base(name, step) for step in body.imports)
            if body.unclear or any(base is not None and self.modules.file(base) is not None for base in bases):
                return True
        steps = ((self.modules.base(name, step)) for step in self.modules.steps(name))
        return any(base is not None and self.modules.file(base) is not None for base in steps)

    def names(self, name: str) -> Mapping[str, Step]:
        """Return what a module's imports bind."""
        if name not in self._names:
            found = {each: step for step in self.modules.steps(name) if step.module is not None for each in step.binds}
            self._names[name] = found
        return self._names[name]

    def module_of(self, name: str, step: Step) -> tuple[str, str | None]:
        """Return the module that an import binds; with an attribute of it, where that is no module."""
        base = self.modules.base(name, step) or ""
        if step.attribute is None:
            first = base.partition(".")[0]
            return (first if step.binds == (first,) else base), None
        inner = f"{base}.{step.attribute}"
        return (inner, None) if self.modules.file(inner) is not None else (base, step.attribute)

    def defined(
        self, name: str, chain: tuple[str, ...], local: Mapping[str, Step], turns: int = 0
    ) -> tuple[str, tuple[str, ...]] | None:
        """Return the module in which a name with its attributes is defined, and its path there.

        Parameters:
            name: the module that says so.
            local: what imports bind where it does so.
        """
        bodies = self.of(name)
        if bodies is None or not chain or turns > _MOST_TURNS:
            return None
        step = local.get(chain[0])
        if step is None:
            own = chain[0] in bodies.bases or chain[0] in bodies.made or chain[0] in bodies.pieces
            return (name, chain) if own else None
        here, attribute = self.module_of(name, step)
        rest = (attribute, *chain[1:]) if attribute is not None else chain[1:]
        while rest and self.modules.file(f"{here}.{rest[0]}") is not None:
            here, rest = f"{here}.{rest[0]}", rest[1:]
        return self.defined(here, rest, self.names(here), turns + 1)

    def called(self, name: str, chain: tuple[str, ...], turns: int = 0) -> Iterator[tuple[str, str]]:
        """Yield the pieces that run when what is defined in a module is called."""
        bodies = self.of(name)
        if bodies is None or turns > _MOST_TURNS:
            return
        path = ".".join(chain)
        if path in bodies.pieces:
            yield name, path
        elif path in bodies.bases:
            for each in _WHEN_MADE:
                yield from self.member(name, path, each)
        elif ".".join(chain[:-1]) in bodies.bases:
            yield from self.member(name, ".".join(chain[:-1]), chain[-1])
        elif chain[0] in bodies.made and len(chain) < 3:
            made = self.defined(name, bodies.made[chain[0]], self.names(name), turns + 1)
            inner = self.of(made[0]) if made is not None else None
            if made is not None and inner is not None and ".".join(made[1]) in inner.bases:
                yield from self.member(made[0], ".".join(made[1]), (*chain, "__call__")[1])

    def member(self, name: str, owner: str, method: str, turns: int = 0) -> Iterator[tuple[str, str]]:
        """Yield the piece that a class, or one above it, has as a method."""
        bodies = self.of(name)
        if bodies is None or turns > _MOST_TURNS:
            return
        if f"{owner}.{method}" in bodies.pieces:
            yield name, f"{owner}.{method}"
            return
        for base in bodies.bases.get(owner, ()):
            above = self.defined(name, base, self.names(name), turns + 1)
            if above is not None:
                yield from self.member(above[0], ".".join(above[1]), method, turns + 1)


class _Search:
    """Looks for what takes a name too early.

    Parameters:
        pieces: of all modules.
        late: the names that are not there by then, by module.
        loaded: the modules that have been imported by then, or begun.
    """

    def __init__(self, pieces: _Pieces, late: Mapping[str, frozenset[str]], loaded: Mapping[str, object]) -> None:
        self._pieces = pieces
        self._modules = pieces.modules
        self._late = late
        self._loaded = loaded

    def found(self, new: list[str]) -> Iterator[str]:
        """Yield what new modules run that takes a name too early, as the ends of a sentence."""
        waiting = [(name, "") for name in reversed(new)]
        seen = set(waiting)
        while waiting and len(seen) < _MOST_PIECES:
            name, path = waiting.pop()
            bodies = self._pieces.of(name)
            body = bodies.pieces.get(path) if bodies is not None else None
            if body is None:
                continue
            local = {**self._pieces.names(name), **{each: step for step in body.imports for each in step.binds}}
            who = f"{name}.{path}" if path else name
            yield from (f"{who} takes {each}, which is bound later" for each in self._taken(name, body, local))
            yield from (f"{who} takes modules by {each}, which was not followed" for each in body.unclear)
            following = [*self._imported(name, body), *self._called(name, path, body, local)]
            waiting += [each for each in reversed(following) if each not in seen]
            seen.update(following)

    def _taken(self, name: str, body: Body, local: Mapping[str, Step]) -> Iterator[str]:
        for step in body.imports:
            base = self._modules.base(name, step) or ""
            if step.attribute in self._late.get(base, ()):
                yield f"{base}.{step.attribute}"
        for chain in body.reads:
            step = local.get(chain[0])  # type: ignore[assignment]
            here, attribute = self._pieces.module_of(name, step) if step is not None else ("", "")
            for each in chain[1:] if attribute is None else ():
                if each in self._late.get(here, ()):
                    yield f"{here}.{each}"
                    break
                here = f"{here}.{each}"

    def _imported(self, name: str, body: Body) -> Iterator[tuple[str, str]]:
        """Yield the modules that a piece imports for the first time."""
        for step in body.imports:
            here, _ = self._pieces.module_of(name, step)
            if here not in self._loaded and self._modules.file(here) is not None:
                yield here, ""

    def _called(self, name: str, path: str, body: Body, local: Mapping[str, Step]) -> Iterator[tuple[str, str]]:
        owner = path.rpartition(".")[0]
        for chain in body.calls:
            if chain[0] in ("self", "cls") and len(chain) == 2:
                yield from self._pieces.member(name, owner, chain[1])
                continue
            defined = self._pieces.defined(name, chain, local)
            if defined is not None:
                yield from self._pieces.called(*defined)
