"""Files that a search is going to need, loaded beforehand, so that they are parsed together and not one by one.

    from app.models import Book
    Book.objects.send()             a search for `send` needs the bindings of app.models

Invariants:
- a file that is left out here is loaded when it is needed; the answer does not depend on this choice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from bae_source.errors import ResourceError
from bae_source.project.references.meaning.project import Project
from bae_source.syntax.names import uses as u

_LINKS = (u.ATTRIBUTE, u.CALLED, u.AWAITED, u.SUBSCRIPT)
_WITH_RECEIVER = frozenset(range(len(u.KINDS))).difference((u.IMPORT, u.KEYWORD))


def receivers_from(
    project: Project,
    paths: Iterable[str],
    names: Sequence[str],
    kinds: Collection[int] | None = None,
) -> list[str]:
    """Return the files that what stands before one of the names is imported from.

    Parameters:
        paths: files that were read already.
        kinds: the kinds of mentions that count; all if left out.
    """
    found: dict[str, None] = {}
    wanted = _WITH_RECEIVER if kinds is None else _WITH_RECEIVER.intersection(kinds)
    for path in paths:
        try:
            uses = project.uses(path)
        except ResourceError:
            continue
        for number in dict.fromkeys(_imports(uses, names, wanted)):
            imported = uses.imports[number]
            found.update(dict.fromkeys(project.names.files(path, imported.module, imported.level)))
    return list(found)


def _imports(uses: u.Uses, names: Iterable[str], kinds: Collection[int]) -> Iterator[int]:
    """Yield the imports that receivers of names begin with."""
    bound = uses.scopes[0].names
    for name in names:
        for mention in uses.mentions.get(name, ()):
            first = _first(uses, mention.receiver) if mention.receiver > 0 and mention.kind in kinds else ()
            if first and first[0] == u.NAME:
                for binding in bound.get(str(first[1]), ()):
                    if binding.how == u.IMPORTED:
                        yield binding.first


def _first(uses: u.Uses, number: int) -> u.Expression:
    """Return what a chain of attributes and calls begins with."""
    form = uses.expressions[number]
    while form and form[0] in _LINKS:
        form = uses.expressions[int(form[1])]
    return form
