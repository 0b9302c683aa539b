"""A policy: what may be read and changed, and what waits for a person, by patterns of names.

    [tool.bae-source.policy]
    preset = "review"                               every change waits
    change.allow = [":docs/**", "tests *"]          but for these
    change.deny = ["app.secrets", "config project.scripts"]
    callers."ci-*".preset = "read-only"             which change nothing at all

A pattern covers what its name means and all that is below it: `app.pay` fits `app.pay.send` and `app.pay:rates.csv`.
`*` stands for any part of a component, `**` for any components. A word before it says of what kind things are: `code`,
`tests`, `data`, `config`, `deps`, `logs`; without a word it is about code, tests and data, whose names are distinct.

Invariants:
- of several rules, tables and presets that are about something, the strictest counts, so that a project's table
  tightens the user's, and a caller's the one for all, whatever name a caller gives;
- where `allow` is given, what it does not cover waits at least, or may not be read;
- nothing is read here, and nothing of a project but its names is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Literal
from unicodedata import normalize

from msgspec import Struct

from bae_source.model.settings import CallerPolicy, PolicyTable

Kind = Literal["code", "tests", "data", "config", "deps", "logs"]
KINDS: tuple[Kind, ...] = ("code", "tests", "data", "config", "deps", "logs")
_NAMED = frozenset({"code", "tests", "data"})
"""Kinds of things that have names of their own, which a pattern without a word is about."""
_PRESETS: dict[str, Answer]
_LEVELS = ("low", "medium", "high")


class Answer(IntEnum):
    """The answer of a rule; a higher one is stricter."""

    ALLOW = 0
    APPROVE = 1
    DENY = 2


_PRESETS = {"open": Answer.ALLOW, "review": Answer.APPROVE, "read-only": Answer.DENY}


class Subject(Struct, frozen=True, kw_only=True):
    """One thing that a request is about.

    Parameters:
        kind: of what kind it is.
        name: its address; the key of a setting, the name of a distribution or of a log.
        runs: why it waits wherever any policy is in force, as a clause: other programs run it, or go by it; "" for
            what does not.
        never: why no request may change it, as a clause; "" for what may be changed.
        also: other ways to write its name, such as its file's path from the root, `:app/rates.csv` for `app:rates.csv`;
            a rule that covers one of them covers it.
    """

    kind: Kind
    name: str
    runs: str = ""
    never: str = ""
    also: tuple[str, ...] = ()


class Ruling(Struct, frozen=True, kw_only=True):
    """The decision of a policy.

    Parameters:
        answer: the strictest of all rules that fit.
        rule: that rule, as it stands in the settings; "" where no rule has a say.
        subject: the name of what it is about; "" for the change as a whole.
    """

    answer: Answer = Answer.ALLOW
    rule: str = ""
    subject: str = ""


class Table(Struct, frozen=True, kw_only=True):
    """One table of rules, and where it stands.

    Parameters:
        title: such as `[tool.bae-source.policy]`.
        rules: what stands there.
    """

    title: str
    rules: PolicyTable


class Policy:
    """Tables that are in force together.

    Parameters:
        tables: each of them; those that say nothing are left out.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = self._tables = tuple(each for each in tables if each.rules != PolicyTable())

    @property
    def is_open(self) -> bool:
        """Return whether no table forbids or asks for anything."""
        return all(_is_open(each.rules) for each in self._tables)

    @property
    def hides(self) -> bool:
        """Return whether some table forbids to read anything."""
        return any(rules.read.deny or rules.read.allow for each in self._tables for rules in _all(each.rules))

    def change(self, subjects: Iterable[Subject], caller: str) -> tuple[Ruling, ...]:
        """Return the strictest rulings on a change of some subjects, one a rule.

        Returns:
            Nothing where the change may be made at once.
        """
        found: dict[tuple[Answer, str], Ruling] = {}
        for subject in subjects:
            ruling = self._changed(subject, caller)
            if ruling.answer is not Answer.ALLOW:
                found.setdefault((ruling.answer, ruling.rule), ruling)
        strictest = max((answer for answer, _ in found), default=Answer.ALLOW)
        return tuple(each for (answer, _), each in found.items() if answer is strictest)

    def read(self, kind: Kind, name: str, caller: str, *, also: Sequence[tuple[Kind, str]] = ()) -> Ruling:
        """Return whether something may be read: allowed, or denied.

        Parameters:
            also: kinds and names that the same thing has besides: what is denied under one of them is denied.
        """
        things = ((kind, name), *also)
        for title, rules in self._rules(caller):
            for pattern in rules.read.deny:
                if any(fits(pattern, *each) for each in things):
                    return Ruling(answer=Answer.DENY, rule=f"{title} read.deny = {pattern!r}", subject=name)
            if rules.read.allow and not any(fits(pattern, *each) for pattern in rules.read.allow for each in things):
                return Ruling(answer=Answer.DENY, rule=f"{title} read.allow", subject=name)
        return Ruling()

    def denied_below(self, kind: Kind, module: str, caller: str) -> Iterator[tuple[Ruling, tuple[str, ...]]]:
        """Yield the rules that deny to read a part of a module if it has one with such a name.

        Returns:
            Each with the components of such names behind the module's, wildcards among them.
        """
        for title, rules in self._rules(caller):
            for pattern in rules.read.deny:
                for rest in _below(pattern, kind, module):
                    yield Ruling(answer=Answer.DENY, rule=f"{title} read.deny = {pattern!r}", subject=module), rest

    def hides_from(self, caller: str) -> bool:
        """Return whether some rule forbids a caller to read anything."""
        return any(rules.read.deny or rules.read.allow for _, rules in self._rules(caller))

    def risk(self, level: str, caller: str) -> Ruling:
        """Return whether a change may be made at once for all that is known of its risk."""
        for title, rules in self._rules(caller):
            if rules.approve_risk is not None and _LEVELS.index(level) >= _LEVELS.index(rules.approve_risk):
                return Ruling(answer=Answer.APPROVE, rule=f'{title} approve-risk = "{rules.approve_risk}"')
        return Ruling()

    def _rules(self, caller: str) -> Iterator[tuple[str, CallerPolicy]]:
        """Yield the rules that are about a caller, each with its title."""
        for table in self._tables:
            yield table.title, table.rules
            for pattern, rules in table.rules.callers.items():
                if _caller(pattern).fullmatch(normalize("NFKC", caller).casefold()):
                    yield f"{table.title[:-1]}.callers.{pattern!r}]", rules

    def _changed(self, subject: Subject, caller: str) -> Ruling:
        if subject.never:
            return Ruling(answer=Answer.DENY, rule=subject.never, subject=subject.name)
        found = Ruling()
        if subject.runs and not self.is_open:
            found = Ruling(answer=Answer.APPROVE, rule=subject.runs, subject=subject.name)
        for title, rules in self._rules(caller):
            answer, rule = _decided(rules, subject)
            if answer > found.answer:
                found = Ruling(answer=answer, rule=f"{title} {rule}", subject=subject.name)
        if found.answer is not Answer.DENY:
            hidden = self.read(subject.kind, subject.name, caller, also=[(subject.kind, each) for each in subject.also])
            found = hidden if hidden.answer is Answer.DENY else found
        return found


def _decided(rules: CallerPolicy, subject: Subject) -> tuple[Answer, str]:
    """Return the decision of one table's rules on something, and the rule.

    preset "review", allow [":docs/**"], deny ["app.secrets"]
        app.secrets.KEY     deny, by `deny`
        :docs/guide.md      allow, by `allow`
        app.core.send       approve, by the preset
    """
    for answer, name in ((Answer.DENY, "deny"), (Answer.APPROVE, "approve")):
        patterns: tuple[str, ...] = getattr(rules.change, name)
        for pattern in patterns:
            if _fits_any(pattern, subject.kind, subject.name, subject.also):
                return answer, f"change.{name} = {pattern!r}"
    usual = _PRESETS[rules.preset]
    if any(_fits_any(each, subject.kind, subject.name, subject.also) for each in rules.change.allow):
        return Answer.ALLOW, "change.allow"
    if rules.change.allow and usual is Answer.ALLOW:
        return Answer.APPROVE, "change.allow"
    return usual, f'preset = "{rules.preset}"'


def _is_open(rules: PolicyTable) -> bool:
    return all(
        each.preset == "open"
        and each.change == CallerPolicy().change
        and each.read == CallerPolicy().read
        and each.approve_risk is None
        for each in _all(rules)
    )


def _all(rules: PolicyTable) -> Iterator[CallerPolicy]:
    yield rules
    yield from rules.callers.values()


def fits(pattern: str, kind: Kind, name: str) -> bool:
    """Return whether a pattern covers a thing of a kind."""
    word, space, rest = pattern.partition(" ")
    if space and word in KINDS:
        return word == kind and _covering(rest.strip()).match(_plain(name)) is not None
    return kind in _NAMED and _covering(pattern).match(_plain(name)) is not None


def _fits_any(pattern: str, kind: Kind, name: str, also: Sequence[str]) -> bool:
    """Return whether a pattern covers a thing by one of the ways to write its name."""
    return fits(pattern, kind, name) or any(fits(pattern, kind, each) for each in also)


def _below(pattern: str, kind: Kind, module: str) -> Iterator[tuple[str, ...]]:
    """Yield the ways in which a pattern covers something below a module and not the module itself.

    module `app.core`
        `app.core.f`       (f,)
        `app.*`            nothing, as it covers the module
        `**.f`             (f,), and (**, f)
    """
    word, space, rest = pattern.partition(" ")
    is_about = word == kind if space and word in KINDS else kind in _NAMED
    text = _plain(rest.strip() if space and word in KINDS else pattern)
    if not is_about or ":" in text or "/" in text:
        return
    components, names = tuple(text.split(".")), _plain(module).partition("@")[0].split(".")
    places = {0}
    for name in names:
        ahead = set()
        for place in places:
            if place < len(components):
                each = components[place]
                if "**" in each:
                    ahead |= {place, place + 1}
                if re.fullmatch(_expression(each, "."), name, re.DOTALL):
                    ahead.add(place + 1)
        places = ahead
    yield from (components[place:] for place in sorted(places) if place < len(components))


def wrong_patterns(rules: PolicyTable) -> Iterator[str]:
    """Yield, as sentences, which patterns can cover nothing."""
    for each in _all(rules):
        lists = (each.change.allow, each.change.approve, each.change.deny, each.read.allow, each.read.deny)
        for pattern in (pattern for patterns in lists for pattern in patterns):
            word, space, rest = pattern.partition(" ")
            text = rest if space and word in KINDS else pattern
            if not text.strip() or "\\" in text or (text.startswith(("/", "./", "../")) or text.endswith(".py")):
                yield f"{pattern!r} is no pattern of names; `app.core`, `:docs/**` and `deps numpy` are."


def _plain(name: str) -> str:
    return normalize("NFKC", name)


@lru_cache(maxsize=1024)
def _covering(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of the names that a pattern covers.

    `app.*.pay`      app\\.[^.:/]*\\.pay(?:$|[.:/@[])
    `:docs/*.md`     :docs/[^/]*\\.md(?:$|[.:/@[])
    """
    dotted, colon, path = _plain(pattern).partition(":")
    expression = _expression(dotted, "[^.:/@]") + (f":{_expression(path, '[^/]')}" if colon else "")
    return re.compile(rf"{expression}(?:$|[.:/@\[])", re.DOTALL)


def _expression(pattern: str, one: str) -> str:
    pieces = re.split(r"(\*\*|\*|\?)", pattern)
    known = {"**": ".*", "*": f"{one}*", "?": one}
    return "".join(known.get(piece, re.escape(piece)) for piece in pieces)


@lru_cache(maxsize=256)
def _caller(pattern: str) -> re.Pattern[str]:
    return re.compile(_expression(normalize("NFKC", pattern).casefold(), "."), re.DOTALL)
