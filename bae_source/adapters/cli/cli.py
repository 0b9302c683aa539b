"""The command line: arguments in, a request through the one door, an outcome out, an exit status.

Invariants:
- every way out is an outcome: answers, errors, wrong usage, Ctrl-C and our own bugs alike;
- with `--json`, standard output is exactly that outcome as one line, and nothing else;
- no traceback is shown, unless BAE_SOURCE_TRACEBACK=1 asks for one;
- of all verbs only the one that was called is read, and help is loaded only for a call that wants it or is wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from bae_source.adapters.cli.arguments import ALWAYS, EVERYWHERE, Argument, Shape, of_context, of_output, of_request
from bae_source.adapters.cli.invocation import CommandLine, asks_json, command_line, resolved
from bae_source.adapters.cli.parser import Parser, parse
from bae_source.adapters.cli.render import render, render_help, render_json, render_warnings
from bae_source.adapters.cli.streams import Streams, abandon, standard
from bae_source.engine.registry import REQUESTS, called
from bae_source.engine.service import Context, Service, find_root
from bae_source.errors import RequestError, ResourceError, TransactionError
from bae_source.model.context import in_form
from bae_source.model.outcome import Failure, Notice, Outcome, failed
from bae_source.model.request import Effect, Request, command_of

if TYPE_CHECKING:
    from bae_source.adapters.cli.commands import Command

FAMILIES = REQUESTS.families
META = "meta"
"""The word before a verb that is about the engine's own source."""
INTERRUPTED = 130

Door = Callable[[Path, Mapping[str, str], Request, Context], Outcome]
Arriving = Callable[[str], bool]


class Answer(Struct, frozen=True, kw_only=True):
    """An outcome, and what its rendering needs to know besides.

    Parameters:
        is_help: whether the text is one of our own help texts.
        root: the project's folder as given; it goes into the commands to type next.
    """

    outcome: Outcome
    is_help: bool = False
    root: str | None = None


def through_service(
    root: Path, environment: Mapping[str, str], request: Request, context: Context, arriving: Arriving | None = None
) -> Outcome:
    """Carry out a request on the project at `root`.

    Parameters:
        arriving: as `Service` has it.
    """
    return _run(Service(root, environment=environment), request, context, arriving)


def through_own_process(
    root: Path, environment: Mapping[str, str], request: Request, context: Context, arriving: Arriving | None = None
) -> Outcome:
    """Carry out a request in a process that was started for nothing else."""
    return _run(Service(root, environment=environment, process_is_ours=True), request, context, arriving)


def main(argv: Sequence[str] | None = None, *, streams: Streams | None = None, door: Door = through_service) -> int:
    """Run one command and return its exit status.

    Parameters:
        argv: the arguments without the program's name; this process's by default.
        streams: standard input, output and error; this process's by default.
        door: carries out a request.
    """
    if argv is None and "_ARGCOMPLETE" in os.environ:
        from bae_source.adapters.cli.commands import COMMANDS
        from bae_source.adapters.cli.completion import complete  # argcomplete is for a shell's question alone

        return complete({command.verb: command.arguments for command in COMMANDS.values()})
    tokens = list(sys.argv[1:] if argv is None else argv)
    streams = standard() if streams is None else streams
    answer = answered(tokens, streams, door)
    try:
        return delivered(answer, streams, tokens)
    except KeyboardInterrupt:
        if answer.outcome.operation_id is None:
            raise
        render(_interrupted(f"the change is made, as {answer.outcome.operation_id}"), streams)
        return INTERRUPTED


def answered(tokens: Sequence[str], streams: Streams, door: Door) -> Answer:
    """Return the answer of a command line, whatever happens."""
    try:
        return _answer(command_line(tokens, FAMILIES), streams, door)
    except ResourceError as error:
        return Answer(outcome=failed(error))
    except KeyboardInterrupt:
        return Answer(outcome=_interrupted())
    except Exception as error:  # noqa: BLE001  # the edge: whatever it is, a person gets one sentence
        return Answer(outcome=_bug(error, tokens, streams))


def _run(service: Service, request: Request, context: Context, arriving: Arriving | None) -> Outcome:
    service.arriving = arriving
    if request.effect is not Effect.READS and sys.stderr is not None and sys.stderr.isatty():
        from bae_source.adapters.cli.progress import shown_on  # for a person who waits

        with shown_on(sys.stderr) as service.progress:
            return _closed(service, request, context)
    return _closed(service, request, context)


def _closed(service: Service, request: Request, context: Context) -> Outcome:
    try:
        try:
            return service.run(request, context)
        finally:
            service.close()
    except KeyboardInterrupt:
        if service.committed_id is None:
            raise
        return _stands(service.committed_id)


def _answer(line: CommandLine, streams: Streams, door: Door) -> Answer:
    if line.verb in REQUESTS.commands:
        return _requested(REQUESTS.called(line.verb), line, streams, door)
    if line.verb == META:
        return _of_engine(command_line(line.tokens, FAMILIES), streams, door)
    from bae_source.adapters.bug import version
    from bae_source.adapters.cli import helping  # 2 ms with what it helps with, which requests need not pay
    from bae_source.adapters.cli.commands import COMMANDS

    if line.verb is None or line.verb == "help":
        if line.asks("--version"):
            return Answer(outcome=Outcome(status="answer", text=f"bae_source {version()}"))
        return _help(helping.top(line, streams.program))
    if command := COMMANDS.get(line.verb):
        return _commanded(command, line, streams)
    if line.verb in FAMILIES:
        return _help(helping.family(line, streams.program))
    raise helping.unknown(line.verb)


def _of_engine(line: CommandLine, streams: Streams, door: Door) -> Answer:
    """Return the answer of a command line about the engine's own source.

    Parameters:
        line: what stands behind `meta`.

    Raises:
        RequestError: `invalid_arguments` with a root, or without a verb; `unknown_operation` for what is no request.
    """
    from bae_source.adapters.cli import helping
    from bae_source.adapters.cli.commands import COMMANDS

    program = f"{streams.program} {META}"
    if any(token == "--root" or token.startswith("--root=") for token in line.options):
        raise RequestError(
            "invalid_arguments",
            f"{META} is about the installed bae_source, and --root names a project; nothing was done.",
            hints=[f"Leave one of them out: {program} VERB …, or {streams.program} VERB … --root DIR."],
        )
    if line.verb in REQUESTS.commands:
        if door not in (through_service, through_own_process):
            raise RequestError("unknown_operation", f"{META} is a command by itself.", hints=[f"Type {program} VERB …"])
        ours = door is through_own_process

        def engine(_: Path, environment: Mapping[str, str], request: Request, context: Context) -> Outcome:
            from bae_source.engine.meta.service import Meta  # for this alone

            return _run(Meta(environment=environment, process_is_ours=ours), request, context, None)

        kind, there = REQUESTS.called(line.verb), structs.replace(streams, program=program)
        return _requested(kind, line, there, engine, lambda *_: Path())
    if line.verb == "help" and line.tokens:
        return _help(helping.top(line, program))
    if line.verb == "help" or (line.verb is None and line.asks("-h", "--help")):
        return _help(helping.of_command(COMMANDS[META], streams.program))
    if line.verb in FAMILIES:
        return _help(helping.family(line, program))
    if line.verb is None or line.verb in COMMANDS:
        what = "is only the beginning of a command" if line.verb is None else f"takes requests, and {line.verb} is none"
        code = "invalid_arguments" if line.verb is None else "unknown_operation"
        raise RequestError(code, f"{META} {what}.", hints=[f"Requests are {', '.join(REQUESTS.commands)}."])
    raise helping.unknown(line.verb)


def _requested(
    kind: type[Request], line: CommandLine, streams: Streams, door: Door, place: Callable[..., Path] | None = None
) -> Answer:
    if line.asks("-h", "--help"):
        from bae_source.adapters.cli import helping

        return _help(helping.of_verb(kind, streams.program))
    own, context = of_request(kind), of_context(kind)
    arguments = (*own, *context, *of_output(kind), *EVERYWHERE)
    usage = _usage(streams.program, command_of(kind), own)
    parser = Parser(prog=f"{streams.program} {command_of(kind)}", usage=usage)
    values = resolved(parse(parser, arguments, line.tokens), parser, streams)
    taken = {each.parameter for each in (*own, *context)}
    given = {name: value for name, value in values.items() if name in taken}
    for each in own:
        if each.shape is Shape.DOCUMENT and each.parameter in given:
            given |= given.pop(each.parameter)
    root = values.get("root")
    if "names_alone" in values:
        _check_names(parser, values)
    try:
        around = Context() if kind.effect is Effect.READS else Context(who=given.pop("who", None))
        where, request = (place or root_of)(values, streams), called(kind.verb, given, around)
        if kind.arrives in given and "json" not in values and door in (through_service, through_own_process):
            from bae_source.adapters.cli.progress import as_it_comes  # for who waits

            outcome = as_it_comes(partial(door, where, streams.environment, *request), streams)
        else:
            outcome = door(where, streams.environment, *request)
    except RequestError as error:
        if error.code != "invalid_arguments" or "json" in values:
            raise  # a program gets what every other way of calling would get
        raise _respelled(error, kind, own, usage) from error
    if "names_alone" in values and outcome.status == "answer":
        from bae_source.adapters.cli.names import names_alone  # for pipes alone

        outcome = names_alone(outcome)
    if "quiet" in values and outcome.status == "answer" and kind.effect is Effect.READS:
        from bae_source.adapters.cli.names import status_alone

        outcome = status_alone(outcome)
    return Answer(outcome=outcome, root=root)


def _check_names(parser: Parser, values: Mapping[str, Any]) -> None:
    """Refuse `names only` for a request whose answer is its text."""
    for name in ("json", "budget", "cursor"):
        if name in values:
            parser.error(f"--names and --{name} exclude each other")


def _commanded(command: Command, line: CommandLine, streams: Streams) -> Answer:
    if line.asks("-h", "--help"):
        from bae_source.adapters.cli import helping

        return _help(helping.of_command(command, streams.program))
    arguments = (*command.arguments, *ALWAYS)
    parser = Parser(
        prog=f"{streams.program} {command.verb}",
        usage=_usage(streams.program, command.verb, command.arguments),
    )
    values = resolved(parse(parser, arguments, line.tokens), parser, streams)
    for argument in command.arguments:
        if argument.required and argument.parameter not in values:
            parser.error(f"{argument.parameter} is missing: {argument.value}")
    if "json" in values and not command.several:  # standard output is for the outcome alone
        streams = structs.replace(streams, stdout=streams.stderr)
    outcome = in_form(Context(of_engine="meta" in values), lambda: command.run(values, streams))
    return Answer(outcome=outcome, root=values.get("root"))


def _usage(program: str, verb: str, arguments: Sequence[Argument]) -> Callable[[], str]:
    """Return a function that draws the usage of a verb, for a call that is wrong."""

    def described() -> str:
        from bae_source.adapters.cli.manual import usage  # as above

        return usage(program, verb, arguments)

    return described


def root_of(values: Mapping[str, Any], streams: Streams) -> Path:
    """Return the project's folder: the one that was given, or else the nearest one upwards.

    Raises:
        RequestError: `invalid_arguments` where there is no current folder.
    """
    if "root" not in values:
        try:
            return find_root(streams.folder or Path.cwd(), streams.environment)
        except OSError as error:
            raise RequestError(
                "invalid_arguments",
                f"The current folder cannot be used: {error.strerror}.",
                hints=["Give the project's folder with --root DIR."],
            ) from None
    return Path(values["root"]) if streams.folder is None else streams.folder / values["root"]


def _command(program: str, answer: Answer) -> str:
    """Return the command of an action; it goes where `{}` is."""
    if answer.outcome.operation_id is None:
        return "{}"
    if answer.root is None:
        return f"{program} {{}}"
    import shlex  # only after a change with --root

    return f"{program} {{}} --root {shlex.quote(answer.root)}"


def _respelled(
    error: RequestError,
    kind: type[Request],
    own: Sequence[Argument],
    usage: Callable[[], str],
) -> RequestError:
    """Return the error with hints in the command line's words instead of a call's: the usage for the signature."""
    kept = [hint for hint in error.hints if not hint.startswith(f"{kind.verb}(")]
    texts = [each for each in own if each.shape is Shape.FILE]
    if texts and texts[0].parameter in error.details.get("missing", ()):
        ways = ", ".join(each.flags[0] + f" {each.metavar}" for each in own if each.parameter == texts[0].parameter)
        kept.append(f"Source is given with {ways}; standard input is read only where - asks for it.")
    wrong_call = len(kept) < len(error.hints) or not kept
    return error.altered(hints=[*kept, *([f"Usage: {usage()}"] if wrong_call else [])])


def _help(text: str) -> Answer:
    return Answer(outcome=Outcome(status="answer", text=text), is_help=True)


def _interrupted(state: str = "if a change had begun, it was taken back") -> Outcome:
    message = f"Interrupted; {state}."
    return Outcome(
        status="error",
        text=message,
        complete=False,
        errors=(Failure(code="interrupted", message=message),),
        exit_code=INTERRUPTED,
    )


def _stands(operation_id: str) -> Outcome:
    """Return the outcome of a change that had been made when its answer was interrupted."""
    message = f"The change had been made when it was interrupted, and it stands; history {operation_id} tells the rest."
    return Outcome(
        status="applied",
        operation_id=operation_id,
        text="The change was made.",
        complete=False,
        warnings=(Notice("interrupted", message),),
    )


def _bug(error: Exception, tokens: Sequence[str], streams: Streams) -> Outcome:
    """Return the outcome of an unexpected exception."""
    if streams.environment.get("BAE_SOURCE_TRACEBACK") == "1":
        import traceback  # asked for

        streams.stderr.write("".join(traceback.format_exception(error)))
    from bae_source.adapters.bug import bug

    return bug(error, next((token for token in tokens if not token.startswith("-")), "no verb"))


def delivered(answer: Answer, streams: Streams, tokens: Sequence[str]) -> int:
    """Write the answer and return the exit status; a reader that went away is no error."""
    try:
        if not FAMILIES.isdisjoint(tokens) and _is_selected(answer.outcome, streams, tokens):
            return answer.outcome.exit_code
        if asks_json(tokens):
            render_json(answer.outcome, streams)
        elif answer.is_help:
            render_help(answer.outcome.text, streams)
        else:
            render(answer.outcome, streams, command=_command(streams.program, answer))
    except BrokenPipeError:
        abandon(streams.stdout)
        abandon(streams.stderr)
    except OSError as error:
        stands = f" The change is made, as {answer.outcome.operation_id}." if answer.outcome.operation_id else ""
        return _unwritten(error, streams, stands)
    return answer.outcome.exit_code


def unwritten(error: OSError, status: int) -> int:
    """Return the exit status where an answer with a status cannot be written to this process's streams."""
    streams = standard()
    if not isinstance(error, BrokenPipeError):
        return _unwritten(error, streams)
    abandon(streams.stdout)
    abandon(streams.stderr)
    return status


def _unwritten(error: OSError, streams: Streams, stands: str = "") -> int:
    lost = TransactionError("write_failed", f"The answer could not be written: {error.strerror}.{stands}")
    abandon(streams.stdout)
    render(failed(lost), streams)
    return lost.exit_code


def _is_selected(outcome: Outcome, streams: Streams, tokens: Sequence[str]) -> bool:
    """Write the outcome as selections if that is how its verb answers, and say whether it is."""
    from bae_source.adapters.cli.selections import render_selected, shape_of  # 2 ms, for `ast` alone

    shape = shape_of(tokens, FAMILIES)
    if shape is not None:
        render_selected(outcome, shape, streams)
        render_warnings(outcome, streams)
    return shape is not None
