"""The answers to a call for help: a text of the manual, or an error where there is no such verb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bae_source.adapters.bug import version
from bae_source.adapters.cli import manual
from bae_source.adapters.cli.arguments import ALWAYS, EVERYWHERE, of_context, of_output, of_request
from bae_source.adapters.cli.commands import COMMANDS, Command
from bae_source.adapters.cli.invocation import CommandLine
from bae_source.engine.registry import REQUESTS
from bae_source.errors import RequestError
from bae_source.model.closest import closest
from bae_source.model.request import Request, command_of


def top(line: CommandLine, program: str) -> str:
    """Return the help for a call without a verb, and for `help`.

    Raises:
        RequestError: `unknown_operation` for help about a verb that there is not; `invalid_arguments` for a call that
            has arguments and no verb.
    """
    kinds = _kinds()
    words = [token for token in line.tokens if not token.startswith("-")] if line.verb else []
    if words and words[0] in REQUESTS.families:
        words = [" ".join(words[:2])]
    if words and words[0] in kinds:
        return of_verb(kinds[words[0]], program)
    if words and words[0] in REQUESTS.families:
        return _of_family(words[0], kinds, program)
    if words and words[0] in COMMANDS:
        return of_command(COMMANDS[words[0]], program)
    if words and words[0] != "help":
        raise unknown(words[0])
    if line.verb is None and line.tokens and not line.asks("-h", "--help"):
        raise RequestError("invalid_arguments", "No verb is given.", hints=[f"{program} --help lists them."])
    entries = [
        *map(manual.entry, kinds.values()),
        *(manual.other(each.verb, each.about) for each in COMMANDS.values()),
        manual.other("help", "Show this, or the help of a verb."),
    ]
    return manual.top(program, entries, version())


def family(line: CommandLine, program: str) -> str:
    """Return the help for a call that stops behind the first word of a verb of two.

    Raises:
        RequestError: `invalid_arguments`, with the verbs, where the call asks for no help.
    """
    kinds, named = _kinds(), line.verb or ""
    if line.asks("-h", "--help"):
        return _of_family(named, kinds, program)
    verbs = ", ".join(verb for verb, kind in kinds.items() if kind.family == named)
    raise RequestError("invalid_arguments", f"{named} is only the beginning of a verb.", hints=[f"There are {verbs}."])


def of_verb(kind: type[Request], program: str) -> str:
    """Return the help of a request."""
    general = (*of_context(kind), *of_output(kind), *EVERYWHERE)
    return manual.of_verb(program, command_of(kind), kind.__doc__ or "", of_request(kind), general, kind.examples)


def of_command(command: Command, program: str) -> str:
    """Return the help of a verb of the command line alone."""
    return manual.of_verb(program, command.verb, command.about, command.arguments, ALWAYS, command.examples)


def unknown(verb: str) -> RequestError:
    """Return the error of an unknown verb."""
    known: Sequence[str] = [*REQUESTS.commands, *COMMANDS, "help"]
    close = closest(verb, known)
    return RequestError(
        "unknown_operation",
        f"There is no verb {verb!r}.",
        hints=[*(f"Did you mean {each}?" for each in close), f"Verbs are {', '.join(known)}."],
    )


def _kinds() -> Mapping[str, type[Request]]:
    return {command_of(kind): kind for kind in REQUESTS}


def _of_family(named: str, kinds: Mapping[str, type[Request]], program: str) -> str:
    entries = [manual.entry(kind) for kind in kinds.values() if kind.family == named]
    return manual.of_family(program, named, entries)
