"""Planned changes in the format of the project: its own formatter, on the definitions that change and on nothing else.

    def f(a):            stays, however it is written
        return {'a':a}
    def g(a):            was changed: written as the formatter writes it
        return {"a": a}

The formatter gets the whole planned text of a file, so that all of its settings and comments hold. Its output is cut at
the same definitions by counting characters that no formatter adds or drops: names, numbers, operators, the inside of
strings. Of these, `g` above is numbers 16 to 30 of both texts: `defga:returna:a`.

Invariants:
- outside of the definitions that change, bytes are what the plan made of them, blank lines between those included;
- a definition whose own code is not the same in the output is an error, and nothing is written;
- an indentation that the formatter would choose otherwise stays, since what is around the definition has it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import SourceError, TransactionError
from bae_source.model.changeset import ChangeSet, FileChange, digest, edit_between
from bae_source.model.plan import Plan
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.style_tools import StyleTool, StyleTools
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.syntax.outline.definitions import Outline
from bae_source.syntax.outline.tree import Tree, parse
from bae_source.syntax.outline.units import Unit, units_of
from bae_source.syntax.rewrite.reindent import Shift, reindent
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.lexer import Lexed, LineKind, end_of_header, lex
from bae_source.syntax.text.source import NEWLINE, Source, dominant_newline

_FREE = re.compile(r"""[\s(),;\\'"{}]""")
"""Characters that a formatter may add, drop or move: white space, brackets, commas, quotes, what escapes a brace."""
_IN_NUMBERS = re.compile(r"(?<=\.)0(?![0-9_])|(?<![\w.])0(?=\.)|(?<=[0-9.][eE])\+(?=[0-9])")
"""The zeros of `1.0` and `0.5`, and the plus of `1e+9`, which may be left out."""
_CASELESS = re.compile(r"(?<!\w)\.?[0-9][\w.]*|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}\r\n]*\})")
"""Numbers, and escapes in strings, whose letters may be small or capital."""
_DEFINING = re.compile(r"[ \t\f]*(?:async[ \t]+)?(?:def|class)\b")
_EXAMPLE = re.compile(r">>> |```|::")
"""Code in a docstring, which is formatted on request."""
_PREFIX = re.compile(r"[a-zA-Z]*")
_COMMENTS = re.compile(r"(?:[ \t\f]*#[^\r\n]*[\r\n]+(?=[ \t\f\r\n]*[^ \t\f\r\n]))*")
"""Comments with something behind them."""
_SPACE = re.compile(r"[ \t\f]*")
_WITHIN = (LineKind.CONTINUATION, LineKind.STRING)


def formatted(plan: Plan, workspace: Workspace) -> Plan:
    """Return a plan with the definitions that it changes as the project's formatter writes them.

    Parameters:
        workspace: the project as it is before the change.

    Raises:
        RequestError: `invalid_arguments` where there is no formatter.
        TransactionError: `verify_failed` or `timed_out` where it fails, or gives back other code.
    """
    after, tools = workspace.after(plan.changes), StyleTools(workspace)
    files: list[FileChange] = []
    used: dict[str, None] = {}
    for file in plan.changes.files:
        before = workspace.content(file.path) or b""
        planned = file.apply(before)
        if file.after is None or not file.path.endswith((".py", ".pyi")):
            files.append(file)
            continue
        tool = tools.formatter(file.path)
        final = _formatted(workspace, after, file, planned, tool)
        if final != planned:
            used[tool.name] = None
            edits = () if final == before else (edit_between(before, final),)
            file = replace(file, after=digest(final), edits=edits)
        if file.edits or file.before is None or file.mode is not None or file.owner is not None:
            files.append(file)
    changes = ChangeSet(tuple(files), plan.changes.folders)
    by = f"Formatted by {listed(used)}"
    summary = f"{plan.summary} {by}." if used else plan.summary
    if plan.changes and not files:
        summary = f"{by}, it is what was there already."
    paths = {file.path for file in files}
    return replace(
        plan, changes=changes, summary=summary, modules=tuple(each for each in plan.modules if each.path in paths)
    )


def _formatted(workspace: Workspace, after: Workspace, file: FileChange, planned: bytes, tool: StyleTool) -> bytes:
    """Return the bytes of one planned file with what changes in it formatted."""
    module = after.layout.module_at(file.path)
    if module is None:
        return planned
    came_from = file.path if file.before is not None else file.origin
    tree = after.tree(module)
    changed = None if came_from is None else _changed(workspace.content(came_from) or b"", tree)
    if changed == []:
        return planned
    output = _Output(tool, file.path, tree.source)
    if output.is_same:
        return planned
    if changed is None:
        output.check_whole(module.name)
        newline = dominant_newline(tree.text) or "\n"
        contents = {file.path: tree.source.encode(NEWLINE.sub(newline, output.text))}
        found = planned_files(after, contents=contents, summary="", changed=())
    else:
        spliced = Spliced(
            module=module,
            splices=tuple(output.splices(tree, changed, module.name)),
            targets=tuple(_targets(tree, changed)),
        )
        found = planned_files(after, spliced=[spliced], summary="", changed=())
    return found.changes.files[0].apply(planned) if found.changes else planned


def _changed(before: bytes, after: Tree) -> list[Unit]:
    """Return the units of a module that it did not have, word for word, before."""
    try:
        earlier = Counter((each.name, each.text) for each in units_of(parse(Source(before))))
    except SourceError:  # it did not parse, and does now
        text = NEWLINE.sub("\n", before.decode("latin-1"))
        return [each for each in units_of(after) if each.text.encode().decode("latin-1") not in text]
    changed = []
    for unit in units_of(after):
        if earlier[unit.name, unit.text]:
            earlier[unit.name, unit.text] -= 1
        elif unit.text.strip():
            changed.append(unit)
    return changed


def _targets(tree: Tree, changed: Sequence[Unit]) -> Iterator[Span]:
    """Yield the spans of what may change: units, and of a class's header the class."""
    for unit in changed:
        yield Span(unit.end - len(unit.raw), unit.end)
    starts = {unit.end - len(unit.raw): unit.end for unit in changed}
    for definition in tree.outline.definitions:
        if definition.span.start in starts and definition.span.end > starts[definition.span.start]:
            yield definition.span


class _Marked(Struct, frozen=True):
    """The characters of a text that no formatter adds or drops.

    Parameters:
        signs: all of them, as one text.
        offsets: where each of them stands.
        comments: which of them stand in comments, by their numbers.
    """

    signs: str
    offsets: list[int]
    comments: set[int]

    def part(self, first: int, last: int) -> tuple[str, list[str]]:
        """Return some of them as code, and as comments, which may move within a statement."""
        code = "".join(self.signs[number] for number in range(first, last) if number not in self.comments)
        return code, sorted(self.signs[number] for number in range(first, last) if number in self.comments)


class _Output:
    """The output of a formatter for one file.

    Parameters:
        source: what it got.
    """

    def __init__(self, tool: StyleTool, path: str, source: Source) -> None:
        self.text = tool.output(path, source)
        self._tool = tool
        self._given = NEWLINE.sub("\n", source.text)
        self.is_same = self.text == self._given

    def check_whole(self, name: str) -> None:
        """Check that it is the same code.

        Raises:
            TransactionError: `verify_failed`.
        """
        given, formatted = _marked(self._given, lex(self._given)), _marked(self.text, lex(self.text))
        if given.part(0, len(given.signs)) != formatted.part(0, len(formatted.signs)):
            raise self._other(name)

    def splices(self, tree: Tree, units: Sequence[Unit], module: str) -> Iterator[tuple[Span, str]]:
        """Yield the splices that put the formatted text of some units in their place.

        Raises:
            TransactionError: `verify_failed` where a unit has other code in it.
        """
        lexed, whole = lex(self.text), {(each.span.start, each.span.end) for each in tree.outline.definitions}
        given, formatted = _marked(tree.text, lex(tree.text)), _marked(self.text, lexed)
        growth = len(formatted.signs) - len(given.signs)
        for unit in units:
            span = Span(unit.end - len(unit.raw), unit.end)
            first, last = bisect_left(given.offsets, span.start), bisect_left(given.offsets, span.end)
            if first == last:
                continue
            begins = (first, first + growth, formatted.signs.find(given.signs[first:last])) if growth else (first,)
            places = (self._lines(lexed, formatted, begin, begin + last - first) for begin in begins)
            wanted = given.part(first, last)
            place = next((each for each in places if each is not None and _part_at(each, formatted) == wanted), None)
            if place is None:
                raise self._other(f"{module}.{unit.name}" if unit.name else module)
            newline = dominant_newline(unit.raw) or tree.source.newline
            shift = self._shift(lexed, place, unit, is_part=(span.start, span.end) not in whole)
            yield span, self._words(place, unit, shift, newline)

    @cached_property
    def _outline(self) -> Outline:
        return parse(Source.of_text(self.text)).outline

    def _lines(self, lexed: Lexed, formatted: _Marked, first: int, last: int) -> Span | None:
        """Return the whole lines of some characters that count, with all lines of their statements."""
        if not 0 <= first < last <= len(formatted.offsets):
            return None
        top = bisect_left(lexed.starts, formatted.offsets[first] + 1) - 1
        while lexed.kinds[top] in _WITHIN:
            top -= 1
        below = bisect_left(lexed.starts, formatted.offsets[last - 1] + 1)
        while below < len(lexed.kinds) and lexed.kinds[below] in _WITHIN:
            below += 1
        return Span(lexed.starts[top], lexed.starts[below] if below < len(lexed.starts) else len(self.text))

    def _words(self, place: Span, unit: Unit, shift: Shift, newline: str) -> str:
        """Return the text at a place, indented and ended as a unit is."""
        words = place.cut(self.text)
        if not shift.idle:
            moves = reindent(self.text, place, self._outline, shift)
            words = splice(words, [(Span(at.start - place.start, at.end - place.start), now) for at, now in moves])
        words = words if unit.raw.endswith(("\n", "\r")) else words.rstrip("\n")
        return NEWLINE.sub(newline, words)

    def _shift(self, lexed: Lexed, place: Span, unit: Unit, *, is_part: bool) -> Shift:
        """Return the shift that indents a unit as it was.

        Parameters:
            is_part: whether its suite goes on behind it, and so has to stay where that is.
        """
        old, new = (_indent(text, _COMMENTS.match(text).end()) for text in (place.cut(self.text), unit.raw))  # type: ignore[union-attr]  # or empty
        step, own = _step(self.text, lexed), ""
        if new and step and old:
            depth = len(old) // len(step)
            own = new[: len(new) // depth] if len(new) % depth == 0 else ""
            own = own if own * depth == new else ""
        elif is_part and not old and not new:
            own = _step(unit.raw, lex(unit.raw))
        return Shift(old=old, new=new, old_unit=step or None, new_unit=own or None)

    def _other(self, what: str) -> TransactionError:
        return TransactionError(
            "verify_failed",
            f"{self._tool.name} changed the code of {what}, not only its format",
            unchanged=True,
            hints=["Leave the option out."],
        )


def _marked(text: str, lexed: Lexed) -> _Marked:
    """Return the characters of a text that count.

    A prefix of a string does not, since strings can be joined. Of a docstring with examples only its ends do.
    """
    logical = [at for at, kind in zip(lexed.starts, lexed.kinds, strict=True) if kind is LineKind.LOGICAL]
    suites = (end_of_header(text, at) for at in logical if _DEFINING.match(text, at))
    statements = {at + len(_SPACE.match(text, at)[0]) for at in (*logical, *suites)}  # type: ignore[index]  # or empty
    free = {match.start() for match in _IN_NUMBERS.finditer(text)}
    ends: set[int] = set()
    for span in lexed.strings:
        quote = _PREFIX.match(text, span.start).end()  # type: ignore[union-attr]  # likewise
        is_example = span.start in statements and _EXAMPLE.search(text, span.start, span.end)
        free.update(range(span.start, span.end if is_example else quote))
        ends.update((quote, span.end - 1) if is_example else ())
    folded = _CASELESS.sub(lambda match: match[0].lower(), text)
    offsets = [at for at, sign in enumerate(folded) if at in ends or not (at in free or _FREE.match(sign))]
    remarks = {at for span in lexed.comments for at in range(span.start, span.end)}
    return _Marked(
        "".join('"' if at in ends else folded[at] for at in offsets),
        offsets,
        {number for number, at in enumerate(offsets) if at in remarks},
    )


def _part_at(place: Span, formatted: _Marked) -> tuple[str, list[str]]:
    """Return code and comments at a place of an output."""
    return formatted.part(bisect_left(formatted.offsets, place.start), bisect_left(formatted.offsets, place.end))


def _step(text: str, lexed: Lexed) -> str:
    """Return the indentation of the first suite of a text; "" where it has none."""
    levels = [_indent(text, at) for at, kind in zip(lexed.starts, lexed.kinds, strict=True) if kind is LineKind.LOGICAL]
    return next((each.removeprefix(levels[0]) for each in levels if each != levels[0]), "")


def _indent(text: str, start: int = 0) -> str:
    return _SPACE.match(text, start)[0].rpartition("\f")[2]  # type: ignore[index]  # it may be empty
