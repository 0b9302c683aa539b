"""Modules that code hands on as values, so that an attribute of an unknown receiver may be one of theirs.

    app.config                 the module `app.config`? not while each name that means its package stands before a dot
    run(app, "config")         may be: the package goes somewhere else, and a receiver there is not known

Invariants:
- a module that is only imported, and has its attributes read, stands before a dot nowhere else;
- a dynamic import gives an unknown module: where a file imports so, or calls a function that does, all unknown
  receivers count;
- what `getattr` and the like take is handed on to nothing of the project.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from bae_source.errors import ResourceError
from bae_source.project.references.meaning.meanings import InModule, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.syntax.names import uses as u

_DYNAMIC = ("import_module", "__import__", "module_from_spec", "load_module", "ModuleType")
"""Names by which code makes modules that no import statement names."""
_OF_SYSTEM = re.compile(rb"\bsys\s*\.\s*modules\s*[\[.]|\bimport\s+modules\b")
_WORD = re.compile(rb"\w+")
_GOES_ON = re.compile(r"\s*\.")
_INSPECTED = re.compile(
    r"\b(?:getattr|hasattr|setattr|delattr|vars|dir|id|repr|print|isinstance|reload|object|getmembers|getsource)\(\s*$"
)
"""Beginning of a call that reads or shows its first argument and hands it on to no code of the project."""


class HandedOn:
    """The unknown receivers that may be a module with the target.

    Parameters:
        project: where to look.
        sought: the target: a module, or a name of one.
        paths: the files that hold its name.
    """

    def __init__(self, project: Project, sought: Sought, paths: Iterable[str]) -> None:
        self.project = project
        self.sought = sought
        self.paths = tuple(paths)

    def may_be(self, mentioned: Mentioned) -> bool:
        """Return whether the receiver of a mention may be a module that has the target."""
        path, receiver = mentioned.path, mentioned.mention.receiver
        if self._is_handed_on or self._makes_modules(path):
            return True
        form = self.project.uses(path).expressions[receiver]
        return form[:1] == (u.ATTRIBUTE,) and form[2] in {_stem(owner) for owner in self._owners}

    @cached_property
    def _owners(self) -> frozenset[str]:
        """The modules that have the target as an attribute, and the packages around these."""
        found = {path for path in self.paths if self._has(path)}
        found.update(each.path for each in self.sought.meanings if isinstance(each, Symbol) and not each.scope)
        for meaning in self.sought.meanings:
            if isinstance(meaning, InModule):
                found.update(self._packages(meaning.path))
        new = found
        while new:
            new = set(self._starred(new)) - found
            found |= new
        return frozenset(found.union(*map(self._packages, found)))

    def _starred(self, owners: Collection[str]) -> Iterator[str]:
        """Yield the files that take all names of some modules."""
        for path in self.project.workspace.index.naming(sorted(map(_stem, owners))).paths:
            try:
                uses = self.project.uses(path)
            except ResourceError:
                continue  # `_is_handed_on` meets it too
            taken = (uses.imports[number] for number in uses.stars)
            if any(
                not set(owners).isdisjoint(self.project.names.files(path, each.module, each.level)) for each in taken
            ):
                yield path

    def _has(self, path: str) -> bool:
        try:
            return not self.project.names.attribute(path, self.sought.name).isdisjoint(self.sought.meanings)
        except ResourceError:
            return True

    def _packages(self, path: str) -> Iterator[str]:
        folder = path.removesuffix("/__init__.py").rpartition("/")[0]
        while folder and f"{folder}/__init__.py" in self.project.workspace.census.stamps:
            yield f"{folder}/__init__.py"
            folder = folder.rpartition("/")[0]

    @cached_property
    def _is_handed_on(self) -> bool:
        """Return whether any of these modules is used otherwise than by its attributes."""
        waiting = {_stem(path) for path in self._owners}
        known = set(waiting)
        while waiting:
            paths = self.project.workspace.index.naming(sorted(waiting)).paths
            waiting = set()
            for path in paths:
                try:
                    names = self._names(path)
                except ResourceError:
                    return True
                if any(self._stands_alone(path, name) for name in names):
                    return True
                waiting |= names - known
            known |= waiting
        return False

    def _names(self, path: str) -> set[str]:
        """Return the names that a file binds to these modules."""
        uses = self.project.uses(path)
        owners = frozenset(map(InModule, self._owners))
        stems = {_stem(owner) for owner in self._owners}
        numbers = [number for number, each in enumerate(uses.imports) if each.name]
        listed = {stem for stem in stems if any(each[3] == u.MENTION for each in uses.mentions.get(stem, ()))}
        return listed.union(
            uses.imports[number].name for number in numbers if self.project.names.imported(path, number) & owners
        )

    def _stands_alone(self, path: str, name: str) -> bool:
        """Return whether a name that means a module stands somewhere without an attribute behind it."""
        lines = self.project.lines(path)
        for line, column, scope, kind, receiver, _ in self.project.uses(path).mentions.get(name, ()):
            if kind == u.IMPORT or receiver != u.PLAIN:
                continue
            if kind != u.MENTION and self._is_another(path, scope, name):
                continue
            text = lines.cut(line).encode("utf-8", "surrogateescape")
            before, behind = text[:column], text[column + len(name.encode()) :]
            if _GOES_ON.match(behind.decode("utf-8", "replace")):
                continue
            if not _INSPECTED.search(before.decode("utf-8", "replace")):
                return True
        return False

    def _is_another(self, path: str, scope: int, name: str) -> bool:
        meanings = self.project.names.named(path, scope, name)
        return not any(isinstance(each, InModule) and each.path in self._owners for each in meanings)

    def _makes_modules(self, path: str) -> bool:
        """Return whether a file imports dynamically, or calls a function of the project that may return a module."""
        if _OF_SYSTEM.search(self.project.workspace.content(path) or b""):
            return True
        words = set(_WORD.findall(self.project.workspace.content(path) or b""))
        named = [each for each in sorted(self._importing) if each.encode() in words]
        return any(_is_called(self.project.uses(path), name) for name in named)

    @cached_property
    def _importing(self) -> frozenset[str]:
        """Names of functions that import dynamically: Python's own, and functions that may return their values."""
        found = set(_DYNAMIC)
        for path in self.project.workspace.index.naming(_DYNAMIC).paths:
            try:
                uses = self.project.uses(path)
            except ResourceError:
                continue  # it is in the answer as what could not be read
            calls = [each for word in _DYNAMIC for each in uses.mentions.get(word, ()) if each[3] == u.CALL]
            found.update(uses.owners[each[5]].rpartition(".")[2] for each in calls if _returns_things(uses, each[2]))
        return frozenset(name for name in found if name in _DYNAMIC or not name.startswith("__")) - {""}


def _is_called(uses: u.Uses, name: str) -> bool:
    return any(each[3] == u.CALL for each in uses.mentions.get(name, ()))


def _returns_things(uses: u.Uses, scope: int) -> bool:
    """Return whether the function around a scope returns more than literals."""
    while uses.scopes[scope].kind not in (u.FUNCTION_SCOPE, u.MODULE_SCOPE):
        scope = uses.scopes[scope].parent
    return any(uses.expressions[each][:1] != (u.LITERAL,) for each in uses.scopes[scope].returns)


def _stem(path: str) -> str:
    """Return the last component of the name of a module, by its file."""
    return path.removesuffix("/__init__.py").rpartition("/")[2].partition(".")[0]
