"""Apply a patch, as one of the changes of `apply`.

{"do": "patch", "patch": "--- a/app/core.py\\n+++ b/app/core.py\\n@@ -1,2 +1,2 @@\\n…"}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from bae_source.errors import Refused, RequestError
from bae_source.model.changeset import ChangeSet, Edit, FileChange
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.report import Report
from bae_source.model.request import Effect, Request, described
from bae_source.model.text import counted, is_text, listed
from bae_source.project.naming.listed_symbols import has_name
from bae_source.project.workspace import Workspace
from bae_source.refactoring.patching.files import Patched, Patching
from bae_source.refactoring.patching.places import called
from bae_source.refactoring.patching.report import refused
from bae_source.refactoring.patching.symbols import changed_in
from bae_source.refactoring.planning.joining import with_modes
from bae_source.refactoring.planning.plan import planned_files
from bae_source.refactoring.planning.still_used import modules_gone
from bae_source.syntax.patches.reading import read_patch

_NAMED = 5


class Patch(Request, frozen=True, kw_only=True):
    """Apply a patch: a unified diff, or `*** Begin Patch`."""

    verb: ClassVar[str] = "patch"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "change"

    patch: Annotated[str, described("The text of the patch.")]
    encoding: Annotated[
        Literal["utf-8", "latin-1"], described("With latin-1, each character of the text is a byte of the patch.")
    ] = "utf-8"

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for what is no patch, `invalid_name` for what names no file.
            LookupFailed: `symbol_not_found` for a file that is not there.
            Refused: `stale` where hunks do not fit, all of them named; `name_collision`, `outside_project`,
                `forbidden`, `unsafe_change`.
            SourceError: `syntax_invalid` or `encoding_invalid`.
        """
        return _planned(workspace, self.patch if self.encoding == "utf-8" else _with_escapes(self.patch))


def patch_of(text: str) -> Patch:
    """Return the request for a patch as it was read, in which bytes that are no UTF-8 stand as surrogate escapes.

    A request holds nothing that could not be written down, so bytes become characters where there are such.

    Raises:
        RequestError: `invalid_arguments` if there are other surrogates in it.
    """
    try:
        content = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise RequestError(
            "invalid_arguments", "The patch holds half a surrogate pair.", hints=["Give its text as UTF-8."]
        ) from None
    return Patch(patch=text) if is_text(text) else Patch(patch=content.decode("latin-1"), encoding="latin-1")


def _with_escapes(text: str) -> str:
    """Return the text of a patch whose characters are its bytes.

    Raises:
        RequestError: `invalid_arguments` if one of them is none.
    """
    try:
        return text.encode("latin-1").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise RequestError(
            "invalid_arguments",
            f"{text[error.start]!r} in the patch is no byte.",
            hints=["Leave encoding out for a patch of text."],
        ) from None


def _planned(workspace: Workspace, text: str) -> Plan:
    """Plan what a patch says.

    Parameters:
        text: of the patch; bytes that are no UTF-8 stand as surrogate escapes.
    """
    sections = read_patch(text)
    found = Patching(workspace, sections).run()
    contents = {path: each for path, each in found.contents.items() if each != workspace.content(path)}
    _check(found, sum(len(each.hunks) for each in sections), is_applied=bool(found.applied) and not contents)
    modes = {path: each for path, each in found.executable.items() if found.contents[path] is not None}
    origins = {path: origin for path, origin in found.origins.items() if path in contents and origin != path}
    plan = planned_files(
        workspace,
        contents=contents,
        origins=origins,
        summary=_summary(workspace, [*contents, *(path for path in modes if path not in contents)]),
        changed=(),
        seen=found.seen,
        warnings=found.notices,
    )
    files = [_finer(file, found.edits) for file in plan.changes.files]
    plan = replace(plan, changes=ChangeSet(tuple(with_modes(files, modes, workspace))))
    return _reported(workspace, plan, found) if plan.changes else plan


def _check(found: Patched, hunks: int, *, is_applied: bool) -> None:
    """Refuse a patch of which anything cannot be done, with all of that.

    Parameters:
        hunks: how many there are.
        is_applied: whether all that is not missing is as it should be; then what was to go has gone.

    Raises:
        ResourceError: what is wrong with it.
    """
    errors = list(found.errors)
    if not is_applied or found.failed:
        errors += found.missing
    if found.failed or errors:
        raise refused(found.failed, errors, found.applied, hunks)


def _summary(workspace: Workspace, paths: list[str]) -> str:
    if not paths:
        return "The patch is applied already."
    names = [called(workspace, path) for path in sorted(paths)]
    return f"Applied a patch to {counted(len(names), 'file')}: {listed(names, _NAMED)}."


def _finer(file: FileChange, edits: Mapping[str, list[Edit]]) -> FileChange:
    """Return the change of a file with the edits of the hunks, which leave more as it is."""
    finer = edits.get(file.path)
    return file if finer is None or file.origin is not None else replace(file, edits=tuple(finer))


def _reported(workspace: Workspace, plan: Plan, found: Patched) -> Plan:
    """Return a plan with the changed addresses, and notices about modules that go."""
    later = workspace.after(plan.changes)
    changed: list[str] = []
    for file in plan.changes.files:
        address = called(workspace if file.after is None else later, file.path)
        is_module = file.path.endswith((".py", ".pyi")) and has_name(workspace, file.path)
        is_symbols = is_module and file.before is not None and file.after is not None and file.edits
        changed += changed_in(workspace, later, file.path) if is_symbols else [address]
    _check_names(workspace, later, plan)
    gone = modules_gone(workspace, plan.changes)
    notices = list(_left(later, gone))
    counts = {called(later, file.path): found.counts.get(file.path, 1) for file in plan.changes.files}
    return replace(
        plan,
        changed=tuple(dict.fromkeys(changed)),
        warnings=(*plan.warnings, *notices),
        gone=gone[0] if len(gone) == 1 else None,
        report=Report(changed=counts),
        takes=True,
    )


def _left(later: Workspace, gone: list[str]) -> Iterator[Notice]:
    """Yield notices about references to modules that go."""
    if not gone:
        return
    from bae_source.refactoring.planning.left_behind import left_at_last  # names across files, where modules go

    for name in gone:
        yield from left_at_last(later, name)


def _check_names(workspace: Workspace, later: Workspace, plan: Plan) -> None:
    """Refuse a new module that another one would hide, or be hidden by.

    Raises:
        Refused: `name_collision`.
    """
    for file in plan.changes.files:
        module = later.layout.module_at(file.path) if file.before is None and file.path.endswith(".py") else None
        if module is None:
            continue
        parts = tuple(module.name.split("."))
        found = {each.file.path for each in later.layout.prefixes(parts) if each.length == len(parts) and each.file}
        if len(found) > 1 and any(workspace.content(path) is not None for path in found - {file.path}):
            raise Refused(
                "name_collision",
                f"{module.name} would be two files, of which one hides the other",
                unchanged=True,
                hints=["Choose another name, or let the patch delete the one that is there."],
                candidates=[module.name],
            )
