"""Move definitions to another module, or a module, a package or a data file to another name.

move pkg.core.send pkg.net         the function, what it imports, and its users
move pkg.core.send pkg.mail.Mail pkg.net    several definitions, of one module or of several
move pkg.core pkg.net.base         pkg/core.py -> pkg/net/base.py, with its stub; pkg/net/__init__.py if it is missing
move pkg.core pkg.net --merge      all that pkg.core defines, and its file goes
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from bae_source.errors import LookupFailed, RequestError, ResourceError
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Request, SkipGenerated, Target, described
from bae_source.model.text import listed
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.workspace import Workspace
from bae_source.refactoring.moving.choice import Choice
from bae_source.refactoring.moving.files import plan_files
from bae_source.refactoring.planning.extent import check_etag_of, check_removable, extent_of
from bae_source.refactoring.planning.plan import planned_files


class Move(Request, frozen=True, kw_only=True):
    """Move functions, classes or variables to another module, or give a module, a package or data another name.

    A definition goes with its comments and decorators; the imports that it needs are added where it goes, those that it
    alone needed go with it, and what imports or uses it is led to its new place. The module is made if it is not there.
    A method becomes a function, which takes the instance if it uses it; where a call is unsure, it stays.
    A module or a package takes its importers, its relative imports and its data files along, and a data file stays as
    it is. With `merge`, all that a module defines goes into another one. Declarations move to the stub of the other
    module. What may mean it and cannot be led along refuses the move.
    """

    verb: ClassVar[str] = "move"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it to put code elsewhere: what uses a definition follows it."
    examples: ClassVar[tuple[str, ...]] = (
        "move app.net app.transport.net",
        "move app.net app.transport.net --dry-run",
        "move app:mail.txt app:post.txt",
    )
    idempotent: ClassVar[bool] = True

    target: Annotated[
        Target | Annotated[tuple[Target, ...], described("Several definitions.", min_length=1)],
        described("Dotted name of a definition, a module, a package or data; or of several definitions, as a list."),
    ]
    to: Annotated[
        str,
        described(
            "The module that a definition goes to; or the name that a module or data is to have, such as pkg.sub.mod"
            " or pkg:sub/file.txt.",
            min_length=1,
        ),
    ]
    merge: Annotated[
        bool, described("Take all that a module defines into another module that is there, and delete its file.")
    ] = False
    as_name: Annotated[
        str | None, described("The name that the definition is to have there.", flag="as", metavar="NAME")
    ] = None
    shim: Annotated[
        bool,
        described("Keep its old name working; a function or class that is taken by it warns, if possible."),
    ] = False
    local_imports: Annotated[
        bool,
        described(
            "Import the names that one module needs of the other in functions, which breaks a circle.", seldom=True
        ),
    ] = False
    unsure: Annotated[
        Literal["refuse", "leave"],
        described("Handling of unsure places: refuse the move, or leave them."),
    ] = "refuse"
    text: Annotated[
        Literal["none", "exact"],
        described(
            "Comments, docstrings and text files that change, too: none, or those with its dotted name.", seldom=True
        ),
    ] = "none"
    skip_generated: SkipGenerated = False
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_name`, or `invalid_arguments` for a symbol, or a name of another kind.
            LookupFailed: there is no such thing, or several.
            Refused: `name_collision` if the name is taken; `stale`; `unsafe_change` if it cannot be moved.
        """
        targets = (self.target,) if isinstance(self.target, str) else self.target
        try:
            return self._planned(workspace, targets)
        except LookupFailed as error:
            if error.code == "symbol_not_found" and (known := self._moved_before(workspace, targets)):
                return known
            raise

    def _moved_before(self, workspace: Workspace, targets: tuple[str, ...]) -> Plan | None:
        """Return a plan without changes where the move was made already; None where it was not."""
        owner = _resolved(workspace, targets[0].rpartition(".")[0])
        is_definition = owner is not None and not owner.module.package
        names = (
            [f"{self.to}.{self.as_name or each.rpartition('.')[2]}" for each in targets] if is_definition else [self.to]
        )
        found = [each for name in names if (each := _resolved(workspace, name)) is not None]
        if len(found) < len(names) or len(targets) > len(found) or any(_resolved(workspace, each) for each in targets):
            return None
        there = [str(each.address) for each in found]
        summary = f"There is no {listed(targets)}, and {listed(there)} is there: nothing was moved."
        return planned_files(workspace, summary=summary, changed=tuple(there))

    def _planned(self, workspace: Workspace, targets: tuple[str, ...]) -> Plan:
        choice = Choice(leaves_unsure=self.unsure == "leave", text=self.text, skip_generated=self.skip_generated)
        extent = extent_of(workspace, targets[0], "move") if len(targets) == 1 else None
        if extent is None and self.merge:
            raise RequestError(
                "invalid_arguments",
                f"{listed(targets)} is no module: one module is merged at a time.",
                hints=["Name one module, or move definitions without merge."],
            )
        if extent is None:
            from bae_source.refactoring.moving.planned import plan_symbols  # which modules need not wait for

            return plan_symbols(
                workspace,
                targets,
                self.to,
                choice,
                if_match=self.if_match,
                as_name=self.as_name,
                shim=self.shim,
                local_imports=self.local_imports,
            )
        if self.as_name is not None or self.shim or self.local_imports:
            raise RequestError(
                "invalid_arguments",
                f"{targets[0]} is no definition: as_name, shim and local_imports are for definitions.",
                hints=[f"move {targets[0]} {self.to} alone."],
            )
        if extent.kind == "stub":
            raise RequestError(
                "invalid_arguments",
                f"{targets[0]} is a stub, which moves with its module.",
                hints=["Name the module."],
            )
        check_etag_of(workspace, extent, self.if_match)
        check_removable(workspace, extent)
        if self.merge:
            from bae_source.refactoring.moving.merging import plan_merge  # few moves are merges

            return plan_merge(workspace, extent, self.to, choice)
        return plan_files(workspace, extent, self.to, choice)

    def untangled(self) -> Move | None:
        """Return the same with imports in functions; None if it has them, or moves no definition."""
        if self.local_imports or self.merge:
            return None
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return Move(**{**values, "local_imports": True})


def _resolved(workspace: Workspace, name: str) -> Resolved | None:
    """Return the meaning of a name; None where it has none, or several."""
    try:
        return resolve(workspace, name) if name else None
    except ResourceError:
        return None
