"""What a piece of text that is replaced inside a symbol drops and adds.

    @cached              taken out: f no longer has @cached
    def f(self):
        return 1
    def g(self): ...     put behind the return: g is added beside f

Outlines are compared by names, since nothing outside of the symbol changes. What a replaced whole symbol may not
bring beside it, a piece of text may not either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.model.outcome import Notice
from bae_source.syntax.locate import Group
from bae_source.syntax.outline import MODULE, Outline

_Path = tuple[str, ...]


class Altered(Struct, frozen=True, kw_only=True):
    """What a replaced piece of text comes to.

    Parameters:
        added: names that are defined beside the symbol and were not.
        notices: what the caller should know.
    """

    added: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


def altered(before: Outline, after: Outline, group: Group) -> Altered:
    """Compare a file's outlines before and after a piece of text was replaced inside a symbol.

    Raises:
        Refused: `name_collision` if the text defines a name beside the symbol that exists there.
    """
    first = before.definitions[group.members[0]]
    scope = before.qualname(first.parent)
    own = {name for index in group.members for name in before.definitions[index].names}
    old, new = decorators_by_path(before), decorators_by_path(after)
    gained = [path for path, told in new.items() if len(told) > len(old.get(path, ())) and _is_outermost(path, old)]
    beside = [path[-1] for path in gained if path[:-1] == scope and path[-1] not in own]
    imported = {binding.name for binding in before.imports} if first.parent == MODULE else set()
    for name in beside:
        if (*scope, name) in old or name in imported:
            raise Refused(
                "name_collision",
                f"The new text also defines {name}, which exists already.",
                hints=[f"Leave it out, or edit {name} on its own."],
            )
    deeper = [path for path in gained if len(path) > len(scope) + 1]
    inside = [("another " if path in old else "") + ".".join(path[len(scope) :]) for path in deeper]
    name = group.qualname[-1].name
    return Altered(
        added=tuple(beside), notices=(*dropped_decorators(old, new, len(scope)), *_added(name, beside, inside))
    )


def decorators_by_path(outline: Outline) -> dict[_Path, list[tuple[str, ...]]]:
    """Return the decorators of each definition, by the path of names that leads to it, in source order."""
    paths: list[_Path] = []
    found: dict[_Path, list[tuple[str, ...]]] = {}
    for definition in outline.definitions:
        above = paths[definition.parent] if definition.parent != MODULE else ()
        paths.append((*above, definition.names[0]))
        for name in definition.names:
            found.setdefault((*above, name), []).append(definition.decorators)
    return found


def _is_outermost(path: _Path, old: dict[_Path, list[tuple[str, ...]]]) -> bool:
    return len(path) == 1 or path[:-1] in old


def dropped_decorators(
    old: dict[_Path, list[tuple[str, ...]]], new: dict[_Path, list[tuple[str, ...]]], depth: int
) -> Iterator[Notice]:
    """Say which definitions lost decorators and are as many as they were."""
    for path, before in old.items():
        after = new.get(path, [])
        if before == after or len(after) < len(before):
            continue
        present = Counter(name for told in after for name in told)
        lost = Counter(name for told in before for name in told) - present
        if lost:
            shown = ", ".join(f"@{name or '(expression)'}" for name in lost)
            yield Notice("decorators_dropped", f"{'.'.join(path[depth:])} no longer has {shown}.")


def _added(name: str, beside: list[str], inside: list[str]) -> Iterator[Notice]:
    if beside:
        yield Notice("added", f"Added beside {name}: {', '.join(beside)}.")
    if inside:
        yield Notice("added", f"Added inside of {name}: {', '.join(inside)}.")
