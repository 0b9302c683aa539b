"""A request that an answer offers as the next call, which each door writes as its callers make calls.

    references app.f --certainty unsure             on the command line
    references("app.f", certainty="unsure")         in Python and in sessions
    within(cursor="0").references("app.f")          a page of it in Python, which is cursor="0" elsewhere
    references(target="app.f", certainty="unsure")  as a tool

Invariants:
- a call is a text: the line of the command line, which, split as a shell does, makes the same request;
- parameters that have their default are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self, get_args

from bae_source.model.request import Request, command_of, parameters

CallForm = Literal["words", "python", "session", "tool"]
PLACED = (
    "target", "to", "new_name", "signature", "draft", "place", "pattern", "replacement", "uris", "scope",
    "operation_id", "task", "tests", "words", "requirements", "codemod", "dependencies", "dependency", "log", "section",
    "key",
)  # fmt: skip
"""Parameters that stand without a flag, unless one with several values stands before."""
_BY_PLACE = frozenset(PLACED) - {"scope"}
STARRED = ("uris", "words", "tests", "requirements", "dependencies")
"""Parameters that the methods in Python take one by one."""
WITH_PLACE = ("config", "deps", "ledger", "logs", "tests")
"""Families whose verbs a session calls in a place of that name: `source.tests.run` for `tests run`."""
_LIMITS = ("budget", "cursor")
"""Parameters that `Source.within` takes."""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")
"""Characters that a shell takes as they are."""
SPELLED = {"as_name": "as", "to_module": "to", "imports": "import", "from_line": "from", "settings": "set"}
"""Options that the command line calls otherwise than the parameter."""
_EACH = {"pattern": "regexp"}
"""Options that take the values of a parameter one by one, whose single value has a place."""


class Call(str):
    """One call, and what may follow it in the sentence.

        Call("references", target="app.f", certainty="unsure", then="lists them.")

    Attributes:
        command: the verb, behind its family.
        arguments: by their names, in order.
        then: the rest of the sentence.
    """

    __slots__ = ("arguments", "command", "then")
    command: str
    arguments: Mapping[str, Any]
    then: str

    def __new__(cls, command: str, /, *, then: str = "", line: str = "", **arguments: Any) -> Self:
        """Make a call.

        Parameters:
            command: the verb, behind its family.
            then: what follows the call in its sentence.
            line: the call on the command line, where it does not follow from the arguments.
        """
        arguments = {name: _plain(value) for name, value in arguments.items()}
        line = line or _line(command, arguments)
        call = super().__new__(cls, f"{line} {then}".rstrip())
        call.command, call.arguments, call.then = command, arguments, then
        return call

    def and_then(self, then: str) -> Call:
        """Return the call with the rest of a sentence."""
        return Call(self.command, line=str(self), then=then, **self.arguments)

    @property
    def longest(self) -> str:
        """The longest of its forms: a budget is the same whichever door the call goes through."""
        return max(
            self._relayed("change", "session"),
            self._relayed("change", "tool"),
            *map(self.written, get_args(CallForm)),
            key=len,
        )

    @property
    def verb(self) -> str:
        """The verb, as tools and methods are called."""
        return self.command.removeprefix("ast ").replace(" ", "_")

    def written(self, form: CallForm, through: Mapping[str, str] | None = None, *, of_engine: bool = False) -> str:
        """Return the call as it is made in a door, and what follows it.

        Parameters:
            through: the tool that makes the calls of a verb which is no tool of its own, by verb.
            of_engine: whether it is about the engine's own source.
        """
        if of_engine:
            return self._of_engine(form, through or {})
        if form == "words":
            return str(self)
        if form in ("session", "tool") and through and (relay := through.get(self.verb)):
            return self._relayed(relay, form)
        placed: list[str] = []
        named: list[str] = []
        limits: list[str] = []
        for name, value in self.arguments.items():
            if form != "tool" and name in STARRED:
                placed += map(_value, value)
            elif form != "tool" and name in _BY_PLACE and not named:
                placed.append(_value(value))
            else:
                is_limit = form == "python" and name in _LIMITS
                (limits if is_limit else named).append(f"{name}={_value(value)}")
        within = f"within({', '.join(limits)})." if limits else ""
        family, _, name = self.command.partition(" ")
        called = f"source.{family}.{name}" if form == "session" and name and family in WITH_PLACE else self.verb
        return f"{within}{called}({', '.join([*placed, *named])}) {self.then}".rstrip()

    def _of_engine(self, form: CallForm, through: Mapping[str, str]) -> str:
        """Return the call as it is made of the engine's own source."""
        if form == "tool":
            return self._relayed(through.get(self.verb) or "call", form).replace('verb="', 'verb="meta ', 1)
        before = {"words": "meta ", "python": "meta.", "session": "source.meta."}[form]
        return f"{before}{self.written(form, through)}"

    def _relayed(self, relay: str, form: CallForm) -> str:
        """Return the call as another tool makes it: its arguments as JSON, or in a session as Python."""
        import json  # 3 ms, likewise

        if form == "session":
            arguments = f"{{{', '.join(f'{_value(name)}: {_value(each)}' for name, each in self.arguments.items())}}}"
        else:
            arguments = json.dumps(dict(self.arguments), ensure_ascii=False)
        return f'{relay}(verb="{self.verb}", arguments={arguments}) {self.then}'.rstrip()


def written(
    hints: tuple[str, ...], form: CallForm, through: Mapping[str, str] | None = None, *, of_engine: bool = False
) -> tuple[str, ...]:
    """Return hints as plain texts, with their calls as they are made in a door; without those that cannot be made."""
    reached = [each for each in hints if not isinstance(each, Call) or (through or {}).get(each.verb) != ""]
    return tuple(
        each.written(form, through, of_engine=of_engine) if isinstance(each, Call) else each for each in reached
    )


def call_of(request: Request, **more: object) -> Call:
    """Return the call of a request.

    Parameters:
        more: options that are no parameters of the request, such as `cursor`.
    """
    arguments: dict[str, Any] = {}
    for parameter in parameters(type(request)):
        value = getattr(request, parameter.name)
        if parameter.required or value != parameter.default:
            arguments[parameter.name] = value
    arguments.update((name, value) for name, value in more.items() if value is not None)
    required = [parameter.name for parameter in parameters(type(request)) if parameter.required]
    command = command_of(type(request))
    return Call(command, line=_line(command, arguments, required), **arguments)


def _line(command: str, arguments: Mapping[str, Any], required: list[str] | None = None) -> str:
    placed: list[str] = []
    flagged: list[str] = []
    several = False
    for name, value in arguments.items():
        if name in _EACH and isinstance(value, (tuple, list)):
            flagged += _flagged(_EACH[name], value)
        elif name in (required or ()) or (name in PLACED and value and not several):
            several = isinstance(value, (tuple, list))
            placed += [str(each) for each in value] if several else [str(value)]
        else:
            flagged += _flagged(name, value)
    words = (
        [*command.split(), *flagged, "--", *placed]
        if any(word.startswith("-") for word in placed)
        else [*command.split(), *placed, *flagged]
    )
    return " ".join(map(_quoted, words))


def _flagged(name: str, value: Any) -> list[str]:
    flag = SPELLED.get(name, name.replace("_", "-"))
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    if isinstance(value, (tuple, list)):
        return [word for each in map(str, value) for word in _option(flag, each)]
    return _option(flag, str(value))


def _option(flag: str, word: str) -> list[str]:
    return [f"--{flag}={word}"] if word.startswith("-") else [f"--{flag}", word]


def _quoted(word: str) -> str:
    if word and _PLAIN.issuperset(word):
        return word
    import shlex  # 5 ms, which most calls need not

    return shlex.quote(word)


def _plain(value: object) -> object:
    return value if isinstance(value, (str, int, float, tuple, list)) else str(value)


def _value(value: object) -> str:
    """Return a value as Python and tools write it, texts in double quotes."""
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        import json  # 3 ms, likewise

        return json.dumps(value, ensure_ascii=False)
    return repr(value)
