"""Modules whose `__all__` does not agree with what they have, as findings of the hook.

Invariants:
- only what is sure is told: a name that nothing binds, and one that is listed twice. That a name is left out may be
  meant, so only `exports check` tells that;
- what can be mended is said to be mendable only where the working tree has the module as it is staged, by what git
  makes of its line ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bae_source.errors import ResourceError
from bae_source.model.finding import Finding
from bae_source.model.plan import ModuleFile
from bae_source.project.files.census import STUB
from bae_source.project.git.staged import StagedWorkspace
from bae_source.project.importing.exports_findings import ExportFinding, findings_of
from bae_source.syntax.names.uses import Uses

_CODES = {"missing": "EXPORT_NOT_FOUND", "twice": "EXPORT_TWICE"}
_ALL = "__all__"


def wrong_exports(workspace: StagedWorkspace, modules: Sequence[ModuleFile]) -> Iterator[Finding]:
    """Yield what is wrong about the exports of some modules; stubs, and what does not parse, are passed over."""
    for module in modules:
        if module.path.endswith(STUB):
            continue
        try:
            uses = workspace.index.uses(module.path)
            found = [] if _is_in_order(uses) else list(_found(workspace, module, uses))
        except ResourceError:
            continue
        why_not = workspace.why_another_on_disk(module.path) if found else ""
        for each in found:
            yield Finding(
                address=module.name,
                line=each.line,
                code=_CODES[each.code],
                message=f"{each.message} {why_not}, so it is not mended." if why_not else each.message,
                mend="" if why_not else each.name,
            )


def _is_in_order(uses: Uses) -> bool:
    """Say whether there is nothing to find: no `__all__`, or one that lists what is bound, each name once."""
    if _ALL not in uses.scopes[0].names and _ALL not in uses.mentions:
        return True
    listed = uses.exported
    if listed is None or not uses.exports_known or len(set(listed)) < len(listed):
        return False
    return all(name in uses.scopes[0].names for name in listed)


def _found(workspace: StagedWorkspace, module: ModuleFile, uses: Uses) -> Iterator[ExportFinding]:
    """Yield what is surely wrong; a name that is bound in any way is taken to be there."""
    for each in findings_of(workspace, module):
        if each.code == "twice" or (each.code == "missing" and each.name not in uses.scopes[0].names):
            yield each
