"""Names that a project hands out: by `__all__`, in a package's `__init__`, and in other ways than by importing them.

    __all__ = sorted(["send", *more])                  computed, yet the name in it is that of the module
    _LAZY = {"send": ".core"}                          a table by which `__getattr__` finds it
    attach(__name__, submod_attrs={"core": ["send"]})  likewise
    from app import send                               leads to it, though `app` binds no such name
    try: import fast                                   `fast` is one name of the module, whatever it holds
    except ImportError: fast = None

    app/__init__.py: from app.core import send         others may use app.send, beside app.core.send
    app/core.py: __all__ = ["Client"]                  likewise app.core.Client, and app.core.Client.send

Invariants:
- an entry of a table counts only if its module has the renamed symbol under this name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.span import Span
from bae_source.project.files.layout import import_name
from bae_source.project.files.packages import modules_below
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meanings import InModule, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.syntax.exports.lazy import tables
from bae_source.syntax.exports.view import BRANCH, View, view_of
from bae_source.syntax.names import uses as u


class Exported:
    """The places where files hand out the name that changes."""

    def __init__(self, project: Project, sought: Sought) -> None:
        self.project = project
        self.word = sought.word
        self.symbols = sought.meanings
        self.is_possible = not sought.classes
        self._string = re.compile(rf"{re.escape(self.word)}(?<!\w{re.escape(self.word)})(?=[\"'])")
        self._known: dict[str, tuple[frozenset[int], bool]] = {}

    def offsets(self, path: str) -> frozenset[int]:
        """Return where the name stands in strings of a file that export it."""
        return self._of(path)[0]

    def leads(self, path: str, mentioned: Mentioned) -> bool:
        """Return whether a mention is of a name that is renamed, though what it holds is not sure.

        A package may find it only when it is asked for it, or an import of something else may bind it, too.
        """
        if not self.is_possible or mentioned.certainty != "unsure":
            return False
        uses, names = self.project.uses(path), self.project.names
        _, _, scope, kind, number, _ = mentioned.mention
        if kind == u.IMPORT:
            return self._is_import(path, uses.imports[number])
        if kind in (u.STRING, u.MENTION, u.KEYWORD):
            return False
        if number == u.PLAIN:
            found = names.scope_of(path, scope, self.word)
            if found is not None and Symbol(path, found, self.word) in self.symbols:
                return uses.scopes[found].kind != u.CLASS_SCOPE
            bindings = uses.scopes[found].names[self.word] if found is not None else ()
            return bool(bindings) and all(
                each[0] == u.IMPORTED and self._is_import(path, uses.imports[each[1]]) for each in bindings
            )
        values = self.project.inference.values(path, number)
        return bool(values) and all(isinstance(each, InModule) and self._gives(each.path) for each in values)

    def _is_import(self, path: str, imported: u.Imported) -> bool:
        files = self.project.names.files(path, imported.module, imported.level)
        return imported.attribute == self.word and bool(files) and all(map(self._gives, files))

    def _gives(self, path: str) -> bool:
        """Return whether a module's attribute of this name is renamed, whatever it is."""
        if Symbol(path, 0, self.word) in self.symbols:
            return None not in self.project.names.attribute(path, self.word)
        return self._of(path)[1]

    def _of(self, path: str) -> tuple[frozenset[int], bool]:
        """Return where a file hands it out, and whether it finds it by a table."""
        if not self.is_possible:
            return frozenset(), False
        if path not in self._known:
            self._known[path] = self._found(path)
        return self._known[path]

    def _found(self, path: str) -> tuple[frozenset[int], bool]:
        module = self.project.workspace.census.module(path)
        try:
            text = self.project.workspace.source(module).text if module is not None else ""
            if not self._string.search(text):
                return frozenset(), False
            view = view_of(text)
        except ResourceError:
            return frozenset(), False
        by_table = list(self._in_tables(path, view))
        is_own = bool(by_table) or bool(self.project.names.attribute(path, self.word) & self.symbols)
        listed = [each.span for each in view.alls if each.how != BRANCH] if is_own else []
        matches = (
            match for span in (*by_table, *listed) for match in self._string.finditer(text, span.start, span.end)
        )
        return frozenset(match.start() for match in matches), bool(by_table)

    def _in_tables(self, path: str, view: View) -> Iterator[Span]:
        """Yield the entries of tables that stand for the renamed symbol."""
        module = self.project.workspace.census.module(path)
        if module is None or not module.package:
            return
        package, modules = import_name(module), modules_below(self.project.workspace, module)
        for table in tables(view, package, modules):
            for number, key in enumerate(table.entries.keys):
                value = table.values[number]
                name = "" if table.lists else value[1] if len(value) > 1 else key
                spelled = (each for each in modules if value[0] == table.spelling.format(
                    package=package, module=each, name=name
                ))  # fmt: skip
                below = next(spelled, None)
                if below is None or not self._has(f"{package}.{below}"):
                    continue
                if table.lists:
                    listed = table.lists[number]
                    pairs = zip(listed.names, listed.items.spans, strict=True)
                    yield from (span for each, span in pairs if each == self.word)
                elif name == self.word:
                    yield table.entries.spans[number]

    def _has(self, module: str) -> bool:
        """Return whether a module has the renamed symbol under this name."""
        files = self.project.workspace.census.find(module)
        return any(self.project.names.attribute(file, self.word) & self.symbols for file in files)


def public_gone(project: Project, family: Family) -> Iterator[Notice]:
    """Yield the notice that a public name is gone."""
    yield from shortest_gone(
        family.sought.word, (each for symbol in family.symbols for each in _names(project, family, symbol))
    )


def shortest_gone(word: str, names: Iterable[str]) -> Iterator[Notice]:
    """Yield the notice that the shortest public dotted name of a symbol is gone.

    Parameters:
        word: their last part; one with an underscore in front is private.
    """
    shortest = min(names, key=lambda name: (name.count("."), name), default="") if not word.startswith("_") else ""
    if shortest:
        yield Notice(
            "public_name_gone", f"{shortest} was public: code outside this project that uses it has to change."
        )


def _names(project: Project, family: Family, symbol: Symbol) -> Iterator[str]:
    """Yield the names under which a symbol is handed out."""
    scope = project.uses(symbol.path).scopes[symbol.scope]
    if scope.kind == u.MODULE_SCOPE:
        exported = Exported(project, family.sought)
        lazily = (name for path, name in _packages(project, symbol.path) if exported.offsets(path))
        yield from (f"{name}.{symbol.name}" for name in (*_handing_out(project, symbol), *lazily))
    elif scope.kind == u.CLASS_SCOPE:
        owner = project.uses(symbol.path).owners[scope.owner]
        if not owner.startswith("_") and owner.isidentifier():
            for name in _handing_out(project, Symbol(symbol.path, 0, owner)):
                yield f"{name}.{owner}.{family.sought.word}"


def _handing_out(project: Project, symbol: Symbol) -> Iterator[str]:
    """Yield the modules that hand a name out."""
    module = project.workspace.census.module(symbol.path)
    if module is not None and symbol.name in (project.uses(symbol.path).exported or ()):
        yield import_name(module)
    for path, name in _packages(project, symbol.path):
        if symbol in project.names.attribute(path, symbol.name) - project.names.kept:
            yield name


def _packages(project: Project, path: str) -> Iterator[tuple[str, str]]:
    """Yield path and name of the packages around a file."""
    folder = path
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        module = project.workspace.census.module(f"{folder}/__init__.py")
        if module is None:
            return
        yield module.path, import_name(module)
