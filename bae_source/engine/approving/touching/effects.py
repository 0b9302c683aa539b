"""Effects of a change on one module's definitions: removed, with other arguments, with other behaviour.

    -def send(x, y): …                        gone        send
    -def send(x, y):  +def send(x):           signature   send     other arguments
    -def send(x):     +def send(x, y=1):      wider       send     what could be called so can be called still
    -def send(x=1):   +def send(x=2):         defaults    send
    -def send(x):     +def send(x: int):      annotations send
    -def send(x):     +def  send( x ):        layout      send     white space alone
    -    return x     +    return y           inside      send
    -    # why        +    # because          text        send     comments and docstrings alone

Invariant: names in other files are left out; users of what goes are among the warnings of a plan.
"""

from __future__ import annotations

import re
import tokenize
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from msgspec import Struct

from bae_source.engine.approving.touching.pieces import Difference, Piece, are_alike
from bae_source.engine.approving.touching.touched import Module
from bae_source.errors import ResourceError
from bae_source.model.span import Span
from bae_source.project.interfaces.listing import is_private
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE, Definition, Kind, Outline
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.altered import by_path
from bae_source.syntax.signatures.signature import Signature, header_at
from bae_source.syntax.text.lexer import end_of_header, lex

What = Literal[
    "gone",
    "unexported",
    "signature",
    "wider",
    "defaults",
    "annotations",
    "inside",
    "new",
    "text",
    "layout",
    "imports",
    "statements",
    "broken",
]
_SUFFIX = re.compile(r"\[\d+\]|@[a-z]+(?:\[\d+\])?")
_CODE = re.compile(r"[^\r\n]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_CODE = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER})
_BLOCKS = frozenset({tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE})


class Effect(Struct, frozen=True, kw_only=True):
    """An effect on one definition, or on the module itself.

    Parameters:
        what: gone; no longer in `__all__`; other arguments, or only further ones, other defaults or annotations;
            another body; new; comments and docstrings alone, or white space; of the module imports alone, or other
            statements; it no longer parses.
        name: of the definition, as `Difference` has it.
        is_public: whether other projects may use it by that name.
        difference: what it was worked out from; None for what is of the module.
    """

    what: What
    name: str
    is_public: bool = False
    difference: Difference | None = None


def effects_of(module: Module, name: str, *, is_package: bool) -> Iterator[Effect]:
    """Yield the effects of a change on a module.

    Parameters:
        name: the module's.
        is_package: whether it is the `__init__` of a package, which lets others have what it imports from its own.
    """
    is_let_out = _is_public_module(name)
    if module.after is None and not module.is_broken and module.differences:
        yield Effect(what="gone", name="", is_public=is_let_out)
        return  # with all that is in it
    if module.is_broken:
        yield Effect(what="broken", name="")
    still = _still_there(module.after)
    for each in module.differences:
        piece = each.before or each.after
        for what in _whats(each, still):
            assert piece is not None
            public = is_let_out and is_public(piece.tree.outline, piece.index, each.name)
            yield Effect(what=what, name=each.name, is_public=public, difference=each)
    if module.before and module.after:
        old, new = module.before.outline, module.after.outline
        for lost in _no_longer_imported(old, still, name if is_package else None):
            yield Effect(what="gone", name=lost, is_public=is_let_out)
        for lost in _unexported(old, new):
            if (lost,) in still:
                yield Effect(what="unexported", name=lost, is_public=is_let_out)


def is_public_at(workspace: Workspace, symbol: str) -> bool | None:
    """Return whether other projects may use a symbol; None for what is none, or is not there."""
    try:
        found = resolve(workspace, symbol)
    except ResourceError:
        return None
    is_let_out = _is_public_module(found.address.module)
    if found.group is None:
        return is_let_out
    name = ".".join(map(str, found.address.qualname))
    return is_let_out and is_public(found.tree.outline, found.group.members[0], name)


def is_public(outline: Outline, index: int, name: str) -> bool:
    """Return whether a definition is for the public, as far as its module's `__all__` and underscores say."""
    if index == MODULE:
        return False
    parts = bare(name).split(".")
    above = outline.definitions[index].parent
    while above != MODULE:
        if outline.definitions[above].kind is Kind.FUNCTION:
            return False
        above = outline.definitions[above].parent
    is_let_out = parts[0] in outline.exported if outline.exported is not None else not is_private(parts[0])
    return is_let_out and not any(map(is_private, parts[1:]))


def bare(name: str) -> str:
    """Return a name without its number among several."""
    return _SUFFIX.sub("", name)


def code_of(piece: Piece) -> str:
    """Return the code of a piece, without comments and docstrings."""
    return "\n".join(part for part in piece.within(_code(piece.tree)) if isinstance(part, str))


def _is_public_module(name: str) -> bool:
    return not any(is_private(part) for part in name.partition("@")[0].split("."))


def _still_there(after: Tree | None) -> frozenset[tuple[str, ...]]:
    """Return the paths of the names that a module has after a change."""
    if after is None:
        return frozenset()
    return frozenset({*by_path(after.outline), *((each.name,) for each in after.outline.imports)})


def _whats(each: Difference, still: frozenset[tuple[str, ...]]) -> Iterator[What]:
    """Yield the effects on a definition; none for one that goes with its outer one, or is only counted anew."""
    first, second = each.before, each.after
    path = tuple(bare(each.name).split("."))
    if first is None:
        yield "new"
    elif second is None:
        if path not in still and (len(path) == 1 or path[:-1] in still):
            yield "gone"
    elif not first.parts and not second.parts:  # blank lines, or how the file is encoded
        marks = [(piece.tree.source.bom, piece.tree.source.encoding) for piece in (first, second)]
        yield "text" if marks[0] == marks[1] else "statements"
    else:
        yield from _altered(each.name, first, second)


def _altered(name: str, first: Piece, second: Piece) -> Iterator[What]:
    """Yield the differences in a definition, or a module, that is there before and after."""
    texts = _code(first.tree), _code(second.tree)
    if are_alike(first, second, texts):
        yield "text"
    elif _is_layout(first, second):
        yield "layout"
    elif not name:
        without = _without_imports(first.tree, texts[0]), _without_imports(second.tree, texts[1])
        yield "imports" if are_alike(first, second, without) else "statements"
    else:
        header = _header(first, second)
        yield header or "inside"
        if header is not None and _body(first) != _body(second):
            yield "inside"


def _is_layout(first: Piece, second: Piece) -> bool:
    """Return whether two pieces are the same code, written with other white space.

    class  A( B ):      class A(B):       yes
    f("a  b")           f("a b")          no, nor is another block around a statement
    """
    if _squeezed(first) != _squeezed(second):
        return False
    one, other = _tokens(first), _tokens(second)
    return bool(one) and one == other


def _squeezed(piece: Piece) -> str:
    return "".join(code_of(piece).split())


def _tokens(piece: Piece) -> list[tuple[int, str]]:
    """Return the tokens of a piece without its comments; none where they cannot be parsed."""
    starts, tokens = _all_tokens(piece.tree)
    found: list[tuple[int, str]] = []
    for part in piece.parts:
        if isinstance(part, Span):
            found += tokens[bisect_left(starts, part.start) : bisect_left(starts, part.end)]
    return found


@lru_cache(maxsize=4)
def _all_tokens(tree: Tree) -> tuple[list[int], list[tuple[int, str]]]:
    """Return the tokens of a module's code, and where each begins."""
    lines = _LINE.findall(_code(tree))
    offsets = [0, *accumulate(map(len, lines))]
    reader = iter(lines)
    starts, tokens = list[int](), list[tuple[int, str]]()
    try:
        for kind, text, (line, column), _, _ in tokenize.generate_tokens(lambda: next(reader, "")):
            if kind not in _NO_CODE:
                starts.append(offsets[line - 1] + column if line <= len(lines) else offsets[-1])
                tokens.append((kind, "" if kind in _BLOCKS else text))
    except (tokenize.TokenError, SyntaxError):
        return [], []
    return starts, tokens


def _body(piece: Piece) -> tuple[str, ...]:
    """Return the code of a function or class behind its header, but for white space."""
    definition = piece.definition
    if definition is None or definition.kind not in (Kind.CLASS, Kind.FUNCTION):
        return ()
    start = end_of_header(piece.tree.text, definition.keyword)
    code = _code(piece.tree)
    return tuple(
        text
        for part in piece.parts
        if isinstance(part, Span) and part.end > start
        if (text := "".join(code[max(start, part.start) : part.end].split()))
    )


def _header(first: Piece, second: Piece) -> What | None:
    """Return whether the header of a definition lets it be used otherwise."""
    one, other = first.definition, second.definition
    assert one is not None
    assert other is not None
    if one.kind is not other.kind:
        return "signature"
    if one.kind is Kind.CLASS:
        return None if _line(first.tree, one) == _line(second.tree, other) else "signature"
    if one.kind is not Kind.FUNCTION:
        return None
    if one.decorators != other.decorators:
        return "signature"
    old, new = header_at(first.tree.text, one.keyword), header_at(second.tree.text, other.keyword)
    if old is None or new is None:
        return None if _line(first.tree, one) == _line(second.tree, other) else "signature"
    if old.signature.is_async != new.signature.is_async:
        return "signature"
    if old.signature.is_like(new.signature):
        return None
    return _accepting(old.signature, new.signature) if _takes_as_much(old.signature, new.signature) else "signature"


def _accepting(old: Signature, new: Signature) -> What:
    """Return the differences of two signatures that take the same calls."""
    takes, took = ({(each.kind, each.name, each.is_required) for each in one.parameters} for one in (new, old))
    if takes != took:
        return "wider"
    default = {each.name: each.default for each in old.parameters}
    return "annotations" if all(default[each.name] == each.default for each in new.parameters) else "defaults"


def _takes_as_much(old: Signature, new: Signature) -> bool:
    """Return whether every call that fits a signature fits another one, and means the same parameters.

    (a, b=1)    (a, b=1, c=2)        yes, as annotations do
                (a, b=2)             yes, though it may do something else
                (a), (b, a), (a, c)  no
    """
    before = [(each.kind, each.name, bool(each.default)) for each in old.parameters]
    after = [(each.kind, each.name, bool(each.default)) for each in new.parameters]
    positional = [(each.name, each.kind) for each in new.positional][: len(old.positional)]
    if positional != [(each.name, each.kind) for each in old.positional]:
        return False
    kept = all(any(each[:2] == one[:2] and each[2] >= one[2] for each in after) for one in before)
    known = {one[:2] for one in before}
    added = [each for each in new.parameters if (each.kind, each.name) not in known]
    takes_rest = old.rest is not None and any(each.is_positional for each in added)
    return kept and not takes_rest and not any(each.is_required for each in added)


def _line(tree: Tree, definition: Definition) -> str:
    """Return the header of a definition without its layout."""
    return "".join(_code(tree)[definition.keyword : end_of_header(tree.text, definition.keyword)].split())


def _no_longer_imported(before: Outline, still: frozenset[tuple[str, ...]], package: str | None) -> Iterator[str]:
    """Yield the names that a module let others have of what it imported, and has no longer.

    Parameters:
        package: the name of the package whose `__init__` it is.
    """
    for each in before.imports:
        if before.exported is not None:
            is_let_out = each.name in before.exported
        else:
            is_own = each.level > 0 or (package or "").partition(".")[0] == each.module.partition(".")[0]
            is_let_out = package is not None and is_own and each.attribute is not None and not is_private(each.name)
        if is_let_out and (each.name,) not in still and each.name != "*":
            yield each.name


def _unexported(before: Outline, after: Outline) -> list[str]:
    """Return the names of a static `__all__` that another static one lacks."""
    if before.exported is None or after.exported is None:
        return []
    return [name for name in dict.fromkeys(before.exported) if name not in after.exported]


@lru_cache(maxsize=4)  # both states of a module, which has many definitions
def _code(tree: Tree) -> str:
    """Return a module's text with comments and docstrings overwritten, at equal length."""
    docstrings = [each.docstring for each in tree.outline.definitions]
    return _overwritten(tree.text, [*lex(tree.text).comments, *filter(None, (tree.outline.docstring, *docstrings))])


def _without_imports(tree: Tree, text: str) -> str:
    return _overwritten(text, [Span(each.start, each.end) for each in tree.outline.imports])


def _overwritten(text: str, spans: list[Span]) -> str:
    pieces, position = [], 0
    for span in sorted(spans):
        if span.start >= position:
            pieces += [text[position : span.start], _CODE.sub(" ", span.cut(text))]
            position = span.end
    return "".join((*pieces, text[position:]))
