"""Every request and where it is declared; only the one that is called is loaded.

The order is the one in which help and references show them. Adding a request takes a line here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from bae_source.errors import RequestError
from bae_source.model.closest import closest
from bae_source.model.context import Context, steering
from bae_source.model.request import Request, command_of, parameters, parse, values_of

_DECLARED: Mapping[str, str] = {
    "read": "queries.read.Read",
    "outline": "queries.outline.Outline",
    "where": "queries.where.Where",
    "definition": "queries.definition.Definition",
    "glob": "queries.glob.Glob",
    "grep": "queries.grep.Grep",
    "find": "queries.find.Find",
    "search": "queries.search.Search",
    "ast symbols": "queries.symbols.Symbols",
    "ast snippet": "queries.snippet.Snippet",
    "ast hover": "queries.hover.Hover",
    "references": "queries.references.References",
    "callers": "queries.callers.Callers",
    "callees": "queries.callees.Callees",
    "imports_of": "queries.imports_of.ImportsOf",
    "importers_of": "queries.importers_of.ImportersOf",
    "subclasses": "queries.subclasses.Subclasses",
    "overrides": "queries.overrides.Overrides",
    "unused": "queries.unused.Unused",
    "edit": "refactoring.edit.Edit",
    "insert": "refactoring.insert.Insert",
    "delete": "refactoring.delete.Delete",
    "move": "refactoring.move.Move",
    "rename": "refactoring.rename.Rename",
    "change_signature": "refactoring.change_signature.ChangeSignature",
    "extract": "refactoring.extract.Extract",
    "inline": "refactoring.inline.Inline",
    "replace": "refactoring.replace.Replace",
    "rewrite": "refactoring.rewrite.Rewrite",
    "codemod": "refactoring.codemod.RunCodemod",
    "write": "refactoring.write.Write",
    "exports add": "refactoring.exports.ExportsAdd",
    "exports remove": "refactoring.exports.ExportsRemove",
    "exports mend": "refactoring.exports_mend.ExportsMend",
    "exports check": "queries.exports_check.ExportsCheck",
    "imports add": "refactoring.imports.ImportsAdd",
    "imports remove": "refactoring.imports.ImportsRemove",
    "imports organise": "refactoring.imports_organise.ImportsOrganise",
    "tests list": "resources.tests.listing.TestsList",
    "tests run": "resources.tests.running.TestsRun",
    "tests results": "resources.tests.results.TestsResults",
    "deps list": "resources.deps.listing.DepsList",
    "deps get": "resources.deps.getting.DepsGet",
    "deps add": "resources.deps.adding.DepsAdd",
    "deps remove": "resources.deps.adding.DepsRemove",
    "deps upgrade": "resources.deps.adding.DepsUpgrade",
    "logs list": "resources.logs.listing.LogsList",
    "logs read": "resources.logs.reading.LogsRead",
    "config read": "resources.config.reading.ConfigRead",
    "config set": "resources.config.setting.ConfigSet",
    "config add": "resources.config.setting.ConfigAdd",
    "config remove": "resources.config.removing.ConfigRemove",
    "config rename": "resources.config.removing.ConfigRename",
    "check_staged": "verification.staged.request.CheckStaged",
    "apply": "engine.applying.Apply",
    "commit": "history.travel.commands.Commit",
    "amend": "history.travel.commands.Amend",
    "abandon": "history.travel.commands.Abandon",
    "undo": "history.travel.commands.Undo",
    "redo": "history.travel.commands.Redo",
    "history": "history.travel.commands.History",
    "prune": "history.travel.upkeep.Prune",
    "forget": "history.travel.upkeep.Forget",
    "pending": "approval.requests.Pending",
    "show": "approval.requests.Show",
    "wait": "approval.requests.Wait",
    "withdraw": "approval.requests.Withdraw",
    "ledger show": "approval.requests.LedgerShow",
    "ledger head": "approval.requests.LedgerHead",
    "ledger verify": "approval.requests.LedgerVerify",
    "telemetry": "engine.measuring.usage.Telemetry",
    "doctor": "doctor.doctor.Doctor",
}


class Registry:
    """Requests by how the command line calls them: `read`, `ast symbols`.

    It holds nothing itself, so its owner sees the present declarations, also once the engine was given another request.
    """

    @property
    def commands(self) -> tuple[str, ...]:
        """Return every request as the command line spells it."""
        return tuple(_DECLARED)

    @property
    def verbs(self) -> tuple[str, ...]:
        """Every verb."""
        return tuple(map(_verb, _DECLARED))

    @property
    def declared(self) -> tuple[tuple[str, str], ...]:
        """Every verb, and the name below the package of the class that declares it."""
        return tuple((_verb(command), place) for command, place in _DECLARED.items())

    @property
    def families(self) -> frozenset[str]:
        """The words that stand before verbs."""
        return frozenset(command.split()[0] for command in _DECLARED if " " in command)

    def __iter__(self) -> Iterator[type[Request]]:
        return map(self.called, _DECLARED)

    def __contains__(self, kind: object) -> bool:
        if not isinstance(kind, type) or not issubclass(kind, Request):
            return False
        place = f"bae_source.{_DECLARED.get(command_of(kind), '')}"
        return f"{kind.__module__}.{kind.__qualname__}" == place

    def called(self, command: str) -> type[Request]:
        """Return the request that the command line calls so.

        Raises:
            KeyError: there is none.
        """
        module, _, name = _DECLARED[command].rpartition(".")
        found: type[Request] = getattr(import_module(f"bae_source.{module}"), name)
        return found

    def named(self, verb: str) -> type[Request] | None:
        """Return the request with a verb; None where there is none."""
        command = next((each for each in _DECLARED if _verb(each) == verb), None)
        return self.called(command) if command else None


def _verb(command: str) -> str:
    """Return the verb of a request from how the command line calls it: `symbols` of `ast symbols`, `exports_add`."""
    return command.removeprefix("ast ").replace(" ", "_")


REQUESTS: Registry = globals().get("REQUESTS") or Registry()
"""Every request; where this module is loaded again, the one that others have already."""


def request(verb: str, given: Mapping[str, Any]) -> Request:
    """Make a request from its verb and a mapping of its parameters.

    Raises:
        RequestError: `unknown_operation`, or `invalid_arguments` with every problem.
    """
    return parse(_kind(verb), given)


def called(
    verb: str, arguments: Mapping[str, Any], context: Context | None = None, *, wrong: Sequence[str] = ()
) -> tuple[Request, Context]:
    """Make a request, and the context that it is run in, of the arguments of one call, where both stand together.

    Parameters:
        verb: the request's verb.
        arguments: the request's own parameters and those of the context that go with it (`model.context.steering`).
        context: how it is run where the arguments say nothing.
        wrong: problems that are known already, to be reported with the others.

    Raises:
        RequestError: `unknown_operation`, or `invalid_arguments` with every problem.
    """
    kind = _kind(verb)
    steered = steering(kind)
    values = values_of(kind, (*parameters(kind), *steered), arguments, wrong=wrong)
    around = {each.name: values.pop(each.name) for each in steered if each.name in values}
    return kind(**values), replace(context or Context(), **around)


def takes(verb: str, name: str) -> bool:
    """Return whether a call of a request may say something about the context that it is run in, such as its budget."""
    return any(each.name == name for each in steering(_kind(verb)))


def _kind(verb: str) -> type[Request]:
    if (kind := REQUESTS.named(verb)) is not None:
        return kind
    close = closest(verb, REQUESTS.verbs)
    raise RequestError(
        "unknown_operation",
        f"There is no {verb!r}.",
        hints=[*(f"Did you mean {each}?" for each in close), f"There are {', '.join(REQUESTS.verbs)}."],
    )
