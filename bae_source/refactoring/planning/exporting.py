"""The names that packages expose of their modules: which, in which `__init__`, and the changes in it.

Invariants:
- the `__init__` is changed by splices alone; what they are, `exports.expose` says;
- a name that a module does not have is never exposed.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused, ResourceError
from bae_source.model.call import Call
from bae_source.model.closest import closest
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.project.files.layout import import_name
from bae_source.project.files.packages import modules_below
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import Spliced
from bae_source.syntax.exports.expose import Exposed, expose, exposes_modules
from bae_source.syntax.exports.lazy import by_stub
from bae_source.syntax.exports.view import View
from bae_source.syntax.exports.withdraw import exposed_of, withdraw
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.source import newline_kinds, with_newlines


class Exporting(Struct, frozen=True, kw_only=True):
    """The changes that expose or withdraw names.

    Parameters:
        spliced: the changes, of the package's `__init__` or of its stub.
        names: what is exposed that was not, or is not any more.
        notices: what the caller should know.
    """

    spliced: Spliced
    names: tuple[str, ...]
    notices: tuple[Notice, ...]


def package_of(workspace: Workspace, module: ModuleFile, to: str | None) -> ModuleFile:
    """Return the package whose `__init__` exposes a module: the one around it, or one further up.

    Raises:
        LookupFailed: `symbol_not_found` if there is no such package with an `__init__`.
    """
    name = import_name(module)
    above = name.rpartition(".")[0]
    wanted = above if to is None else to
    if not wanted or not f"{name}.".startswith(f"{wanted}.") or wanted == name:
        inside = f"{name} does not lie in {wanted}" if wanted else f"{name} lies in no package"
        raise LookupFailed(
            "symbol_not_found",
            f"{inside}, so that cannot expose it.",
            hints=["Name a package around the module."],
            candidates=[above] if above else [],
        )
    parts = tuple(wanted.split("."))
    found = [item.file for item in workspace.layout.prefixes(parts) if item.length == len(parts)]
    package = next((file for file in found if file is not None and file.package), None)
    if package is None:
        raise LookupFailed(
            "symbol_not_found",
            f"{wanted} is a namespace package, which has no __init__ that could expose anything.",
            hints=[f"Give it one first: write {wanted} with package=True."],
        )
    return package


def exposing(
    workspace: Workspace, module: ModuleFile, package: ModuleFile, names: Sequence[str] | None, *, behind: bool = False
) -> Exporting:
    """Work out the changes by which a package exposes a module.

    Parameters:
        names: what to expose of it; None for what it has for the public, or for the module itself where the package
            exposes modules.
        behind: whether a new import goes behind all others, whatever their order.

    Raises:
        LookupFailed: `symbol_not_found` if the module has no such name.
        Refused: `name_collision` if the package binds one of them to something else.
    """
    init, tree = _exposing_file(workspace, package)
    own = workspace.tree(module)
    modules = modules_below(workspace, package)
    notices: list[Notice] = []
    if names is not None:
        _check_names(own, module, names)
        chosen: Sequence[str] = tuple(dict.fromkeys(names))
    elif exposes_modules(tree, package.name, modules):
        chosen = ()
    else:
        chosen, notices = _public(own, module)
        if not chosen:
            return Exporting(spliced=Spliced(module=init, splices=()), names=(), notices=tuple(notices))
    found = expose(
        tree,
        package.name,
        _below(module, package),
        chosen,
        modules=modules,
        behind=behind,
        exports_them=bool(chosen) and set(chosen) == set(own.outline.exported or ()),
    )
    if not newline_kinds(tree.text):  # an empty file has the line ends of the module
        newline = own.source.newline
        found = replace(found, splices=[(span, with_newlines(new, newline)) for span, new in found.splices])
    return _exporting(init, found, [*notices, *_stub_notices(workspace, init, found.names, gone=False)])


def withdrawing(workspace: Workspace, module: ModuleFile, package: ModuleFile, names: Sequence[str]) -> Exporting:
    """Work out the changes by which a package exposes a module no longer.

    Parameters:
        names: what is not to be exposed of it; none for anything.

    Raises:
        LookupFailed: `symbol_not_found` if the package does not expose one of them.
        Refused: `unsafe_change` if it imports them where they are left.
    """
    init, tree = _exposing_file(workspace, package)
    modules, below = modules_below(workspace, package), _below(module, package)
    starred = _starred(workspace.tree(module), tree, package, below)
    exposed = dict.fromkeys((*exposed_of(tree, package.name, below, modules=modules), *(starred or ())))
    missing = [name for name in names if name not in exposed]
    if missing or not (exposed or starred is not None):
        what = ", ".join(missing) or "anything"
        raise LookupFailed(
            "symbol_not_found",
            f"{package.name} does not expose {what} of {module.name}.",
            hints=[
                Call("exports check", target=package.name, then="shows what is odd."),
                Call("read", target=package.name, full=True, then="shows all."),
            ],
            candidates=[f"{package.name}.{name}" for name in sorted(exposed)][:10],
        )
    found = withdraw(
        tree,
        package.name,
        below,
        tuple(names) or tuple(exposed),
        modules=modules,
        exports_them=not names or (starred is not None and set(names) >= set(starred)),
    )
    return _exporting(init, found, _stub_notices(workspace, init, found.names, gone=True))


def exposes_others(workspace: Workspace, module: ModuleFile) -> bool:
    """Return whether the package around a public module exposes all other public modules in it, and there are some."""
    name = import_name(module).rpartition(".")[2]
    if name.startswith("_"):
        return False
    try:
        package = package_of(workspace, module, None)
        modules = modules_below(workspace, package)
        others = {each for each in modules if "." not in each and not each.startswith("_")} - {name}
        _, tree = _exposing_file(workspace, package)
        exposed = {each for each in others if exposed_of(tree, package.name, each, modules=modules)}
        starred = {each for each in others - exposed if _is_starred(tree, package, each)}
    except ResourceError:
        return False
    return bool(others) and others == exposed | starred


def _exporting(init: ModuleFile, found: Exposed, notices: Sequence[Notice]) -> Exporting:
    spliced = Spliced(module=init, splices=tuple(found.splices), targets=found.targets)
    return Exporting(spliced=spliced, names=found.names, notices=(*notices, *found.notices))


def _below(module: ModuleFile, package: ModuleFile) -> str:
    return import_name(module)[len(import_name(package)) + 1 :]


def _exposing_file(workspace: Workspace, package: ModuleFile) -> tuple[ModuleFile, Tree]:
    """Return the file that decides a package's exports: its `__init__`, or the stub that it loads names by."""
    tree = workspace.tree(package)
    if "attach_stub" in tree.text and by_stub(View(tree.text)):
        parts = tuple(package.name.split("."))
        stubs = [item.file for item in workspace.layout.stubs(parts) if item.length == len(parts) and item.file]
        if len(stubs) == 1:
            return stubs[0], workspace.tree(stubs[0])
    return package, tree


def _stub_notices(workspace: Workspace, init: ModuleFile, names: Sequence[str], *, gone: bool) -> list[Notice]:
    """Return where a package has a stub as well, which goes on to tell something else of some names."""
    parts = tuple(import_name(init).split("."))
    stubs = [item.file for item in workspace.layout.stubs(parts) if item.length == len(parts) and item.file]
    if len(stubs) != 1 or stubs[0].path == init.path:
        return []
    try:
        outline = workspace.tree(stubs[0]).outline
    except ResourceError:
        return []
    has = {*outline.names_in(MODULE), *(each.name for each in outline.imports)}
    wrong = [name for name in names if (name in has) is gone and "*" not in has]
    if not wrong:
        return []
    how = "still has" if gone else "does not have"
    text = f"Type checkers believe {stubs[0].name}, which {how} {', '.join(wrong)}; it was left as it is."
    return [Notice("stub_there", text)]


def _public(tree: Tree, module: ModuleFile) -> tuple[tuple[str, ...], list[Notice]]:
    """Return the public names of a module, and notices about them."""
    outline = tree.outline
    names, notices = outline.public, list[Notice]()
    if not outline.exports_known:
        text = f"__all__ of {module.name} is computed when the code runs; its public definitions are exported instead."
        notices.append(Notice("all_computed", text))
    if not names and outline.exported is None:
        notices.append(Notice("nothing_public", f"{module.name} defines nothing public, so nothing of it is exported."))
    return names, notices


def _check_names(tree: Tree, module: ModuleFile, names: Sequence[str]) -> None:
    outline = tree.outline
    has = set(outline.names_in(MODULE)) | {each.name for each in outline.imports if not each.typing_only}
    missing = [name for name in names if name not in has]
    if not missing or ("*" in has and all(name.isidentifier() for name in missing)):
        return

    public = [name for name in outline.names_in(MODULE) if not name.startswith("_")]
    near = [match for name in missing for match in closest(name, has - {"*"}, n=3)]
    raise LookupFailed(
        "symbol_not_found",
        f"{module.name} has no {', '.join(missing)} that could be exported.",
        hints=["Name what the module defines, or leave the names out for all that is public."],
        candidates=[f"{module.name}.{name}" for name in dict.fromkeys((*near, *public))][:10],
    )


def _starred(own: Tree, tree: Tree, package: ModuleFile, below: str) -> tuple[str, ...] | None:
    """Return the names of a module that a star import exposes; None where there is no such import of it."""
    if not _is_starred(tree, package, below):
        return None
    return own.outline.public


def _is_starred(tree: Tree, package: ModuleFile, below: str) -> bool:
    whole = f"{import_name(package)}.{below}"
    stars = [each for each in tree.outline.imports if each.name == "*"]
    return any((each.level, each.module) in ((1, below), (0, whole)) for each in stars)


def refuse_circle(reason: str) -> Refused:
    """Return the refusal of an export that makes a circular import."""
    return Refused(
        "unsafe_change",
        f"The export would make a circular import: {reason}",
        unchanged=True,
        hints=[
            "Import the name inside of a function that is called only once both are imported, or move what both need "
            "to a module of its own."
        ],
    )
