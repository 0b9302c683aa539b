"""The faults in the exports of modules: names in `__all__` that are not there, or twice, and names left out of it.

Invariants:
- a name that is not known unless the code runs (a star import from elsewhere, a `__getattr__`) is no finding;
- a list that is lost, since `__all__` is assigned anew behind it, says nothing;
- findings come in a stable order: by module, line and name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.project.files.packages import modules_below
from bae_source.project.references.meaning.provided import MAKES_NAMES, Provided
from bae_source.project.workspace import Workspace
from bae_source.syntax.exports.all_names import counting
from bae_source.syntax.exports.imports import own_froms
from bae_source.syntax.exports.lazy import is_lazy, tables
from bae_source.syntax.exports.view import View
from bae_source.syntax.outline.tree import Tree
from bae_source.system.collecting import collector_off


class ExportFinding(Struct, frozen=True, kw_only=True, order=True):
    """One thing that is odd.

    Parameters:
        address: the module whose exports they are.
        line: where it says so.
        name: the name that it is about.
        code: `missing`, `twice` or `not_listed`.
        message: a sentence about it.
    """

    address: str
    line: int
    name: str
    code: str
    message: str


def export_findings(workspace: Workspace, below: str = "") -> tuple[list[ExportFinding], list[str]]:
    """Return the findings about exports, and the modules that could not be read.

    Parameters:
        below: a module, or a package with all in it; empty for the whole project.
    """
    found: list[ExportFinding] = []
    missed: list[str] = []
    for path in workspace.census.paths:
        module = workspace.census.module(path)
        if module is None or not (not below or f"{module.name}.".startswith(f"{below}.")):
            continue
        try:
            if b"__all__" not in (workspace.glance(path) or b""):
                continue
            with collector_off():
                found += findings_of(workspace, module)
        except ResourceError:
            missed.append(module.name)
    return sorted(found), sorted(missed)


def findings_of(workspace: Workspace, module: ModuleFile) -> Iterator[ExportFinding]:
    """Yield the findings about the exports of one module.

    Raises:
        ResourceError: it does not parse, or cannot be read.
    """
    tree = workspace.tree(module)
    view = View(tree.text)
    listed = [
        (name, view.lines.number(span.start))
        for each in counting(view)
        for names in each.lists
        for name, span in zip(names.names, names.items.spans, strict=True)
        if name is not None
    ]
    yield from _twice(module, listed)
    yield from _missing(workspace, module, tree, view, listed)
    if module.package and tree.outline.exports_known:
        yield from _left_out(module, view, {name for name, _ in listed})


def _twice(module: ModuleFile, listed: list[tuple[str, int]]) -> Iterator[ExportFinding]:
    seen: dict[str, int] = {}
    for name, line in listed:
        if name in seen:
            message = f"__all__ of {module.name} names {name} twice; the first time in line {seen[name]}."
            yield ExportFinding(address=module.name, line=line, name=name, code="twice", message=message)
        else:
            seen[name] = line


def _missing(
    workspace: Workspace, module: ModuleFile, tree: Tree, view: View, listed: list[tuple[str, int]]
) -> Iterator[ExportFinding]:
    below = modules_below(workspace, module) if module.package else []
    known = tables(view, module.name, below)
    if is_lazy(view) and not known:
        return
    # where tables are read it is known how names are made
    lazily = {name for table in known for name in table.entries.keys}
    lazily |= {str(name) for table in known for names in table.lists for name in names.names}
    provided = Provided(workspace.census, workspace.index.uses, workspace.files.names)
    for_types = Counter(each.name for each in tree.outline.imports if each.typing_only)
    bound = workspace.index.uses(module.path).scopes[0].names if for_types else {}
    for name, line in listed:
        if name in lazily:
            continue
        is_for_types = name in for_types and len(bound.get(name, ())) <= for_types[name]
        if is_for_types or provided.name(module.path, name, makers=() if known else MAKES_NAMES) is False:
            message = f"__all__ of {module.name} names {name}, which {module.name} does not have."
            yield ExportFinding(address=module.name, line=line, name=name, code="missing", message=message)


def _left_out(module: ModuleFile, view: View, listed: set[str]) -> Iterator[ExportFinding]:
    """Yield the imports of its own modules that a package does not list, where it lists most of them."""
    imported: list[tuple[str, int]] = []
    for own, each in own_froms(view, module.name):
        names = [other or name for name, other in each.names if not each.star]
        if own or any(name in listed for name in names):
            imported += [(name, view.lines.number(each.span.start)) for name in names if not name.startswith("_")]
    if 2 * sum(name in listed for name, _ in imported) <= len(imported):
        return
    for name, line in imported:
        if name not in listed:
            message = f"{module.name} imports {name} of its own modules and does not name it in __all__."
            yield ExportFinding(address=module.name, line=line, name=name, code="not_listed", message=message)
