"""The plan of a move of a module, a package or data to another name, with all that imports it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.text import listed
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.moving.choice import Choice
from bae_source.refactoring.moving.prose import Moved, with_prose
from bae_source.refactoring.moving.refusing import check_unsure, counted_places
from bae_source.refactoring.planning.destination import Destination, destination_of
from bae_source.refactoring.planning.extent import Extent, counted, cut_off, gone, stays
from bae_source.refactoring.planning.generated import check_written_by_hand, without_generated
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.syntax.names import uses as u
from bae_source.syntax.rewrite.postcondition import names_alone

if TYPE_CHECKING:
    from bae_source.refactoring.moving.modules import Moved as Importing


def plan_files(workspace: Workspace, extent: Extent, to: str, choice: Choice) -> Plan:
    """Plan to give a module, a package or data another name.

    Raises:
        RequestError, LookupFailed: the name is none, or of another kind.
        Refused: `name_collision` if the name is taken; `unsafe_change` where it is unsure what means the module.
    """
    destination = destination_of(workspace, extent, to)
    if not destination.paths:
        summary = f"{extent.address} is called that already."
        return planned_files(workspace, summary=summary, changed=(extent.address,), seen=(extent.etag,))
    project, circles = project_of(workspace), False
    spliced, contents, report, moved = tuple[Spliced, ...](), dict[str, bytes](), None, list[Moved]()
    public = tuple[Notice, ...]()
    if extent.kind in ("module", "package"):
        from bae_source.refactoring.moving.modules import ModuleMove  # names across files, which data files have not

        own = extent.module.path if extent.module is not None else extent.folder
        assert own is not None
        move = ModuleMove(project, extent.name, destination.address, destination.paths, own)
        found = move.moved()
        circles = not _imports_alike(workspace, extent.name, destination, found)
        moved = [Moved(sought=move.sought, new=destination.address, code=found.code)]
        spliced, contents, report = found.spliced, dict(found.contents), found.report
        public = found.notices
        if choice.skip_generated:
            code = (each for each in map(workspace.census.module, destination.paths) if each is not None)
            check_written_by_hand(workspace, {each.path: each.name for each in code})
            spliced, report = without_generated(project, spliced, report, [move.sought.word])
        check_unsure(extent.address, report, choice)
    inner = f", with {counted(extent)}" if extent.folder is not None else ""
    users = f", and its name in {counted_places(report)}" if report is not None and report.changed else ""
    inside = {new: contents.pop(old, workspace.content(old)) for old, new in destination.paths.items()}
    plan = planned_files(
        workspace,
        spliced=spliced,
        contents={**dict.fromkeys(destination.paths), **dict.fromkeys(destination.created, b""), **inside, **contents},
        origins={new: old for old, new in destination.paths.items()},
        summary=f"Moved {extent.address} to {destination.address}{inner}{users}.",
        changed=(destination.address, extent.address),
        seen=(extent.etag,),
        warnings=(*public, *_notices(workspace, extent, destination), *_by_their_place(project, extent, destination)),
    )
    if spliced:
        from bae_source.refactoring.planning.unresolved import check_resolved, may_unbind

        if rebinding := [each.module.path for each in spliced if may_unbind(project, each)]:
            check_resolved(project, project_of(workspace.after(plan.changes)), rebinding)
    plan = replace(plan, gone=gone(extent), report=report, circles=circles)
    return with_prose(workspace, plan, moved, choice) if report is not None else plan


def _by_their_place(project: Project, extent: Extent, destination: Destination) -> Iterator[Notice]:
    """Yield notices where modules compute paths or names from their own place, and these lead elsewhere.

    A module that stays in its folder finds the same beside it, and so do those of a package that stays as deep.
    """
    places: list[str] = []
    for old, new in destination.paths.items():
        module = project.workspace.census.module(old)
        is_beside = old.rpartition("/")[0] == new.rpartition("/")[0]
        if module is None or is_beside or (extent.kind == "package" and old.count("/") == new.count("/")):
            continue
        places += _using(project, old, module.name, "__file__")
    if places:
        message = f"Paths are worked out from `__file__`, and lead elsewhere now: {listed(places)}."
        yield Notice("place_used", message)
    package = destination.address.rpartition(".")[0]
    if extent.kind == "module" and package != extent.name.rpartition(".")[0]:
        places = [place for path in extent.files for place in _using(project, path, extent.name, "__package__")]
        if places:
            yield Notice("module_names", f"`__package__` means {package or 'no package'} now: {listed(places)}.")


def _using(project: Project, path: str, module: str, name: str) -> list[str]:
    """Return the places where a file uses one of the names that Python gives each module."""
    try:
        mentions = project.uses(path).mentions.get(name, ())
    except ResourceError:
        return []
    return [f"{module}:{mention.line}" for mention in mentions if mention.receiver == u.PLAIN]


def _imports_alike(workspace: Workspace, old: str, destination: Destination, found: Importing) -> bool:
    """Return whether each module imports what it did, under another name: then no circle is new.

    So it is in the same package, if nothing else there has been called as the module is from now on.
    """
    package, _, last = destination.address.rpartition(".")
    return (
        old.rpartition(".")[0] == package
        and all(names_alone(workspace.source(each.module).text, each.splices) for each in found.spliced)
        and not any(path in found.contents for path in destination.paths)
        and not workspace.index.naming([last]).paths
    )


def _notices(workspace: Workspace, extent: Extent, destination: Destination) -> Iterator[Notice]:
    yield from destination.notices
    if extent.kind == "module" and len(extent.files) > 1:
        yield Notice("stub_moved", f"{extent.name}@stub, which describes it, was moved with it.")
    yield from stays(extent)
    yield from cut_off(workspace, extent)
