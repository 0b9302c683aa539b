"""Files that a rename changes throughout: they have the new name nowhere before, and the old one nowhere after.

    from m import send       every `send` here is what is renamed, and `m` is changed throughout, too:
    send(send)               so `post` means here on the planned text what `send` does now

Invariants:
- of such a file nothing need be looked up on the planned text: each of its scopes binds and reads the new name where it
  bound and read the old one, and no other name has changed;
- what may come to a name otherwise, as by a star, a submodule or the built-in names, makes a file no such one.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from bae_source.errors import ResourceError
from bae_source.project.facts.mentions import Words
from bae_source.project.files.layout import import_name
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.project import Project
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u


class Throughout:
    """Tells the files that are changed throughout.

    Parameters:
        before: the project as it is.
        after: the files as the rename leaves them.
    """

    def __init__(self, before: Project, after: Workspace, family: Family, new: str) -> None:
        self._before = before
        self._after = after
        self._old, self._new = family.sought.name, new
        self._symbols = frozenset(family.symbols)
        self._can_be = family.sought.name == family.sought.word and not any(
            hasattr(builtins, name) for name in (self._old, new)
        )
        self._known: dict[str, bool] = {}

    def has(self, path: str) -> bool:
        """Say whether a file, and what it imports the name from, are changed throughout."""
        if path not in self._known:
            self._known[path] = True  # files that import each other lead to nothing else
            try:
                self._known[path] = self._can_be and self._is_changed(path)
            except ResourceError:
                self._known[path] = False
        return self._known[path]

    def _is_changed(self, path: str) -> bool:
        uses = self._before.uses(path)
        return (
            not uses.stars
            and uses.whole
            and not self._holds(self._before.workspace, path, self._new)
            and not self._holds(self._after, path, self._old)
            and not any(self._submodules(path))
            and all(self._means_it(path, each) for each in uses.mentions.get(self._old, ()))
            and all(self._comes_from_such(path, each) for each in uses.imports if each.attribute == self._old)
        )

    def _holds(self, workspace: Workspace, path: str, name: str) -> bool:
        return Words([name], alone=True).occur_in(workspace.content(path) or b"")

    def _submodules(self, path: str) -> Iterator[str]:
        """Yield the modules that a package's own names may be, too."""
        census = self._before.workspace.census
        module = census.module(path)
        if module is not None and module.package:
            for name in (self._old, self._new):
                yield from census.find(f"{import_name(module)}.{name}")

    def _means_it(self, path: str, mention: u.Mention) -> bool:
        """Say whether a name that stands alone is what is renamed, and nothing else."""
        line, column, scope, kind, receiver, _ = mention
        if receiver != u.PLAIN or kind in (u.EXPORT, u.STRING):
            return True  # which no scope decides
        binds = kind in (u.WRITE, u.DELETE)
        found = self._before.names.named(path, scope, self._old, *((0, 0) if binds else (line, column)))
        return bool(found) and found <= self._symbols

    def _comes_from_such(self, path: str, imported: u.Imported) -> bool:
        files = self._before.names.files(path, imported.module, imported.level)
        return bool(files) and all(map(self.has, files))
