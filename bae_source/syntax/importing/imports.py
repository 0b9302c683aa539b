"""Import statements of a module: the one place through which any change adds them.

What is there, where a new one goes and how it is merged, the modules of `importing` know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from bae_source.model.span import Span
from bae_source.syntax.outline.tree import Tree

if TYPE_CHECKING:
    from bae_source.syntax.importing.adding import Added


def add_imports(
    tree: Tree,
    module: str,
    statements: Iterable[str],
    *,
    package: bool = False,
    splices: Sequence[tuple[Span, str]] = (),
    is_own: Callable[[str], bool] | None = None,
    merge: bool = True,
) -> Added:
    """Plan to add import statements to a module, beside another change of it that may need them.

    Parameters:
        module: the dotted name by which the module is imported.
        statements: source that holds nothing but imports, also under `if TYPE_CHECKING`.
        package: whether the module is a package's `__init__`.
        splices: the other change; what comes back holds it too.
        is_own: whether a top-level name is a module of the project.
        merge: whether a name may go into a statement that is there.

    Raises:
        SourceError: `syntax_invalid` if the module does not parse and nothing else of it changes.
        RequestError: `invalid_arguments` if a statement is no import.
        Refused: `name_collision` if the module binds a name to something else; `unsafe_change` if there is no place.
    """
    from bae_source.syntax.importing.adding import add  # what changes without imports need not wait for
    from bae_source.syntax.importing.meaning import Place

    place = Place(module=module, package=package)
    return add(tree, place, statements, splices=splices, is_own=is_own, merge=merge)
