"""A variable or a constant whose value takes the place of its reads.

    limit = 60 * 60         goes, where no read is left
    wait(limit + 1)         wait(60 * 60 + 1)

Invariants:
- the value is one expression that one statement gives to one name; nothing else binds the name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.importing.plan import added_imports
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, is_within
from bae_source.refactoring.inlining.codes import Codes
from bae_source.refactoring.inlining.found import Found, Places, check_bound_once
from bae_source.refactoring.inlining.needed import needs_at, value_at
from bae_source.refactoring.planning.plan import Spliced
from bae_source.refactoring.renaming.outside import are_fields
from bae_source.syntax.flow.evaluation import Depends
from bae_source.syntax.flow.scopes import Named
from bae_source.syntax.importing.adding import IMPORTS_ADDED
from bae_source.syntax.inlining.body import OF_FRAME, private_in
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.inlining.hazards import Hazard, Value, Way, hazard, is_reached, way_to
from bae_source.syntax.inlining.scopes import names_read
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.static_values import chain_of
from bae_source.syntax.templates.statements import continued_at

_ELSEWHERE = Way(between=(), is_maybe=True, is_later=True, is_repeated=True, is_caught=False)
_TYPE_COMMENT = re.compile(r"#[ \t]*type:[^\r\n]*\Z")
_AGAIN = "evaluated_again"
_DROPPED = "annotation_dropped"


class Definition(Struct, frozen=True, kw_only=True):
    """The statement that binds a variable.

    Parameters:
        symbol: the variable.
        statement: the statement.
        value: its value, and all that is known of it.
        text: the value as it is written.
        code: the file's code.
    """

    symbol: Symbol
    statement: ast.Assign | ast.AnnAssign
    value: Value
    text: str
    code: Code


class Inlined(Struct, frozen=True, kw_only=True):
    """The changes in files, with their report.

    Parameters:
        edits: by path, spans of the text and what stands there afterwards.
        imports: by path, the imports that this needs.
        names: those that what goes reads.
        notices: about what a reader of the diff may miss.
    """

    edits: dict[str, list[tuple[Span, str]]]
    imports: dict[str, list[str]]
    names: frozenset[str]
    notices: tuple[Notice, ...] = ()


def definition_of(project: Project, codes: Codes, family: Family, address: str) -> Definition:
    """Return the only statement that binds a variable.

    Raises:
        Refused: `unsafe_change` for a variable that is bound otherwise.
    """
    symbols = [each for each in family.symbols if not each.path.endswith(".pyi")]
    if len(symbols) != 1:
        names = listed(project.address(each.path, project.uses(each.path).scopes[each.scope].owner) for each in symbols)
        raise _refused(address, f"several bind it, so that a read may be of each: {names}")
    symbol = symbols[0]
    scope = project.uses(symbol.path).scopes[symbol.scope]
    bindings = [*scope.names.get(symbol.name, ()), *scope.attributes.get(symbol.name, ())]
    if len(bindings) != 1:
        lines = listed(f"line {each[3]}" for each in bindings)
        raise _refused(address, f"it is bound several times ({lines})")
    how, _, _, line = bindings[0]
    code = codes.code(symbol.path)
    statement = _statement(code, family.sought.word, line) if how in (u.ASSIGNED, u.ANNOTATED) else None
    if statement is None or statement.value is None:
        raise _refused(address, f"line {line} binds it, and gives no single value to it alone")
    if scope.kind == u.CLASS_SCOPE:
        _check_class(project, family, address)
        if any(map(project.inference.orders.is_protocol, family.classes)):
            raise _refused(address, "its class is a protocol, and others that fit it may be read")
    place = (symbol.path, symbol.scope)
    constants = _constants(project, code, place, names_read(statement.value))
    value = value_at(project, code, code.loops, place, statement.value, constants)
    return Definition(symbol=symbol, statement=statement, value=value, text=_text(code, statement), code=code)


def _refused(address: str, why: str) -> Refused:
    return Refused(
        "unsafe_change",
        f"{address} cannot be inlined: {why}",
        unchanged=True,
        hints=["Edit the code so that one plain assignment gives it its value, or edit its reads."],
    )


def _statement(code: Code, word: str, line: int) -> ast.Assign | ast.AnnAssign | None:
    for node in ast.walk(code.tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.lineno <= line <= (node.end_lineno or line):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == word:
                return node
    return None


def _check_class(project: Project, family: Family, address: str) -> None:
    """See that a class does nothing with its attribute when it is made.

    Raises:
        Refused: `unsafe_change`.
    """
    if are_fields(project, family):
        raise _refused(address, "it is a field, which the constructor of its class may set")
    for symbol in family.symbols:
        scope = project.uses(symbol.path).scopes[symbol.scope]
        code_around = [each for each in family.outside if each not in ("builtins.object",)]
        if code_around or "wrapped" in scope.flags or "decorated" in scope.flags or scope.metaclass:
            what = code_around[0] if code_around else "what decorates or makes the class"
            raise _refused(address, f"{what} may read it where the class is made")


def _constants(project: Project, code: Code, place: tuple[str, int], names: Iterable[str]) -> frozenset[str]:
    """Return the names that are bound once, to a number or a string."""
    uses, found = project.uses(place[0]), set[str]()
    for name in names:
        owner = project.names.scope_of(*place, name)
        bindings = uses.scopes[owner].names.get(name, []) if owner is not None else []
        statement = _statement(code, name, bindings[0][3]) if len(bindings) == 1 else None
        is_plain = statement is not None and isinstance(statement.value, ast.Constant)
        if is_plain and isinstance(statement.value.value, (int, float, complex, str, bytes)):  # type: ignore[union-attr]
            found.add(name)
    return frozenset(found)


def _text(code: Code, statement: ast.Assign | ast.AnnAssign) -> str:
    """Return the value of an assignment as it is written, with brackets around several lines."""
    assert statement.value is not None
    span, whole = code.span(statement.value), code.span(statement)
    text = span.cut(code.text)
    if "\n" not in text and "\r" not in text:
        return text
    target = statement.annotation if isinstance(statement, ast.AnnAssign) else statement.targets[0]
    equals = code.text.index("=", code.span(target).end)
    text = Span(equals + 1, whole.end).cut(code.text)
    return _TYPE_COMMENT.sub("", text).strip(" \t\f\r\n\\")


def inlined(
    project: Project, codes: Codes, definition: Definition, found: Found, places: Places, address: str
) -> Inlined:
    """Return what puts the value of a variable in the place of its reads."""
    wanted = [each for each in found.reads if places.is_wanted(each)]
    places.check_only()
    others = [each for each in found.bindings if not _is_own(definition, each)]
    doubt = check_bound_once(places, others, address)
    for each in _asking_frame(project, definition) if not places.only else ():
        places.takes(each, None)
    is_alone = len(found.reads) == 1
    edits: dict[str, list[tuple[Span, str]]] = {}
    imports: dict[str, list[str]] = {}
    again: list[str] = []
    before: list[str] = []
    for mentioned in wanted:
        read = _Read(project, codes, definition, mentioned, is_alone=is_alone)
        if places.takes(mentioned, read.hazard or doubt):
            edits.setdefault(mentioned.path, []).append((read.code.span(read.node), read.new))  # type: ignore[arg-type]
            imports.setdefault(mentioned.path, []).extend(read.imports)
            places.note_change(mentioned)
            place = f"{places.shown(mentioned).module}:{mentioned.mention[0]}"
            again += [place] if read.is_moved else []
            before += [place] if read.is_behind_lookup else []
    notices = tuple(_notices(definition, again, before))
    return Inlined(edits=edits, imports=imports, names=definition.value.names, notices=notices)


def _asking_frame(project: Project, definition: Definition) -> Iterator[Mentioned]:
    """Yield where the function around a local variable asks for all its variables, or runs code that may name it."""
    path, scope = definition.symbol.path, definition.symbol.scope
    uses = project.uses(path)
    if uses.scopes[scope].kind != u.FUNCTION_SCOPE:
        return
    for name in sorted(OF_FRAME):
        for mention in uses.mentions.get(name, ()):
            if mention[4] == u.PLAIN and is_within(uses.scopes, mention[2], scope):
                yield Mentioned(path, mention, "unsure", Reason.READS_FRAME.of(name=name))


def _comment_behind(definition: Definition) -> str:
    """Return the comment behind the statement of a local variable, which goes with it."""
    assert definition.statement.value is not None
    text = definition.code.text[definition.code.span(definition.statement.value).end :]
    rest = re.match(r"[ \t)]*(#[^\r\n]*)", text)
    return rest[1] if rest else ""


def _is_own(definition: Definition, mentioned: Mentioned) -> bool:
    first = definition.statement.lineno
    is_there = first <= mentioned.mention[0] <= (definition.statement.end_lineno or first)
    return mentioned.path == definition.symbol.path and is_there


def _notices(definition: Definition, again: Sequence[str], before: Sequence[str]) -> Iterator[Notice]:
    """Yield notices about a value that goes elsewhere.

    Parameters:
        again: places where it is evaluated anew, or on some ways alone.
        before: places where a method is looked up before it.
    """
    if before:
        yield Notice(
            "looked_up_before",
            f"At {listed(before)} the method that is called is looked up before the value, which is taken not to"
            " replace it.",
        )
    comment = _comment_behind(definition)
    if comment:
        yield Notice("comments_dropped", f"The comment behind it goes with the variable: {comment}")
    if again and definition.value.depends is Depends.STATE:
        yield Notice(
            _AGAIN,
            f"The value is evaluated anew, or on some ways alone, at {listed(again)}; its attributes, items and"
            " operators are taken to have no effects there.",
        )
    if isinstance(definition.statement, ast.AnnAssign):
        annotation = ast.unparse(definition.statement.annotation)
        yield Notice(_DROPPED, f"The annotation {annotation} goes with the variable.")


def with_added_imports(project: Project, codes: Codes, made_of: Inlined) -> tuple[tuple[Spliced, ...], list[Notice]]:
    """Return the changes of each file, with the imports that they need, and notices about these."""
    found: list[Spliced] = []
    notices: list[Notice] = []
    for path, splices in sorted(made_of.edits.items()):
        module = module_at(project, path)
        made: Sequence[tuple[Span, str]] = splices
        statements = list(dict.fromkeys(made_of.imports.get(path, ())))
        if statements:
            added = added_imports(project.workspace, module, project.workspace.tree(module), splices, statements)
            made = added.splices
            notices += [each for each in added.notices if each.code == IMPORTS_ADDED]
        whole = Span(0, len(codes.code(path).text))
        found.append(Spliced(module=module, splices=tuple(made), targets=(whole,)))
    return tuple(found), notices


def module_at(project: Project, path: str) -> ModuleFile:
    """Return the module of a file."""
    module = project.workspace.census.module(path)
    assert module is not None
    return module


class _Read:
    """One read of a variable."""

    def __init__(
        self, project: Project, codes: Codes, definition: Definition, mentioned: Mentioned, *, is_alone: bool
    ) -> None:
        self.project, self.definition, self.mentioned = project, definition, mentioned
        self.is_alone = is_alone
        self.new = ""
        self.imports: tuple[str, ...] = ()
        self.is_moved = False
        self.is_behind_lookup = False
        found = codes.node(mentioned)
        self.node: ast.Name | ast.Attribute | None = None
        self.hazard: Hazard | None = Hazard(Reason.NO_PLAIN_READ.of(), True)
        if found is not None:
            self.code, self.node = found
            self.hazard = self._hazard(self.node)

    def _hazard(self, node: ast.Name | ast.Attribute) -> Hazard | None:
        """Return why the value cannot or may not take the place of the read."""
        value, symbol = self.definition.value, self.definition.symbol
        if not isinstance(node.ctx, ast.Load):
            return Hazard(Reason.NO_PLAIN_READ.of(), True)
        if isinstance(node, ast.Attribute) and not chain_of(node.value)[0]:
            return Hazard(Reason.RECEIVER_RUNS.of(), True)
        private, own = private_in(value.node), self.definition.code
        is_elsewhere = self.code is not own or own.class_around(node) is not own.class_around(self.definition.statement)
        is_out_of_suite = private in value.names and self.mentioned.mention[2] != symbol.scope
        if private and (is_elsewhere or is_out_of_suite):
            return Hazard(Reason.PRIVATE_ELSEWHERE.of(name=private), True)
        home, place = (symbol.path, symbol.scope), (self.mentioned.path, self.mentioned.mention[2])
        needs = needs_at(self.project, home, place, value.names)
        if needs.hazard is not None:
            return needs.hazard
        self.imports = needs.imports
        way = self._way(node)
        if isinstance(way, Hazard):
            return way
        self.is_moved = way.is_maybe or way.is_repeated or not self.is_alone
        runs = value.depends is Depends.RUNS
        self.is_behind_lookup = runs and not way.looks_up <= self.code.modules
        indent = own.indentation(self.definition.statement)
        text = continued_at(self.definition.text, indent, self.code.indentation(node))
        self.new, why = self.code.fitted(node, text, value.node)
        return Hazard(why, True) if why else hazard(value, way, is_alone=self.is_alone, shared=self.code.shared)

    def _way(self, node: ast.expr) -> Way | Hazard:
        start, code = self.definition.statement, self.definition.code
        if self.code is not code:
            return _ELSEWHERE
        home = code.scope(start)
        is_local = isinstance(home, Named)
        way = way_to(home, start, node, code.parents, code.bound) if code.is_within(node, home) else _ELSEWHERE
        if (is_local or not way.is_later) and not is_reached(start, node, code.parents):
            return Hazard(Reason.NOT_REACHED.of(), True)
        return way


def removed(definition: Definition) -> tuple[Span, str]:
    """Return the splice that takes the statement of a local variable away."""
    return definition.code.without(definition.statement)
