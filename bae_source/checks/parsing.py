"""Modules that no parser takes, or whose bytes do not come back from decoding as they were.

Invariants:
- code that is only too deep, or too large, for us to be sure of is no finding, and is named as not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from bae_source.errors import ResourceError, SourceError
from bae_source.model.finding import Finding
from bae_source.model.plan import ModuleFile
from bae_source.project.workspace import Workspace
from bae_source.syntax.source import Source


def unparsed(workspace: Workspace, modules: Sequence[ModuleFile]) -> tuple[list[Finding], list[str]]:
    """Return findings for modules that do not parse or decode, and the names of those that nobody can tell of."""
    findings: list[Finding] = []
    untold: list[str] = []
    by_path = {module.path: module for module in modules}
    for path, found in workspace.index.uses_of(by_path):
        module = by_path[path]
        if not isinstance(found, ResourceError):
            continue
        if isinstance(found, SourceError) and (found.code != "not_lossless" or _is_not_decoded(workspace, path)):
            line = found.details.get("line")
            code = found.code.upper()
            findings.append(
                Finding(
                    address=module.name, line=line if isinstance(line, int) else 1, code=code, message=found.message
                )
            )
        else:
            untold.append(module.name)
    return findings, untold


def _is_not_decoded(workspace: Workspace, path: str) -> bool:
    """Say whether it is the decoding that a file does not come back from."""
    try:
        content = workspace.content(path) or b""
    except ResourceError:
        return False
    try:
        Source(content)
    except SourceError as error:
        return error.code == "not_lossless"
    return False
