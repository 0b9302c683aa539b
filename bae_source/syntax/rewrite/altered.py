"""The members that a change of a symbol or a module drops, brings, hides and empties, and decorators and docstrings.

    class A:
        @cached              taken out: A.f no longer has @cached
        def f(self): ...
        def g(self): ...     taken out: A.g is no longer defined
        def f(self): ...     put in: it hides the A.f above

Trees are compared by the names of their definitions, however the change was given. What a replaced whole symbol may
not bring beside it, a piece of text may not either.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.model.outcome import Notice
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.syntax.outline.definitions import MODULE, Kind, Outline
from bae_source.syntax.outline.groups import uses_itself
from bae_source.syntax.outline.locate import Group, effective_roles, group_span
from bae_source.syntax.outline.tree import Tree

_Path = tuple[str, ...]
_PREFIX = re.compile(r"^[rRuU](?=[\"'])")
_SHOWN = 20
_ROLES = ("getter", "setter", "deleter", "impl")


class Altered(Struct, frozen=True, kw_only=True):
    """Outcome of a comparison of a file before and after a change.

    Parameters:
        added: names that are defined beside the symbol, or in the module, and were not.
        gained: paths of all definitions that there are more of, but for those inside new ones.
        notices: what the caller should know.
    """

    added: tuple[str, ...] = ()
    gained: tuple[_Path, ...] = ()
    notices: tuple[Notice, ...] = ()


def altered(before: Tree, after: Tree, group: Group) -> Altered:
    """Compare a file before and after a symbol was changed, or a part of it, or some text in it.

    Raises:
        Refused: `name_collision` if a name is defined beside the symbol that exists there.
    """
    first = before.outline.definitions[group.members[0]]
    compared = _Compared(before, after, group_span(before.outline, group.members), first.parent)
    depth, scope = len(compared.scope), first.parent
    own = {name for index in group.members for name in before.outline.definitions[index].names}
    beside = [path[-1] for path in compared.gained if len(path) == depth + 1 and path[-1] not in own]
    imported = {binding.name for binding in before.outline.imports} if scope == MODULE else set()
    for name in beside:
        if before.outline.named(scope, name) or name in imported:
            raise Refused(
                "name_collision",
                f"The new text also defines {name}, which exists already.",
                hints=[f"Leave it out, or edit {name} on its own."],
            )
    name = group.qualname[-1].name
    inside = [path for path in compared.gained if len(path) > depth + 1]
    notices = [*compared.dropped_decorators(depth), *compared.gone()]
    if beside:
        notices.append(Notice("added", f"Added beside {name}: {', '.join(beside)}."))
    if inside:
        notices.append(Notice("added", f"Added inside of {name}: {compared.listed_as_new(inside)}."))
    notices += [*compared.hidden(), *compared.emptied(), *compared.undocumented()]
    return Altered(added=tuple(beside), gained=tuple(compared.gained), notices=tuple(notices))


def compared_modules(before: Tree, after: Tree) -> Altered:
    """Compare a module before and after any of its text was changed."""
    compared = _Compared(before, after, Span(0, len(before.text)), MODULE)
    notices = [*compared.dropped_decorators(0), *compared.gone()]
    if compared.gained:
        notices.append(Notice("added", f"Added: {compared.listed_as_new(compared.gained)}."))
    added = tuple(path[0] for path in compared.gained if len(path) == 1 and path not in compared.old)
    had, has = (not _says_nothing(tree, tree.outline.docstring) for tree in (before, after))
    notices += [*compared.hidden(), *compared.emptied(), *compared.undocumented(module=had and not has)]
    return Altered(added=added, gained=tuple(compared.gained), notices=tuple(notices))


class _Compared:
    """Two outlines side by side: definitions by the path of names that leads to them, in source order.

    Parameters:
        span: what is changed, in the old text; what lies outside is the same in both.
        parent: the definition that it lies in, or `MODULE`.

    Attributes:
        gained: paths of which there are more than before, and not only since what is around them is new.
        lost: paths of which there are fewer.
    """

    def __init__(self, before: Tree, after: Tree, span: Span, parent: int) -> None:
        self.before, self.after = before, after
        self.scope = before.outline.qualname(parent)
        every = before.outline.definitions
        inside = [index for index, each in enumerate(every) if span.start <= each.span.start < span.end]
        start = inside[0] if inside else 0
        end = inside[-1] + 1 if inside else 0
        self.old = by_path(before.outline, range(start, end))
        self.new = by_path(after.outline, range(start, len(after.outline.definitions) - (len(every) - end)))
        self.gained = [path for path in self.new if self._more(path, self.new, self.old)]
        self.lost = [path for path in self.old if self._more(path, self.old, self.new)]

    def _more(self, path: _Path, here: dict[_Path, list[int]], there: dict[_Path, list[int]]) -> bool:
        outermost = path[:-1] == self.scope or path[:-1] in there
        return outermost and len(here[path]) > len(there.get(path, ()))

    def dropped_decorators(self, depth: int) -> Iterator[Notice]:
        """Yield a notice for each definition that stays and lost decorators."""
        for path, indices in self.old.items():
            now = [self.after.outline.definitions[index].decorators for index in self.new.get(path, ())]
            gone = _unmatched(self._roles(self.before, self.old, path), self._roles_now(path)) if now else indices
            left = [index for number, index in enumerate(indices) if number not in gone] if now else []
            then = [self.before.outline.definitions[index].decorators for index in left]
            present = Counter(name for each in now for name in each)
            lost = Counter(name for each in then for name in each) - present
            if lost:
                shown = ", ".join(f"@{name or '(expression)'}" for name in lost)
                yield Notice("decorators_dropped", f"{'.'.join(path[depth:])} no longer has {shown}.")

    def gone(self) -> Iterator[Notice]:
        """Name the definitions that are no longer there."""
        if self.lost:
            names = [
                name
                for path in self.lost
                for name in _named(path, "one of", self._roles(self.before, self.old, path), self._roles_now(path))
            ]
            yield Notice("definitions_gone", f"No longer defined: {listed(names, _SHOWN)}.")

    def listed_as_new(self, paths: Iterable[_Path]) -> str:
        """Name definitions that were not there."""
        return listed(
            [
                name
                for path in paths
                for name in _named(path, "another", self._roles_now(path), self._roles(self.before, self.old, path))
            ],
            _SHOWN,
        )

    def hidden(self) -> Iterator[Notice]:
        """Name the definitions that stand in vain now, since a later one of their suite has their name."""
        names = [
            ".".join(path)
            for path, indices in self.new.items()
            if _hidden(self.after, path, indices) > _hidden(self.before, path, self.old.get(path, []))
        ]
        if names:
            text = f"Defined again further down, which hides the first: {listed(names, _SHOWN)}."
            yield Notice("definitions_hidden", text)

    def emptied(self) -> Iterator[Notice]:
        """Name the functions of which no code is left."""
        if names := self._worse(_is_empty):
            yield Notice("bodies_emptied", f"No code is left in the body of: {listed(names, _SHOWN)}.")

    def undocumented(self, *, module: bool = False) -> Iterator[Notice]:
        """Name the functions and classes whose docstring is gone or holds nothing but dots.

        Parameters:
            module: whether the module's own is, too.
        """
        if names := [*(["the module"] if module else []), *self._worse(_is_undocumented)]:
            text = f"The docstring is gone, or holds nothing but dots: {listed(names, _SHOWN)}."
            yield Notice("docstring_dropped", text)

    def _worse(self, lacks: Callable[[Tree, int], bool]) -> list[str]:
        """Return the definitions that lack something and did not, by their roles where several share a name."""
        names: list[str] = []
        for path, new in self.new.items():
            if old := self.old.get(path):
                then = _lacking(self.before, old, self._roles(self.before, self.old, path), lacks)
                now = _lacking(self.after, new, self._roles_now(path), lacks)
                roles = (now[True] - then[True]) & (then[False] - now[False])
                names += [_called(".".join(path), role) for role in roles]
        return names

    def _roles_now(self, path: _Path) -> list[str | None]:
        return self._roles(self.after, self.new, path)

    def _roles(self, tree: Tree, found: dict[_Path, list[int]], path: _Path) -> list[str | None]:
        return effective_roles(tree.outline, found.get(path, ()))


def by_path(outline: Outline, indices: Iterable[int] | None = None) -> dict[_Path, list[int]]:
    """Return definitions by the path of names that leads to them, in source order; all of them if none are given."""
    indices = range(len(outline.definitions)) if indices is None else indices
    paths: dict[int, _Path] = {MODULE: ()}
    found: dict[_Path, list[int]] = {}
    for index in indices:
        definition = outline.definitions[index]
        above = paths.get(definition.parent)
        if above is None:
            above = paths[definition.parent] = outline.qualname(definition.parent)
        paths[index] = (*above, definition.names[0])
        for name in definition.names:
            found.setdefault((*above, name), []).append(index)
    return found


def _named(path: _Path, word: str, here: Sequence[str | None], there: Sequence[str | None]) -> list[str]:
    """Return how those of one name that are here and not there are called: all alike, or by their roles."""
    name = ".".join(path)
    if not there:
        return [name]
    roles = [here[number] for number in _unmatched(here, there)]
    return [_called(name, role) if role in _ROLES else f"{word} {name}" for role in roles]


def _called(name: str, role: str | None) -> str:
    """Return the name shown for one of several definitions of a name, such as `size@setter`."""
    return f"{name}@{role}" if role in _ROLES else name


def _unmatched(here: Sequence[str | None], there: Sequence[str | None]) -> list[int]:
    """Return the numbers of those roles that have no counterpart: one without a role stands for the main one."""
    left, more = list(range(len(here))), []
    for role in there:
        same = next((number for number in left if here[number] == role), None)
        more += [role] if same is None else []
        left = [number for number in left if number != same]
    for _ in more[: len(left)]:
        left.remove(next((number for number in left if here[number] in ("getter", "impl", None)), left[0]))
    return left


def _hidden(tree: Tree, path: _Path, indices: Sequence[int]) -> int:
    """Return how many of some definitions of one name a later one of the same suite hides.

    Overloads and accessors do not hide each other, nor does `f = wrapped(f)` hide the `f` that it takes.
    """
    definitions = tree.outline.definitions
    if len(indices) < 2 or path[-1] == "_":
        return 0
    parent = definitions[indices[0]].parent
    if parent != MODULE and definitions[parent].kind is not Kind.CLASS:
        return 0
    return sum(
        definitions[first].suite == definitions[second].suite
        and definitions[first].role != "overload"
        and (definitions[first].body is not None or definitions[second].body is not None)
        and not uses_itself(tree, second, path[-1])
        for first, second in itertools.pairwise(indices)
    )


def _lacking(
    tree: Tree, indices: Sequence[int], roles: Sequence[str | None], lacks: Callable[[Tree, int], bool]
) -> dict[bool, Counter[str | None]]:
    """Count the roles of the definitions of one name that lack something, and of those that do not.

    A role that only tells one from others counts as none: `f` alone is what `f` beside its setter was.
    """
    found: dict[bool, Counter[str | None]] = {True: Counter(), False: Counter()}
    for index, role in zip(indices, roles, strict=True):
        found[lacks(tree, index)][None if len(indices) == 1 else role] += 1
    return found


def _is_empty(tree: Tree, index: int) -> bool:
    """Return whether a definition is a function that holds nothing but a docstring, `pass` or `...`."""
    definition = tree.outline.definitions[index]
    suite = tree.outline.suites[definition.body] if definition.body is not None else None
    if suite is None or definition.kind is not Kind.FUNCTION:
        return False
    start = definition.docstring.end if definition.docstring else suite.start
    return tree.text[start : suite.end].strip(" \t\r\n;") in ("", "pass", "...")


def _is_undocumented(tree: Tree, index: int) -> bool:
    """Return whether a definition is no function or class with a docstring, or with one that holds nothing but dots."""
    definition = tree.outline.definitions[index]
    return definition.body is None or _says_nothing(tree, definition.docstring)


def _says_nothing(tree: Tree, docstring: Span | None) -> bool:
    return docstring is None or not _PREFIX.sub("", docstring.cut(tree.text)).strip("\"'. \t\r\n…")
