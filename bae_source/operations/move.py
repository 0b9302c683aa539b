"""Move a module, a package or a data file to another name.

move pkg.core pkg.net.base        pkg/core.py -> pkg/net/base.py, with its stub; pkg/net/__init__.py if it is missing
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from bae_source.errors import RequestError
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Request, Target, described
from bae_source.project.destination import Destination, destination_of
from bae_source.project.extent import Extent, check_etag_of, check_removable, counted, cut_off, extent_of, gone, stays
from bae_source.project.planning import planned_files
from bae_source.project.workspace import Workspace


class Move(Request, frozen=True, kw_only=True):
    """Move functions, classes or variables to another module, or give a module, a package or data another name.

    A definition goes with its comments and decorators; the imports that it needs are added where it goes, those that it
    alone needed go with it, and what imports or uses it is led to its new place. The module is made if it is not there.
    Of a module, a package or a data file every byte stays as it is; what imports it by its old name, and which of its
    own relative imports mean something else now, is told and not changed.
    """

    verb: ClassVar[str] = "move"
    effect: ClassVar[Effect] = Effect.WRITES
    when: ClassVar[str] = "Use it to put code elsewhere: what uses a definition follows it."
    idempotent: ClassVar[bool] = True

    target: Target
    to: Annotated[
        str,
        described(
            "The module that a definition goes to; or the name that a module or data is to have, such as pkg.sub.mod"
            " or pkg:sub/file.txt.",
            min_length=1,
        ),
    ]
    also: Annotated[tuple[str, ...], described("Other definitions of the same module that go along.")] = ()
    unsure: Annotated[
        Literal["refuse", "leave"],
        described("What comes of places that may mean a definition: refuse the move, or leave them."),
    ] = "refuse"
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_name`, or `invalid_arguments` for a symbol, or a name of another kind.
            LookupFailed: there is no such thing, or several.
            Refused: `name_collision` if the name is taken; `stale`; `unsafe_change` if it cannot be moved.
        """
        extent = extent_of(workspace, self.target, "move")
        if extent is None:
            from bae_source.project.moving.planned import plan_symbols  # which modules need not wait for

            return plan_symbols(
                workspace,
                (self.target, *self.also),
                self.to,
                leaves_unsure=self.unsure == "leave",
                if_match=self.if_match,
            )
        if extent.kind == "stub":
            raise RequestError(
                "invalid_arguments",
                f"{self.target} is a stub, which moves with its module.",
                hints=["Name the module."],
            )
        check_etag_of(extent, self.if_match)
        check_removable(workspace, extent)
        destination = destination_of(workspace, extent, self.to)
        held = f", with {counted(extent)}" if extent.folder is not None else ""
        moved = f"Moved {extent.address} to {destination.address}{held}."
        plan = planned_files(
            workspace,
            contents={
                **dict.fromkeys(destination.paths),
                **dict.fromkeys(destination.created, b""),
                **{new: workspace.content(old) for old, new in destination.paths.items()},
            },
            origins={new: old for old, new in destination.paths.items()},
            summary=moved if destination.paths else f"{extent.address} is called that already.",
            changed=(destination.address, extent.address) if destination.paths else (extent.address,),
            seen=(extent.etag,),
            warnings=_notices(workspace, extent, destination) if destination.paths else (),
        )
        return replace(plan, gone=gone(extent)) if destination.paths else plan


def _notices(workspace: Workspace, extent: Extent, destination: Destination) -> Iterator[Notice]:
    yield from destination.notices
    if extent.kind == "module" and len(extent.files) > 1:
        yield Notice("stub_moved", f"{extent.name}@stub, which describes it, was moved with it.")
    yield from stays(extent)
    yield from cut_off(workspace, extent)
    if extent.kind in ("module", "package"):
        from bae_source.project.left_behind import left_behind  # names across files, which data files have not
        from bae_source.project.moved_imports import broken_imports

        yield from broken_imports(workspace, extent.name, destination.address, destination.paths)
        yield from left_behind(workspace, extent, destination.paths)
