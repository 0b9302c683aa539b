"""Write a new module or package, or replace one as a whole, and have its package expose it.

write("app.retry", "def again(): ...", export=True)     app/retry.py, and `from .retry import again` in app
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Annotated, ClassVar

from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError, SourceError
from bae_source.model.address import Marker, Part, parse_name
from bae_source.model.changeset import digest
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.request import Effect, IfMatch, Request, as_mapping, described
from bae_source.project.importing.order import circle
from bae_source.project.naming import not_found
from bae_source.project.workspace import Workspace, etag_of
from bae_source.refactoring.planning.data_changes import write_data
from bae_source.refactoring.planning.exporting import Exporting, exposes_others, exposing, package_of
from bae_source.refactoring.planning.new_modules import new_module, taken
from bae_source.refactoring.planning.plan import outdated, planned_files
from bae_source.syntax.rewrite.altered import compared_modules
from bae_source.syntax.rewrite.pasted import explained, unfenced
from bae_source.syntax.rewrite.placeholders import check_complete
from bae_source.syntax.text.source import Source
from bae_source.syntax.text.written import usual_newline, written

_SIBLINGS = 50


class Write(Request, frozen=True, kw_only=True):
    """Write a new module or package, replace one as a whole, or write a data file.

    Missing packages on the way get an empty `__init__`, but none inside a namespace package. The package around it
    exposes its names in the style that its `__init__` has, with `export`, or if it exposes all public modules beside a
    new one; an export by which import statements run in a circle is left out. What is there is replaced only with
    `overwrite`.
    """

    verb: ClassVar[str] = "write"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it for what is new; in modules that exist, edit and insert keep what you do not name."
    examples: ClassVar[tuple[str, ...]] = (
        "write app.retry --source retry.py --export",
        "write app.retry --source - --overwrite",
        "write app.plugins --package --code '' --dry-run",
    )
    idempotent: ClassVar[bool] = True
    abbreviates: ClassVar[bool] = False
    places: ClassVar[tuple[bool, ...]] = (False, True)

    target: Annotated[
        str, described("Dotted name of the module, or pkg:file.txt, :docs/file.md for a data file.", min_length=1)
    ]
    source: Annotated[str, described("The whole source.")]
    overwrite: Annotated[bool, described("Replace the module that is there.")] = False
    package: Annotated[bool, described("Write the __init__ of a package instead of a plain module.")] = False
    export: Annotated[
        bool | tuple[str, ...] | None,
        described(
            "Expose its public names, or these names, in the package around it; false for none. If left out, a new "
            "public module is exposed where the package exposes all others beside it."
        ),
    ] = None
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_name` for what is no module's name, or could not be imported.
            Refused: `name_collision` if the name is taken; `stale`; `outside_project`.
            LookupFailed: `symbol_not_found` for an export of a name that the source does not define.
            SourceError: `syntax_invalid` or `encoding_invalid`, for the source given.
        """
        name = parse_name(self.target)
        if name.resource is not None:
            if self.export not in (None, False) or self.package:
                raise RequestError(
                    "invalid_arguments",
                    "A data file is neither exported nor a package.",
                    hints=["Leave export and package out."],
                )
            return write_data(workspace, self.target, self.source, overwrite=self.overwrite, if_match=self.if_match)
        source, notices = unfenced(self.source)
        if notices:
            plan = replace(self, source=source).plan(workspace)
            return replace(plan, warnings=(*notices, *plan.warnings))
        with explained(source):
            return self._plan_module(workspace)

    def _plan_module(self, workspace: Workspace) -> Plan:
        alone, module, notices = self._written(workspace, self._parts())
        if self.export is None:
            return self._exported_like_others(workspace, alone, module, notices)
        if not self.export:
            return alone
        return self._exported(workspace, alone, module, notices)

    def export_behind(self) -> Write | None:
        """Return the same with the export behind the imports that are there; None if there is none to put there."""
        return None if self._exports_nothing else _Behind(**as_mapping(self))

    def without_export(self) -> Write | None:
        """Return the same without the export; None if there is none to leave out."""
        return None if self._exports_nothing else Write(**{**as_mapping(self), "export": False})

    @property
    def _exports_nothing(self) -> bool:
        return self.export is not None and not self.export

    def _parts(self) -> tuple[tuple[str, ...], bool]:
        """Return the components of the module's name, and whether it is a package's.

        Raises:
            RequestError: `invalid_name`.
        """
        name = parse_name(self.target)
        stub = name.marked is not None and name.marked[1] is Marker.STUB
        if name.part is not None or stub or not all(segment.plain for segment in name.segments):
            what = "a stub" if stub else "a part" if isinstance(name.part, Part) else "one of several"
            raise RequestError(
                "invalid_name",
                f"{self.target!r} names {what}; write takes the name of a module.",
                hints=["Edit a symbol or a stub's symbols instead."],
            )
        parts = tuple(segment.name for segment in name.segments)
        if parts[-1] == "__init__" and len(parts) > 1:
            return parts[:-1], True
        return parts, self.package

    def _written(
        self, workspace: Workspace, asked: tuple[tuple[str, ...], bool]
    ) -> tuple[Plan, ModuleFile, tuple[Notice, ...]]:
        """Plan the module itself."""
        parts, package = asked
        present = _present(workspace, parts)
        if present is not None:
            if package and not present.package:
                raise taken(present)  # its file would stay a plain module's
            return self._replaced(workspace, present)
        if self.if_match is not None:
            raise Refused(
                "stale",
                f"{'.'.join(parts)} is not there any more, so it is not what it was when its etag was read.",
                hints=["Leave if_match out to write it anew."],
            )
        found = new_module(workspace, parts, package=package)
        content, notices = written(self.source, found.module.name, newline=_newline_near(workspace, found.module.path))
        every = (*found.notices, *notices)
        plan = planned_files(
            workspace,
            contents={**dict.fromkeys(found.packages, b""), found.module.path: content},
            changed=(found.module.name, *found.packages.values()),
            summary=f"Wrote {found.module.name}.",
            warnings=every,
        )
        check_complete(self.source, None, workspace.kept.trees.get(content), found.module.name)
        return plan, found.module, every

    def _replaced(self, workspace: Workspace, module: ModuleFile) -> tuple[Plan, ModuleFile, tuple[Notice, ...]]:
        """Plan what takes the place of a module."""
        before = workspace.content(module.path) or b""
        like, etag = _as_it_is(before)
        if not self.overwrite:
            raise taken(module)
        if self.if_match is not None and self.if_match != etag:
            raise outdated(module.name, etag, like.text if like else None)
        newline = like.newline if like and like.text else _newline_near(workspace, module.path)
        content, notices = written(self.source, module.name, newline=newline, like=like)
        plan = planned_files(
            workspace,
            contents={module.path: content},
            changed=(module.name,),
            seen=(etag,),
            summary=f"Wrote {module.name} anew." if content != before else f"{module.name} is like that already.",
            warnings=notices,
        )
        found = _altered(workspace, module, content, self.source)
        plan = replace(plan, warnings=(*plan.warnings, *found))
        return plan, module, plan.warnings

    def _exported_like_others(
        self, workspace: Workspace, alone: Plan, module: ModuleFile, notices: tuple[Notice, ...]
    ) -> Plan:
        """Add the export of a new module where its package exposes all others beside it."""
        new = any(file.path == module.path and file.before is None for file in alone.changes.files)
        if not new or not exposes_others(workspace, module):
            return alone
        try:
            plan = self._exported(workspace, alone, module, notices)
        except ResourceError as error:
            return _with_notice(alone, Notice("not_exported", f"Nothing exports {module.name}: {error.clause}."))
        if plan.changes == alone.changes:
            left_out = [each for each in plan.warnings if each.code == "export_left_out"]
            return replace(alone, warnings=(*alone.warnings, *left_out))
        text = f"{module.name} is exposed since its package exposes the others; --no-export (export=False) does not."
        return _with_notice(plan, Notice("exported", text))

    def _exported(self, workspace: Workspace, alone: Plan, module: ModuleFile, notices: tuple[Notice, ...]) -> Plan:
        """Add the export to the plan of the module; leave it out where it would make a circular import."""
        later = workspace.after(alone.changes)
        try:
            package = package_of(later, module, None)
        except LookupFailed as error:
            return _with_notice(alone, Notice("not_exported", f"Nothing exports {module.name}: {error.message}"))
        names = self.export if isinstance(self.export, tuple) else None
        reason = None
        for behind in self.places:
            found = exposing(later, module, package, names, behind=behind)
            plan = _together(workspace, later, alone, package, found, notices)
            reason = circle(later, workspace.after(plan.changes), package, module)
            if reason is None:
                return plan
        text = f"The export was left out, since it would make a circular import: {reason}."
        return _with_notice(alone, Notice("export_left_out", text))


class _Behind(Write, frozen=True, kw_only=True):
    """The same, with the export behind the imports that are there."""

    places: ClassVar[tuple[bool, ...]] = (True,)

    def export_behind(self) -> None:
        """Return None: it is there already."""


def _together(
    workspace: Workspace,
    later: Workspace,
    alone: Plan,
    package: ModuleFile,
    found: Exporting,
    notices: tuple[Notice, ...],
) -> Plan:
    """Return the plan of a module and of its export.

    Parameters:
        later: the project as the module alone leaves it.
        notices: remarks about the module.
    """
    contents = {file.path: later.content(file.path) for file in alone.changes.files}
    init = found.spliced.module
    spliced = [found.spliced]
    if init.path in contents:  # a package that is made just now
        change = later.change(init, found.spliced.splices)
        contents[init.path] = change.apply(contents[init.path] or b"")
        spliced = []
    return planned_files(
        workspace,
        spliced=spliced,
        contents=contents,
        changed=tuple(dict.fromkeys((*alone.changed, *([package.name] if found.spliced.splices else ())))),
        seen=alone.seen,
        summary=_summary(alone, package, found),
        warnings=(*notices, *(each for each in alone.warnings if each not in notices), *found.notices),
    )


def _present(workspace: Workspace, parts: tuple[str, ...]) -> ModuleFile | None:
    """Return the module that has a name already."""
    found = [item for item in workspace.layout.prefixes(parts) if item.length == len(parts) and item.file]
    if len({item.file.path for item in found if item.file}) > 1:
        raise not_found.several_files(found)
    return found[0].file if found else None


def _as_it_is(content: bytes) -> tuple[Source | None, str]:
    """Return a file decoded, and its etag; a file that cannot be decoded has that of its bytes."""
    try:
        source = Source(content)
    except SourceError:
        return None, digest(content)[:16]
    return source, etag_of(source.text)


def _newline_near(workspace: Workspace, path: str) -> str:
    """Return the line end that modules beside a new one use; those of the project where there are none."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        lead = f"{folder}/" if folder else ""
        beside = [each for each in workspace.census.paths if each.startswith(lead) and each != path]
        contents = [*islice(_contents(workspace, beside), _SIBLINGS)]
        if any(b"\n" in content or b"\r" in content for content in contents):
            return usual_newline(contents)
    return "\n"


def _contents(workspace: Workspace, paths: Iterable[str]) -> Iterator[bytes]:
    """Yield what files hold, but for those that cannot be read, or that the caller may not read."""
    for path in paths:
        with suppress(ResourceError):
            if content := workspace.glance(path):
                yield content


def _altered(workspace: Workspace, module: ModuleFile, content: bytes, given: str) -> tuple[Notice, ...]:
    """Name the definitions that a module loses, gains and hides; refuse a source that leaves code out."""
    after = workspace.kept.trees.get(content)
    try:
        before = workspace.tree(module)
    except SourceError:
        before = None  # nothing is known of one that did not parse
    check_complete(given, before, after, module.name)
    return compared_modules(before, after).notices if before else ()


def _summary(alone: Plan, package: ModuleFile, found: Exporting) -> str:
    if not found.spliced.splices:
        return alone.summary
    return f"{alone.summary.rstrip('.')}; {package.name} exports {', '.join(found.names)}."


def _with_notice(plan: Plan, notice: Notice) -> Plan:
    return replace(plan, warnings=(*plan.warnings, notice))
