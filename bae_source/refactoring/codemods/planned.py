"""A plan of what a codemod gave back: byte edits of each file, checked as any others, and a report on the rest.

Invariants:
- edits are made on the very bytes that the codemod saw, or nothing is planned;
- a file on which it failed, or of which its output is no Python, stays as it is, and is unsure with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from bae_source.errors import Refused, ResourceError, SourceError
from bae_source.model.changeset import ChangeSet, Edit, FileChange, digest, file_change
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.model.text import counted, listed
from bae_source.project.workspace import Workspace
from bae_source.refactoring.codemods.running import Line, Ran
from bae_source.refactoring.planning.plan import check_whole

Hidden = Sequence[tuple[str, ResourceError]]
"""Names of files that were not looked into, each with the reason."""
_MOST_SHOWN = 5


class Result(Struct, frozen=True, kw_only=True):
    """The result of a codemod.

    Parameters:
        changes: of the files that change.
        contents: what these hold afterwards, by path.
        report: what changes, and what stays for a reason.
        notices: of its warnings, of what it printed, and of files that it skipped.
    """

    changes: ChangeSet
    contents: Mapping[str, bytes]
    report: Report
    notices: tuple[Notice, ...]


def result_of(workspace: Workspace, ran: Ran, modules: Sequence[ModuleFile], hidden: Hidden = ()) -> Result:
    """Return what a codemod comes to on some modules.

    Parameters:
        hidden: those that it was not handed, each with the reason.

    Raises:
        Refused: `stale` where a file is no longer what the codemod saw.
    """
    changes: list[FileChange] = []
    contents: dict[str, bytes] = {}
    failed: dict[str, str] = {}
    notices: list[Notice] = []
    for module in modules:
        line = ran.lines.get(module.path, Line("failed", text="it was not run on it"))
        if line.kind == "failed":
            failed[module.name] = line.text
        if line.kind != "changed":
            continue
        change, content = _change(workspace, module, line)
        try:
            notices += check_whole(workspace, change, content, {})
        except SourceError as error:
            failed[module.name] = f"its output is no Python: {error.reason}"
            continue
        changes.append(change)
        contents[module.path] = content
    names = {module.path: module.name for module in modules}
    unread = ((module.name, ran.lines[module.path]) for module in modules if module.path in ran.lines)
    unparsed = (*hidden, *((name, _unread(line.text)) for name, line in unread if line.kind == "unparsed"))
    report = Report(
        changed={names[change.path]: len(change.edits) for change in changes},
        unsure=tuple(_unsure(name, text) for name, text in failed.items()),
        unparsed=unparsed,
        complete=not unparsed and not failed,
    )
    notices += _notices_of(ran, modules)
    ordered = tuple(sorted(changes, key=lambda change: change.path))
    return Result(changes=ChangeSet(ordered), contents=contents, report=report, notices=tuple(dict.fromkeys(notices)))


def _change(workspace: Workspace, module: ModuleFile, line: Line) -> tuple[FileChange, bytes]:
    """Return the change of one file, and what it comes to."""
    with suppress(ResourceError):
        workspace.tree(module)  # which several checks look at
    content = workspace.content(module.path) or b""
    known = digest(content)
    if known != line.digest:
        raise Refused(
            "stale",
            f"{module.name} was changed by another program while the codemod ran; nothing was written.",
            hints=["Run it again."],
        )
    edits = [Edit(start, content[start : start + length], new.encode("latin-1")) for start, length, new in line.edits]
    change = file_change(module.path, content, edits, known=known)
    return change, change.apply(content)


def _unread(text: str) -> SourceError:
    return SourceError("syntax_invalid", f"cannot be read by libcst: {text}.", subject="The file")


def _unsure(name: str, text: str) -> Reference:
    reason = Reason.CODEMOD_FAILED.of(what=text)
    return Reference(
        module=name, address=name, line=1, column=1, kind="text", certainty="unsure", why=reason, text="the whole file"
    )


def _notices_of(ran: Ran, modules: Sequence[ModuleFile]) -> Iterator[Notice]:
    """Yield notices of the codemod's own warnings and prints, and of files that it skipped."""
    yield from ran.notices
    lines = [(module.name, ran.lines[module.path]) for module in modules if module.path in ran.lines]
    for text, names in _by_text((name, line.text) for name, line in lines if line.kind == "skipped").items():
        yield Notice("skipped", f"{counted(len(names), 'file')} skipped, since {text}: {listed(names, _MOST_SHOWN)}.")
    for code, what, attribute in (("codemod_warning", "warns of", "warnings"), ("printed", "printed for", "printed")):
        every = _by_text((name, text) for name, line in lines for text in _texts(getattr(line, attribute)))
        for text, names in list(every.items())[:_MOST_SHOWN]:
            yield Notice(code, f"The codemod {what} {listed(names, _MOST_SHOWN)}: {text}")
        if len(every) > _MOST_SHOWN:
            more = counted(len(every) - _MOST_SHOWN, "other text")
            yield Notice(code, f"The codemod {what} files of this project {more} more, which are not shown.")


def _texts(given: str | Sequence[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) and given else [each for each in given if each]


def _by_text(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return names by the text about them."""
    names: dict[str, list[str]] = {}
    for name, text in pairs:
        names.setdefault(text, []).append(name)
    return names
