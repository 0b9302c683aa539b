"""Check what modules and packages export."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.model.outcome import Notice, Outcome
from bae_source.model.request import Request, described
from bae_source.model.text import listed
from bae_source.project.files.unseen import unseen
from bae_source.project.importing.exports_findings import export_findings
from bae_source.project.naming.finding import find_code
from bae_source.project.workspace import Workspace

_SHOWN = 10


class ExportsCheck(Request, frozen=True, kw_only=True):
    """List what is odd about exports: names in `__all__` that are not there or there twice, and names left out of it.

    A name counts as left out where a package imports it from its own modules, and lists most of what it imports so.
    """

    verb: ClassVar[str] = "exports_check"
    when: ClassVar[str] = "Use it after larger changes to packages, and before a release."
    examples: ClassVar[tuple[str, ...]] = (
        "exports check",
        "exports check app.net",
    )
    family: ClassVar[str] = "exports"

    target: Annotated[
        str, described("A module, or a package with all in it; the whole project if left out.", placed=True)
    ] = ""

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer with a line for each finding.

        Raises:
            ResourceError: whatever resolving the target raises.
        """
        below = ""
        if self.target:
            found = find_code(workspace, self.target)
            below = found if isinstance(found, str) else found.module.name
        findings, missed = export_findings(workspace, below)
        lines = [f"{each.address}:{each.line}: {each.message}" for each in findings]
        warnings = unseen(workspace, below, left="looked at")
        if missed:
            warnings = (Notice("not_looked_at", f"Could not be read: {listed(missed, _SHOWN)}."), *warnings)
        return Outcome(
            status="answer",
            text="\n".join(lines) or "(no findings)",
            warnings=warnings,
            complete=not warnings,
            found=tuple(findings),
        )
