"""The meaning of a name across files, worked out from bindings and static imports; nothing is run.

    from app import client as c      `c` means the module app.client; `c.Client` what that module binds so
    from app import *                what app binds, as far as its `__all__` lets it out
    try: import a                    `a` means several things: each of them is in the answer
    except ImportError: a = None

A *meaning* is a module (`InModule`), a name in a scope (`Symbol`), something outside the project (`Outside`), or `None`
for what cannot be said.

Invariants:
- the answer is a set with everything that the name may mean, as far as bindings tell; `None` in it says "and perhaps
  something else";
- in a circle of imports each link is followed once;
- a chain of imports may be as long as it likes: beyond a depth, its far end is worked out first.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence

from msgspec import structs

from bae_source.errors import ResourceError
from bae_source.project.files.census import STUB, Census
from bae_source.project.files.layout import import_name
from bae_source.project.references.meaning.let_out import lists_more
from bae_source.project.references.meaning.meanings import InFolder, InModule, Meaning, Meanings, Outside, Symbol
from bae_source.syntax.names import uses as u

Exported = tuple[frozenset[str] | None, bool]
"""The names that an `__all__` lists, and whether a module exports no others."""
_NOT_READ: Exported = (None, False)
NOTHING: Meanings = frozenset()
UNKNOWN: Meanings = frozenset({None})


_DEEPEST = 40
"""Links of a chain that are followed from each other."""
_MOST_LINKS = 5_000
"""Links that are followed for one name: where stars lead from each module to each, there are more ways than time."""
_LET_OUT = -1
_EXPORTS = "__all__"
_LINKS = frozenset({u.IMPORTED, u.GLOBAL, u.NONLOCAL})
"""Bindings whose name means something else than itself."""


class _TooDeep(Exception):
    """A name lies too many links away to be worked out before what leads to it is left."""

    def __init__(self, symbol: Symbol) -> None:
        super().__init__(symbol)
        self.symbol = symbol


class Names:
    """The lookup of names.

    Parameters:
        census: the files of the project.
        uses: gives a file's uses; raises ResourceError where it has none.
        is_loaded: says whether any code of the project imports a file as a module, not as what its package binds.
        stubs: whether a stub stands for a module that has no code.
    """

    def __init__(
        self,
        census: Census,
        uses: Callable[[str], u.Uses],
        is_loaded: Callable[[str], bool] = lambda _: False,
        *,
        stubs: bool = False,
    ) -> None:
        self.census = census
        self.uses = uses
        self.is_loaded = is_loaded
        self.kept: frozenset[Symbol] = frozenset()
        """Names that imports bind, and that mean themselves all the same."""
        self._stubs_count = stubs and bool(census.stubs)
        self._known: dict[Symbol, Meanings] = {}
        self._running: set[Symbol] = set()
        self._waiting: list[Symbol] = []
        self._links = 0
        self._files: dict[tuple[str, str, int], tuple[str, ...]] = {}
        self._exported: dict[str, Exported] = {"": _NOT_READ}
        """By file, what its `__all__` lists; `""` stands for what is no module of the project."""

    def named(self, path: str, scope: int, name: str, line: int = 0, column: int = 0) -> Meanings:
        """Return what a name standing alone in a scope means.

        Parameters:
            line, column: where it stands, if that is known: a class's suite is run from top to bottom, and a name that
                it binds further down is still the outer one, if there is one; `ABOVE` or `PERHAPS` as an expression has
                it.
        """
        found = self.scope_of(path, scope, name)
        if line and found == scope and (here := self.uses(path).scopes[scope]).kind == u.CLASS_SCOPE:
            how = u.how_read(here, name, line, column) if line > 0 else line
            if how:
                outer, own = self._around_class(path, here.parent, name), self.bound(Symbol(path, scope, name))
                return own if not outer else outer if how == u.ABOVE else outer | own
        if found is None:
            starred = self._starred(path, name)
            return starred or frozenset({Outside(f"builtins.{name}")})
        return self.bound(Symbol(path, found, name))

    def _around_class(self, path: str, scope: int, name: str) -> Meanings:
        """Return what a name means around a class; nothing where only an unevaluated annotation can have it.

        Python looks for what a class binds itself in the module, and in no function around the class. Type checkers do.

        Parameters:
            scope: around the class; what other classes bind is not seen from it.
        """
        scopes = self.uses(path).scopes
        while scopes[scope].kind == u.CLASS_SCOPE:
            scope = scopes[scope].parent
        for outer in dict.fromkeys((0, scope)):
            found = self.named(path, outer, name)
            if found != {Outside(f"builtins.{name}")} or hasattr(builtins, name):
                return found
        return NOTHING

    def scope_of(self, path: str, scope: int, name: str) -> int | None:
        """Return the scope that a name looked up in `scope` is bound in; None for no scope of the file."""
        scopes = self.uses(path).scopes
        current, here = scope, scopes[scope]
        around = here.parent if here.kind == u.TYPE_SCOPE else scope
        while True:
            visible = here.kind != u.CLASS_SCOPE or current in (scope, around)
            bindings = here.names.get(name) if visible else None
            if bindings:
                how = {binding.how for binding in bindings}
                if u.GLOBAL in how:
                    return 0
                if u.NONLOCAL not in how:
                    return current
            current = here.parent
            if current < 0:
                return None
            here = scopes[current]

    def bound(self, symbol: Symbol) -> Meanings:
        """Return what a name means in the scope that binds it: itself, or what it was imported as."""
        if symbol in self.kept:
            return frozenset({symbol})
        if symbol.scope:  # a module's names may be bound by stars, too
            how = {binding.how for binding in self._bindings(symbol)}
            if how and how.isdisjoint(_LINKS):
                return frozenset({symbol})
        return self._worked_out(symbol)

    def imported(self, path: str, number: int) -> Meanings:
        """Return the meanings of one name of an import statement."""
        imported = self.uses(path).imports[number]
        if imported.attribute:
            found = self._taken(path, imported)
        else:
            found = self._in_place_of(path, imported) or self.names_module(path, number)
        if imported.level:
            return found | UNKNOWN if self._absolute(path, "", imported.level) is None else found
        beside = self.beside(path, imported.module)
        if not beside:
            return found
        if not imported.attribute:
            return found.union(map(InModule, beside))
        other = self._taken(path, structs.replace(imported, level=1))
        return found.union(each for each in other if isinstance(each, (Symbol, InModule)))

    def names_module(self, path: str, number: int) -> Meanings:
        """Return the module that an import statement names, whatever it binds its name to."""
        imported = self.uses(path).imports[number]
        if imported.attribute:
            return NOTHING
        files = frozenset(map(InModule, self.files(path, imported.module, imported.level)))
        return files or self._without_file(path, imported.module, imported.level)

    def beside(self, path: str, module: str) -> tuple[str, ...]:
        """Return the files that an absolute import may mean if Python runs the file at `path` from its own folder.

        Nothing if that folder is a package: what is in one is imported from above it.
        """
        folder = path.rpartition("/")[0]
        if not folder or folder in self.census.layout.roots or f"{folder}/__init__.py" in self.census.stamps:
            return ()
        found = self.files(path, module, 1)
        return tuple(file for file in found if file not in self.files(path, module, 0)) if found else ()

    def _taken(self, path: str, imported: u.Imported) -> Meanings:
        """Return what `from module import attribute` takes."""
        files = self.files(path, imported.module, imported.level)
        found = frozenset[Meaning]().union(*(self.attribute(file, imported.attribute) for file in files))
        if found - UNKNOWN:
            return found
        inner = f"{imported.module}.{imported.attribute}" if imported.module else imported.attribute
        modules = frozenset(map(InModule, self.files(path, inner, imported.level)))
        if modules:
            return modules
        other = self._without_file(path, inner, imported.level)
        is_from_code = files and not any(isinstance(each, InFolder) for each in other)  # when the module runs
        return UNKNOWN if is_from_code else other

    def attribute(self, path: str, name: str, *, loaded: bool = False) -> Meanings:
        """Return what an attribute of a module means; nothing where its code does not say.

        Parameters:
            loaded: whether a submodule of that name was imported before, if there is one.
        """
        try:
            uses = self.uses(path)
        except ResourceError:
            return UNKNOWN
        found = self._attribute_in_code(path, uses, name, loaded)
        if u.Flag.REPLACED in uses.scopes[0].flags and all(
            isinstance(each, Symbol) and each.path == path for each in found
        ):
            return found | UNKNOWN  # what stands in its place mostly hands on what it imports
        return found

    def _attribute_in_code(self, path: str, uses: u.Uses, name: str, loaded: bool) -> Meanings:
        is_bound = name in uses.scopes[0].names
        found = self.bound(Symbol(path, 0, name)) if is_bound else self._starred(path, name)
        inner = self._submodules(path, name)
        if found or is_bound:
            return self._with_submodule(path, name, found, inner, loaded) if inner else found
        is_known = "__getattr__" not in uses.scopes[0].names and self._exports(path)[1]
        return inner or (NOTHING if is_known else UNKNOWN)

    def _submodules(self, path: str, name: str) -> Meanings:
        """Return the module that the import of a submodule of that name binds in a package."""
        if not path.endswith("/__init__.py"):
            return NOTHING
        return frozenset(map(InModule, self.census.beside(path.rpartition("/")[0], name)))

    def _with_submodule(self, path: str, name: str, found: Meanings, inner: Meanings, loaded: bool) -> Meanings:
        """Return what a name of a package means that it binds itself, and the first import of a submodule too.

            from .lag import lag      loads the submodule, and binds its name over it
            lag = 3                   holds until any code imports the submodule

        Parameters:
            found: what the package binds it to.
            inner: the submodule.
        """
        symbols = {each for each in found if isinstance(each, Symbol)}
        if found & inner or any(InModule(each.path) in inner for each in symbols):
            return found  # what is taken from it, or is it, was loaded before
        own = self._loads(path, name, inner)
        if own:
            last = max((binding.line for binding in self._bindings(Symbol(path, 0, name))), default=0)
            return inner if min(own) > last else found
        if any(self._loads(each.path, name, inner) for each in symbols):
            return found
        modules = (each for each in inner if isinstance(each, InModule))
        return found | inner if loaded or any(self.is_loaded(each.path) for each in modules) else found

    def _loads(self, path: str, name: str, inner: Meanings) -> list[int]:
        """Return the lines in which a module that runs imports a module of a name."""
        return [line for line, scope in self.loading(path, name, inner) if not scope]

    def loading(self, path: str, name: str, modules: Meanings) -> list[tuple[int, int]]:
        """Return line and scope of the import statements of a file that import one of some modules of a name."""
        imports = (each for each in self.uses(path).mentions.get(name, ()) if each[3] == u.IMPORT)
        return [(each[0], each[2]) for each in imports if self.names_module(path, each[4]) & modules]

    def _imports_nothing_of_ours(self, path: str) -> bool:
        imports = self.uses(path).imports
        return not any(each.level or self.files(path, each.module, 0) for each in imports)

    def files(self, path: str, module: str, level: int) -> tuple[str, ...]:
        """Return the files that a module named in an import statement of the file at `path` could be."""
        key = (path.rpartition("/")[0] if level else "", module, level)
        found = self._files.get(key)
        if found is None:
            found = tuple(self._files_of(path, module, level))
            if self._stubs_count and not found:
                found = tuple(self._stubs_of(path, module, level))
            self._files[key] = found
        return found or (() if level else self._in_own_package(path, module))

    def _in_own_package(self, path: str, module: str) -> tuple[str, ...]:
        """Return the files that an absolute import means which names the outermost package around its file.

        What runs such a file has the folder around that package on its path, as pytest puts `tests` of
        `tests/unit/test_a.py` there.
        """
        top, folder = module.partition(".")[0], path.rpartition("/")[0]
        if f"/{top}/" not in f"/{folder}/" or f"{folder}/__init__.py" not in self.census.stamps:
            return ()
        while f"{folder.rpartition('/')[0]}/__init__.py" in self.census.stamps:
            folder = folder.rpartition("/")[0]
        around, _, own = folder.rpartition("/")
        return tuple(self.census.beside(around, module)) if own == top else ()

    def _stubs_of(self, path: str, module: str, level: int) -> Iterable[str]:
        name = self._absolute(path, module, level)
        parts = tuple(name.split(".")) if name else ()
        for stub in self.census.layout.stubs(parts) if parts else ():
            if stub.length == len(parts) and stub.file is not None and stub.file.path in self.census.stamps:
                yield stub.file.path

    def _files_of(self, path: str, module: str, level: int) -> Iterable[str]:
        if not level:
            return self.census.find(module)
        if path.endswith(STUB):
            return self._files_beside_stub(path, module, level)
        folder = path.rpartition("/")[0]
        for _ in range(level - 1):
            if not folder:
                return ()
            folder = folder.rpartition("/")[0]
        if module:
            return self.census.beside(folder, module)
        package = f"{folder}/__init__.py" if folder else "__init__.py"
        return (package,) if package in self.census.stamps else ()

    def _files_beside_stub(self, path: str, module: str, level: int) -> Iterable[str]:
        """Return the files of code that a relative import of a stub could be, which may lie in another folder."""
        name = self._absolute(path, module, level)
        return self.census.find(name) if name else ()

    def _absolute(self, path: str, module: str, level: int) -> str | None:
        """Return the name of a module without leading dots; None where they lead out of the top package."""
        here = self.census.module(path) if level else None
        if here is None:
            return None if level else module
        package = [part for part in import_name(here).split(".") if part != "__init__"]
        kept = len(package) - level + here.package
        is_package = not kept and "/".join(filter(None, (here.source_root, "__init__.py"))) in self.census.stamps
        return ".".join([*package[:kept], *([module] if module else [])]) if kept > 0 or is_package else None

    def _in_place_of(self, path: str, imported: u.Imported) -> Meanings:
        """Return what `import a.b as c` takes from `a` where that binds `b` to something else than its module."""
        outer, _, last = imported.module.rpartition(".")
        found: set[Meaning] = set()
        if outer and imported.name and not imported.begins:
            for file in self.files(path, outer, imported.level):
                meanings = self.attribute(file, last, loaded=True)
                found |= self._submodules(file, last) & meanings if self._imports_nothing_of_ours(file) else meanings
        return frozenset(each for each in found if isinstance(each, (Symbol, InModule)))

    def _without_file(self, path: str, module: str, level: int) -> Meanings:
        """Return what a module named in an import statement is that no file of the project is."""
        name = self._absolute(path, module, level)
        if name is None:
            return UNKNOWN
        inner = name.replace(".", "/")
        folders = (f"{root}/{inner}" if root else inner for root in self.census.layout.roots)
        spread = frozenset(InFolder(folder) for folder in folders if folder in self.census.folders)
        return spread or frozenset({Outside(name)})

    def inside(self, folder: InFolder, name: str) -> Meanings:
        """Return what a package without `__init__` holds under a name."""
        files = self.census.beside(folder.path, name)
        inner = f"{folder.path}/{name}"
        return frozenset(map(InModule, files)) or frozenset({InFolder(inner)} if inner in self.census.folders else ())

    def _worked_out(self, symbol: Symbol) -> Meanings:
        """Return what a name means, or what a module exports by it where the scope is `_LET_OUT`; once in a circle."""
        if symbol in self._known:
            return self._known[symbol]
        if symbol in self._running:
            return NOTHING
        if len(self._running) >= _DEEPEST:
            if symbol in self._waiting:
                return UNKNOWN  # a circle longer than that
            raise _TooDeep(symbol)
        if self._running:  # an answer from inside a circle may lack what the circle's start adds, and is not kept
            return self._followed(symbol)
        outermost = len(self._waiting)
        self._links = 0
        self._waiting.append(symbol)
        try:
            while len(self._waiting) > outermost:
                try:
                    self._known[self._waiting[-1]] = self._followed(self._waiting[-1])
                    self._waiting.pop()
                except _TooDeep as deep:
                    self._waiting.append(deep.symbol)
        finally:
            del self._waiting[outermost:]
        return self._known[symbol]

    def _followed(self, symbol: Symbol) -> Meanings:
        self._links += 1
        if self._links > _MOST_LINKS:
            return UNKNOWN
        self._running.add(symbol)
        try:
            return self._let_out(symbol) if symbol.scope == _LET_OUT else self._bound(symbol)
        finally:
            self._running.discard(symbol)

    def _bound(self, symbol: Symbol) -> Meanings:
        found: set[Meaning] = set()
        for binding in self._bindings(symbol):
            if binding.how == u.IMPORTED and not self.is_itself(symbol, binding.first):
                found |= self.imported(symbol.path, binding.first)
            elif binding.how not in (u.GLOBAL, u.NONLOCAL, u.IMPORTED):
                found.add(symbol)
        return frozenset(found) if symbol.scope else frozenset(found).union(self._bound_anew(symbol))

    def is_itself(self, symbol: Symbol, number: int) -> bool:
        """Return whether an import takes a module's name from that module, as code below `__main__` does."""
        imported = self.uses(symbol.path).imports[number]
        is_same = imported.attribute == symbol.name and not symbol.scope and not symbol.path.endswith("/__init__.py")
        return is_same and self.files(symbol.path, imported.module, imported.level) == (symbol.path,)

    def _bindings(self, symbol: Symbol) -> Sequence[u.Binding]:
        return self.uses(symbol.path).scopes[symbol.scope].names.get(symbol.name, ())

    def _bound_anew(self, symbol: Symbol) -> Meanings:
        """Return what star imports below everything else that binds a name of a module may bind it to."""
        uses = self.uses(symbol.path)
        if not uses.stars:
            return NOTHING
        last = max([binding.line for binding in self._bindings(symbol)], default=0)
        below = [number for number in uses.stars if uses.imports[number].line > last]
        if not below:
            return NOTHING
        outside = not symbol.name.startswith("_") and any(
            not self.files(symbol.path, (its := uses.imports[each]).module, its.level) for each in below
        )
        return self._starred(symbol.path, symbol.name, below) | (UNKNOWN if outside else NOTHING)

    def _starred(self, path: str, name: str, numbers: Sequence[int] | None = None) -> Meanings:
        """Return what a name means that star imports of a module bind.

        Parameters:
            numbers: of the star imports; all of them if left out.
        """
        uses = self.uses(path)
        found: set[Meaning] = set()
        for number in uses.stars if numbers is None else numbers:
            imported = uses.imports[number]
            for file in self.files(path, imported.module, imported.level):
                if file != path:
                    found |= self._worked_out(Symbol(file, _LET_OUT, name))
        return frozenset(found)

    def _let_out(self, symbol: Symbol) -> Meanings:
        """Return what a name means that a star import of a module may bind."""
        file, name = symbol.path, symbol.name
        try:
            there = self.uses(file)
            listed, known = self._exports(file)
            if listed is not None and name in listed:
                return self.attribute(file, name)
            if known and (listed is not None or name.startswith("_")):
                return NOTHING
            bound = name in there.scopes[0].names
            found = self.bound(Symbol(file, 0, name)) if bound else self._starred(file, name)
            return found if known else found and found | UNKNOWN  # what is exported is worked out there
        except ResourceError:
            return UNKNOWN

    def _exports(self, path: str) -> Exported:
        """Return the names that a module's `__all__` lists, if it can be read off, and whether it exports no others.

        Where it has no `__all__`, the names are None, and known.
        """
        if path not in self._exported:
            self._exported[path] = found = _NOT_READ  # in a circle
            is_known = False
            try:
                found = self._exported_by(path)
                is_known = found != _NOT_READ or not self._running  # else it may be in a circle of names
            finally:
                if not is_known:
                    del self._exported[path]
            if is_known:
                self._exported[path] = found
            return found
        return self._exported[path]

    def _exported_by(self, path: str) -> Exported:
        uses = self.uses(path)
        if uses.exported is None and not uses.listed:
            return None, uses.exports_known

        names, taken = uses.listed or (uses.exported or (), ())
        others = [self._exports(file) for each in taken for file in self._listing(path, each) or ("",)]
        lists = [each for each, _ in others if each is not None]
        if len(lists) < len(others):
            return _NOT_READ
        return frozenset(names).union(*lists), not lists_more(uses) and all(known for _, known in others)

    def _listing(self, path: str, number: int) -> list[str]:
        """Return the modules whose `__all__` an expression of a module stands for: `m.__all__`, or one imported."""
        form = self.uses(path).expressions[number]
        if form[0] == u.NAME:
            imports = self.uses(path).imports
            bound = [
                imports[binding.first]
                for binding in self._bindings(Symbol(path, 0, str(form[1])))
                if binding.how == u.IMPORTED
            ]
            return [
                file
                for each in bound
                if each.attribute == _EXPORTS
                for file in self.files(path, each.module, each.level)
            ]
        return self._modules(path, int(form[1])) if form[2] == _EXPORTS else []

    def _modules(self, path: str, number: int) -> list[str]:
        """Return the modules that a name, or an attribute of one, means."""
        form = self.uses(path).expressions[number]
        if form[0] == u.NAME:
            found = self.named(path, 0, str(form[1]))
        elif form[0] == u.ATTRIBUTE:
            outer = self._modules(path, int(form[1]))
            found = frozenset[Meaning]().union(*(self.attribute(each, str(form[2])) for each in outer))
        else:
            return []
        return [each.path for each in found if isinstance(each, InModule)]
