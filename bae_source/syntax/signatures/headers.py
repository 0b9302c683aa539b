"""A function's header with another signature, as text; what stays the same keeps its bytes.

def send(self, data): ...           ->  def send(self, data, *, timeout: float = 5): ...
def send(                           ->  def send(
    self,  # a                              self,  # a
    data,                                   timeout,
):                                      ):
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from bae_source.model.span import Span
from bae_source.syntax.signatures.items import Wanted, arranged
from bae_source.syntax.signatures.signature import Header, Kind, Parameter, Signature, tokens
from bae_source.syntax.text.source import Lines

_WIDEST = 88
_INDENT = "    "


def header_splices(text: str, header: Header, after: Signature, newline: str) -> list[tuple[Span, str]] | None:
    """Return the splices that give a header another signature; None where its commas stand in an unusual way.

    Parameters:
        text: of the file.
        newline: its line end.
    """
    before = header.signature
    splices: list[tuple[Span, str]] = []
    if "".join(after.types.split()) != "".join(before.types.split()):
        splices.append((header.types, after.types))
    returns = Span(header.brackets.end, header.end)
    if "".join(after.returns.split()) != "".join(before.returns.split()):
        splices.append((returns, f" -> {after.returns}" if after.returns else ""))
    inside = header.brackets.cut(text)
    wanted = _wanted([each.cut(inside) for each in header.items], before, after)
    if all(each.text is None for each in wanted) and [each.old for each in wanted] == list(range(len(header.items))):
        return splices
    written = arranged(inside, header.items, wanted, newline)
    if written is None:
        return None
    lines = Lines(text)
    line = lines.number(header.brackets.start)
    ends = f"{splices[-1][1] if splices else returns.cut(text)}:"
    column = header.brackets.start - lines.start(line)
    if _is_wide(written, column, ends) and not _is_wide(inside, column, f"{returns.cut(text)}:"):
        deeper = f"{newline}{lines.indentation(line)}"
        items = f",{deeper}{_INDENT}".join(tokens(after.parameters))
        written = f"({deeper}{_INDENT}{items},{deeper})"
    return [*splices, (header.brackets, written)]


def _wanted(items: Sequence[str], before: Signature, after: Signature) -> list[Wanted]:
    """Return the items of a header as they shall be, by those that are there."""
    written = [each for each in items if each not in ("*", "/")]
    places = {each.text: items.index(text) for each, text in zip(before.parameters, written, strict=True)}
    old = {each.name: each for each in before.parameters}
    found: list[Wanted] = []
    for token in tokens(after.parameters):
        parameter = next((each for each in after.parameters if each.text == token), None)
        if parameter is None:
            found.append(Wanted(items.index(token)) if token in items else Wanted(text=token))
            continue
        known = old.get(parameter.name)
        if known is None:
            found.append(Wanted(text=token))
        elif known.is_written_like(parameter) and known.is_starred == parameter.is_starred:
            found.append(Wanted(places[known.text]))
        else:
            found.append(Wanted(places[known.text], token))
    return found


def _is_wide(text: str, column: int, rest: str) -> bool:
    """Return whether a header stands on one line that is longer than most projects let lines be."""
    return "\n" not in text and "\r" not in text and column + len(text) + len(rest) > _WIDEST


def led_along(own: Signature, before: Signature, after: Signature) -> Signature | str:
    """Return the signature of a function that goes along with the change of another's, such as one that overrides it.

    def send(self, data, extra=0)      of a class below, where `def send(self, data)` becomes
    def send(self, data, timeout)      gets `def send(self, data, timeout, extra=0)`

    Parameters:
        own: what the function takes.
        before, after: the signature of the other, before its change and after it.

    Returns:
        The signature, or why there is none.
    """
    alike = _alike(own, before)
    old = {each.name: each for each in before.parameters}
    new: list[Parameter] = []
    for each in after.parameters:
        known = old.get(each.name)
        if known is not None:
            mine = alike.get(each.name)
            new += [_as_changed(mine, known, each)] if mine is not None else []
        elif each.name in own.named or (each.is_starred and any(other.kind is each.kind for other in own.parameters)):
            new += [other for other in own.parameters if other.name == each.name or other.kind is each.kind][:1]
        elif not (own.options and each.is_by_keyword):  # which takes it, and hands it on
            new.append(each)
    taken = {each.name for each in (*new, *alike.values())}
    alone = {each.name for each in new if each.kind is Kind.KEYWORD_ONLY}

    def is_behind(number: int) -> bool:
        """Return whether a parameter stood behind one that takes keywords alone now: it would move into its place."""
        above = [each.name for each in own.parameters[:number] if each.is_positional]
        return own.parameters[number].is_positional and not alone.isdisjoint(above)

    for number, each in enumerate(own.parameters):
        if each.name not in taken:
            before_it = [other.name for other in own.parameters[:number]]
            at = max((place for place, other in enumerate(new) if other.name in before_it), default=-1) + 1
            while each.default and at < len(new) and new[at].is_positional and new[at].is_required:
                at += 1
            new.insert(at, structs.replace(each, kind=Kind.KEYWORD_ONLY) if is_behind(number) else each)
    new.sort(key=lambda each: each.kind)
    has_default = False
    for each in new:
        if each.is_positional and has_default and each.is_required:
            return f"{each.name} has no default, and would follow one that has"
        has_default = has_default or (each.is_positional and bool(each.default))
    returns = after.returns if own.returns == before.returns else own.returns
    return structs.replace(own, parameters=tuple(new), returns=returns)


def _alike(own: Signature, before: Signature) -> dict[str, Parameter]:
    """Return own parameters by the names of those of another that they stand for: by name, else by place."""
    found = {each.name: each for each in own.parameters if any(each.name == other.name for other in before.parameters)}
    mine, others = own.positional, before.positional
    for each, other in zip(mine, others, strict=False):
        if other.name not in found and each.name not in before.named:
            found[other.name] = each
    for kind in (Kind.VAR_POSITIONAL, Kind.VAR_KEYWORD):
        pair = [next((each for each in two.parameters if each.kind is kind), None) for two in (own, before)]
        if pair[0] is not None and pair[1] is not None:
            found.setdefault(pair[1].name, pair[0])
    return found


def _as_changed(own: Parameter, before: Parameter, after: Parameter) -> Parameter:
    """Return a function's own parameter with what changes of the one that it stands for."""
    kind = after.kind if before.kind != after.kind else own.kind
    found = structs.replace(own, kind=kind)
    if before.annotation == own.annotation != after.annotation:
        found = found.with_annotation_of(after)
    return found.with_default_of(after) if before.default == own.default != after.default else found
