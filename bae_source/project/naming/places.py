"""From a place as tracebacks, linters and test runners write it to the innermost symbol that stands there.

    app/core.py:12:5: F401 unused      path, line, column; what follows is theirs
    File "app/core.py", line 12        a frame of a traceback
    > app/core.py(12)f()               a debugger's
    tests/test_core.py::TestA::test_b  a test's id; what stands in brackets behind it is one of its parameters
    app.core:12                        the way our own answers write it
    app/core.py                        the module

Invariants:
- a path is taken from the project's root, or absolute; one that leads elsewhere is refused before it is looked at;
- a file behind a link to a folder has the name that it has without the link, since no other is listed;
- a place is never moved to the nearest one: a line that is not there is an error.
"""

from __future__ import annotations

import posixpath
import re

from msgspec import Struct

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError
from bae_source.model.address import parse_name
from bae_source.model.call import Call
from bae_source.model.plan import ModuleFile
from bae_source.project.data_files import find_data
from bae_source.project.files.data_listing import DataFile, data_files
from bae_source.project.files.ignored import is_ignored
from bae_source.project.files.port import FileKind
from bae_source.project.files.unseen import behind_unseen
from bae_source.project.naming.listed_symbols import has_name
from bae_source.project.naming.resolve import canonical, resolve
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.locate import Group, find, group_span, qualname_of
from bae_source.syntax.outline.tree import Tree

MAX_LENGTH = 4096
_HINT = 'Give a place such as app/core.py:12, File "app/core.py", line 12, or tests/test_core.py::test_send.'
_FRAME = r"""File ["'](?P<path>[^"']+)["'], line (?P<line>\d{1,9})"""
_TEST = r"^(?:(?:PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED)\s+)?(?P<path>\S[^:]*?\.py)::(?P<names>[^\s\[]+)"
_DEBUGGER = r"^(?:>\s*)?(?P<path>[^()]+\.pyi?)\((?P<line>\d{1,9})\)"
_LINE = r"^(?:-->\s*)?(?P<path>.+?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?(?!\w)"
_NEVER = r"[\x00-\x1f\x7f\ud800-\udc7f\udd00-\udfff]"
"""Characters that no path holds: of control, and surrogates but for those that stand for bytes which are no text."""
_FORMS = (_FRAME, _TEST, _DEBUGGER, _LINE)
"""Compiled when a place is asked for: 3 ms, which every other request would have to wait for."""


class Written(Struct, frozen=True, kw_only=True):
    """A place as it was written.

    Parameters:
        path: of the file, or a dotted name.
        line: from 1; None for the file as a whole.
        column: from 1; None where it was not said.
        names: instead of a line, the path of names inside the module.
    """

    path: str
    line: int | None = None
    column: int | None = None
    names: tuple[str, ...] = ()


class Spot(Struct, frozen=True, kw_only=True):
    """The thing at a place.

    Parameters:
        address: the innermost symbol, or the module, or a data file; of a file that no dotted name can mean, what
            searches call it.
        named: whether the address can be read.
        first: the first line that it spans; None for a data file.
        last: the last one.
        line: the line that was asked for.
        text: that line, as it stands in the file.
        source: the symbol's own text.
        problem: the reason why the symbol is not known, where the file does not parse.
    """

    address: str
    named: bool = True
    first: int | None = None
    last: int | None = None
    line: int | None = None
    text: str = ""
    source: str = ""
    problem: ResourceError | None = None


def parse_place(text: str) -> Written:
    """Understand a place as programs write it.

    Raises:
        RequestError: `invalid_arguments` if it is none, with the forms that are understood.
    """
    text = text.strip()
    if not text or len(text) > MAX_LENGTH or re.search(_NEVER, text):
        raise RequestError("invalid_arguments", "That is no place in a file.", hints=[_HINT])
    for pattern in _FORMS:
        match = re.search(pattern, text)
        if match:
            given = match.groupdict()
            names = tuple(name for name in (given.get("names") or "").split("::") if name)
            line, column = given.get("line"), given.get("column")
            written = Written(
                path=given["path"].replace("\\", "/"),
                line=int(line) if line else None,
                column=int(column) if column else None,
                names=names,
            )
            if written.line == 0 or written.column == 0:
                raise RequestError("invalid_arguments", "Lines and columns count from 1.", hints=[_HINT])
            return written
    return Written(path=text.replace("\\", "/"))


def spot_at(workspace: Workspace, written: Written) -> Spot:
    """Return the spot at a place.

    Raises:
        Refused: `outside_project` if the path leads out of the project, or to what is no part of it.
        LookupFailed: `symbol_not_found` for a file, a line or a name that is not there; `ambiguous_symbol` where
            several symbols share the line and no column tells which.
    """
    module = file_at(workspace, written)
    if isinstance(module, Spot):
        return module
    try:
        tree = workspace.tree(module)
    except ResourceError as error:
        return Spot(address=module.name, line=written.line, problem=error)
    if written.names:
        return _named(workspace, module, tree, written.names)
    if written.line is None:
        return _spot(workspace, module, tree, MODULE, None)
    if written.line > len(tree.source.lines):
        raise no_line(workspace, module, tree, written.line)
    return _spot(workspace, module, tree, innermost(workspace, module, tree, written), written.line)


def module_at(workspace: Workspace, written: Written) -> ModuleFile:
    """Return the module that a place lies in.

    Raises:
        Refused: `outside_project` if the path leads out of the project, or to what is no part of it.
        LookupFailed: `symbol_not_found` for a file, or a line, that is not there, or that is no module.
    """
    module = file_at(workspace, written)
    if isinstance(module, Spot):
        raise LookupFailed(
            "symbol_not_found", f"{module.address} is no module, so no name in it refers to anything.", hints=[_HINT]
        )
    tree = workspace.tree(module)
    if written.line is not None and written.line > len(tree.source.lines):
        raise no_line(workspace, module, tree, written.line)
    return module


def no_line(workspace: Workspace, module: ModuleFile, tree: Tree, line: int) -> LookupFailed:
    """Return the error for a line that a module does not have."""
    count = len(tree.source.lines)
    return LookupFailed(
        "symbol_not_found",
        f"{module.name} has {count} line{'' if count == 1 else 's'}, and no line {line}.",
        hints=[
            "The place may be from before a change.",
            Call("outline", target=module.name, numbers=True, then="shows what is there now."),
        ],
        candidates=[str(canonical(workspace, module))],
    )


def file_at(workspace: Workspace, written: Written) -> ModuleFile | Spot:
    """Return the module that a path or a dotted name means, or the spot of a file without definitions of its own.

    Raises:
        as `module_at`.
    """
    path, files = _inside(workspace, written), workspace.files
    kind = files.kind(path)
    if kind is FileKind.FOLDER and files.kind(f"{path}/__init__.py") is FileKind.FILE:
        path, kind = files.inside(f"{path}/__init__.py") or path, FileKind.FILE
    if kind is not FileKind.FILE:
        is_path = ":" not in path and ("/" in path or path.endswith((".py", ".pyi")))
        found = None if is_path else _by_name(workspace, written)
        if found is None:
            raise _no_file(workspace, path)
        return found
    if is_ignored(files, path):
        raise _outside(f"{written.path} is no part of the project: it is ignored, or belongs to an environment.")
    module = workspace.layout.module_at(path)
    if module is not None:
        return module
    data = next((file for file in data_files(workspace) if file.path == path), None)
    if data is None:
        raise LookupFailed(
            "symbol_not_found", f"{written.path} is neither Python nor in a package, so it has no name.", hints=[_HINT]
        )
    return Spot(address=str(data), line=written.line)


def _inside(workspace: Workspace, written: Written) -> str:
    """Return a path as one below the project's root; a folder that is reached through links, by its own path."""
    path = written.path
    on_drive = path[1:3] == ":/"
    if on_drive or path.startswith("/"):
        inside = None if on_drive else workspace.files.inside(path)
        if inside is None:
            raise _outside(f"{path} lies outside of the project.")
        return inside
    path = posixpath.normpath(path)
    if path.split("/")[0] == "..":
        raise _outside(f"{written.path} lies outside of the project.")
    return "" if path == "." else workspace.files.inside(path) or path


def _by_name(workspace: Workspace, written: Written) -> ModuleFile | Spot | None:
    """Return the module, or the symbol, of a place that is written as our answers write it; None if it is no name."""
    try:
        name = parse_name(written.path)
    except RequestError:
        return None
    if name.resource is not None:
        data = find_data(workspace, name)
        return Spot(address=str(data), line=written.line) if isinstance(data, DataFile) else None
    try:
        resolved = resolve(workspace, written.path)
    except RequestError:
        return None  # the path of a file that is not there
    if resolved.group is None:
        return resolved.module
    span = group_span(resolved.tree.outline, resolved.group.members)
    lines = resolved.tree.source.lines
    first, last = lines.number(span.start), lines.number(max(span.start, span.end - 1))
    return Spot(address=str(resolved.address), first=first, last=last, source=span.cut(resolved.tree.text))


def innermost(workspace: Workspace, module: ModuleFile, tree: Tree, written: Written) -> int:
    """Return the innermost definition at a line and column; `MODULE` where none is.

    Raises:
        LookupFailed: `ambiguous_symbol` where several symbols share the line and no column tells which.
    """
    assert written.line is not None
    lines, definitions = tree.source.lines, tree.outline.definitions
    start, end = lines.start(written.line), lines.end(written.line)
    if written.column is not None:
        start = min(start + written.column - 1, max(start, end - 1))
        end = start + 1
    here = [i for i, one in enumerate(definitions) if one.span.start < max(end, start + 1) and start < one.span.end]
    outer = {definitions[index].parent for index in here}
    inner = [index for index in here if index not in outer]
    if len(inner) > 1:
        groups = [Group(members=(index,), qualname=qualname_of(tree.outline, index)) for index in inner]
        raise LookupFailed(
            "ambiguous_symbol",
            f"Line {written.line} of {module.name} holds {len(inner)} symbols.",
            hints=[f"Say the column, as in {module.name}:{written.line}:1."],
            candidates=[str(canonical(workspace, module, group)) for group in groups],
        )
    return inner[0] if inner else MODULE


def _named(workspace: Workspace, module: ModuleFile, tree: Tree, names: tuple[str, ...]) -> Spot:
    """Return the spot of a test that is named by its id."""
    segments = parse_name(".".join((module.name, *names))).segments[-len(names) :]
    found = find(tree, module.name, segments)
    return _spot(workspace, module, tree, found.members[0], None, found)


def _spot(
    workspace: Workspace, module: ModuleFile, tree: Tree, index: int, line: int | None, group: Group | None = None
) -> Spot:
    lines, outline = tree.source.lines, tree.outline
    text = lines.cut(line).rstrip("\r\n") if line else ""
    named = has_name(workspace, module.path)
    if index == MODULE:
        address = str(canonical(workspace, module)) if named else module.name
        return Spot(address=address, named=named, first=1, last=len(lines), line=line, text=text, source=tree.text)
    group = group or Group(members=(index,), qualname=qualname_of(outline, index))
    span = group_span(outline, group.members)
    return Spot(
        address=str(canonical(workspace, module, group)) if named else module.name,
        named=named,
        first=lines.number(span.start),
        last=lines.number(max(span.start, span.end - 1)),
        line=line,
        text=text,
        source=span.cut(tree.text),
    )


def _outside(message: str) -> Refused:
    return Refused("outside_project", message, hints=["Only the project's own files have names; see --root."])


def _no_file(workspace: Workspace, path: str) -> LookupFailed:
    """Return the error for a file that is not there, with the modules whose paths end alike."""
    census = workspace.census
    module = workspace.layout.module_at(path)
    if module is not None and (hidden := behind_unseen(workspace, module.name)):
        return hidden
    ends = [known for known in (*census.paths, *census.stubs) if known.endswith(f"/{path.rpartition('/')[2]}")]
    candidates = [module.name for known in ends[:10] if (module := census.module(known))]
    return LookupFailed(
        "symbol_not_found",
        f"The project has no file {path!r}; paths are taken from its root.",
        hints=["Give the path from the project's root, or an absolute one."],
        candidates=candidates,
    )
