"""A change of one module, with the imports that it brings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bae_source.errors import SourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.span import Span
from bae_source.project.facts.index import named
from bae_source.project.files.layout import import_name
from bae_source.project.naming.resolve import Resolved
from bae_source.project.workspace import Workspace
from bae_source.syntax.importing.meaning import Place
from bae_source.syntax.outline.tree import Tree

if TYPE_CHECKING:
    from bae_source.syntax.importing.adding import Added


def with_imports(
    workspace: Workspace, resolved: Resolved, splices: Sequence[tuple[Span, str]], statements: Iterable[str]
) -> tuple[Sequence[tuple[Span, str]], tuple[Notice, ...]]:
    """Return splices on a module with those that add missing imports to it, and notices about these.

    Parameters:
        splices: the change that the imports are for.
        statements: source that holds nothing but imports.

    Raises:
        SourceError: `syntax_invalid` if the module does not parse and nothing else of it changes.
        RequestError: `invalid_arguments` if a statement is no import.
        Refused: `name_collision` if the module binds a name to something else; `unsafe_change` if there is no place.
    """
    wanted = list(statements)
    if not wanted:
        return splices, ()
    try:
        added = added_imports(workspace, resolved.module, resolved.tree, splices, wanted)
    except SourceError as error:
        raise named(error, resolved.module.name) from None
    return added.splices, added.notices


def added_imports(
    workspace: Workspace,
    module: ModuleFile,
    tree: Tree,
    splices: Sequence[tuple[Span, str]],
    statements: Iterable[str],
) -> Added:
    """Return splices on a module with those that add imports to it where they are missing.

    Parameters:
        tree: the module, which need not be as it is on the disk.
        splices: the change that the imports are for.
        statements: source that holds nothing but imports.

    Raises:
        as `with_imports`.
    """
    from bae_source.syntax.importing.adding import add  # what changes without imports need not wait for

    place = Place(module=import_name(module), package=module.package)
    return add(tree, place, statements, splices=splices, is_own=lambda top: bool(workspace.layout.prefixes((top,))))
