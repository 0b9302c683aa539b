"""Modules that no parser takes, or whose bytes do not come back from decoding as they were.

Invariants:
- code that is only too deep, or too large, for us to be sure of is no finding, and is named as not looked at;
- a file whose content cannot be had is a finding, since it is about to be committed, and nobody has looked at it.
"""

from __future__ import annotations

from collections.abc import Sequence

from bae_source.errors import Refused, RequestError, ResourceError, SourceError
from bae_source.model.finding import Finding
from bae_source.model.plan import ModuleFile
from bae_source.project.workspace import Workspace
from bae_source.syntax.text.source import Source


def unparsed(
    workspace: Workspace, modules: Sequence[ModuleFile], others: Sequence[str] = ()
) -> tuple[list[Finding], list[str]]:
    """Return findings for files that do not parse or decode, and the names of those that nobody can tell of.

    Parameters:
        others: paths of files that are no modules; they are told by their paths.

    Raises:
        RequestError: `invalid_arguments` where nothing can be read any more.
    """
    findings: list[Finding] = []
    untold: list[str] = []
    names = {module.path: module.name for module in modules} | {path: path for path in others}
    for path, found in workspace.index.uses_of(names):
        if not isinstance(found, ResourceError):
            continue
        if isinstance(found, RequestError):
            raise found
        if isinstance(found, Refused):
            findings.append(_unread(names[path], found))
        elif isinstance(found, SourceError) and (found.code != "not_lossless" or _is_not_decoded(workspace, path)):
            findings.append(_finding(names[path], found))
        else:
            untold.append(names[path])
    return findings, untold


def _finding(name: str, error: SourceError) -> Finding:
    line = error.details.get("line")
    called = str(error.details.get("module", ""))
    message = name + error.message.removeprefix(called) if error.message.startswith(called) else error.message
    return Finding(address=name, line=line if isinstance(line, int) else 1, code=error.code.upper(), message=message)


def _unread(name: str, error: Refused) -> Finding:
    message = f"{name} was not looked at: {error.message}"
    return Finding(address=name, line=1, code="UNREADABLE", message=message)


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
