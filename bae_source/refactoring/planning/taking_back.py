"""A change taken back from a file of the project that has changed since, checked like any plan; and its users."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from bae_source.errors import ResourceError, SourceError
from bae_source.model.changeset import ChangeSet, Contents, Obstacle
from bae_source.project.naming.resolve import absolute_name
from bae_source.project.references.meaning.project import project_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.syntax.outline.units import code_of
from bae_source.syntax.rewrite.taking_back import names_bound, taken_back

__all__ = ("going", "needed", "without")

_NAME = re.compile(r"[^\W\d]\w*")
_Gone = Mapping[str, frozenset[str] | None]


def without(workspace: Workspace, path: str, left: bytes, aim: bytes) -> bytes | Obstacle:
    """Return a module as it is without a change.

    Parameters:
        workspace: the project, with the module as it is.
        left: the module as the change left it.
        aim: as it was before the change.
    """
    module = workspace.layout.module_at(path)
    content = workspace.content(path)
    if module is None or content is None:
        return Obstacle(changed=("",))
    try:
        trees = workspace.kept.trees
        found = taken_back(trees.get(left), workspace.tree(module), trees.get(aim))
        if found.changed or found.used:
            return Obstacle(
                changed=tuple(_address(module.name, each) for each in found.changed),
                used=tuple((name, _address(module.name, user)) for name, user in found.used),
            )
        spliced = Spliced(module=module, splices=found.splices, targets=found.targets)
        plan = planned_files(workspace, spliced=[spliced], summary="", changed=())
    except ResourceError as error:
        return Obstacle(changed=(module.name,), reason=error.message)
    return plan.changes.files[0].apply(content) if plan.changes else content


def going(workspace: Workspace, changes: ChangeSet) -> _Gone:
    """Return the names that some changes take from each module; None for a module that goes as a whole."""
    gone: dict[str, frozenset[str] | None] = {}
    later = workspace.after(changes)
    for file in changes.files:
        module = workspace.layout.module_at(file.path)
        if module is None or file.before is None:
            continue
        try:
            if file.after is None:
                gone[module.name] = None
            elif names := names_bound(workspace.tree(module)) - names_bound(later.tree(module)):
                gone[module.name] = frozenset(names)
        except ResourceError:
            continue  # the names in code that does not parse are not known
    return gone


def needed(workspace: Workspace, gone: _Gone, since: Iterable[Contents]) -> Iterator[tuple[str, str]]:
    """Yield names that go and are imported by modules that came to use them since, each with the module.

    Parameters:
        since: what files held before they changed, by path.
    """
    for path, old in ((path, old) for each in since for path, old in each.items()):
        module, content = workspace.layout.module_at(path), workspace.content(path)
        if module is None or content is None or module.name in gone:
            continue
        was = set(_NAME.findall((old or b"").decode("utf-8", "replace")))
        try:
            uses, words = project_of(workspace).uses(path), set(_NAME.findall(code_of(workspace.tree(module).text)))
        except SourceError:
            continue
        for imported in uses.imports:
            base = ".".join(map(str, absolute_name(module, imported) or ()))
            whole = f"{base}.{imported.attribute}" if imported.attribute else base
            for name in (base, whole):
                if name in gone and not imported.begins:
                    going = gone[name]
                    lost = {name.rpartition(".")[2]} if going is None else going & words
                    if name == base and imported.attribute not in ("", "*"):
                        lost &= {imported.attribute} if going is not None else lost
                    yield from ((each, module.name) for each in sorted(lost - was))


def _address(module: str, qualname: str) -> str:
    return f"{module}.{qualname}" if qualname else module
