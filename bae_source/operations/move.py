"""Move a module, a package or a data file to another name.

move pkg.core pkg.net.base        pkg/core.py -> pkg/net/base.py, with its stub; pkg/net/__init__.py if it is missing
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

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
    """Move a module, a package or a data file: give it another name.

    Every byte in it stays as it is, and data files of a package come along. Missing packages on the way are made. Who
    imports it by its old name, and which of its own relative imports mean something else now, is told and not changed.
    """

    verb: ClassVar[str] = "move"
    effect: ClassVar[Effect] = Effect.WRITES
    when: ClassVar[str] = "Use it for another name or another place; references are told, and not changed."
    idempotent: ClassVar[bool] = True

    target: Target
    to: Annotated[str, described("The name that it is to have, such as pkg.sub.mod or pkg:sub/file.txt.", min_length=1)]
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_name`, or `invalid_arguments` for a symbol, or a name of another kind.
            LookupFailed: there is no such thing, or several.
            Refused: `name_collision` if the name is taken; `stale`; `unsafe_change` if it cannot be moved.
        """
        extent = extent_of(workspace, self.target, "move")
        if extent is None or extent.kind == "stub":
            what = (
                "a stub, which moves with its module" if extent else "a symbol, and move takes modules and data files"
            )
            raise RequestError(
                "invalid_arguments",
                f"{self.target} is {what}.",
                hints=["Name the module." if extent else "A symbol is moved by an insert and a delete."],
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
