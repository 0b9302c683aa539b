"""Check what is about to be committed: the request behind the hook.

Invariants:
- the files of git's index are judged, not those of the working tree;
- nothing is written, a transaction that was cut short is not finished, and nothing of the project is run;
- what cannot be decided is no finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from bae_source.errors import RequestError
from bae_source.model.finding import Finding, on_one_line
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.request import Request, described
from bae_source.model.text import listed
from bae_source.project.git.staged import StagedWorkspace, may_be_python
from bae_source.project.workspace import Workspace
from bae_source.system.collecting import collector_off
from bae_source.verification.staged.exports import wrong_exports
from bae_source.verification.staged.imports import Imports, unresolved_imports
from bae_source.verification.staged.parsing import unparsed
from bae_source.verification.staged.removed import Removed
from bae_source.verification.staged.unfinished import unfinished_transaction

FOUND = 1
"""The exit status that says there are findings."""
_SHOWN = 10


class CheckStaged(Request, frozen=True, kw_only=True):
    """List what is wrong with what git has staged: code that does not parse, `__all__` and imports that find nothing.

    The packages around the files are looked at as well, and whatever imports a module or a name that the commit takes
    away. A transaction that is not finished is told, too.
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
                "check_staged is about what git has staged, and nothing that is only planned can be.",
                hints=["Ask it outside of the transaction."],
            )
        paths = self.files or workspace.staged.index.staged()
        with collector_off():
            modules = workspace.asked(self.files or (*paths, *workspace.staged.index.gone()))
            others, unknown = workspace.apart(paths)
            wrong, untold = unparsed(workspace, modules, others)
            imports = Imports(workspace)
            removed = Removed(imports, self.files)
            findings = [
                *unfinished_transaction(workspace),
                *_in_conflict(workspace, paths),
                *wrong,
                *wrong_exports(workspace, modules),
                *unresolved_imports(imports, modules),
                *removed.findings(),
            ]
        looked_at = [each.name for each in modules if each.name not in untold]
        apart = [path for path in others if path not in untold]
        warnings = (
            *_noticed("Too large or too deep to be sure of", untold),
            *_noticed("Not looked at", unknown),
            *_noticed("Not looked at for what the commit takes away", list(dict.fromkeys(removed.not_looked_at))),
            *_noticed("Not to be read, so imports from there are not known", sorted(workspace.staged.unread)),
        )
        return _answer(sorted(set(findings)), warnings, len(looked_at), len(apart))


def _in_conflict(workspace: StagedWorkspace, paths: tuple[str, ...]) -> Iterator[Finding]:
    entries, layout = workspace.staged.entries, workspace.layout
    for path in paths:
        if path in entries and not entries[path].merged and may_be_python(path):
            module = layout.module_at(path)
            name = path if module is None else module.name
            yield Finding(address=name, line=1, code="UNMERGED", message=f"{name} is in conflict; merge it.")


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
