"""Definitions on their way to another module: their text, what it takes from around it, and what it leaves unused.

    import re                          goes along, if only `send` uses it; copied, if others use it too
    from .base import Base             likewise, by its absolute name where the other module lies in another package
    LIMIT = 3                          stays, and is imported there from here

    # sends                            goes along
    @retry
    def send(x): re.match(LIMIT, x)    goes; a doctest in its docstring needs imports as its code does

Invariants:
- only definitions that stand in a module by themselves are moved: what an `if`, a `try` or a shared line holds is not.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import Refused, ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.model.span import Span
from bae_source.project.files.layout import import_name
from bae_source.project.naming.resolve import Resolved, absolute_name
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.provided import Provided
from bae_source.syntax.names import uses as u
from bae_source.syntax.names.doctests import taken_by_doctests
from bae_source.syntax.names.uses import Imported
from bae_source.syntax.outline.definitions import MODULE, Definition, ImportBinding, Kind
from bae_source.syntax.outline.locate import Group, group_span, owned_comment
from bae_source.syntax.outline.static_values import is_typing_test
from bae_source.syntax.outline.tree import Tree

_OF_MODULE = frozenset({"__name__", "__file__", "__package__", "__path__", "__spec__", "__doc__"})
"""Names that every module has for itself."""

_HOOKS = frozenset({"__all__", "__getattr__", "__dir__"})
"""Names by which a module answers for all its names."""


class Travelling(Struct, frozen=True, kw_only=True):
    """One definition, or a group of one name, that moves.

    Parameters:
        name: what it is called.
        symbol: the name in its module.
        span: its whole lines, with the comment that belongs to it.
        text: these lines.
        named: offsets of its name where it is defined.
        is_variable: whether it is an assignment.
        is_plain: whether it is one without a comment.
    """

    name: str
    group: Group
    symbol: Symbol
    span: Span
    text: str
    named: tuple[int, ...]
    is_variable: bool
    is_plain: bool


class Needs(Struct, frozen=True, kw_only=True):
    """The names that moved code takes from the module around it.

    Parameters:
        imports: the bindings of its import statements.
        own: names that the module itself defines, and that stay.
        for_checkers: those of them that it binds under `if TYPE_CHECKING` alone.
        unused: imported names that nothing else in the module uses.
        own_places: their offsets there.
        moved_places: offsets of the names that move, in what moves.
        of_module: names that mean another thing in another module, such as `__name__`.
        assigned: names of the module that moved functions assign to.
        noted: offsets of those that annotations name.
        is_late: whether annotations name what is there for type checkers alone, or what moves along.
    """

    imports: tuple[ImportBinding, ...]
    own: tuple[str, ...]
    for_checkers: frozenset[str]
    own_places: tuple[tuple[int, str], ...]
    moved_places: tuple[tuple[int, str], ...]
    unused: frozenset[str]
    of_module: tuple[str, ...]
    assigned: tuple[str, ...]
    noted: frozenset[int]
    is_late: bool


def is_method(resolved: Resolved) -> bool:
    """Return whether a symbol is a function in a class."""
    if resolved.group is None or resolved.address.part is not None:
        return False
    first = resolved.tree.outline.definitions[resolved.group.members[0]]
    above = resolved.tree.outline.definitions[first.parent] if first.parent != MODULE else None
    return first.kind is Kind.FUNCTION and above is not None and above.kind is Kind.CLASS


def travelling(workspace_tree: Tree, resolved: Resolved) -> Travelling:
    """Return a definition as it moves.

    Raises:
        Refused: `unsafe_change` if it does not stand in its module by itself.
    """
    tree, group = workspace_tree, resolved.group
    assert group is not None
    members = [tree.outline.definitions[number] for number in group.members]
    first = members[0]
    name = resolved.address.qualname[-1].name
    what = ""
    if name in _HOOKS:
        what = "belongs to its module"
    elif first.parent != MODULE or len(resolved.address.qualname) > 1:
        what = f"is part of {'.'.join(map(str, resolved.address.qualname[:-1]))}"
    elif first.suite != 0:
        what = "stands inside of an `if`, a `try` or the like"
    elif any(each.inline for each in members):
        what = "shares its line with other code"
    elif any(len(each.names) > 1 for each in members):
        what = f"is bound together with {', '.join(n for n in first.names if n != name)}"
    elif sum(name in each.names and each.parent == MODULE for each in tree.outline.definitions) > len(members):
        what = "is defined in several places"
    if what:
        raise Refused(
            "unsafe_change",
            f"{resolved.address} {what}, and cannot be moved by itself",
            unchanged=True,
            hints=["Edit it so that it stands in its module by itself, then move it."],
        )
    span = group_span(tree.outline, group.members)
    comment = owned_comment(tree, group.members[0])
    start = comment.start if comment is not None else span.start
    lines = tree.source.lines
    whole = Span(lines.start(lines.number(start)), span.end)
    symbol = Symbol(resolved.module.path, 0, name)
    is_variable = first.kind not in (Kind.FUNCTION, Kind.CLASS)
    return Travelling(
        name=name,
        group=group,
        symbol=symbol,
        span=whole,
        text=whole.cut(tree.text),
        named=tuple(_named(tree, each, name) for each in members),
        is_variable=is_variable,
        is_plain=is_variable and comment is None,
    )


def _named(tree: Tree, member: Definition, name: str) -> int:
    """Return the offset of the name that a definition gives."""
    match = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)").search(tree.text, member.keyword)
    return match.start() if match is not None else member.keyword


def needs_of(project: Project, module: ModuleFile, tree: Tree, moved: Sequence[Travelling]) -> Needs:
    """Return the names that some definitions of a module take from around them."""
    uses, lines, path = project.uses(module.path), tree.source.lines, module.path
    names = {each.name for each in moved}
    inside: set[str] = set()
    places: list[tuple[int, str]] = []
    outside: set[str] = set()
    assigned: set[str] = set()
    for_checkers = _for_checkers(uses, tree.text)
    late = {each.name for each in tree.outline.imports if each.typing_only} | names | for_checkers
    is_late, noted = False, set[int]()
    for name, mentions in uses.mentions.items():
        for mention in mentions:
            if mention.receiver != u.PLAIN or mention.kind in (u.STRING, u.MENTION, u.IMPORT):
                continue
            if project.names.scope_of(path, mention.scope, name) not in (0, None):
                continue
            offset = lines.offset(mention.line, mention.column)
            is_inside = any(each.span.start <= offset < each.span.end for each in moved)
            (inside if is_inside else outside).add(name)
            places += [(offset, name)] if is_inside else []
            if is_inside and mention.kind in (u.WRITE, u.DELETE) and name not in names:
                assigned.add(name)
            noted |= {offset} if mention.kind == u.ANNOTATION else set()
            is_late |= is_inside and mention.kind == u.ANNOTATION and name in late
    in_doctests: set[str] = set()
    for name, offset in _in_doctests(tree):
        is_inside = any(each.span.start <= offset < each.span.end for each in moved)
        (in_doctests if is_inside else outside).add(name)
        places += [(offset, name)] if is_inside and name in names else []
    bound = uses.scopes[0].names
    imported = {each.name for each in tree.outline.imports}
    free = [name for name in inside | in_doctests if name not in bound]
    by_star = _by_star(project, path, tree, free, perhaps=inside)
    bindings = [each for each in tree.outline.imports if each.name in inside | in_doctests]
    only = {name for name in imported if all(binding.how == u.IMPORTED for binding in bound.get(name, ()))}
    own = sorted(name for name in inside if name in bound and name not in only and name not in names)
    return Needs(
        imports=(*(each for each in bindings if each.name in only), *by_star),
        own=tuple(own),
        for_checkers=for_checkers.intersection(own),
        own_places=tuple(each for each in places if each[1] in own),
        moved_places=tuple(each for each in places if each[1] in names),
        unused=frozenset(only & (inside | in_doctests)) - outside,
        of_module=tuple(sorted(inside & _OF_MODULE)),
        assigned=tuple(sorted(assigned)),
        noted=frozenset(noted),
        is_late=is_late,
    )


def named_by_doctests(each: Resolved, moved: Iterable[Resolved]) -> list[tuple[int, int]]:
    """Return the places where moved doctests name one definition: lines from 1, columns from 0 and in bytes."""
    tree, lines = each.tree, each.tree.source.lines
    groups = [one.group for one in moved if one.module.path == each.module.path and one.group is not None]
    spans = [group_span(tree.outline, group.members) for group in groups]
    found: list[tuple[int, int]] = []
    for name, offset in _in_doctests(tree):
        if name == each.address.qualname[-1].name and any(span.start <= offset < span.end for span in spans):
            line = lines.number(offset)
            found.append((line, len(tree.text[lines.start(line) : offset].encode("utf-8", "surrogatepass"))))
    return found


def _in_doctests(tree: Tree) -> Iterator[tuple[str, int]]:
    """Yield the names that doctests take from the module around them, with their offsets in the text."""
    lines = tree.source.lines
    for taken in taken_by_doctests(tree.text):
        word = re.compile(rf"(?<![\w.]){re.escape(taken.name)}(?!\w|\s*=[^=])")  # no keyword of a call
        end = lines.start(taken.line + taken.code.count("\n") + 1)
        found = list(word.finditer(tree.text, lines.start(taken.line), end))
        yield from ((taken.name, each.start()) for each in found)


def _for_checkers(uses: u.Uses, text: str) -> frozenset[str]:
    """Return the names of a module that it binds under `if TYPE_CHECKING` alone."""
    lines: set[int] = set()
    try:
        body = ast.parse(text).body if "TYPE_CHECKING" in text else []
    except SyntaxError:
        body = []  # newer than the Python that runs here
    for node in body:
        if isinstance(node, ast.If) and is_typing_test(node.test):
            lines.update(range(node.lineno, (node.body[-1].end_lineno or node.lineno) + 1))
    bound = uses.scopes[0].names.items() if lines else ()
    return frozenset(name for name, bindings in bound if all(binding.line in lines for binding in bindings))


def _by_star(
    project: Project, path: str, tree: Tree, names: Sequence[str], *, perhaps: Collection[str]
) -> list[ImportBinding]:
    """Return imports of names that a module takes by a star; the stars of unknown modules, which may give them.

    Parameters:
        perhaps: the names for which stars of unknown modules are taken, too.
    """
    stars = [each for each in tree.outline.imports if each.name == "*"]
    wanted = [name for name in names if stars and not hasattr(builtins, name) and name not in _OF_MODULE]
    provided = Provided(project.workspace.census, project.uses, project.workspace.files.names)
    found: list[ImportBinding] = []
    for name in sorted(wanted):
        for each in reversed(stars):
            files = project.names.files(path, each.module, each.level)
            if any(provided.name(file, name) for file in files):
                found.append(_of_star(each, name))
                break
        else:
            unknown = stars if name in perhaps else []
            found += [each for each in unknown if not project.names.files(path, each.module, each.level)]
    return list(dict.fromkeys(found))


def _of_star(star: ImportBinding, name: str) -> ImportBinding:
    return replace(star, name=name, attribute=name)


def statements(
    needs: Needs, module: ModuleFile, to: ModuleFile, *, relative: bool, with_own: bool = True
) -> Iterator[str]:
    """Yield the import statements that moved code needs in another module.

    Parameters:
        relative: whether modules of the same package are imported by dots there.
        with_own: whether names that its old module defines are among them.
    """
    for each in needs.imports:
        is_there = each.attribute is not None and ".".join(map(str, absolute_name(module, each) or ())) == to.name
        if not is_there and (text := imported_again(each, module, to, relative=relative)):
            yield text
    if needs.own and with_own:
        shown = reference(module.name, to) if relative else module.name
        plain = [name for name in needs.own if name not in needs.for_checkers]
        yield from [f"from {shown} import {', '.join(plain)}"] if plain else ()
        if needs.for_checkers:
            yield f"if TYPE_CHECKING:\n    from {shown} import {', '.join(sorted(needs.for_checkers))}"


def imported_again(each: ImportBinding, module: ModuleFile, to: ModuleFile, *, relative: bool) -> str:
    """Return the statement by which another module imports what a module does; "" where there is none.

    Parameters:
        relative: as of `statements`.
    """
    base = absolute_name(module, each)
    dotted = ".".join(map(str, base or ()))
    if base is None:
        return ""  # the dots lead out of the package
    if each.attribute is None:
        alias = f" as {each.name}" if each.name != dotted.partition(".")[0] else ""
        text = f"import {dotted}{alias}"
    else:
        alias = f" as {each.name}" if each.name != each.attribute else ""
        shown = reference(dotted, to) if each.level and relative else dotted
        text = f"from {shown} import {each.attribute}{alias}"
    return f"if TYPE_CHECKING:\n    {text}" if each.typing_only else text


def loads(tree: Tree, each: ImportBinding) -> bool:
    """Return whether a module that binds what an import binds loads as much: `import a.b` is more than `import a`."""
    if each.attribute is not None or not each.module.startswith(f"{each.name}."):
        return True
    return any((one.name, one.module, one.attribute) == (each.name, each.module, None) for one in tree.outline.imports)


def reference(name: str, origin: ModuleFile) -> str:
    """Return how a module imports another one by dots; its dotted name where they have no package in common."""
    inside = import_name(origin).split(".")
    own = inside if origin.package else inside[:-1]
    parts = name.split(".")
    common = 0
    while common < min(len(own), len(parts)) and own[common] == parts[common]:
        common += 1
    if not common:
        return name
    return "." * (len(own) - common + 1) + ".".join(parts[common:])


def imports_relatively(tree: Tree) -> bool:
    """Return whether a module imports others of its package by dots."""
    return any(each.level for each in tree.outline.imports)


def _imports(project: Project, path: str) -> Sequence[Imported]:
    try:
        return project.uses(path).imports
    except ResourceError:
        return ()


def is_taken(project: Project, path: str, name: str) -> bool:
    """Return whether another module takes a name, which a module may only import, from there."""
    for other in project.workspace.index.naming([name]).paths:
        for imported in _imports(project, other):
            files = project.names.files(other, imported.module, imported.level)
            if imported.attribute in (name, "*") and path in files:
                return True
    return False
