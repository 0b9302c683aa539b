"""Expose names of a module in its package, or withdraw them, by themselves.

exports_add("app.retry", ["again"])       `from .retry import again` in app, and "again" in its __all__
exports_remove("app.retry", ["again"])    every byte as before
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from bae_source.errors import LookupFailed, Refused, RequestError
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.request import Effect, Request, described
from bae_source.project.importing.order import circle
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.exporting import Exporting, exposing, package_of, refuse_circle, withdrawing
from bae_source.refactoring.planning.plan import planned_files

Module = Annotated[str, described("Dotted name of the module.", min_length=1)]
To = Annotated[str | None, described("The package that exposes them, if it is not the one directly around the module.")]
_MODULE = "@module"  # what the address of a module ends in that something else is called like, too


class ExportsAdd(Request, frozen=True, kw_only=True):
    """Expose names of a module in its package, in the style that its `__init__` has.

    Without names it is what the module has for the public: its `__all__`, else its public definitions; or the module
    itself, where the package exposes modules.
    """

    verb: ClassVar[str] = "exports_add"
    family: ClassVar[str] = "exports"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it after new public names, so that they can be imported from the package."
    examples: ClassVar[tuple[str, ...]] = (
        "exports add app.retry again",
        "exports add app.net.http.client Client --to app",
    )
    idempotent: ClassVar[bool] = True

    target: Module
    names: Annotated[
        tuple[str, ...] | None,
        described("Names to expose; all public ones if left out.", placed=True, metavar="NAME"),
    ] = None
    to: To = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for a list of no names.
            LookupFailed: `symbol_not_found` for a name that the module does not have.
            Refused: `name_collision` if the package binds it to something else; `unsafe_change` if it would make a
                circular import.
        """
        if self.names is not None and not self.names:
            raise RequestError(
                "invalid_arguments",
                "names is empty, so there is nothing to expose.",
                hints=["Leave it out to expose what the module has for the public, or give names."],
            )
        module = _module(workspace, self.target)
        package = package_of(workspace, module, self.to)
        reason = ""
        for behind in (False, True):
            found = exposing(workspace, module, package, self.names, behind=behind)
            plan = _planned(workspace, module, package, found, done="exports")
            reason = circle(workspace, workspace.after(plan.changes), package, module) or ""
            if not reason:
                return plan
        raise refuse_circle(reason)


class ExportsRemove(Request, frozen=True, kw_only=True):
    """Withdraw names of a module from its package; without names, all that the package exposes of it."""

    verb: ClassVar[str] = "exports_remove"
    family: ClassVar[str] = "exports"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it before you delete or hide names that a package exposes."
    examples: ClassVar[tuple[str, ...]] = (
        "exports remove app.retry again",
        "exports remove app.retry --dry-run",
    )
    idempotent: ClassVar[bool] = True

    target: Module
    names: Annotated[
        tuple[str, ...] | None,
        described("Names to withdraw; all if left out.", placed=True, metavar="NAME"),
    ] = None
    to: To = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for a list of no names.
            LookupFailed: `symbol_not_found` if the package does not expose one of them.
            Refused: `unsafe_change` if it imports them inside a `try` or an `if`.
        """
        if self.names is not None and not self.names:
            raise RequestError(
                "invalid_arguments",
                "names is empty, so there is nothing to withdraw.",
                hints=["Leave it out to withdraw everything that the package exposes of the module, or give names."],
            )
        module = _module(workspace, self.target)
        package = package_of(workspace, module, self.to)
        found = withdrawing(workspace, module, package, self.names or ())
        return _planned(workspace, module, package, found, done="no longer exports")


def _module(workspace: Workspace, target: str) -> ModuleFile:
    resolved = _resolved(workspace, target)
    if resolved.group is not None:
        raise Refused(
            "unsafe_change",
            f"{resolved.address} is no module; exports are given as a module and the names in it.",
            hints=[f"Name the module, {resolved.module.name}, and {resolved.address.name} as what to export."],
        )
    return resolved.module


def _resolved(workspace: Workspace, target: str) -> Resolved:
    """Return the meaning of a target; the module, where a package exposes something under a module's name."""
    try:
        return resolve(workspace, target)
    except LookupFailed as error:
        if error.code != "ambiguous_symbol" or not any(each.endswith(_MODULE) for each in error.candidates):
            raise
        found = [resolve(workspace, each) for each in error.candidates]
        modules = [each for each in found if each.group is None]
        if len(modules) != 1:
            raise
        return modules[0]


def _planned(workspace: Workspace, module: ModuleFile, package: ModuleFile, found: Exporting, *, done: str) -> Plan:
    if not found.spliced.splices:
        summary = f"{package.name} is like that already."
    else:
        summary = f"{package.name} {done} {', '.join(found.names) or 'anything'} of {module.name}."
    return planned_files(
        workspace, spliced=[found.spliced], changed=(package.name,), summary=summary, warnings=found.notices
    )
