"""The rules that a rename must not break, checked before it is planned and on the planned text.

    def send(): ...                  send -> post is refused where `post` is bound in the same scope, in a function that
    def post(): ...                  uses `send`, in a class of the family, or where a file imports both

Every name that stands alone and is called as before or as after means on the planned text what it meant before, with
the new name for the old one. So nothing is captured, shadowed or uncovered.

Invariants:
- the mentions of both names are compared in every file that changes, each with itself.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator

from bae_source.errors import Refused, RequestError, ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.text import normalised
from bae_source.project.facts.mentions import Words
from bae_source.project.files.layout import import_name
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.calls.keywords import MODELS
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meanings import Meaning, Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.workspace import Workspace
from bae_source.refactoring.renaming.exported import public_gone
from bae_source.refactoring.renaming.fixtures import fixtures_in_reach
from bae_source.refactoring.renaming.outside import are_fields
from bae_source.syntax.names import uses as u

_MOST_SHOWN = 5
_NOT_PRIVATE = MODELS | {"typing.NamedTuple", "typing_extensions.NamedTuple"}
_SERIALIZED = MODELS | {"msgspec.Struct"}
_OTHER_KEY = re.compile(r"\b(?:\w*alias|name)\s*=")
"""Keywords by which a field has another name in serialized data."""


def checked_name(resolved: Resolved, new: str) -> str:
    """Return a new name as Python reads it.

    Raises:
        RequestError: `invalid_name` if it is none, or a keyword.
        Refused: `unsafe_change` for special methods.
    """
    name, old = identifier(new), resolved.address.qualname[-1].name
    for each in (old, name):
        if each.startswith("__") and each.endswith("__"):
            raise Refused(
                "unsafe_change",
                f"{each} has a meaning of its own in Python",
                unchanged=True,
                hints=["Rename what calls it, or edit it."],
            )
    return name


def identifier(new: str) -> str:
    """Return a name as Python reads it.

    Raises:
        RequestError: `invalid_name` if it is none, or a keyword.
    """
    name = normalised(new)
    if not name.isidentifier() or keyword.iskeyword(name):
        what = "a keyword of Python" if keyword.iskeyword(name) else "no name that Python knows"
        hint = "Give one identifier, without dots; move takes a dotted name."
        raise RequestError("invalid_name", f"{new!r} is {what}.", hints=[hint])
    return name


def check_free(project: Project, family: Family, new: str) -> None:
    """Check that no scope of a family binds the new name already.

    Raises:
        Refused: `name_collision`.
    """
    taken: list[str] = []
    new = family.stored(new)
    for symbol in family.symbols:
        scope = project.uses(symbol.path).scopes[symbol.scope]
        if new in scope.names or (scope.kind == u.CLASS_SCOPE and new in scope.attributes):
            taken.append(_bound_at(project, symbol.path, symbol.scope, new))
    for owner in family.classes:
        for node in project.inference.orders.of(owner).classes:
            scope = project.uses(node.path).scopes[node.scope]
            if new in scope.names or new in scope.attributes:
                taken.append(_bound_at(project, node.path, node.scope, new))
    taken += [_bound_at(project, each.path, each.scope, new) for each in fixtures_in_reach(project, family, new)]
    if taken:
        found = list(dict.fromkeys(taken))
        more = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        raise Refused(
            "name_collision",
            f"{new} is taken: {', '.join(found[:_MOST_SHOWN])}{more}.",
            unchanged=True,
            hints=["Choose another name, or rename that one first."],
            candidates=found[:_MOST_SHOWN],
        )


def check_field(project: Project, family: Family, new: str) -> None:
    """Check that a field stays one.

    Raises:
        Refused: `unsafe_change` where its new name begins with an underscore, which its class takes for no field.
    """
    owner = next((each for each in family.outside if each in _NOT_PRIVATE), "")
    if owner and new.startswith("_") and not family.sought.word.startswith("_") and are_fields(project, family):
        raise Refused(
            "unsafe_change",
            f"{owner} takes no name with an underscore in front for a field",
            unchanged=True,
            hints=["Choose a name without one."],
        )


def _bound_at(project: Project, path: str, scope: int, name: str) -> str:
    return f"{project.address(path, project.uses(path).scopes[scope].owner)}.{name}"


def notices(family: Family, project: Project, new: str) -> Iterator[Notice]:
    """Yield notices about the names, the old one and the new one."""
    yield from public_gone(project, family)
    at_module = any(project.uses(each.path).scopes[each.scope].kind == u.MODULE_SCOPE for each in family.symbols)
    if hasattr(builtins, new) and not family.classes:
        where = "in its module and wherever it is imported" if at_module else "in its function"
        yield Notice("hides_builtin", f"{new} hides the built-in of that name {where}.")
    if not _SERIALIZED.isdisjoint(family.outside) and are_fields(project, family) and _gives_key(project, family):
        old = family.sought.word
        yield Notice("serialized_name", f"{old} was its key in serialized data, too, which is {new} now.")


def _gives_key(project: Project, family: Family) -> bool:
    """Return whether a field's definition leaves its key in serialized data to its name."""
    for each in family.symbols:
        binding = project.uses(each.path).scopes[each.scope].names[each.name][0]
        tree = project.workspace.tree_at(each.path)
        start = tree.source.lines.start(binding.line)
        found = (e for e in tree.outline.definitions if e.names == (family.sought.word,) and e.keyword >= start)
        definition = next(found, None)
        if definition is not None and not _OTHER_KEY.search(tree.text, definition.keyword, definition.end):
            return True
    return False


def check_meanings(before: Project, after: Project, family: Family, new: str, paths: Iterable[str]) -> None:
    """Check that every name means what it meant before.

    Parameters:
        before, after: the project as it is, and as the rename leaves it.
        paths: the files that change.

    Raises:
        Refused: `name_collision` with the places where a name would mean something else.
    """
    old, new = family.sought.name, family.stored(new)
    changed: list[str] = []
    throughout = Throughout(before, after.workspace, family, new)
    for path in dict.fromkeys((*paths, *_starring(before, family, new))):
        if throughout.has(path):
            continue
        try:
            changed += _joined(before, after, path, new)
            own, planned = _mentions(before, path, old, new), _mentions(after, path, old, new)
        except ResourceError:
            continue  # it does not parse, and did not before
        if len(own) != len(planned):
            changed.append(_place(after, path, 0))
            continue
        for (name, mention), (later, again) in zip(own, planned, strict=True):
            meant = {_renamed(each, family, new) for each in _meant(before, path, name, mention)}
            means = set(_meant(after, path, later, again))
            if meant != means and not _same_builtin(meant, means, name, later):
                changed.append(_place(after, path, again[0]))
    if changed:
        found = list(dict.fromkeys(changed))
        more = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        raise Refused(
            "name_collision",
            f"With the name {new}, code would mean something else: {', '.join(found[:_MOST_SHOWN])}{more}.",
            unchanged=True,
            hints=["Choose another name, or rename what is called so there first."],
            candidates=found[:_MOST_SHOWN],
        )


def _starring(project: Project, family: Family, new: str) -> Iterator[str]:
    """Yield the files that have the new name, and import all names of some module: it may be among them afterwards."""
    if all(each.scope for each in family.symbols):
        return
    for path in project.workspace.index.naming([new]).paths:
        try:
            if project.uses(path).stars:
                yield path
        except ResourceError:
            continue  # it does not parse


def _joined(before: Project, after: Project, path: str, new: str) -> Iterator[str]:
    """Yield the scopes of a file that bind the new name already, and would by the rename once more."""
    own, planned = before.uses(path).scopes, after.uses(path).scopes
    if path.rpartition("/")[2].startswith("__init__.") and new in planned[0].names and new not in own[0].names:
        module = before.workspace.census.module(path)
        if module is not None and before.workspace.census.find(f"{import_name(module)}.{new}"):
            yield f"{module.name}.{new}"
    for scope, later in zip(own, planned, strict=False):
        if new in scope.names and len(scope.names[new]) < len(later.names.get(new, ())):
            yield _place(before, path, scope.names[new][0][3])


def _mentions(project: Project, path: str, old: str, new: str) -> list[tuple[str, u.Mention]]:
    """Return the names that stand alone in a file and are called as before or after, in their order."""
    found = [
        (name, mention)
        for name in (old, new)
        for mention in project.uses(path).mentions.get(name, ())
        if mention.receiver == u.PLAIN and mention.kind not in (u.EXPORT, u.STRING, u.MENTION)
    ]
    return sorted(found, key=lambda each: (each[1][0], each[1][1], each[1][3]))


def _meant(project: Project, path: str, name: str, mention: u.Mention) -> frozenset[Meaning]:
    binds = mention.kind in (u.WRITE, u.DELETE)  # which is about its own scope, wherever that reads the name from
    return project.names.named(path, mention.scope, name, *((0, 0) if binds else mention[:2]))


def _renamed(meaning: Meaning, family: Family, new: str) -> Meaning:
    return (
        Symbol(meaning.path, meaning.scope, new)
        if meaning in family.symbols and isinstance(meaning, Symbol)
        else meaning
    )


def _same_builtin(meant: set[Meaning], means: set[Meaning], name: str, later: str) -> bool:
    """Return whether a name that nothing binds is none that was renamed: it is looked up when code runs, as before."""
    return name == later and all(isinstance(each, Outside) for each in (*meant, *means)) and meant == means


def _place(project: Project, path: str, line: int) -> str:
    module = project.workspace.census.module(path)
    return f"{module.name if module else path}:{line}"


class Throughout:
    """The files that a rename changes throughout: they had the new name nowhere, and keep the old one nowhere.

        from m import send       every `send` here is the renamed symbol, and `m` is changed throughout, too:
        send(send)               so `post` means here on the planned text what `send` does now

    Of such a file nothing need be looked up on the planned text: each of its scopes binds and reads the new name where
    it bound and read the old one, and no other name has changed. What may come to a name otherwise, as by a star, a
    submodule or the built-in names, makes a file no such one.

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
        """Return whether a file, and what it imports the name from, are changed throughout."""
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
        """Return whether a name that stands alone is the renamed symbol, and nothing else."""
        line, column, scope, kind, receiver, _ = mention
        if receiver != u.PLAIN or kind in (u.EXPORT, u.STRING):
            return True  # which no scope decides
        binds = kind in (u.WRITE, u.DELETE)
        found = self._before.names.named(path, scope, self._old, *((0, 0) if binds else (line, column)))
        return bool(found) and found <= self._symbols

    def _comes_from_such(self, path: str, imported: u.Imported) -> bool:
        files = self._before.names.files(path, imported.module, imported.level)
        return bool(files) and all(map(self.has, files))
