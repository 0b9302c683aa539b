"""Files in which the name of a module follows when the module gets another one.

    from pkg import old                    `fresh`, and `fresh.f()` below it
    from . import old                      in pkg/__init__: likewise, with `"old"` in `__all__`
    from app import old                    `fresh`, where app took it from pkg and goes on with its new name
    from pkg import old; fresh = 3         `fresh as old`, and all that takes it from here goes on with `old`

Invariants:
- all that one file calls by the name follows, or none of it: its imports, its `__all__`, and what others take from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.project.files.layout import import_name
from bae_source.project.references.meaning.meanings import InModule
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.refactoring.renaming.exported import Exported, shortest_gone
from bae_source.syntax.names import uses as u


class Following:
    """The files in which the name of a moved module follows.

    Parameters:
        sought: the module.
        new: its dotted name afterwards.
        mentions: by file, what the search found of it.
        stays_around: whether the package around it keeps the name, since the module leaves it.
    """

    def __init__(
        self,
        project: Project,
        sought: Sought,
        new: str,
        mentions: Mapping[str, Sequence[Mentioned]],
        *,
        stays_around: bool,
    ) -> None:
        self.project = project
        self.word = sought.word
        self.last = new.rpartition(".")[2]
        self.sought = sought
        self.exported = Exported(project, sought)
        around = sought.dotted.rpartition(".")[0]
        self.stays_around = stays_around
        self.around = frozenset(project.workspace.census.find(around)) if around else frozenset()
        self.taking = frozenset(map(InModule, project.workspace.census.find(new)))
        self._mentions = mentions
        self._known: dict[str, bool] = {}

    def has(self, path: str) -> bool:
        """Return whether the name follows in a file."""
        if path not in self._known:
            self._known[path] = True  # files that import each other decide nothing
            try:
                self._known[path] = self.last != self.word and self._can_follow(path)
            except ResourceError:
                self._known[path] = False  # it does not parse
        return self._known[path]

    def is_taken_from_one(self, path: str, imported: u.Imported) -> bool:
        """Return whether an import takes the module from a file in which its name follows."""
        givers = self._givers(path, imported)
        return bool(givers) and all(map(self.has, givers))

    def by_star(self, path: str) -> list[str]:
        """Return the files that give another the name by a star."""
        uses = self.project.uses(path)
        return [file for number in uses.stars for file in self._givers(path, uses.imports[number])]

    def owners(self, path: str, receiver: int) -> list[str]:
        """Return the files that an attribute is taken from, but for the package around the module."""
        values = self.project.inference.values(path, receiver)
        return [each.path for each in values if isinstance(each, InModule) and each.path not in self.around]

    def public_gone(self) -> Iterator[Notice]:
        """Return the notice that a public name is gone."""
        names = (name for path, followed in self._known.items() if followed for name in self._public(path))
        return shortest_gone(self.word, names)

    def _public(self, path: str) -> Iterator[str]:
        """Yield the name under which a file hands the module out."""
        module = self.project.workspace.census.module(path)
        is_bound = self.word in self.project.uses(path).scopes[0].names
        if module is not None and (self.exported.offsets(path) or (module.package and is_bound)):
            yield f"{import_name(module)}.{self.word}"

    def _can_follow(self, path: str) -> bool:
        uses, found = self.project.uses(path), self._mentions.get(path, ())
        if self._is_taken(path, uses):
            return False
        if path in self.around and self.stays_around:
            return False
        plain = [each for each in found if each.mention.receiver == u.PLAIN and each.mention.kind != u.IMPORT]
        if any(each.certainty != "sure" for each in plain):
            return False
        imports = (uses.imports[each.mention.receiver] for each in found if each.mention.kind == u.IMPORT)
        if not all(self._changes(path, each) for each in imports if each.name == self.word):
            return False
        is_bound = any(self.word in each.names for each in uses.scopes)
        return is_bound or not plain or all(map(self.has, self.by_star(path)))

    def _is_taken(self, path: str, uses: u.Uses) -> bool:
        """Return whether a file has the new name for something, but for the module that takes all of this one."""
        found = [each for scope in uses.scopes for each in scope.names.get(self.last, ())]
        exported, imported = uses.exported or (), self.project.names.imported
        if self.last not in uses.scopes[0].names or self.last in exported:
            return bool(found) or self.last in (*uses.mentions, *exported)
        return any(each[0] != u.IMPORTED or imported(path, each[1]) != self.taking for each in found)

    def _changes(self, path: str, imported: u.Imported) -> bool:
        """Return whether an import binds the module's name, and can bind the new one."""
        if not imported.attribute:
            return imported.module == self.word
        givers = self._givers(path, imported)
        return self.around.issuperset(givers) or all(map(self.has, givers))

    def _givers(self, path: str, imported: u.Imported) -> tuple[str, ...]:
        """Return the files that an import takes the module from."""
        names = self.project.names
        files = names.files(path, imported.module, imported.level)
        return tuple(file for file in files if names.attribute(file, self.word) & self.sought.meanings)
