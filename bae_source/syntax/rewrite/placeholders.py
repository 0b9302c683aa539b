"""Comments and the like that stand for code which a new source leaves out: `# ... rest of the method unchanged ...`.

    def f():
        a = 2
        # ... existing code ...          <- plain: it means code that is to stay
        # as before                      <- faint: it may be meant for a reader
        ...                              <- faint, beside other statements

Python takes them as nothing, so what they stand for would be gone. Invariants:
- a definition that has the very same comment already may have it again, under another name too;
- a plain one is refused where lines of the code around it are gone, and in code that is new; a faint one where the
  code around it gets shorter;
- a comment behind a statement that does something is about that statement, unless dots open it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import IntEnum

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.model.text import listed
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.lexer import Lexed, LineKind, lex
from bae_source.syntax.text.source import NEWLINE

_SUSPECT = re.compile(
    r"\.\.\.|…|\b(?:rest|remain|exist|unchanged|unmodified|untouched|same\b|as before|as is\b|omitted|elided|truncated"
    r"|brevity|no changes?|else\b|not changed|snip|previous|original|intact|other )",
    re.IGNORECASE,
)
_DOTS = re.compile(r"\.\.\.|…")
_LED_BY_DOTS = re.compile(r"[\s#\[(<{/*=:-]*(?:\.{3}|…)")
_NOTHING_BUT_DOTS = re.compile(r"[\s#\[(<{]*(?:\.{3,}|…)[\s\])>}]*")
_ENDS_IN_DOTS = re.compile(r"(?:\.{3}|…)\W*\Z")
_TAG = re.compile(r"^\W*(?:todo|note|fixme|nb|xxx)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d]['\w]*")
_OPENS = re.compile(
    r"(?:keep |leave |and )?(?:the |your |all )*(?:rest|remaining|remainder|everything else|existing|previous|original"
    r"|other|unchanged|same|as before|no changes?|omitted|truncated|snip)\b"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CODE = _words("code implementation logic body method methods function functions class classes")
_WHOLES = _CODE | _words("file module script block loop section")
_THINGS = _WHOLES | _words(
    "content contents definition definitions import imports field fields attribute attributes property properties "
    "test tests statement statements line lines stuff part parts docstring sections thing things item items entry "
    "entries key keys value values element elements option options setting settings argument arguments args param "
    "params parameter parameters case cases column columns constant constants variable variables member members "
    "handler handlers route routes endpoint endpoints check checks step steps helper helpers branch branches"
)
_ONE = _words("item entry key value element option setting argument arg param parameter case column line part thing")
_DATA = _ONE | _words(
    "items entries keys values elements options settings arguments args params parameters cases columns lines parts "
    "things content contents"
)
_SAYS = _words("is are was were be see have has")
_STATES = _words("unchanged unmodified untouched omitted elided truncated snip snipped intact brevity")
_STATE = re.compile(
    r"\b(?:same as (?:before|it was|(?:the )?original)|as before|as is|as it was|no (?:further )?changes?|not changed"
    r"|(?:remains?|stays?|is|are|continues?) (?:exactly )?(?:the )?(?:same|unchanged|as))\b"
)
_REST = _words("rest remaining remainder else")
_PRESENT = _words("existing previous original other others")
_FILLING = _words(
    "the your my our all of and or with for in this that these those is are was were be it its to from here there "
    "goes go comes below above follows continues continue on as has have not no any a an etc so more still just only "
    "exactly everything stays stay remains remain left kept keep leave retain retained preserve preserved same before "
    "changes change changed further see current entire whole full"
)
_KNOWN = _THINGS | _STATES | _REST | _PRESENT | _FILLING
_NOTHING = ("pass", "...", "return", "raise NotImplementedError", "raise NotImplementedError()")
_REST_OF_LINE = re.compile(r"[ \t]*(?:[#\r\n]|\Z)")
_MOST_WORDS = 9
_MOST_KNOWN_WORDS = 18
_LONGEST = 60
_SHOWN = 3
_Path = tuple[str, ...]


class Strength(IntEnum):
    """Degrees by which a comment stands for code."""

    NONE = 0
    FAINT = 1
    PLAIN = 2


class _Found(Struct, frozen=True):
    """One such comment, string or statement: where it begins, how it reads, and how surely it stands for code."""

    start: int
    text: str
    strength: Strength
    is_string: bool = False


def check_complete(given: str, before: Tree | None, after: Tree, name: str) -> None:
    """Refuse a change by which something that only stands for code takes the place of code.

    Parameters:
        given: the source or text that was handed over.
        before: the file as it is; None for a new one.
        after: the file as it would be.
        name: the module's name, for errors.

    Raises:
        Refused: `unsafe_change`.
    """
    if not _may_hold_one(given):
        return
    found = placeholders(after.text)
    present = [(each.text, _path(before, each.start)) for each in placeholders(before.text)] if before else []
    for each in _brought(found, present, after):
        around = _Around(before, after, each.start)
        lost = around.lost()
        if each.strength is Strength.PLAIN and (around.is_new or lost or each.is_string):
            raise _refused(each, around, lost, name)
        if each.strength is Strength.FAINT and lost and around.is_shorter:
            raise _refused(each, around, lost, name)


def _may_hold_one(given: str) -> bool:
    """Return whether a text may bring one; its lines are tried alone, as it may begin inside a string."""
    suspects = [line for line in NEWLINE.split(given) if _SUSPECT.search(line)]
    return bool(suspects) and (any(placeholders(line.strip()) for line in suspects) or bool(placeholders(given)))


def _brought(found: list[_Found], present: list[tuple[str, _Path]], after: Tree) -> list[_Found]:
    """Return those of a new file that stand neither in the same definition of the old one, nor in one that is gone."""
    left = Counter(present)
    more: list[_Found] = []
    for each in found:
        key = (each.text, _path(after, each.start))
        if left[key]:
            left[key] -= 1
        else:
            more.append(each)
    moved = Counter(text for text, _ in left.elements())
    brought: list[_Found] = []
    for each in more:
        if moved[each.text]:
            moved[each.text] -= 1
        else:
            brought.append(each)
    return brought


def _innermost(tree: Tree, offset: int) -> int:
    definitions = tree.outline.definitions
    inside = [n for n, each in enumerate(definitions) if each.span.start <= offset < each.span.end]
    return max(inside, key=lambda n: definitions[n].span.start, default=MODULE)


def _path(tree: Tree, offset: int) -> _Path:
    return tree.outline.qualname(_innermost(tree, offset))


def _refused(found: _Found, around: _Around, lost: list[str], name: str) -> Refused:
    whole = ".".join([name, *around.path])
    shown = found.text if len(found.text) <= _LONGEST else f"{found.text[:_LONGEST]}…"
    if not lost:
        return Refused(
            "unsafe_change",
            f"The given source is not whole: {shown!r} stands for code that is left out.",
            hints=["Give all of it; or leave that comment out, if nothing is missing."],
        )
    lines = listed([repr(line) for line in lost], _SHOWN)
    return Refused(
        "unsafe_change",
        f"The given source is not whole: {shown!r} stands for code of {whole}, which would be gone: {lines}.",
        hints=[
            "Give the whole source, or change the piece alone with old and new.",
            "If the code is to go, leave that comment out.",
        ],
    )


class _Around:
    """The innermost definition around a place, before and after a change.

    Attributes:
        path: names that lead to it, in the old file where it has it.
        is_new: whether the old file lacks the class or function that the place is in.
        is_shorter: whether its code has fewer lines than before.
    """

    def __init__(self, before: Tree | None, after: Tree, offset: int) -> None:
        outline, index = after.outline, _innermost(after, offset)
        self.is_new = before is None
        old: str | None = None
        while True:
            self.path = outline.qualname(index)
            old = None if before is None else _text_of(before, self.path)
            if old is not None or index == MODULE:
                break
            self.is_new = self.is_new or outline.definitions[index].body is not None
            index = outline.definitions[index].parent
        self._old = Counter(_code(old or ""))
        self._new = Counter(_code(_text_of(after, self.path) or ""))
        self.is_shorter = self._old.total() > self._new.total()

    def lost(self) -> list[str]:
        """Return the lines of code that are gone, in source order."""
        return list((self._old - self._new).elements())


def _text_of(tree: Tree, path: _Path) -> str | None:
    """Return the lines of all definitions of a path; the whole text for a module."""
    outline = tree.outline
    if not path:
        return tree.text
    parents = [MODULE]
    for name in path:
        parents = [index for parent in parents for index in outline.named(parent, name)]
    return "\n".join(outline.definitions[index].span.cut(tree.text) for index in parents) or None


def _code(text: str) -> Iterator[str]:
    """Yield the lines of code of a text, without comments, strings that stand alone, and what does nothing."""
    lexed = lex(text)
    for line in _Lines(text, lexed):
        code = " ".join(line.code.split())
        if code and code not in _NOTHING and not line.is_string and line.kind is not LineKind.STRING:
            yield code


class _Line(Struct, frozen=True, kw_only=True):
    """A physical line: its kind, where it begins, its text before and from its comment on."""

    kind: LineKind
    start: int
    code: str
    comment: str
    is_string: bool

    @property
    def indent(self) -> int:
        """By how many characters it is indented."""
        return len(self.code) - len(self.code.lstrip(" \t\f"))


class _Lines:
    """The physical lines of a text."""

    def __init__(self, text: str, lexed: Lexed) -> None:
        self.text, self.lexed = text, lexed

    def __iter__(self) -> Iterator[_Line]:
        text, lexed = self.text, self.lexed
        comments, strings = iter(lexed.comments), {span.start: span.end for span in lexed.strings}
        comment = next(comments, None)
        for number, (start, kind) in enumerate(zip(lexed.starts, lexed.kinds, strict=True)):
            end = lexed.starts[number + 1] if number + 1 < len(lexed.starts) else len(text)
            while comment and comment.start < start:
                comment = next(comments, None)
            at = comment.start if comment and comment.start < end else end
            code = text[start:at].rstrip()
            first = start + len(code) - len(code.lstrip(" \t\f"))
            closes = strings.get(first, -1) if kind is LineKind.LOGICAL else -1
            alone = closes >= 0 and bool(_REST_OF_LINE.match(text, closes))
            yield _Line(kind=kind, start=start, code=code, comment=text[at:end].strip(), is_string=alone)


def placeholders(text: str) -> list[_Found]:
    """Return the placeholders of a file for code that is left out, in source order."""
    lexed = lex(text)
    lines = list(_Lines(text, lexed))
    strings = {span.start: span.end for span in lexed.strings}
    found: list[_Found] = []
    block: list[_Line] = []
    for line in [*lines, None]:
        if line is not None and line.comment and not line.code.strip():
            block.append(line)
            continue
        found += _of_comments(block)
        block = []
        if line is None:
            break
        if line.comment:
            found += _of_one_behind(line)
        if line.is_string:
            start = line.start + line.indent
            found += _of_string(text[start : strings[start]], start)
    found += _of_dots(lines)
    return sorted(found, key=lambda each: each.start)


def _of_comments(block: list[_Line]) -> Iterator[_Found]:
    """Yield what lines of nothing but comments say, together, or one that dots open by itself."""
    if not block:
        return
    whole = " ".join(each.comment.strip("# \t") for each in block)
    if strength := strength_of(whole):
        yield _Found(block[0].start + block[0].indent, f"# {whole}", strength)
        return
    for each in block:
        if _LED_BY_DOTS.match(each.comment) and (strength := strength_of(each.comment)) is Strength.PLAIN:
            yield _Found(each.start + each.indent, each.comment, strength)


def _of_one_behind(line: _Line) -> Iterator[_Found]:
    strength = strength_of(line.comment)
    does_nothing = re.sub(r"^.*:\s*", "", line.code.strip()) in _NOTHING
    if strength and (does_nothing or (strength is Strength.PLAIN and _LED_BY_DOTS.match(line.comment))):
        yield _Found(line.start + line.indent, line.comment, strength)


def _of_string(literal: str, start: int) -> Iterator[_Found]:
    inside = literal.lstrip("rRbBuUfFtT").strip("\"' \t\r\n")
    if _DOTS.search(inside) and strength_of(inside) is Strength.PLAIN:
        yield _Found(start, literal, Strength.PLAIN, is_string=True)


def _of_dots(lines: list[_Line]) -> Iterator[_Found]:
    """Yield each `...` that is a statement beside others."""
    logical = [line for line in lines if line.kind is LineKind.LOGICAL]
    for number, line in enumerate(logical):
        if line.code.strip() != "...":
            continue
        before = next((logical[n] for n in range(number - 1, -1, -1) if logical[n].indent <= line.indent), None)
        after = logical[number + 1] if number + 1 < len(logical) else None
        beside = [each for each in (before, after) if each and each.indent == line.indent and not each.is_string]
        if beside:
            yield _Found(line.start + line.indent, "...", Strength.FAINT)


def strength_of(comment: str) -> Strength:
    """Return how surely a comment, or the text of a string, stands for code."""
    text = _TAG.sub("", comment)
    words = [word.lower() for word in _WORD.findall(text)]
    dots = bool(_DOTS.search(text))
    if not words:
        return Strength.FAINT if _NOTHING_BUT_DOTS.fullmatch(text) else Strength.NONE
    sentence, known = " ".join(words), set(words)
    if len(words) > (_MOST_WORDS if known - _KNOWN else _MOST_KNOWN_WORDS):
        return Strength.NONE
    opens = bool(_OPENS.match(sentence))
    state = bool(known & _STATES) or bool(_STATE.search(sentence))
    sure = known & (_THINGS | _REST) or not known - _KNOWN or _ENDS_IN_DOTS.search(text)
    if opens and sure and _LED_BY_DOTS.match(text):
        return Strength.PLAIN
    if known - _KNOWN:
        return Strength.PLAIN if opens and state and known & (_REST | _PRESENT) else Strength.NONE
    if known & _REST and (state or ("of" in known and known & _WHOLES) or known & {"code", "implementation", "logic"}):
        return Strength.PLAIN
    if "existing" in known and known & {"code", "implementation", "logic", "body"}:
        return Strength.PLAIN
    if state and (known & _CODE or (known & _PRESENT and known & _THINGS)):
        return Strength.PLAIN
    if not dots and not state and known & _DATA and not known & (_THINGS - _DATA) and known & _SAYS:
        return Strength.NONE  # a sentence on what the code works on: existing values are kept
    if known <= _ONE and not _LED_BY_DOTS.match(text):
        return Strength.NONE  # a heading for one thing, which stands for no others: key...
    faint = state or dots or (known & (_REST | _PRESENT) and (known & _THINGS or "rest" in known))
    return Strength.FAINT if faint else Strength.NONE
