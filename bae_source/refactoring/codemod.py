"""Run a codemod of LibCST as one change.

codemod libcst.codemod.commands.convert_format_to_fstring:ConvertFormatStringCommand app
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, Any, ClassVar, Literal

from msgspec.structs import replace

from bae_source.errors import Refused, RequestError, ResourceError
from bae_source.model.call import Call
from bae_source.model.outcome import REPORT
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.request import Effect, Request, described
from bae_source.model.text import counted, listed
from bae_source.project.files.second_names import second_names
from bae_source.project.search.scope import Scope, scope_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.codemods.planned import Hidden, Result, result_of
from bae_source.refactoring.codemods.running import Codemod, run_codemod
from bae_source.refactoring.planning.choice import by_reason
from bae_source.refactoring.planning.plan import planned_files

_MOST_NAMED = 5
_SECONDS = 60.0


class RunCodemod(Request, frozen=True, kw_only=True):
    """Run a codemod of LibCST, the project's own or an installed one, over modules in parallel, as one change.

    The codemod is code: it runs as you, in the project's interpreter, also for a dry run. It is handed what is planned,
    and what it gives back becomes byte edits that are checked, shown and undone like all others; it may take away
    definitions, and what still uses them is named. Files that say `@generated`, and those that the `blacklist_patterns`
    of a `.libcst.codemod.yaml` leave out, are skipped, as by LibCST's own program. Where it fails on a file, hangs, or
    gives back what is no Python, the change is refused, with the list, and kept as a draft; `--unsure leave` leaves
    these files as they are. It may not write to the project itself.
    """

    verb: ClassVar[str] = "codemod"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = (
        "Use it for codemods that are written already; rewrite needs none for code of a certain shape."
    )
    examples: ClassVar[tuple[str, ...]] = (
        "codemod tools.mods:Rename app.net --dry-run",
        "codemod tools.mods:Rename --set old=a --set new=b",
        "codemod tools.mods --check",
    )
    abbreviates: ClassVar[bool] = False

    codemod: Annotated[
        str,
        described(
            "Module and class, such as tools.mods:RenameSetting; the class may be left out where there is one alone.",
            min_length=1,
        ),
    ]
    scope: Annotated[
        str | None, described("Package or module whose files it runs on; all if left out.", placed=True)
    ] = None
    settings: Annotated[
        tuple[str, ...],
        described(
            "Setting of the codemod, as its own parser reads it; one of a list each time.",
            flag="set",
            metavar="KEY=VALUE",
        ),
    ] = ()
    check: Annotated[
        bool, described("Change nothing, and end with exit status 1 if anything would be changed, as in CI.")
    ] = False
    unsure: Annotated[
        Literal["refuse", "leave"],
        described("What comes of files on which it fails: refuse the change, or leave them as they are."),
    ] = "refuse"
    stubs: Annotated[bool, described("Run it on stubs (.pyi), too.")] = False
    generated: Annotated[bool, described("Run it on files that say @generated, too.")] = False
    time_limit: Annotated[
        float, described("Seconds after which it is stopped on a file.", gt=0, le=3600, seldom=True)
    ] = _SECONDS

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for what is no codemod, settings that it does not take, or a scope that is
                a part of a module.
            LookupFailed: there is no such codemod, or nothing of the scope's name.
            TransactionError: it does not import, or ended all that ran it.
            Refused: `unsafe_change` where it fails on a file, or changed files of the project itself; `stale`.
        """
        codemod = self._codemod()
        scope = scope_of(workspace, self.scope, stubs=self.stubs)
        modules, hidden = self._modules(workspace, scope)
        ran = run_codemod(workspace, codemod, modules)
        result = result_of(workspace, ran, modules, hidden)
        if result.report.unsure and self.unsure == "refuse":
            raise self._unsafe(ran.name, result, len(modules))
        plan = planned_files(
            workspace,
            contents=result.contents,
            checked=result.contents.keys(),
            summary=self._summary(ran.name, result, len(modules)),
            changed=tuple(result.report.changed),
            warnings=(*scope.notices, *result.notices),
        )
        report = replace(result.report, complete=result.report.complete and scope.complete)
        return replace(plan, changes=result.changes, report=report, takes=True, finds=self.check, ran_code=True)

    def _codemod(self) -> Codemod:
        """Return what is to be run.

        Raises:
            RequestError: `invalid_arguments`.
        """
        module, _, name = self.codemod.partition(":")
        parts = [*module.split("."), *(name.split(".") if ":" in self.codemod else ())]
        if not all(part.isidentifier() for part in parts):
            raise RequestError(
                "invalid_arguments",
                f"{self.codemod!r} is no module with a class.",
                hints=[f"Write it as {_spelled(self.codemod)}; a class that is alone in its module may be left out."],
            )
        pairs = [each.partition("=") for each in self.settings]
        if wrong := [key for key, equals, _ in pairs if not equals or not key]:
            raise RequestError(
                "invalid_arguments", f"{wrong[0]!r} sets nothing.", hints=["Write each as key=value: --set old=wait."]
            )
        return Codemod(
            module=module,
            name=name,
            settings=tuple((key, value) for key, _, value in pairs),
            seconds=self.time_limit,
            generated=self.generated,
        )

    def _modules(self, workspace: Workspace, scope: Scope) -> tuple[list[ModuleFile], Hidden]:
        """Return the modules that it runs on, each file once; and those that its caller may not read."""
        modules = [module for file in scope.files if (module := workspace.census.module(file.path))]
        if scope.span is not None:
            raise RequestError(
                "invalid_arguments",
                f"A codemod runs on whole modules, and {self.scope} is a part of one.",
                hints=[self._again(scope=modules[0].name, then="runs it on the module.")],
            )
        doubled = second_names(workspace.files, [module.path for module in modules])
        readable: list[ModuleFile] = []
        hidden: list[tuple[str, ResourceError]] = []
        for module in (each for each in modules if each.path not in doubled):
            try:
                workspace.check_readable(module.path)
            except Refused as error:
                hidden.append((module.name, error))
            else:
                readable.append(module)
        return readable, hidden

    def _unsafe(self, name: str, result: Result, count: int) -> Refused:
        report = result.report
        many = counted(len(report.unsure), "file")
        others = f", beside {len(report.changed):,} that would change" if report.changed else ""
        leaving = self._again(unsure="leave", then="goes on with the others, and leaves these as they are.")
        return Refused(
            "unsafe_change",
            f"Nothing was changed: {name} failed on {many} of {count:,}{others}. {by_reason(report.unsure)}",
            hints=[leaving] if report.changed else ["Mend the codemod first."],
            details={REPORT: report.as_data()},
        )

    def _again(self, *, then: str, **other: Any) -> Call:
        """Return the call of this change with other choices."""
        given = {
            "scope": self.scope,
            "settings": self.settings,
            "stubs": self.stubs,
            "generated": self.generated,
            "check": self.check,
            "time_limit": self.time_limit if self.time_limit != _SECONDS else None,
            **other,
        }
        return Call("codemod", codemod=self.codemod, then=then, **{key: each for key, each in given.items() if each})

    def _summary(self, name: str, result: Result, count: int) -> str:
        changed, failed = result.report.changed, len(result.report.unsure)
        left = f"; {counted(failed, 'file')} on which it fails left as {'it is' if failed == 1 else 'they are'}"
        left = left if failed else ""
        if not changed:
            return f"{name} changes nothing in {counted(count, 'file')}{left}."
        return f"{name} changed {len(changed):,} of {counted(count, 'file')}: {listed(changed, _MOST_NAMED)}{left}."


def _spelled(codemod: str) -> str:
    """Return how a codemod given by the path of its file is written: `tools/mods.py:Rename` as `tools.mods:Rename`."""
    path, _, name = codemod.partition(":")
    parts = [part for part in path.removesuffix(".py").split("/") if part.isidentifier()]
    return f"{'.'.join(parts) or 'tools.mods'}:{name if name.isidentifier() else 'RenameSetting'}"
