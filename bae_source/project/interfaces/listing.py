"""Outlines as text: the project, a package, a module, a class or function, each with what is in it.

    httpx — A next generation HTTP client. (1 subpackage, 21 modules)
        httpx._client — HTTP clients. (7 classes, 0 functions)
            class Client(BaseClient) — An HTTP client, with connection pooling.
                def close(self) -> None — Close transport and proxies.
                (2 private names)

Depth counts levels below the requested name: 0 is its own line, 1 its direct members, and so on.

Invariants:
- lines come in one pass over summaries, in the order in which the index yields them; nothing is parsed here;
- one symbol has one line; one that its name alone does not mean shows its address: `def f() [f[1]]`;
- a file that cannot be read has a line with the reason, and is in `problems`; nothing is left out in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.project.files.layout import STUB, import_name
from bae_source.project.files.unseen import unseen
from bae_source.project.workspace import Workspace, etag_of
from bae_source.syntax.outline.definitions import MODULE

if TYPE_CHECKING:
    from bae_source.project.files.data_listing import DataFile
    from bae_source.project.files.packages import Packages
    from bae_source.syntax.outline.summary import Entry, Summary

INDENT = "    "
_WIDTH = 110
_MOST_METHODS = 40
"""Most methods named in the line of a class; the number of others follows."""
_NUMBER = "{:>5}  "
_NO_NUMBER = " " * 7


class Style(Struct, frozen=True, kw_only=True):
    """The contents of an outline.

    Parameters:
        depth: levels below the requested name.
        private: whether names that begin with `_` are shown, too, and not only counted; `__init__` and its like are
            public, and so are modules.
        numbers: whether each definition's line number stands in front.
        attributes: whether what is bound without a definition is shown, too.
        members: whether the line of a class whose members have no lines names its methods, the public ones.
    """

    depth: int = 1
    private: bool = False
    numbers: bool = False
    attributes: bool = False
    members: bool = False


class Listing(Struct, frozen=True, kw_only=True):
    """An outline.

    Parameters:
        text: its lines, each with its line end.
        etag: of the text.
        problems: what could not be read, and why, by module.
        unnamed: how many Python files below have no name that could be listed.
        unseen: notices about places below that cannot be read.
    """

    text: str
    etag: str
    problems: tuple[tuple[str, ResourceError], ...] = ()
    unnamed: int = 0
    unseen: tuple[Notice, ...] = ()


def not_listed(unnamed: int) -> Notice:
    """Return notices about Python files that have no name."""
    files = f"{unnamed} Python file{'' if unnamed == 1 else 's'}"
    return Notice("unnamed_files", f"Not listed: {files} that no dotted name means.")


def listed(
    lines: Sequence[str],
    problems: Sequence[tuple[str, ResourceError]] = (),
    unnamed: int = 0,
    unseen: tuple[Notice, ...] = (),
) -> Listing:
    """Return lines as a listing."""
    text = "\n".join((*lines, ""))
    return Listing(text=text, etag=etag_of(text), problems=tuple(problems), unnamed=unnamed, unseen=unseen)


def list_packages(workspace: Workspace, name: str, style: Style, data: Sequence[DataFile] = ()) -> Listing:
    """List a package, or the project for an empty name.

    Parameters:
        data: the data files of the package itself.
    """
    from bae_source.project.data_files import entries as data_lines  # 10 ms, which a kept listing need not pay
    from bae_source.project.files.packages import Packages

    packages = Packages(workspace.census)
    shown = [*([(name, 0)] if name else []), *packages.walk(name, style.depth)]
    paths = [module.path for member, _ in shown for module in packages.files(member)]
    if style.attributes:
        from bae_source.project.interfaces.attributes import summaries_with_attributes  # which most outlines leave out

        summaries = summaries_with_attributes(workspace, paths)
    else:
        summaries = workspace.index.summaries(paths)
    outermost, margin = 0 if name else 1, _NO_NUMBER if style.numbers else ""
    lines: list[str] = []
    own: list[str] = []
    problems: list[tuple[str, ResourceError]] = []
    for member, level in shown:
        indent = margin + INDENT * (level - outermost)
        for module in packages.files(member) or (None,):
            summary = next(summaries)[1] if module else None
            if module is None or summary is None:
                lines.append(indent + _head(packages, member, None, None))
            elif isinstance(summary, ResourceError):
                problems.append((module.name, summary))
                lines.append(indent + f"{_head(packages, member, module, None)}: {summary.reason}")
            else:
                lines.append(indent + _head(packages, member, module, summary))
                inside = module_lines(module, summary, style, level=level - outermost + 1, above=level)
                (lines if level else own).extend(inside)  # a package's modules come before what its own code defines
    if style.depth:
        lines += [*own, *(f"{margin}{INDENT}{line}" for line in data_lines(data))]
    unnamed = sum(f"{module.name}.".startswith(f"{name}." if name else "") for module in packages.unnamed)
    return listed(lines, problems, unnamed, unseen(workspace, name, left="shown", data=True))


def list_module(module: ModuleFile, summary: Summary, style: Style) -> Listing:
    """List a module."""
    margin = _NO_NUMBER if style.numbers else ""
    head = f"{margin}{_described(module.name, summary.doc)} {_contents(summary)}"
    style = structs.replace(style, members=True)
    return listed((head, *module_lines(module, summary, style, level=1, above=0)))


def list_symbol(summary: Summary, members: Sequence[int], style: Style) -> Listing:
    """List a class, a function or an assignment, given by the indices of its definitions."""
    inside, lines = _members(summary), [_line(summary, members, style, 0)]
    for index in members:
        _add_inside(lines, summary, inside, index, style, 1, 0)
    return listed(lines)


def module_lines(module: ModuleFile, summary: Summary, style: Style, *, level: int, above: int) -> list[str]:
    """Return the lines of a module's definitions and re-exports.

    Parameters:
        level: how far they are indented.
        above: how many of the levels asked for the module itself has used up.
    """
    if above >= style.depth:
        return []
    margin = (_NO_NUMBER if style.numbers else "") + INDENT * level
    lines = list(_filled("re-exports: ", re_exports(module, summary, private=style.private), margin))
    _add_inside(lines, summary, _members(summary), MODULE, style, level, above)
    return lines


def re_exports(module: ModuleFile, summary: Summary, *, private: bool) -> list[str]:
    """Return the names that a module hands on: those in a static `__all__` that it does not define.

    Without `__all__`, those that a package's `__init__` imports from its own package; `x.*` for what a star import
    brings.
    """
    if summary.exported is not None:
        defined = {name for entry in summary.entries if entry.parent == MODULE for name in entry.names}
        return [name for name in summary.exported if name not in defined]
    if not module.package:
        return []
    package = import_name(module)
    found: dict[str, None] = {}
    for binding in summary.imports:
        parts = package.split(".")
        base = ".".join(parts[: len(parts) - binding.level + 1]) if binding.level else ""
        source = ".".join(part for part in (base, binding.module) if part)
        if f"{source}.".startswith(f"{package}.") and (private or not binding.name.startswith("_")):
            found[f"{source}.*" if binding.name == "*" else binding.name] = None
    return list(found)


def _add_inside(
    lines: list[str], summary: Summary, members: _Members, parent: int, style: Style, level: int, above: int
) -> None:
    """Add the lines of the members of a definition or module, and of their members.

    Parameters:
        level: how far they are indented.
        above: how many of the levels asked for are used up.
    """
    if above >= style.depth:
        return
    hidden: set[str] = set()
    for index in members.directly_in.get(parent, ()):
        names = summary.entries[index].names
        if names[0].startswith("_") and not style.private and all(map(is_private, names)):
            hidden.update(names)
            continue
        same = members.same.get(index)
        line = _line(summary, (index, *same) if same else (index,), style, level)
        is_last = style.members and above + 1 == style.depth and summary.entries[index].kind == "class"
        lines.append(line + _methods(summary, members, (index, *(same or ()))) if is_last else line)
        for member in (index, *(same or ())):
            if member in members.directly_in:
                _add_inside(lines, summary, members, member, style, level + 1, above + 1)
    if hidden:
        margin = (_NO_NUMBER if style.numbers else "") + INDENT * level
        lines.append(f"{margin}({len(hidden)} private name{'' if len(hidden) == 1 else 's'})")


def _methods(summary: Summary, members: _Members, classes: Sequence[int]) -> str:
    """Return the part of a class's line about its public methods, each by its name alone."""
    inside = (summary.entries[index] for each in classes for index in members.directly_in.get(each, ()))
    public = (entry.names[0] for entry in inside if entry.kind == "function" and not entry.names[0].startswith("_"))
    names = list(dict.fromkeys(public))
    more = f", +{len(names) - _MOST_METHODS}" if len(names) > _MOST_METHODS else ""
    return f"  has {', '.join(names[:_MOST_METHODS])}{more}" if names else ""


def is_private(name: str) -> bool:
    """Return whether a name is private by its underscore; those with two on both sides are Python's own protocol."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def _line(summary: Summary, members: Sequence[int], style: Style, level: int) -> str:
    """Return the line of one symbol, which several definitions may make up."""
    first = entry = summary.entries[members[0]]
    note, doc = f"  [{entry.component}]" if entry.component else "", entry.doc
    if len(members) > 1:
        entries = [summary.entries[member] for member in members]
        entry = _speaking(entries)
        note, doc = _note(entries), next((one.doc for one in (entry, *entries) if one.doc), "")
    decorators = "".join(f"@{name} " for name in entry.decorators if name) if entry.decorators else ""
    number = _NUMBER.format(first.keyword) if style.numbers else ""
    return f"{number}{INDENT * level}{decorators}{entry.signature}{note}{f' — {doc}' if doc else ''}"


def _speaking(entries: Sequence[Entry]) -> Entry:
    """Return the definition whose header stands for all: the getter's, the implementation's, else the last one's."""
    if all(entry.role == "overload" for entry in entries):
        return entries[0]
    return next((entry for entry in entries if entry.role == "getter"), entries[-1])


def _note(entries: Sequence[Entry]) -> str:
    """Return the roles of several definitions of one name."""
    accessors = [entry.role for entry in entries if entry.role in ("setter", "deleter")]
    if accessors:
        return f"  [getter, {', '.join(dict.fromkeys(map(str, accessors)))}]"
    overloads = sum(entry.role == "overload" for entry in entries)
    if overloads:
        return f"  [{overloads} overload{'' if overloads == 1 else 's'}]"
    return f"  [{len(entries)} definitions]"


class _Members(Struct, frozen=True):
    """The members of each entry.

    Parameters:
        directly_in: by the index of an entry, what stands directly in it, of each symbol the first definition.
        same: by the index of that first one, the other definitions of the symbol.
    """

    directly_in: dict[int, list[int]]
    same: dict[int, list[int]]


def _members(summary: Summary) -> _Members:
    directly_in: dict[int, list[int]] = {}
    same: dict[int, list[int]] = {}
    for index, entry in enumerate(summary.entries):
        if entry.group < 0:
            directly_in.setdefault(entry.parent, []).append(index)
        else:
            same.setdefault(entry.group, []).append(index)
    return _Members(directly_in, same)


def _head(packages: Packages, name: str, module: ModuleFile | None, summary: Summary | None) -> str:
    """Return the line of a package or module; without a summary, the part that needs no reading."""
    if module is None or (module.package and not module.name.endswith(STUB)):
        inner, modules = packages.counts(name)
        counted = f"({inner} subpackage{'' if inner == 1 else 's'}, {modules} module{'' if modules == 1 else 's'})"
        return f"{_described(name, summary.doc if summary else '')} {counted}"
    return name if summary is None else f"{_described(name, summary.doc)} {_contents(summary)}"


def _contents(summary: Summary) -> str:
    """Count a module's classes, and its functions that are not private, each name once."""
    top = [entry for entry in summary.entries if entry.parent == MODULE]
    classes = len({entry.names[0] for entry in top if entry.kind == "class"})
    functions = len({e.names[0] for e in top if e.kind == "function" and not e.names[0].startswith("_")})
    return f"({classes} class{'' if classes == 1 else 'es'}, {functions} function{'' if functions == 1 else 's'})"


def _described(name: str, doc: str) -> str:
    return f"{name} — {doc}" if doc else name


def _filled(label: str, names: Iterable[str], margin: str) -> Iterator[str]:
    """Yield names behind a label, wrapped between names."""
    line = ""
    for name in names:
        if line and len(margin) + len(line) + len(name) > _WIDTH:
            yield f"{margin}{line},"
            line = INDENT + name
        else:
            line = f"{line}, {name}" if line else label + name
    if line:
        yield margin + line
