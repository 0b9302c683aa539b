"""Meaning of a name to a request that changes it: a definition there, never an import.

    pkg/user.py: from pkg.core import f       delete pkg.user.f    refused: pkg.core.f, or the import in pkg.user
    pkg/__init__.py: from .core import f      edit pkg.f           changes pkg.core.f, which pkg re-exports

Invariants:
- an import is followed only where a package's `__init__` re-exports what lies in the package, or what `__all__` names;
- a definition is never deleted by the name of an import, nor moved by that of one which is no re-export.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from bae_source.errors import LookupFailed, Refused, ResourceError, SourceError
from bae_source.model.call import Call
from bae_source.model.outcome import Notice
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.workspace import Workspace

Verb = Literal["edit", "insert", "delete", "move"]


def resolve_to_change(workspace: Workspace, target: str, verb: Verb) -> Resolved:
    """Return what a name means to a request that changes it.

    Raises:
        RequestError, LookupFailed, SourceError: as `resolve`.
        Refused: `unsafe_change` with both addresses, if the name is only imported there.
    """
    try:
        found = resolve(workspace, target) if verb in ("insert", "move") else resolve_broken(workspace, target)
    except LookupFailed as error:
        calls = _calls(workspace, target) if error.code == "symbol_not_found" else []
        if not calls:
            from bae_source.project.naming.bound_names import not_to_be_changed  # only once a name has failed

            raise (not_to_be_changed(workspace, target) or error) from None
        raise error.altered(hints=calls) from None
    if verb == "delete":
        check_bounded(found)
    if found.through is None or (verb != "delete" and _is_re_export(workspace, found, target)):
        return found
    raise Refused(
        "unsafe_change",
        f"{target} is only imported by {found.through.name}; it is {found.address}.",
        unchanged=True,
        hints=[f"{verb} {found.address} means the definition itself.", *_calls(workspace, target)],
        candidates=[str(found.address), target],
    )


def check_bounded(resolved: Resolved) -> None:
    """Refuse to replace or delete a symbol as a whole where its end is not known, since all below would go with it.

    Raises:
        Refused: `unsafe_change`.
    """
    opened = resolved.tree.open_from
    if opened is None or resolved.group is None:
        return
    spans = (resolved.tree.outline.definitions[index].span for index in resolved.group.members)
    if any(span.end > opened for span in spans):
        line = resolved.tree.source.lines.number(opened)
        raise Refused(
            "unsafe_change",
            f"It is not known where {resolved.address} ends: what line {line} of {resolved.module.name} opens is not "
            "closed.",
            unchanged=True,
            hints=[Call("edit", target=resolved.module.name, old="…", new="…", then="closes it first.")],
        )


def through(resolved: Resolved, target: str, done: str = "moved") -> Iterator[Notice]:
    """Yield a notice where the given name leads to the definition by an import."""
    if resolved.through is not None:
        yield Notice("re_export", f"{target} is an import of {resolved.address}: that was {done}, where it is defined.")


def resolve_broken(workspace: Workspace, target: str) -> Resolved:
    """Return what a name means, also in a module that does not parse, as far as its definitions are recognised.

    Raises:
        RequestError, LookupFailed, SourceError: as `resolve`.
    """
    try:
        return resolve(workspace, target)
    except SourceError as error:
        if error.code != "syntax_invalid":
            raise
        workspace.lets_broken_in = True
        try:
            return resolve(workspace, target)
        except ResourceError:
            raise error from None


def _is_re_export(workspace: Workspace, resolved: Resolved, target: str) -> bool:
    """Return whether a package's `__init__` exposes what was found: it lies in the package, or `__all__` names it."""
    package = resolved.through
    if package is None or not package.package:
        return False
    if resolved.module.name.startswith(f"{package.name}."):
        return True
    name = target.removeprefix(f"{package.name}.").partition(".")[0]
    return name in (workspace.tree(package).outline.exported or ())


def _calls(workspace: Workspace, target: str) -> list[str]:
    """Return the calls that take an imported name out of the module that imports it; none where it imports none."""
    module, _, name = target.rpartition(".")
    try:
        home = resolve(workspace, module) if module else None
    except ResourceError:
        return []
    if home is None or home.group is not None or all(each.name != name for each in home.tree.outline.imports):
        return []
    line = f"imports remove {home.address} {name}"
    return [Call("imports remove", target=home.address, names=[name], line=line, then="takes the import out.")]
