"""Check what is about to be committed: the request behind the hook.

Invariants:
- the files of git's index are judged, not those of the working tree;
- nothing is written, a transaction that was cut short is not finished, and nothing of the project is run;
- what cannot be decided is no finding; code that is only too deep, or too large, is named as not looked at, and that
  `__all__` leaves a name out may be meant;
- a file whose content cannot be had is a finding, since it is about to be committed, and was not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from bae_source.errors import Refused, RequestError, ResourceError, SourceError
from bae_source.model.finding import UNFINISHED, Finding, on_one_line
from bae_source.model.outcome import FOUND, Notice, Outcome
from bae_source.model.plan import ModuleFile
from bae_source.model.request import Request, described
from bae_source.model.text import listed
from bae_source.project.files.census import STUB
from bae_source.project.git.staged import StagedWorkspace, may_be_python
from bae_source.project.importing.exports_findings import findings_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.names.uses import Uses
from bae_source.syntax.text.source import Source
from bae_source.system.collecting import collector_off
from bae_source.verification.staged.imports import Imports, unresolved_imports
from bae_source.verification.staged.removed import Removed

_SHOWN = 10
_EXPORTS = {"missing": "EXPORT_NOT_FOUND", "twice": "EXPORT_TWICE"}
_ANOTHER = "The working tree has another version of the module, so it is not mended."
_UNFINISHED = (
    "A transaction of bae_source is being made, or was cut short; `bae-source history` finishes it or takes it "
    "back, and says so."
)


_RULE = "rule"
"""The key among details of an error by which a policy forbids something."""


class CheckStaged(Request, frozen=True, kw_only=True):
    """List what is wrong with what git has staged: code that does not parse, `__all__` and imports that find nothing.

    The packages around the files are looked at as well, and whatever imports a module or a name that the commit takes
    away. A transaction that is not finished is reported, too.
    """

    verb: ClassVar[str] = "check_staged"
    when: ClassVar[str] = "Use it before a commit."
    examples: ClassVar[tuple[str, ...]] = (
        "check_staged",
        "check_staged app/core.py app/net/client.py --json",
    )
    recovers: ClassVar[bool] = False
    staged: ClassVar[bool] = True

    files: Annotated[
        tuple[str, ...],
        described(
            "Paths from the project's folder, with /; what differs from the last commit if left out.",
            placed=True,
            metavar="FILE",
        ),
    ] = ()

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer with a line for each finding.

        Parameters:
            workspace: what is staged.

        Raises:
            RequestError: `invalid_arguments` where git has no index to read or does not answer, and in a transaction.
            SourceError: `syntax_invalid` where the staged pyproject.toml does not parse.
        """
        if not isinstance(workspace, StagedWorkspace):
            raise RequestError(
                "invalid_arguments",
                "check_staged is about files that git has staged, which planned ones cannot be.",
                hints=["Ask it outside of the transaction."],
            )
        paths = self.files or workspace.staged.index.staged()
        with collector_off():
            modules = workspace.modules_around(self.files or (*paths, *workspace.staged.index.gone()))
            others, unknown = workspace.apart(paths)
            wrong, undecided = _unparsed(workspace, modules, others)
            imports = Imports(workspace)
            removed = Removed(imports, self.files)
            findings = [
                *([Finding(address="", line=0, code=UNFINISHED, message=_UNFINISHED)] if workspace.unfinished else []),
                *_in_conflict(workspace, paths),
                *wrong,
                *_wrong_exports(workspace, modules),
                *unresolved_imports(imports, modules),
                *removed.findings(),
            ]
        checked = [each.name for each in modules if each.name not in undecided]
        apart = [path for path in others if path not in undecided]
        warnings = (
            *_noticed("Too large or too deep to be sure of", undecided),
            *_noticed("Not looked at", unknown),
            *_noticed("Not looked at for what the commit takes away", list(dict.fromkeys(removed.not_looked_at))),
            *_noticed("Not to be read, so imports from there are not known", sorted(workspace.staged.unread)),
        )
        return _answer(sorted(set(findings)), warnings, len(checked), len(apart))


def _in_conflict(workspace: StagedWorkspace, paths: tuple[str, ...]) -> Iterator[Finding]:
    entries, layout = workspace.staged.entries, workspace.layout
    for path in paths:
        if path in entries and not entries[path].merged and may_be_python(path):
            module = layout.module_at(path)
            name = path if module is None else module.name
            yield Finding(address=name, line=1, code="UNMERGED", message=f"{name} is in conflict; merge it.")


def _unparsed(
    workspace: Workspace, modules: Sequence[ModuleFile], others: Sequence[str]
) -> tuple[list[Finding], list[str]]:
    """Return findings for files that do not parse or decode, and the names of those that cannot be judged."""
    findings: list[Finding] = []
    undecided: list[str] = []
    names = {module.path: module.name for module in modules} | {path: path for path in others}
    for path, found in workspace.index.uses_of(names):
        if not isinstance(found, ResourceError):
            continue
        if isinstance(found, RequestError):
            raise found
        if isinstance(found, Refused) and _RULE in found.details:
            continue  # which the warnings name: a commit does not fail for what its caller may not read
        if isinstance(found, Refused):
            message = f"{names[path]} was not looked at: {found.message}"
            findings.append(Finding(address=names[path], line=1, code="UNREADABLE", message=message))
        elif isinstance(found, SourceError) and (found.code != "not_lossless" or _is_not_decoded(workspace, path)):
            findings.append(_wrong(names[path], found))
        else:
            undecided.append(names[path])
    return findings, undecided


def _wrong(name: str, error: SourceError) -> Finding:
    line = error.details.get("line")
    message = f"{name} {error.reason}" if error.subject else error.message
    return Finding(address=name, line=line if isinstance(line, int) else 1, code=error.code.upper(), message=message)


def _is_not_decoded(workspace: Workspace, path: str) -> bool:
    """Return whether it is the decoding that a file does not come back from."""
    try:
        content = workspace.content(path) or b""
    except ResourceError:
        return False
    try:
        Source(content)
    except SourceError as error:
        return error.code == "not_lossless"
    return False


def _wrong_exports(workspace: StagedWorkspace, modules: Sequence[ModuleFile]) -> Iterator[Finding]:
    """Yield what is surely wrong about the exports of some modules; stubs, and what does not parse, are passed over."""
    for module in modules:
        if module.path.endswith(STUB):
            continue
        try:
            uses = workspace.index.uses(module.path)
            found = [] if _is_in_order(uses) else list(findings_of(workspace, module))
        except ResourceError:
            continue
        bound = uses.scopes[0].names  # what is bound in any way is taken to be there
        found = [each for each in found if each.code == "twice" or (each.code == "missing" and each.name not in bound)]
        is_same = bool(found) and workspace.is_same_on_disk(module.path)
        for each in found:
            yield Finding(
                address=module.name,
                line=each.line,
                code=_EXPORTS[each.code],
                message=each.message if is_same else f"{each.message} {_ANOTHER}",
                mend=each.name if is_same else "",
            )


def _is_in_order(uses: Uses) -> bool:
    """Return whether there is nothing to find: no `__all__`, or one that lists what is bound, each name once."""
    if "__all__" not in uses.scopes[0].names and "__all__" not in uses.mentions:
        return True
    listed = uses.exported
    if listed is None or not uses.exports_known or len(set(listed)) < len(listed):
        return False
    return all(name in uses.scopes[0].names for name in listed)


def _noticed(what: str, names: list[str]) -> Iterator[Notice]:
    if names:
        yield Notice("not_looked_at", f"{what}: {listed(map(on_one_line, names), _SHOWN)}.")


def _answer(findings: list[Finding], warnings: tuple[Notice, ...], modules: int, others: int) -> Outcome:
    counted = [(modules, "module"), (others, "other file")] if others else [(modules, "module")]
    count = " and ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counted)
    nothing = "nothing was looked at" if warnings and not modules + others else f"no findings in {count}"
    return Outcome(
        status="answer",
        text="\n".join(map(str, findings)) or f"({nothing})",
        warnings=warnings,
        complete=not warnings,
        found=tuple(findings),
        exit_code=FOUND if findings else 0,
    )
