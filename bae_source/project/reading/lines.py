"""A line of a file, or a range of them, read as the symbol that stands there.

    src/app/net.py:42     the symbol at that line, as `where` knows it, with its address and etag
    app.net:42            the same, the way our own answers write it; and as tracebacks and pytest write places
    src/app/net.py:10-40  these lines; the address and etag are those of the smallest symbol around all of them
    README.md:10-40       text files too

Invariants:
- a symbol is shown as reading it by its name shows it;
- a line that is not there is an error; a range ends with the file, and says so, as does a line shown with others;
- a path leads where `project.naming.places` lets it, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import LookupFailed, RequestError, ResourceError
from bae_source.model.address import is_selector, parse_name
from bae_source.model.call import Call
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.plan import ModuleFile
from bae_source.model.reference import LINES, Shown, counts_of
from bae_source.model.text import counted
from bae_source.project.data_files import DataFolder, content_of, find_data
from bae_source.project.naming.listed_symbols import has_name
from bae_source.project.naming.places import Spot, Written, file_at, innermost, no_line, parse_place, spot_at
from bae_source.project.naming.resolve import canonical
from bae_source.project.reading.numbers import numbered
from bae_source.project.workspace import Workspace, etag_of
from bae_source.syntax.outline.definitions import MODULE, Definition, Kind
from bae_source.syntax.outline.locate import Group, qualname_of
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.source import Lines, Source

_AROUND = 10
"""Lines that are shown on both sides of one that lies in no symbol."""
_LONG = 100
"""Lines of a class that is not shown for a line in it that belongs to none of its members."""
_MOST = 10
"""The most symbols of a range that are offered to be read."""
_OTHER_FORM = re.compile(r'\s*File "[^"]+", line \d|[^:]+\.pyi?::\w')
"""Places as tracebacks and pytest print them."""
_FORM = r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9})|:(?P<column>\d{1,9}))?"


class Range(Struct, frozen=True, kw_only=True):
    """Lines of a file.

    Parameters:
        text: as they were given.
        written: the path, and the first of them.
        last: the last one; None where one line stands for the symbol that it lies in.
    """

    text: str
    written: Written
    last: int | None = None

    @property
    def first(self) -> int:
        """The first line."""
        assert self.written.line is not None
        return self.written.line


def range_given(workspace: Workspace, text: str) -> Range | None:
    """Return the lines that a text names; None where it is a name.

    Raises:
        RequestError: `invalid_arguments` for lines that no file has.
    """
    if is_selector(text):
        return None
    if _OTHER_FORM.match(text):
        return Range(text=text, written=parse_place(text))
    match = re.fullmatch(_FORM, text)
    if match is None or _is_data(workspace, text):
        return None
    place = f"{match['path']}:{match['first']}" + (f":{match['column']}" if match["column"] else "")
    written = replace(parse_place(place), path=match["path"].replace("\\", "/"))
    last = int(match["last"]) if match["last"] else None
    if last is not None and written.line is not None and last < written.line:
        message = f"{text} ends before it begins."
        raise RequestError("invalid_arguments", message, hints=["Give the first line, and then the last one."])
    return Range(text=text, written=written, last=last)


def read_lines(workspace: Workspace, given: Range, read: Callable[[str], Outcome], *, numbers: bool) -> Outcome:
    """Read lines.

    Parameters:
        read: reads a symbol by its name.
        numbers: whether line numbers stand in front of lines.

    Raises:
        ResourceError: as `spot_at`.
    """
    if given.written.names:
        return read(spot_at(workspace, given.written).address)
    file = file_at(workspace, given.written)
    if isinstance(file, Spot):
        if file.first is not None:  # a symbol by its name; as for `where`, the line says nothing more of it
            return read(file.address)
        return _of_data(workspace, given, file.address, read, numbers=numbers)
    try:
        tree = workspace.tree(file)
    except ResourceError as error:
        content = workspace.content(file.path)
        if content is None or error.code == "encoding_invalid":
            raise
        text = Source(content).text
        outcome = _cut(given, Lines(text), file.name, etag_of(text), numbers=numbers)
        return replace(outcome, warnings=(Notice(error.code, error.message), *outcome.warnings))
    if given.first > len(tree.source.lines):
        raise no_line(workspace, file, tree, given.first)
    return _of_code(workspace, given, file, tree, read, numbers=numbers)


def _of_code(
    workspace: Workspace,
    given: Range,
    module: ModuleFile,
    tree: Tree,
    read: Callable[[str], Outcome],
    *,
    numbers: bool,
) -> Outcome:
    named = has_name(workspace, module.path)
    if given.last is None:
        index = innermost(workspace, module, tree, given.written)
        if index != MODULE and named and not _is_long_class(tree, index):
            return read(_address(workspace, module, tree, index))
    lines = tree.source.lines
    start, end = lines.start(given.first), lines.end(min(given.last or given.first, len(lines)))
    definitions = tree.outline.definitions
    around = [n for n, each in enumerate(definitions) if each.span.start <= start and each.span.end >= end]
    outer = around[-1] if around else MODULE
    address = _address(workspace, module, tree, outer) if named else module.name
    source = tree.text if outer == MODULE else definitions[outer].span.cut(tree.text)
    inside = _leaves(definitions, start, end) if given.last and named else []
    names = [each for n in inside if (each := _address(workspace, module, tree, n)) != address]
    return _cut(given, lines, address, etag_of(source), numbers=numbers, module=module.name, names=names)


def _is_long_class(tree: Tree, index: int) -> bool:
    """Return whether a definition is a class of which a line between its methods cannot mean all."""
    definition, lines = tree.outline.definitions[index], tree.source.lines
    count = lines.number(definition.span.end - 1) - lines.number(definition.span.start)
    return definition.kind is Kind.CLASS and count >= _LONG


def _leaves(definitions: Iterable[Definition], start: int, end: int) -> list[int]:
    """Return the innermost classes and functions that have lines in a range."""
    kinds = (Kind.CLASS, Kind.FUNCTION)
    here = {
        n: each
        for n, each in enumerate(definitions)
        if each.kind in kinds and each.span.start < end and start < each.span.end
    }
    outer = {each.parent for each in here.values()}
    return [n for n in here if n not in outer]


def _address(workspace: Workspace, module: ModuleFile, tree: Tree, index: int) -> str:
    if index == MODULE:
        return str(canonical(workspace, module))
    group = Group(members=(index,), qualname=qualname_of(tree.outline, index))
    return str(canonical(workspace, module, group))


def _of_data(
    workspace: Workspace, given: Range, address: str, read: Callable[[str], Outcome], *, numbers: bool
) -> Outcome:
    data = find_data(workspace, parse_name(address))
    assert not isinstance(data, DataFolder), "a file was found"
    content = content_of(workspace, data, full=True)
    if content.text is None:
        return read(address)
    lines = Lines(content.text)
    if given.first > len(lines):
        message = f"{address} has {counted(len(lines), 'line')}, and no line {given.first}."
        raise LookupFailed("symbol_not_found", message, candidates=[address])
    return _cut(given, lines, address, content.digest[:16], numbers=numbers)


def _cut(
    given: Range,
    lines: Lines,
    address: str,
    etag: str,
    *,
    numbers: bool,
    module: str | None = None,
    names: Iterable[str] = (),
) -> Outcome:
    """Return lines as an answer; a notice says which, where they are not those that were given.

    Parameters:
        address, etag: of the smallest thing around them.
        module: what they are lines of, where that is not the address.
        names: addresses of symbols in them.
    """
    count = len(lines)
    first, last = given.first, given.last or given.first
    if given.last is None:
        first, last = max(1, first - _AROUND), last + _AROUND
    last = min(last, count)
    text = lines.text[lines.start(first) : lines.end(last)]
    shown = Shown(module=module or address, address=address, line=first, kind=LINES, etag=etag)
    others = (first, last) != (given.first, given.last or given.first)
    notice = Notice(LINES, f"Lines {first}-{last} of {count} are shown for {given.text}, which is in {address}.")
    return Outcome(
        status="answer",
        text=numbered(text, first) if numbers else text,
        etag=etag,
        address=address,
        found=(shown,),
        counts=counts_of((shown,)),
        warnings=(notice,) if others else (),
        next_actions=tuple(Call("read", target=name) for name in list(dict.fromkeys(names))[:_MOST]),
    )


def _is_data(workspace: Workspace, text: str) -> bool:
    """Return whether a text is the address of a data file whose name is a number."""
    try:
        name = parse_name(text)
        if name.resource is None:
            return False
        find_data(workspace, name)
    except ResourceError:
        return False
    return True
