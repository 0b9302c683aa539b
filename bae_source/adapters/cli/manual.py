"""The help texts, drawn from the requests' declarations to fit 80 columns."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from msgspec import Struct

from bae_source.adapters.cli.arguments import SEVERAL, Argument
from bae_source.model.request import Effect, Request, command_of, summary

WIDTH = 80
_WIDEST_LEFT = 26

_ABOUT = "Change a Python project by name: lossless, checked, recorded, undoable."

#: The part of the package that declares a request says what kind of a verb it is; what writes is no reading.
_READING, _CHANGING = "Reading", "Changing"
_GROUPS: Mapping[str, str] = {
    "queries": _READING,
    "resources": _READING,
    "verification": _READING,
    "refactoring": _CHANGING,
    "history": "History",
}
_LAST_GROUP = "Other"

_TOP_EXAMPLES = (
    "read app.net.Client.send",
    "edit app.net.Client.send --source send.py",
    'edit app.config.load --old "wait=5" --new "wait=30"',
    "undo",
)

STATUSES = (
    ("0", "done; also when there was nothing to do"),
    ("1", "findings: there are problems in what was checked"),
    ("2", "the call is malformed, nothing was read"),
    ("3", "no such name, or several"),
    ("4", "the code is at fault: it does not parse, or cannot be decoded"),
    ("5", "refused, because it would do harm; nothing was written"),
    ("6", "the change does not hold, or could not be written; the message names the step"),
    ("7", "the history cannot do it"),
    ("10", "waits for a person's approval"),
    ("70", "a bug of bae_source; the message says how to report it"),
    ("130", "interrupted"),
)


class Entry(Struct, frozen=True, kw_only=True):
    """A verb as the help shows it."""

    verb: str
    summary: str
    group: str


def entry(kind: type[Request]) -> Entry:
    """Return a request's entry."""
    area = kind.__module__.split(".")[1]
    group = _GROUPS.get(area, _LAST_GROUP)
    if group == _READING and kind.effect is not Effect.READS:
        group = _CHANGING
    return Entry(verb=command_of(kind), summary=summary(kind), group=group)


def other(verb: str, about: str) -> Entry:
    """Return the entry of a verb that is no request."""
    return Entry(verb=verb, summary=about.strip().partition("\n")[0], group=_LAST_GROUP)


def usage(program: str, verb: str, arguments: Iterable[Argument]) -> str:
    """Draw a call in one line."""
    return " ".join([program, verb, *_pieces(arguments)])


def top(program: str, entries: Sequence[Entry], version: str) -> str:
    """Draw the help of the program."""
    groups = [*dict.fromkeys(_GROUPS.values()), _LAST_GROUP]
    return _joined(
        f"{_ABOUT}\nThis is bae_source {version}.",
        f"Usage: {program} VERB [ARGUMENTS] [--root DIR] [--json]",
        *(_table(group, [(each.verb, each.summary) for each in entries if each.group == group]) for group in groups),
        _examples(_TOP_EXAMPLES, program),
        _table("Exit status", STATUSES),
        _wrapped(
            "Code is addressed by name: pkg.mod.Class.method, or its last parts where they are one symbol's alone. "
            "f[0] and x@setter name one of several, f@body a part. "
            f"'{program} VERB --help' tells more."
        ),
    )


def of_family(program: str, family: str, entries: Sequence[Entry]) -> str:
    """Draw the help of a word that several verbs begin with."""
    return _joined(
        f"Usage: {program} {family} {'|'.join(each.verb.partition(' ')[2] for each in entries)} ...",
        _table("Verbs", [(each.verb, each.summary) for each in entries]),
        _wrapped(f"'{program} {family} VERB --help' tells more."),
    )


def of_verb(
    program: str,
    verb: str,
    about: str,
    own: Sequence[Argument],
    general: Sequence[Argument],
    examples: Sequence[str] = (),
) -> str:
    """Draw the help of a verb.

    Parameters:
        about: its docstring.
        own: the arguments of its request.
        general: the arguments of every verb of its kind.
        examples: calls, without the program or with `{program}` where that does not stand first.
    """
    return _joined(
        _wrapped(about),
        _call(f"{program} {verb}", list(_pieces([*own, *general]))),
        _table("Arguments", [(each.value, each.help) for each in own if not each.flags]),
        _table("Options", [(_typed(each), each.help) for each in own if each.flags]),
        _table("General options", [(_typed(each), each.help) for each in general]),
        _examples(examples, program),
    )


def _pieces(arguments: Iterable[Argument]) -> Iterator[str]:
    """Draw each parameter once; what sets the same one is an alternative."""
    alternatives: dict[str, list[Argument]] = {}
    for argument in arguments:
        if argument.parameter != "help":
            alternatives.setdefault(argument.parameter, []).append(argument)
    for same in alternatives.values():
        drawn = " | ".join(_typed(each) if each.flags else each.value for each in same)
        repeated = " ..." if same[0].shape in SEVERAL else ""
        if same[0].required:
            yield (f"({drawn})" if len(same) > 1 else drawn) + repeated
        else:
            yield f"[{drawn}]{repeated}"


def _typed(argument: Argument) -> str:
    return ", ".join(argument.flags) + (f" {argument.value}" if argument.takes_value else "")


def _call(head: str, pieces: Sequence[str]) -> str:
    """Draw a usage line, wrapped between pieces."""
    lines = [f"Usage: {head}"]
    for piece in pieces:
        if len(lines[-1]) + 1 + len(piece) > WIDTH:
            lines.append(" " * 10 + piece)
        else:
            lines[-1] += f" {piece}"
    return "\n".join(lines)


def _table(heading: str, rows: Sequence[tuple[str, str]]) -> str:
    """Draw rows in two columns; a long left cell has a line of its own."""
    if not rows:
        return ""

    column = min(max(len(left) for left, _ in rows), _WIDEST_LEFT) + 4
    lines = [f"{heading}:"]
    for left, right in rows:
        wrapped = wrap(right, WIDTH - column, break_long_words=False, break_on_hyphens=False) or [""]
        if len(left) > column - 4:
            lines.append(f"  {left}")
        else:
            lines.append(f"  {left}".ljust(column) + wrapped.pop(0))
        lines += [" " * column + each for each in wrapped]
    return "\n".join(line.rstrip() for line in lines)


def _examples(examples: Iterable[str], program: str) -> str:
    whole = (each if "{program}" in each else f"{{program}} {each}" for each in examples)
    lines = [f"  {each.replace('{program}', program)}" for each in whole]
    return "\n".join(["Examples:", *lines]) if lines else ""


def _wrapped(text: str) -> str:
    """Wrap each paragraph of a docstring."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(textwrap.fill(each, WIDTH, break_on_hyphens=False) for each in paragraphs)


def _joined(*blocks: str) -> str:
    return "\n\n".join(block for block in blocks if block) + "\n"
