"""The circumstances of a request, the same for every request: how it is run, as opposed to what it does."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Callable, Iterable
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from bae_source.errors import RequestError, ResourceError
from bae_source.model.call import CallForm, written
from bae_source.model.outcome import Outcome
from bae_source.model.plan import ReloadMode
from bae_source.model.request import SMALLEST_BUDGET, Effect, Parameter, Request, described, parameters

VERIFY = ("import", "cycles", "tests", "types")
"""The checks that a change can be verified by, by name; `command …` stands for one of the caller's."""
COMMAND = "command "
LONGEST_NAME = 200
"""Characters of a caller's name."""

_CONTEXT = (
    "dry_run, tidy, format, cascade and quiet are bools; verify is a list of names; "
    "reload is auto, patch, process, child or off; who, why and cursor are text; "
    "propose and goal are text; language_server is ty, basedpyright, pyrefly or off; "
    f"budget is a number from {SMALLEST_BUDGET}."
)


class Context(Struct, frozen=True, kw_only=True):
    """The circumstances in which a request is run; what it does stands in the request itself.

    Parameters:
        dry_run: whether a change is only planned and shown.
        reload: how a change is verified: `auto`, `patch`, `process`, `child` or `off`.
        verify: what else a change is judged by: `import` (which `reload` says how to do, and does anyway), `cycles`,
            `tests`, `types`, and `command …`, a program with its arguments. Cycles are looked for in a dry run, too.
        tidy: whether imports that the change leaves unused, and that surely nothing needs, go with it.
        format: whether the definitions that change are written as the project's own formatter writes them, before they
            are judged.
        cascade: whether loaded modules that import the changed ones are loaded again as well.
        who: the caller, for the history and for `undo`; None for the user's name.
        why: the caller's reason, for the history.
        propose: the reason why a person should approve a change, which waits for that; None for one that is made at
            once, as far as the policy lets it.
        goal: what the change is a step to, for the person.
        quiet: whether the outcome of a change has no diff, and only the number of mentions that it leaves.
        by_model: whether a model made the call, which chooses no language server that starts programs itself.
        calls: how the calls in hints and next actions are written: as words of the command line, in Python, in a
            session, or as tools.
        through: of tools and in a session, which one makes the calls of a verb that is none of its own, by verb; ""
            for a verb that cannot be called there, so no hint or next action names it.
        of_engine: whether it is about the engine's own source, so that calls in hints are.
        language_server: the one queried beside our own look-up: `ty`, `basedpyright`, `pyrefly` or `off`; None for what
            `BAE_SOURCE_LANGUAGE_SERVER` in the environment says, or else the project's settings.
        language_server_seconds: how long it may take for one request; None for what the settings say, or two.
        budget: how many bytes the text of an answer may have, and whatever else it says as much again; None for any
            number. `ast …` has limits of its own.
        cursor: which page of an answer is wanted: `0` for the first one, for others what the page before says.
    """

    dry_run: Annotated[bool, described("Show the change and make nothing.")] = False
    reload: Annotated[
        ReloadMode,
        described(
            "How the change is checked by import: auto (in a child, then in place where loaded), patch (classes and "
            "functions stay the same objects), process (in place only), child, or off."
        ),
    ] = "auto"
    verify: Annotated[
        tuple[str, ...],
        described(
            'What must hold as well, each by its name: import, cycles, tests, types or "command …".', metavar="NAME"
        ),
    ] = ()
    tidy: Annotated[bool, described("Take out the imports that the change leaves unused.")] = False
    format: Annotated[
        bool, described("Have the project's own formatter (ruff or black) write the definitions that change.")
    ] = False
    cascade: Annotated[bool, described("Load again what is loaded and imports the changed modules, too.")] = False
    who: str | None = None
    why: Annotated[str | None, described("The reason, for the history.")] = None
    propose: Annotated[
        Annotated[str, Meta(min_length=1, max_length=10_000)] | None,
        described("Make nothing: have the change wait until a person approves it, who is given this reason."),
    ] = None
    goal: Annotated[
        Annotated[str, Meta(max_length=1_000)] | None,
        described("What the change is a step to, for the person who decides about it."),
    ] = None
    quiet: Annotated[
        bool, described("Leave the diff out of the answer, and of mentions all but their number.", short="q")
    ] = False
    by_model: bool = False
    calls: CallForm = "words"
    through: dict[str, str] = {}
    of_engine: bool = False
    language_server: Annotated[
        Literal["ty", "basedpyright", "pyrefly", "off"] | None,
        described("The language server to query as well: ty, basedpyright, pyrefly or off; none for the setting."),
    ] = None
    language_server_seconds: Annotated[
        float | None, described("How long it may take; the answer comes all the same.")
    ] = None
    budget: Annotated[
        Annotated[int, Meta(ge=SMALLEST_BUDGET)] | None,
        described(
            "Bytes that the answer may have; a longer one is refused, comes in pages, or is cut and says so.",
            metavar="BYTES",
        ),
    ] = None
    cursor: Annotated[
        Annotated[str, Meta(max_length=40)] | None,
        described("Show one page of the answer: 0 for the first; it names the next one's.", metavar="CURSOR"),
    ] = None


_READING = ("budget", "cursor")
_NAVIGATING = ("language_server", "language_server_seconds")
_CHANGING = ("dry_run", "reload", "verify", "tidy", "format", "cascade", "why", "propose", "goal", "quiet", "budget")
_PLANNED = ("change", "commit", "amend")
"""Runners of requests that plan a change, which others only take back or make again."""
_FINISHING = frozenset({"tidy", "format"})
"""Parameters that such a request alone takes."""
_PROPOSING = frozenset({"propose", "goal"})
"""Parameters that such a request takes, and one that takes changes back or makes them again."""


@cache
def steering(kind: type[Request]) -> tuple[Parameter, ...]:
    """Return the parameters of a run, beside a request's own."""
    changes = kind.runner in _PLANNED
    without = () if changes else _FINISHING if kind.runner == "travel" else _FINISHING | _PROPOSING
    changing = [name for name in _CHANGING if name not in without]
    names = changing if kind.effect is not Effect.READS else () if kind.family == "ast" else _READING
    declared = {parameter.name: parameter for parameter in parameters(Context)}
    return tuple(declared[name] for name in (*names, *(_NAVIGATING if kind.navigates else ())))


def options_in(context: Context, names: Iterable[str]) -> dict[str, Any]:
    """Return those of some options of a context that differ from the defaults."""
    usual = Context()
    return {name: value for name in names if (value := getattr(context, name)) != getattr(usual, name)}


def within_budget(request: Request, context: Context, do: Callable[[], Outcome]) -> Outcome:
    """Carry out a request, and keep its outcome within the budget of the context, errors included.

    Calls in it are written as the context says.
    """
    return in_form(context, lambda: _within_budget(request, context.budget, do))


def in_form(context: Context, do: Callable[[], Outcome]) -> Outcome:
    """Do something, and write the calls in what it comes to, errors included, as the context says."""

    def hinted(hints: tuple[str, ...]) -> tuple[str, ...]:
        return written(hints, context.calls, context.through, of_engine=context.of_engine)

    try:
        outcome = do()
    except ResourceError as error:
        raise error.altered(hints=hinted(error.hints)) from error.__cause__
    outcome = replace(outcome, diff="") if context.quiet and not outcome.errors else outcome
    if not outcome.next_actions:
        return outcome
    return replace(outcome, next_actions=hinted(outcome.next_actions))


def _within_budget(request: Request, budget: int | None, do: Callable[[], Outcome]) -> Outcome:
    if not isinstance(budget, int) or has_own_limits(request):
        return do()
    from bae_source.model.shortened import shortened, shortened_error  # most have none

    try:
        return shortened(do(), budget, answer=request.effect is Effect.READS)
    except ResourceError as error:
        raise shortened_error(error, budget) from error.__cause__


def has_own_limits(request: Request) -> bool:
    """Return whether a request's answer has limits of its own, and no budget."""
    return request.family == "ast"


def checked(context: Context) -> Context:
    """Return the context, once every field of it is what it should be.

    Raises:
        RequestError: `invalid_arguments`.
    """
    try:
        found = msgspec.convert({name: getattr(context, name) for name in context.__struct_fields__}, Context)
        "".join(text for text in (found.who, found.why, found.propose, found.goal) if text).encode("utf-8")
    except msgspec.ValidationError as error:
        raise RequestError("invalid_arguments", f"The context is wrong: {error}.", hints=[_CONTEXT]) from None
    except UnicodeEncodeError:
        raise RequestError(
            "invalid_arguments", "who, why, propose or goal cannot be encoded.", hints=["Give UTF-8 text."]
        ) from None
    if found.who:
        check_name(found.who)
    _check_verify(found)
    return found


def check_name(who: str) -> None:
    """Check that a name is one that a person can read in a line of a list.

    Raises:
        RequestError: `invalid_arguments`.
    """
    if not who.strip() or not who.isprintable() or len(who) > LONGEST_NAME:
        raise RequestError(
            "invalid_arguments",
            "who is no name.",
            hints=[f"Give at most {LONGEST_NAME} characters in one line, all of which can be seen."],
        )


def as_name(text: str) -> str:
    """Return any text in the form of a name: cut, and with escapes for invisible characters."""
    seen = (each if each.isprintable() else ascii(each)[1:-1] for each in text[:LONGEST_NAME])
    return "".join(seen)[:LONGEST_NAME]


def _check_verify(context: Context) -> None:
    unknown = [name for name in context.verify if name not in VERIFY and not name.startswith(COMMAND)]
    hint = f"verify takes {', '.join(VERIFY)}, and `{COMMAND}…` with a program and its arguments."
    if unknown:
        raise RequestError("invalid_arguments", f"verify has no {', '.join(map(repr, unknown))}.", hints=[hint])
    if "import" in context.verify and context.reload == "off":
        raise RequestError(
            "invalid_arguments",
            'verify asks for import, and reload="off" for none.',
            hints=["Leave one of them out."],
        )
    for name in context.verify:
        if name.startswith(COMMAND):
            _check_command(name.removeprefix(COMMAND), hint)


def _check_command(text: str, hint: str) -> None:
    import shlex  # only where there is a command

    try:
        words = shlex.split(text)
        "".join(words).encode()
    except ValueError as error:
        raise RequestError("invalid_arguments", f"verify has a malformed command: {error}.", hints=[hint]) from None
    if not words or not words[0] or "\0" in text:
        raise RequestError("invalid_arguments", "verify has a command that is empty.", hints=[hint])
