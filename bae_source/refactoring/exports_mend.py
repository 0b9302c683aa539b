"""Take out of `__all__` what cannot be there.

__all__ = ["send", "gone", "send"]      `gone` is nowhere in the module:      __all__ = ["send"]
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from bae_source.errors import Refused, RequestError
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, Request, described
from bae_source.project.importing.exports_findings import ExportFinding, findings_of
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.syntax.exports.all_names import take_last_out_of_all
from bae_source.syntax.exports.view import BRANCH, view_of
from bae_source.syntax.text.revision import Revision

_MENDED = ("missing", "twice")


class ExportsMend(Request, frozen=True, kw_only=True):
    """Take out of a module's `__all__` the names that the module does not have, and those that stand there twice.

    What `exports check` says of names that are left out stays as it is: that may be meant.
    """

    verb: ClassVar[str] = "exports_mend"
    family: ClassVar[str] = "exports"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it where `exports check` or the hook says that `__all__` names what is not there."
    examples: ClassVar[tuple[str, ...]] = (
        "exports mend app --dry-run",
        "exports mend app.net Client",
    )
    idempotent: ClassVar[bool] = True

    target: Annotated[str, described("Dotted name of the module, or of the package for its `__init__`.", min_length=1)]

    names: Annotated[
        tuple[str, ...] | None, described("Names to check; all if left out.", placed=True, metavar="NAME")
    ] = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for a list of no names.
            Refused: `unsafe_change` where the target is no module.
            ResourceError: whatever resolving the target raises.
        """
        if self.names is not None and not self.names:
            raise RequestError(
                "invalid_arguments",
                "names is empty, so there is nothing to look at.",
                hints=["Leave it out to look at all that `__all__` names, or give names."],
            )
        resolved = resolve(workspace, self.target)
        module = resolved.module
        if resolved.group is not None:
            raise Refused(
                "unsafe_change",
                f"{resolved.address} is no module, and only a module has `__all__`.",
                hints=[f"Name the module: {module.name}."],
            )
        wrong = (each for each in findings_of(workspace, module) if each.code in _MENDED)
        found = [each for each in wrong if self.names is None or each.name in self.names]
        revision = Revision(resolved.tree.text)
        targets = tuple(each.span for each in view_of(revision.text).alls if each.how != BRANCH)
        for each in found:
            revision.apply(take_last_out_of_all(view_of(revision.text), each.name))
        names = ", ".join(dict.fromkeys(each.name for each in found))
        return planned_files(
            workspace,
            spliced=[Spliced(module=module, splices=tuple(revision.splices()), targets=targets)],
            changed=(module.name,),
            summary=f"{module.name} no longer names {names} {_how(found)}." if found else f"{module.name} is in order.",
        )


def _how(found: list[ExportFinding]) -> str:
    codes = {each.code for each in found}
    return "in __all__" if codes == {"missing"} else "twice in __all__" if codes == {"twice"} else "wrongly in __all__"
