"""Arguments of one call, bound to a function's parameters and written for its new ones.

    def f(a, b=0, *, c=1)  ->  def f(b, a, d)

    f(1, 2)          f(2, 1, d=VALUE)
    f(g(), h())      f(a=g(), b=h(), d=VALUE)     since `g` and `h` have to run in this order
    f(1, c=h())      left: `h()` would not run any more
    f(*x)            left: the parameters that it gives are not known

Invariants:
- an argument stays as it is written and where it stands, if the new signature lets it;
- expressions that may have effects run as often as before, and in their order, or the call is left.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

from msgspec import Struct, structs

from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.syntax.signatures.items import Wanted, arranged, call_of, spans_in_call
from bae_source.syntax.signatures.signature import Kind, Parameter, Signature

_KEYWORD = re.compile(r"[^\W\d]\w*\s*=(?!=)\s*")
_PURE = (
    ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.Lambda, ast.JoinedStr,
    ast.FormattedValue, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare,
    ast.IfExp, ast.keyword, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.arguments,
    ast.arg,
)  # fmt: skip
"""Expressions that do nothing but give a value, if those in them do."""


class Argument(Struct, frozen=True, kw_only=True):
    """One argument.

    Parameters:
        span: where it stands behind the opening bracket's offset.
        text: as it is written.
        stars: how many stars stand before it.
        keyword: by which it is given; "" for none.
        node: its value.
    """

    span: Span
    text: str
    stars: int
    keyword: str
    node: ast.expr

    @property
    def value(self) -> str:
        """Its value as it is written, in brackets where it needs them beside others."""
        text = _KEYWORD.sub("", self.text, count=1) if self.keyword else self.text
        bare = isinstance(self.node, (ast.GeneratorExp, ast.NamedExpr)) and not text.startswith("(")
        return f"({text})" if bare else text

    @property
    def is_pure(self) -> bool:
        """True where evaluating it does nothing but give a value."""
        node = self.node.body if isinstance(self.node, ast.Lambda) else self.node
        return isinstance(self.node, ast.Lambda) or all(isinstance(each, _PURE) for each in ast.walk(node))

    @property
    def is_constant(self) -> bool:
        """True where it gives the same at any time."""
        return isinstance(self.node, (ast.Constant, ast.Lambda))


class Left(Struct, frozen=True):
    """The reason why a call stays as it is."""

    why: str


class Lacking(Struct, frozen=True):
    """The new parameter for which a call has nothing."""

    name: str


def arguments_in(text: str) -> tuple[Argument, ...] | None:
    """Return the arguments in the brackets of a call; None where these make no call."""
    call = call_of(text)
    if call is None:
        return None
    nodes: list[ast.expr | ast.keyword] = sorted(
        [*call.args, *call.keywords], key=lambda each: (each.lineno, each.col_offset)
    )
    spans = spans_in_call(text, call)
    return tuple(
        Argument(
            span=span,
            text=span.cut(text),
            stars=1 if isinstance(node, ast.Starred) else 2 if isinstance(node, ast.keyword) and not node.arg else 0,
            keyword=(node.arg or "") if isinstance(node, ast.keyword) else "",
            node=node.value if isinstance(node, (ast.keyword, ast.Starred)) else node,
        )
        for node, span in zip(nodes, spans, strict=True)
    )


def fits(arguments: Sequence[Argument], signature: Signature, skipped: int) -> bool:
    """Return whether a function takes the arguments of a call.

    Parameters:
        skipped: how many of its first parameters are bound already.
    """
    return not isinstance(bound_to(arguments, signature, skipped), Left)


def given_to(arguments: Sequence[Argument], signature: Signature, skipped: int) -> Mapping[str, str] | None:
    """Return the argument of a call for each parameter of a function; None where it does not take them.

    Parameters:
        skipped: how many of its first parameters are bound already.
    """
    bound = bound_to(arguments, signature, skipped)
    if isinstance(bound, Left):
        return None
    others = (*bound.spread, *bound.loose, *bound.doubled)
    return {
        **{name: arguments[number].value for name, number in bound.of.items()},
        "*": ", ".join(arguments[number].text for number in others),
    }


class Change(Struct, frozen=True, kw_only=True):
    """A change of a signature, as calls see it.

    Parameters:
        before, after: what the function takes; a parameter that stays has one name in both.
        given: by names of parameters, the text of what calls give that give nothing for them.
    """

    before: Signature
    after: Signature
    given: Mapping[str, str] = {}

    @property
    def is_compatible(self) -> bool:
        """True where every call means the same as before, as it is written."""
        old, new = self.before, self.after
        first = [each.name for each in old.positional]
        later = [each.name for each in new.positional]
        if later[: len(first)] != first or (old.rest and (len(later) > len(first) or not new.rest)):
            return False
        if old.options and not new.options:
            return False
        for name, each in old.named.items():
            now = new.named.get(name)
            if now is None or (each.is_by_keyword and not now.is_by_keyword) or (each.default and not now.default):
                return False
        return all(name in old.named or not each.is_required for name, each in new.named.items())

    def rewritten(
        self, text: str, skipped: int, newline: str, *, drops: bool = False, is_partial: bool = False
    ) -> str | Left | Lacking:
        """Return the brackets of a call as they have to be, or why they stay.

        Parameters:
            text: the brackets with the arguments.
            skipped: how many of the first parameters are bound before the call.
            newline: the line end of the file.
            drops: whether arguments may go whose evaluation has effects.
            is_partial: whether the call is given the function first, and is to be completed by others.
        """
        arguments = arguments_in(text)
        if arguments is None:
            return Left(Reason.NOT_ANALYSED.of())
        change, skipped = (self._with_function(skipped), 0) if is_partial else (self, skipped)
        found = _Rewriting(change, arguments, skipped, drops=drops, is_partial=is_partial).wanted()
        if isinstance(found, (Left, Lacking)):
            return found
        if [each.old for each in found] == list(range(len(arguments))) and all(each.text is None for each in found):
            return text
        written = arranged(text, [each.span for each in arguments], found, newline)
        return Left(Reason.NOT_ANALYSED.of()) if written is None else written

    def _with_function(self, skipped: int) -> Change:
        """Return the change as `partial(f, …)` sees it, whose first argument is the function."""
        first = Parameter(name="", kind=Kind.POSITIONAL_ONLY, text="")
        before, after = (
            structs.replace(each, parameters=(first, *each.parameters[skipped:])) for each in (self.before, self.after)
        )
        return structs.replace(self, before=before, after=after)


class Bound(Struct, frozen=True, kw_only=True):
    """Arguments by the parameters that they are for, by their numbers.

    Parameters:
        of: by the name of each parameter that has one.
        number: how many positional parameters are given before the first `*`.
        spread: arguments with `*`, those behind them that stand alone, and those for `*rest`.
        loose: keywords for `**options`.
        doubled: arguments with `**`.
        has_star: whether any has `*`.
    """

    of: dict[str, int]
    number: int
    spread: tuple[int, ...]
    loose: tuple[int, ...]
    doubled: tuple[int, ...]
    has_star: bool


def bound_to(
    arguments: Sequence[Argument], signature: Signature, skipped: int, *, is_partial: bool = False
) -> Bound | Left:
    """Return the parameters that the arguments of a call are for, or why it cannot be such a call.

    Parameters:
        skipped: how many of the first parameters are bound already.
        is_partial: whether another call gives the others.
    """
    positional = signature.positional[skipped:]
    by_keyword = {name for name, each in signature.named.items() if each.is_by_keyword}
    by_keyword -= {each.name for each in signature.positional[:skipped]}
    of: dict[str, int] = {}
    spread: list[int] = []
    loose: list[int] = []
    has_star, number = False, 0
    for index, each in enumerate(arguments):
        if each.stars == 1:
            has_star = True
            spread.append(index)
        elif each.stars == 0 and not each.keyword:
            if has_star or number == len(positional):
                spread.append(index)
            else:
                of[positional[number].name] = index
                number += 1
        elif each.keyword in of:
            return Left(Reason.ARGUMENTS_DO_NOT_FIT.of())
        elif each.keyword in by_keyword:
            of[each.keyword] = index
        elif each.stars == 0:
            loose.append(index)
    doubled = tuple(index for index, each in enumerate(arguments) if each.stars == 2)
    first = {each.name for each in signature.positional[:skipped]}
    lacks = [
        name
        for name, each in signature.named.items()
        if each.is_required and name not in of and name not in first and not (has_star and each.is_positional)
    ]
    is_short = bool(lacks) and not doubled and not is_partial
    if is_short or (loose and not signature.options) or (spread and not has_star and not signature.rest):
        return Left(Reason.ARGUMENTS_DO_NOT_FIT.of())
    return Bound(of=of, number=number, spread=tuple(spread), loose=tuple(loose), doubled=doubled, has_star=has_star)


class _Rewriting:
    """The arguments of one call, as they are for the new signature."""

    def __init__(
        self, change: Change, arguments: Sequence[Argument], skipped: int, *, drops: bool, is_partial: bool
    ) -> None:
        self.change = change
        self.arguments = arguments
        self.skipped = skipped
        self.drops = drops
        self.is_partial = is_partial

    def wanted(self) -> list[Wanted] | Left | Lacking:
        before, after = self.change.before, self.change.after
        bound = bound_to(self.arguments, before, self.skipped, is_partial=self.is_partial)
        if isinstance(bound, Left):
            return bound
        self.bound = bound
        self.of = dict(bound.of)
        self.may_star = bound.has_star or self.is_partial
        self.may_double = bool(bound.doubled) or self.is_partial
        for number in bound.loose:
            keyword = self.arguments[number].keyword
            if keyword in after.named and after.named[keyword].is_by_keyword:
                if keyword in before.named:  # another parameter that takes no keyword yet
                    return Left(Reason.KEYWORD_NOT_TAKEN.of())
                self.of[keyword] = number
            elif after.options is None:
                return Left(Reason.KEYWORD_NOT_TAKEN.of())
        new = self._new()
        if isinstance(new, (Left, Lacking)):
            return new
        why = self._why_left()
        if why is not None:
            return why
        for start in range(len(after.positional), -1, -1):
            found = self._placed(new, start)
            if isinstance(found, Left) or self._keeps_order(found):
                return found if isinstance(found, Left) else self._in_brackets(found)
        return Left(Reason.OUT_OF_ORDER.of())

    def _why_left(self) -> Left | None:
        """Return why the call stays, whatever its arguments could become."""
        bound, after = self.bound, self.change.after
        gone = [number for name, number in self.of.items() if name not in after.named]
        for number in gone:
            if not self.arguments[number].is_pure and not self.drops:
                return Left(Reason.EFFECT_LOST.of(argument=self.arguments[number].value))
        if bound.spread and not bound.has_star and after.rest is None:
            return Left(Reason.TOO_MANY_ARGUMENTS.of())
        if self.may_star and not self._star_fits():
            return Left((Reason.ARGUMENTS_BY_STAR if bound.has_star else Reason.COMPLETED_LATER).of())
        if self.may_double and not self._doubles_fit():
            return Left((Reason.ARGUMENTS_BY_STARS if bound.doubled else Reason.COMPLETED_LATER).of())
        return None

    def _star_fits(self) -> bool:
        """Return whether what stands behind the arguments before a `*` is for the parameters that it was for.

        def f(a, b, c=0)  ->  def f(b, c=0)        f(x, *rest) becomes f(*rest): `rest` still begins with `b`
        """
        before, after = self.change.before, self.change.after
        old = [each.name for each in before.positional[self.skipped :]]
        new = [each.name for each in after.positional[self.skipped :]]
        filled = [name for name in old[: self.bound.number] if name in after.named]
        tail = list(takewhile(lambda name: name not in self.of, old[self.bound.number :]))
        start = len(filled)
        if new[:start] != filled or new[start : start + len(tail)] != tail:
            return False
        return not (before.rest or after.rest) or (new[start:] == tail and bool(before.rest) == bool(after.rest))

    def _doubles_fit(self) -> bool:
        """Return whether every parameter that a `**` may give takes a keyword still."""
        after = self.change.after.named
        if self.change.before.options and (not self.change.after.options or self._newly_by_keyword()):
            return False
        filled = {each.name for each in self.change.before.positional[: self.skipped + self.bound.number]}
        open_ones = [
            each for name, each in self.change.before.named.items() if name not in self.of and name not in filled
        ]
        return all(
            not each.is_by_keyword or (each.name in after and after[each.name].is_by_keyword) for each in open_ones
        )

    def _newly_by_keyword(self) -> bool:
        """Return whether a keyword that went into `**options` may be another parameter's now, and get two values."""
        before = self.change.before.named
        return any(
            each.is_by_keyword and (not before[name].is_by_keyword if name in before else name in self.change.given)
            for name, each in self.change.after.named.items()
        )

    def _new(self) -> dict[str, str] | Left | Lacking:
        """Return the new arguments of a call for parameters that had none, by their names."""
        before, found = self.change.before.named, dict[str, str]()
        bound_first = {each.name for each in self.change.after.positional[: self.skipped]}
        for name, each in self.change.after.named.items():
            if name in self.of or name in bound_first:
                continue
            old = before.get(name)
            if old is None and name in self.change.given:
                found[name] = self.change.given[name]
            elif old is None and each.is_required:
                return Lacking(name)
            elif old is not None and old.default and not each.default:
                if self.is_partial:
                    return Left(Reason.COMPLETED_LATER.of())
                if self.bound.doubled or (self.bound.has_star and old.is_positional):
                    return Left((Reason.ARGUMENTS_BY_STARS if self.bound.doubled else Reason.ARGUMENTS_BY_STAR).of())
                if name not in self.change.given and not _is_literal(old.default):
                    return Lacking(name)
                found[name] = self.change.given.get(name, old.default_text)
        return found

    def _placed(self, new: Mapping[str, str], start: int) -> list[Wanted] | Left:
        """Return the arguments.

        Parameters:
            new: what is given newly, by parameters.
            start: the first positional parameter that is given by its keyword at any rate.
        """
        target = self.change.after.positional[self.skipped :]
        first: list[Wanted] = []
        keyword: set[str] = set()
        is_open, has_more = True, bool(self.bound.spread) and not self.bound.has_star
        for number, each in enumerate(target):
            source, text = self.of.get(each.name), new.get(each.name)
            is_filled = has_more or any(self._is_alone(other, new) for other in target[number + 1 :])
            if source is None and text is None and is_filled and _is_literal(each.default):
                text = each.default_text
            if source is None and text is None:
                is_open = False
                continue
            alone = each.kind is Kind.POSITIONAL_ONLY or has_more
            stood_alone = source is not None and not self.arguments[source].keyword
            wants = stood_alone or (source is None and any(self._stands_alone(other) for other in target[number + 1 :]))
            if is_open and (alone or is_filled or (wants and number < start)):
                first.append(self._alone(source, text))
            elif alone:
                return Left(Reason.BEHIND_A_GAP.of())
            else:
                is_open = False
                keyword.add(each.name)
        if has_more and not is_open:
            return Left(Reason.BEHIND_A_GAP.of())
        keyword |= {each.name for each in self.change.after.parameters if each.kind is Kind.KEYWORD_ONLY}
        return [*first, *self._behind(keyword, new)]

    def _is_alone(self, parameter: Parameter, new: Mapping[str, str]) -> bool:
        """Return whether a call gives something for a parameter that takes no keyword."""
        return parameter.kind is Kind.POSITIONAL_ONLY and (parameter.name in self.of or parameter.name in new)

    def _stands_alone(self, parameter: Parameter) -> bool:
        """Return whether what is for a parameter stands without a keyword."""
        source = self.of.get(parameter.name)
        return parameter.kind is Kind.POSITIONAL_ONLY or (source is not None and not self.arguments[source].keyword)

    def _alone(self, source: int | None, text: str | None) -> Wanted:
        if source is None:
            return Wanted(text=text)
        argument = self.arguments[source]
        return Wanted(source, argument.value if argument.keyword else None)

    def _behind(self, keyword: set[str], new: Mapping[str, str]) -> list[Wanted]:
        """Return what follows the arguments that stand for positional parameters.

        Parameters:
            keyword: the parameters that are given by their keywords.
        """
        loose = (number for number in self.bound.loose if number not in self.of.values())
        texts: dict[int, str | None] = dict.fromkeys((*loose, *self.bound.doubled))
        for name, number in self.of.items():
            if name in keyword:
                argument = self.arguments[number]
                texts[number] = None if argument.keyword else f"{name}={argument.value}"
        begun = min((number for number, each in enumerate(self.arguments) if each.keyword), default=len(self.arguments))
        spread = [Wanted(number) for number in self.bound.spread if number < begun]
        texts.update((number, None) for number in self.bound.spread if number > begun)
        named = [Wanted(number, texts[number]) for number in sorted(texts)]
        added = [Wanted(text=f"{name}={text}") for name, text in new.items() if name in keyword]
        doubled = [each for each in named if each.old is not None and self.arguments[each.old].stars == 2]
        at = named.index(doubled[0]) if doubled else len(named)
        return [*spread, *named[:at], *added, *named[at:]]

    def _in_brackets(self, wanted: Sequence[Wanted]) -> list[Wanted]:
        """Return arguments with brackets around a generator that had those of the call, unless it has them still."""
        bare = [number for number, each in enumerate(self.arguments) if each.value != each.text and not each.keyword]
        return [
            Wanted(each.old, self.arguments[each.old].value)
            if len(wanted) > 1 and each.old in bare and each.text is None and each.old is not None
            else each
            for each in wanted
        ]

    def _keeps_order(self, wanted: Sequence[Wanted]) -> bool:
        """Return whether all that has effects runs in the order that it ran in."""
        order = [each.old for each in wanted if each.old is not None]
        for place, number in enumerate(order):
            for later in order[place + 1 :]:
                first, second = self.arguments[later], self.arguments[number]
                if later < number and not (
                    (first.is_pure and second.is_pure) or first.is_constant or second.is_constant
                ):
                    return False
        return True


def _is_literal(text: str) -> bool:
    """Return whether a default means the same wherever it is written."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True
