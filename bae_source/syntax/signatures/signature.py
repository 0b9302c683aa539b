"""Signatures of functions as values, read from a header or from what a request gives.

    def send(self, data, /, *rest, timeout: float = 5, **options) -> int:

Invariants:
- a parameter knows its text as it was written, and its annotation and default as Python would draw them, so that
  layout alone makes no difference.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum

from msgspec import Struct, structs

from bae_source.model.span import Span
from bae_source.syntax.signatures.items import arguments_of, spans_in_header
from bae_source.syntax.text.lexer import end_of_bracket, end_of_header

_HEAD = re.compile(r"\s*(?:(?P<async>async)\s+)?(?:def\s+)?(?P<name>[^\W\d]\w*)?\s*(?P<types>\[)?")
_ASYNC = re.compile(r"\basync[ \t]+(?:def\s+)?\Z")
_LONGEST = 300
"""Characters of a signature that is drawn with its annotations."""
_RETURNS = re.compile(r"\s*->\s*(?P<returns>.*?)\s*\Z", re.DOTALL)


class Kind(IntEnum):
    """A way in which a parameter takes arguments, as `inspect` tells them apart."""

    POSITIONAL_ONLY = 0
    POSITIONAL_OR_KEYWORD = 1
    VAR_POSITIONAL = 2
    KEYWORD_ONLY = 3
    VAR_KEYWORD = 4


_POSITIONAL = (Kind.POSITIONAL_ONLY, Kind.POSITIONAL_OR_KEYWORD)
_STARS = {Kind.VAR_POSITIONAL: "*", Kind.VAR_KEYWORD: "**"}
_BY_KEYWORD = (Kind.POSITIONAL_OR_KEYWORD, Kind.KEYWORD_ONLY)


class Parameter(Struct, frozen=True, kw_only=True):
    """One parameter.

    Parameters:
        name: without stars.
        kind: how it takes arguments.
        text: as it is written, with its stars, annotation and default.
        annotation: as Python draws it; "" for none.
        default: likewise.
        annotation_text, default_text: both as they are written.
    """

    name: str
    kind: Kind
    text: str
    annotation: str = ""
    default: str = ""
    annotation_text: str = ""
    default_text: str = ""

    @property
    def is_positional(self) -> bool:
        """True where an argument without a name may be for it."""
        return self.kind in _POSITIONAL

    @property
    def is_by_keyword(self) -> bool:
        """True where a keyword may be for it."""
        return self.kind in _BY_KEYWORD

    @property
    def is_starred(self) -> bool:
        """True where it takes what no other parameter takes."""
        return self.kind in (Kind.VAR_POSITIONAL, Kind.VAR_KEYWORD)

    @property
    def is_required(self) -> bool:
        """True where every call has to give it."""
        return not self.default and not self.is_starred

    def is_written_like(self, other: Parameter) -> bool:
        """Return whether another one has the same name, annotation and default."""
        return (self.name, self.annotation, self.default) == (other.name, other.annotation, other.default)

    def with_annotation_of(self, other: Parameter) -> Parameter:
        """Return it with the annotation of another parameter, or without one if that has none."""
        return _written(self, annotation=other.annotation, annotation_text=other.annotation_text)

    def with_default_of(self, other: Parameter) -> Parameter:
        """Return it with the default of another parameter, or without one if that has none."""
        return _written(self, default=other.default, default_text=other.default_text)


def _written(parameter: Parameter, **other: str) -> Parameter:
    """Return a parameter with another annotation or default, and the text that these make."""
    new = structs.replace(parameter, **other)
    text = f"{_STARS.get(new.kind, '')}{new.name}"
    text += f": {new.annotation_text}" if new.annotation else ""
    equals = " = " if new.annotation else "="
    return structs.replace(new, text=f"{text}{equals}{new.default_text}" if new.default else text)


class Signature(Struct, frozen=True, kw_only=True):
    """The parameters of a function, and what it is annotated to return.

    Parameters:
        parameters: in their order.
        returns: as it is written; "" for none.
        types: type parameters with their brackets; "" for none.
        name: of the function; "" where it is not given.
        is_async: whether `async` stands before it.
    """

    parameters: tuple[Parameter, ...]
    returns: str = ""
    types: str = ""
    name: str = ""
    is_async: bool = False

    @property
    def positional(self) -> tuple[Parameter, ...]:
        """Parameters that arguments without a name may be for."""
        return tuple(each for each in self.parameters if each.is_positional)

    @property
    def rest(self) -> Parameter | None:
        """The parameter that takes further arguments without a name."""
        return next((each for each in self.parameters if each.kind is Kind.VAR_POSITIONAL), None)

    @property
    def options(self) -> Parameter | None:
        """The parameter that takes further keywords."""
        return next((each for each in self.parameters if each.kind is Kind.VAR_KEYWORD), None)

    @property
    def named(self) -> Mapping[str, Parameter]:
        """Parameters by their names, but for those with stars."""
        return {each.name: each for each in self.parameters if not each.is_starred}

    def is_like(self, other: Signature) -> bool:
        """Return whether another one says the same, whatever its layout."""
        return self._facts == other._facts

    @property
    def _facts(self) -> tuple[object, ...]:
        """Its content without its layout."""
        several = tuple((each.kind, each.name, each.annotation, each.default) for each in self.parameters)
        return (several, "".join(self.returns.split()), "".join(self.types.split()))

    @property
    def is_annotated(self) -> bool:
        """True where it has an annotation, or says what is returned."""
        return bool(self.returns) or any(each.annotation for each in self.parameters)

    def with_annotations_of(self, other: Signature, names: Mapping[str, str]) -> Signature:
        """Return it with the annotations that another one has.

        Parameters:
            names: by names of parameters those that the other has for them; others have the same.
        """
        old = {each.name: each for each in other.parameters if each.annotation}
        several = ((each, old.get(names.get(each.name, each.name))) for each in self.parameters)
        parameters = tuple(each.with_annotation_of(known) if known else each for each, known in several)
        return structs.replace(self, parameters=parameters, returns=other.returns)

    def shown(self) -> str:
        """Draw it in one line, without annotations where these take several lines or a long one."""
        returns = f" -> {self.returns}" if self.returns else ""
        whole = f"({', '.join(tokens(self.parameters))}){returns}"
        if len(whole) <= _LONGEST and len(whole.splitlines()) == 1:
            return whole
        bare = [_written(each, annotation="", default_text=each.default) for each in self.parameters]
        return f"({', '.join(tokens(bare))})"


class Header(Struct, frozen=True, kw_only=True):
    """A function's header in a text.

    Parameters:
        types: where its type parameters stand; an empty span behind its name for none.
        brackets: where its parameters stand, with the brackets.
        end: where its colon stands.
        items: where each parameter, `*` and `/` stands behind the opening bracket's offset.
        signature: what it says.
    """

    types: Span
    brackets: Span
    end: int
    items: tuple[Span, ...]
    signature: Signature


def header_at(text: str, keyword: int) -> Header | None:
    """Return the header of the function whose `def` stands at an offset; None where it cannot be read."""
    end = end_of_header(text, keyword) - 1
    match = re.compile(r"(?:async\s+)?def\s+(?P<name>[^\W\d]\w*)").match(text, keyword)
    if match is None:
        return None
    types = Span(match.end(), match.end())
    position = _blank_end(text, match.end())
    if text[position : position + 1] == "[":
        types = Span(position, end_of_bracket(text, position))
        position = _blank_end(text, types.end)
    if text[position : position + 1] != "(":
        return None
    brackets = Span(position, end_of_bracket(text, position))
    inside = brackets.cut(text)
    arguments = arguments_of(inside)
    if arguments is None:
        return None
    returns = _RETURNS.fullmatch(text[brackets.end : end])
    spans = spans_in_header(inside, arguments)
    signature = Signature(
        parameters=tuple(_parameters(inside, arguments, spans)),
        returns=returns["returns"] if returns else "",
        types=types.cut(text),
        name=match["name"],
        is_async=_ASYNC.search(text, max(0, keyword - 20), match.start("name")) is not None,
    )
    return Header(types=types, brackets=brackets, end=end, items=tuple(spans), signature=signature)


def given_signature(text: str) -> Signature | str:
    """Return the signature that a request gives: `def f(a, b=1) -> int`, with or without what stands around.

    Returns:
        The signature, or why the text is none.
    """
    head = _HEAD.match(text)
    assert head is not None
    position, types = head.end(), ""
    if head["types"]:
        position = end_of_bracket(text, head.start("types"))
        types = text[head.start("types") : position]
        position = _blank_end(text, position)
    if text[position : position + 1] != "(":
        return "it has no parameters in brackets"
    end = end_of_bracket(text, position)
    inside, tail = text[position:end], text[end:].strip()
    tail = tail.removesuffix("...").rstrip() if tail.endswith("...") and ":" in tail else tail
    tail = tail[:-1].rstrip() if tail.endswith(":") else tail
    if fault := _fault(f"{inside}{tail}"):
        return fault
    arguments = arguments_of(inside)
    if arguments is None:
        return "its parameters cannot be read"
    returns = _RETURNS.fullmatch(tail)
    return Signature(
        parameters=tuple(_parameters(inside, arguments, spans_in_header(inside, arguments))),
        returns=returns["returns"] if returns else "",
        types=types,
        name=head["name"] or "",
        is_async=head["async"] is not None,
    )


def _fault(rest: str) -> str:
    """Return why a text behind the name of a function makes no header; "" where it makes one."""
    try:
        compile(f"def f{rest}: pass", "<signature>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return str(error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or "it is nested too deeply"
    return ""


def _blank_end(text: str, position: int) -> int:
    match = re.compile(r"(?:\s|\\\r?\n)*").match(text, position)
    return match.end() if match else position


def _parameters(text: str, arguments: ast.arguments, spans: Sequence[Span]) -> Iterator[Parameter]:
    """Yield the parameters whose items stand at some spans of a text."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: dict[str, ast.expr | None] = {}
    defaults.update((each.arg, d) for each, d in zip(positional[::-1], arguments.defaults[::-1], strict=False))
    defaults.update((each.arg, d) for each, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    several = [
        *((each, Kind.POSITIONAL_ONLY) for each in arguments.posonlyargs),
        *((each, Kind.POSITIONAL_OR_KEYWORD) for each in arguments.args),
        *([(arguments.vararg, Kind.VAR_POSITIONAL)] if arguments.vararg else []),
        *((each, Kind.KEYWORD_ONLY) for each in arguments.kwonlyargs),
        *([(arguments.kwarg, Kind.VAR_KEYWORD)] if arguments.kwarg else []),
    ]
    items = [each for each in spans if each.cut(text) not in ("*", "/")]
    for (each, kind), span in zip(several, items, strict=True):
        default = defaults.get(each.arg)
        written = span.cut(text)
        default_text = _default(written, default) if default else ""
        named = written.removesuffix(default_text).rstrip().removesuffix("=") if default else written
        yield Parameter(
            name=each.arg,
            kind=kind,
            text=written,
            annotation=ast.unparse(each.annotation) if each.annotation else "",
            default=ast.unparse(default) if default else "",
            annotation_text=named.partition(":")[2].strip() if each.annotation else "",
            default_text=default_text,
        )


def _default(text: str, default: ast.expr) -> str:
    """Return the default of a parameter as it is written."""
    for match in re.finditer("=", text):
        written = text[match.end() :].strip()
        try:
            if ast.dump(ast.parse(f"({written}\n)", mode="eval").body) == ast.dump(default):
                return written
        except SyntaxError:
            continue
    return ast.unparse(default)


def tokens(parameters: Sequence[Parameter]) -> list[str]:
    """Return the items that parameters make in a header: their texts, and the `/` and `*` between them."""
    found: list[str] = []
    before: Kind | None = None
    for each in parameters:
        if before is Kind.POSITIONAL_ONLY and each.kind is not Kind.POSITIONAL_ONLY:
            found.append("/")
        if each.kind is Kind.KEYWORD_ONLY and before not in (Kind.KEYWORD_ONLY, Kind.VAR_POSITIONAL):
            found.append("*")
        found.append(each.text)
        before = each.kind
    return [*found, "/"] if before is Kind.POSITIONAL_ONLY else found
