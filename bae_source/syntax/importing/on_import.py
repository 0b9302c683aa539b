"""What a module does while it is imported, in its order: which names it binds, what it imports, what it reads of that.

    import app                       imports app, binds `app`
    from app.core import A as B      imports app.core, takes `A` of it, binds `B`
    @app.register                    reads `app.register`
    class C(app.Base):               reads `app.Base`
        from app import LATER        imports as well, and binds nothing of the module
        def f(self): return app.g    runs later, if ever, and is not here
    DEFAULT = load()                 imports what the module's own `load` begins with importing
    try: import app.fast             may fail without harm: `coped`
    except ImportError: …

Invariants:
- in doubt a step is `coped`: in an `if`, a loop, a `try` with handlers, a `with` that may swallow; what certainly runs
  is not, such as the `else` of `if TYPE_CHECKING`, or a `try` whose handlers raise something else;
- a read counts only where it certainly happens, of names that an import binds in the module;
- what may bind a name does: a function by `global`, and code that sets an attribute of another module;
- steps depend on the file's bytes alone (and on the running Python: annotations are not run since 3.14).
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from bae_source.syntax.importing.calls import OwnFunctions
from bae_source.syntax.importing.conditions import called, chain_of, is_skipped, parts_run, type_checking_names
from bae_source.syntax.importing.guards import may_swallow
from bae_source.syntax.importing.steps import IMPORTERS, CalledNames, Step, called_names, steps_of, steps_of_call
from bae_source.syntax.outline.definitions import MODULE, Outline
from bae_source.syntax.outline.static_values import static_strings
from bae_source.syntax.outline.tree import parse, parse_module
from bae_source.syntax.text.source import Source

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor)
_WITHS = (ast.With, ast.AsyncWith)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
_BINDERS = ("globals", "vars", "locals", "setattr", "exec")
_MAY_IMPORT_LATER = re.compile(r"^[ \t]+(?:from|import)\b|\b(?:import_module|__import__|exec)\b", re.MULTILINE)
_SETTERS = ("setattr", "vars")
_RUN_ANNOTATIONS = sys.version_info < (3, 14)


class OnImport(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What a module does while it is imported.

    Parameters:
        steps: in their order.
        exported: the names in a static `__all__`; None where there is none, or it cannot be read off.
        calls: what it calls of what it imports.
    """

    steps: tuple[Step, ...]
    exported: tuple[str, ...] | None = None
    calls: tuple[tuple[str, ...], ...] = ()


def on_import(source: Source) -> OnImport:
    """Return what a file does when it is imported.

    Raises:
        SourceError: it does not parse.
    """
    reader = _read(source)
    if isinstance(reader, Outline):
        return OnImport(steps=tuple(step for _, step in _by_outline(reader)), exported=reader.exported)
    return OnImport(steps=reader.found(), exported=reader.exported, calls=reader.called())


def import_lines(source: Source) -> Iterator[tuple[int, Step]]:
    """Yield the steps of a file that import something, or may, each with the line where that stands.

    Raises:
        SourceError: it does not parse.
    """
    reader = _read(source)
    if isinstance(reader, Outline):
        steps = [(source.lines.number(start), step) for start, step in _by_outline(reader)]
    else:
        steps = list(reader.with_lines())
    yield from ((line, step) for line, step in steps if step.module is not None or step.unclear or step.calls)


def imported_when_called(source: Source) -> Callable[[str], tuple[Step, ...]]:
    """Return what tells for a function, a method or a class of a file what a call of it imports.

    Raises:
        SourceError: it does not parse.
    """
    if _MAY_IMPORT_LATER.search(source.text) is None:
        return lambda _: ()
    reader = _read(source)
    if isinstance(reader, Outline):
        return lambda _: ()
    return cache(lambda name: tuple(step for _, step in reader.functions.steps(name) if not step.calls))


def _read(source: Source) -> _Reader | Outline:
    """Return the steps of a file; its outline where it is newer than this Python, or too deep."""
    try:
        body = parse_module(source.text).body
        called = called_names(body) if any(word in source.text for word in IMPORTERS) else CalledNames()
        reader = _Reader(body, called, functions_bind="global" in source.text)
        reader.suite(body, coped=False, hidden=None)
    except (SyntaxError, RecursionError, MemoryError):
        return parse(source).outline
    return reader


class _Reader:
    """Gathers the steps of one module.

    Parameters:
        body: its statements.
        called: what its names mean in calls that import.
        functions_bind: whether its functions may bind names of the module, and are looked into for that.

    Attributes:
        functions: those that it may call.
    """

    def __init__(self, body: Sequence[ast.stmt], called: CalledNames, *, functions_bind: bool) -> None:
        self.exported: tuple[str, ...] | None = None
        self._steps: list[Step] = []
        self._lines: list[int] = []
        self._noted: set[tuple[bool, tuple[str, ...]]] = set()
        self._functions_bind = functions_bind
        self._typing_names = type_checking_names(body)
        self.functions = OwnFunctions(body, self._typing_names, called)
        self._called_names = called
        self._called: set[tuple[str, bool]] = set()
        self._annotations = _RUN_ANNOTATIONS and not any(
            isinstance(each, ast.ImportFrom)
            and each.module == "__future__"
            and any(alias.name == "annotations" for alias in each.names)
            for each in body
        )

    def found(self) -> tuple[Step, ...]:
        """Return the steps; of attributes those of what an import binds."""
        imported = self._imported()
        return tuple(step for step in self._steps if not step.calls and {*step.reads[:1], *step.sets[:1]} <= imported)

    def called(self) -> tuple[tuple[str, ...], ...]:
        """Return what is called of what an import binds, each once."""
        imported = self._imported()
        return tuple(dict.fromkeys(step.calls for step in self._steps if step.calls and step.calls[0] in imported))

    def _imported(self) -> set[str]:
        return {name for step in self._steps if step.module is not None for name in step.binds}

    def with_lines(self) -> Iterator[tuple[int, Step]]:
        """Yield the steps, each with its line; 0 for one that imports nothing."""
        yield from zip(self._lines, self._steps, strict=True)

    def suite(self, body: Sequence[ast.stmt], *, coped: bool, hidden: frozenset[str] | None) -> None:
        """Walk statements; `hidden` are the names of the classes around them, None outside of any."""
        for statement in body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._import(statement, coped=coped, hidden=hidden)
            elif isinstance(statement, _FUNCTIONS):
                self._function(statement, coped=coped, hidden=hidden)
            elif isinstance(statement, ast.ClassDef):
                self._decorated(statement, coped, hidden)
                self._exprs([*statement.decorator_list, *statement.bases, *statement.keywords], coped, hidden)
                inner = (hidden or frozenset()) | frozenset(_bound_in(statement.body))
                self.suite(statement.body, coped=coped, hidden=inner)
                self._bind([statement.name], hidden)
            elif isinstance(statement, ast.If):
                self._if(statement, coped=coped, hidden=hidden)
            elif isinstance(statement, _TRIES):
                self._try(statement, coped=coped, hidden=hidden)
            elif isinstance(statement, _WITHS):
                guarded = coped or any(may_swallow(item.context_expr) for item in statement.items)
                self._exprs(statement.items, guarded, hidden)
                self._bind([name for item in statement.items for name in _names(item.optional_vars)], hidden)
                self.suite(statement.body, coped=guarded, hidden=hidden)
            else:
                self._other(statement, coped=coped, hidden=hidden)

    def _other(self, statement: ast.stmt, *, coped: bool, hidden: frozenset[str] | None) -> None:
        """Walk a loop, a `match`, or what is no compound statement."""
        if isinstance(statement, _LOOPS):
            self._exprs([statement.iter], coped, hidden)
            self._bind(_names(statement.target), hidden)
        elif isinstance(statement, ast.Match):
            self._exprs([statement.subject], coped, hidden)
        elif isinstance(statement, ast.AnnAssign):
            self._exprs([statement.annotation] if self._annotations else [], coped, hidden)
            self._assigned(statement, [statement.target] if statement.value else [], coped=coped, hidden=hidden)
        elif isinstance(statement, (ast.Assign, ast.AugAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            self._assigned(statement, targets, coped=coped, hidden=hidden)
        elif isinstance(statement, ast.While):
            self._exprs([statement.test], coped, hidden)
        elif hasattr(statement, "type_params"):  # a type alias, whose value is worked out later
            self._bind(_names(getattr(statement, "name", None)), hidden)
        elif isinstance(statement, ast.Global):
            self._bind(statement.names, None)
        elif isinstance(statement, ast.Assert):
            self._exprs([statement.test], coped, hidden)
        else:
            self._exprs(list(ast.iter_child_nodes(statement)), coped, hidden)
        for inner in (getattr(statement, "body", ()), getattr(statement, "orelse", ())):
            self.suite(inner, coped=True, hidden=hidden)
        for case in getattr(statement, "cases", ()):
            self._bind(_names(case.pattern), hidden)
            self.suite(case.body, coped=True, hidden=hidden)

    def _assigned(
        self,
        statement: ast.Assign | ast.AugAssign | ast.AnnAssign,
        targets: Sequence[ast.expr],
        *,
        coped: bool,
        hidden: frozenset[str] | None,
    ) -> None:
        self._exprs([statement.value, *targets], coped, hidden)
        names = [name for target in targets for name in _names(target)]
        if "__all__" in names and hidden is None:
            self._exports(statement, coped=coped)
        self._bind([name for name in names if name != "__all__"], hidden)

    def _import(self, node: ast.Import | ast.ImportFrom, *, coped: bool, hidden: frozenset[str] | None) -> None:
        for step in steps_of(node):
            self.exported = self.exported if step.binds != ("__all__",) else None
            self._add(replace(step, binds=step.binds if hidden is None else (), coped=coped), node.lineno)

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, *, coped: bool, hidden: frozenset[str] | None
    ) -> None:
        given = node.args
        self._decorated(node, coped, hidden)
        self._exprs([*node.decorator_list, *given.defaults, *given.kw_defaults], coped, hidden)
        if self._annotations:
            every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
            self._exprs([*(each.annotation for each in every if each), node.returns], coped, hidden)
        self._bind([node.name], hidden)
        if self._functions_bind:
            self._bind([*_bound_outside(node)], None)

    def _decorated(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, coped: bool, hidden: frozenset[str] | None
    ) -> None:
        for each in node.decorator_list:
            if not isinstance(each, ast.Call):  # which are calls as they stand
                self._run(chain_of(each)[0], each.lineno, coped, hidden)

    def _if(self, node: ast.If, *, coped: bool, hidden: frozenset[str] | None) -> None:
        self._exprs([node.test], coped, hidden)
        never = is_skipped(node.test, self._typing_names)
        if never is not True:
            self.suite(node.body, coped=coped or never is None, hidden=hidden)
        if never is not False:
            self.suite(node.orelse, coped=coped or never is None, hidden=hidden)

    def _try(self, node: ast.Try, *, coped: bool, hidden: frozenset[str] | None) -> None:
        guarded = coped or any(not isinstance(handler.body[-1], ast.Raise) for handler in node.handlers)
        self.suite(node.body, coped=guarded, hidden=hidden)
        for handler in node.handlers:
            self._bind([handler.name] if handler.name else (), hidden)
            self.suite(handler.body, coped=True, hidden=hidden)
        self.suite(node.orelse, coped=guarded, hidden=hidden)
        self.suite(node.finalbody, coped=coped, hidden=hidden)

    def _exprs(self, nodes: Sequence[ast.AST | None], coped: bool, hidden: frozenset[str] | None) -> None:
        """Note what expressions read, and what they bind by `:=`."""
        waiting = [(node, coped) for node in reversed(nodes)]
        while waiting:
            node, unsure = waiting.pop()
            if node is None or isinstance(node, ast.Constant):
                continue
            if isinstance(node, (ast.Name, ast.Attribute)):
                chain, inner = chain_of(node)
                self._chained(chain, node.ctx, unsure=unsure, hidden=hidden)
                waiting.append((inner, unsure))
                continue
            if isinstance(node, ast.Call):
                self._call(node, unsure, hidden)
            self._may_bind(node, hidden)
            waiting += [(inner, unsure or not sure) for inner, sure in reversed(list(parts_run(node)))]

    def _call(self, node: ast.Call, unsure: bool, hidden: frozenset[str] | None) -> None:
        """Note what a call imports: that of `import_module`, of one of the module's own functions, or of another's."""
        chain = called(node.func)
        self._run(chain, node.lineno, unsure, hidden)
        if not self.functions.has(".".join(chain)):
            for step in steps_of_call(node, self._called_names):
                self._add(replace(step, binds=(), coped=True), node.lineno)  # the name may mean another function

    def _run(self, chain: tuple[str, ...], line: int, unsure: bool, hidden: frozenset[str] | None) -> None:
        """Note what one of the module's functions imports, another time nothing; of others that it is called."""
        name = ".".join(chain)
        if not chain or (hidden or frozenset()) & {chain[0], "*"}:
            return
        if not self.functions.has(name):
            self._add(Step(calls=chain), line)
            return
        if {(name, unsure), (name, False)} & self._called:
            return
        self._called.add((name, unsure))
        for inner, step in self.functions.steps(name):
            self._add(Step(calls=step.calls) if step.calls else replace(step, coped=unsure or step.coped), inner)

    def _chained(
        self, chain: tuple[str, ...], how: ast.expr_context, *, unsure: bool, hidden: frozenset[str] | None
    ) -> None:
        """Note what is done with `a.b.c`."""
        if not chain:
            return
        if chain[0] == "__all__" and self.exported is not None and not isinstance(how, ast.Store):
            self.exported = None  # whatever it is read for
            self._bind(["__all__"], None)
        if "__dict__" in chain:
            self._sets(chain[: chain.index("__dict__")], "*")
        reads = chain if isinstance(how, ast.Load) else chain[:-1]
        if len(reads) > 1 and not unsure and not (hidden or frozenset()) & {reads[0], "*"}:
            self._note(reads, sets=False)
        if reads != chain:
            self._sets(reads, "*" if chain[-1] == "__class__" else chain[-1])

    def _may_bind(self, node: ast.AST, hidden: frozenset[str] | None) -> None:
        """Note what an expression binds, or may."""
        if isinstance(node, ast.NamedExpr):
            self._bind(_names(node.target), hidden)
        elif isinstance(node, ast.Subscript) and chain_of(node.value)[0] == ("sys", "modules"):
            self._bind(["*"], None)  # another object may stand for the module
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in _BINDERS:
                self._bind(["*"], None)  # wherever it stands
            if node.func.id in _SETTERS and node.args:
                self._sets(chain_of(node.args[0])[0], "*")

    def _sets(self, module: tuple[str, ...], attribute: str) -> None:
        if module:
            self._note((*module, attribute), sets=True)

    def _note(self, chain: tuple[str, ...], *, sets: bool) -> None:
        if (sets, chain) not in self._noted:
            self._noted.add((sets, chain))
            self._add(Step(sets=chain) if sets else Step(reads=chain))

    def _add(self, step: Step, line: int = 0) -> None:
        self._steps.append(step)
        self._lines.append(line)

    def _bind(self, names: Sequence[str], hidden: frozenset[str] | None) -> None:
        if names and hidden is None:
            self._add(Step(binds=tuple(names)))

    def _exports(self, statement: ast.Assign | ast.AugAssign | ast.AnnAssign, *, coped: bool) -> None:
        strings = static_strings(statement.value) if not coped else None
        before = self.exported if isinstance(statement, ast.AugAssign) else ()
        self.exported = (*before, *strings) if strings is not None and before is not None else None
        self._add(Step(binds=("__all__",), exported=self.exported))


def _names(target: ast.AST | None) -> list[str]:
    """Return the names that a target or a pattern binds."""
    if target is None or isinstance(target, (ast.Attribute, ast.Subscript)):
        return []
    own = [target.id] if isinstance(target, ast.Name) else _own_names(target)
    return own + [name for inner in ast.iter_child_nodes(target) for name in _names(inner)]


def _own_names(node: ast.AST) -> list[str]:
    """Return the names that a node binds as plain text: a pattern, a handler, or a definition."""
    return [name for name in (getattr(node, "name", None), getattr(node, "rest", None)) if isinstance(name, str)]


def _bound_in(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that a class's suite may bind, so that they mean nothing of the module there; `*` for any."""
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            yield statement.name
        else:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name):
                    if not isinstance(node.ctx, ast.Load):
                        yield node.id
                    elif node.id in _BINDERS:
                        yield "*"
                elif isinstance(node, (ast.Import, ast.ImportFrom)):
                    yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
                elif isinstance(node, (ast.ExceptHandler, ast.pattern, ast.ClassDef, *_FUNCTIONS)):
                    yield from _own_names(node)


def _bound_outside(function: ast.AST) -> Iterator[str]:
    """Yield the names of the module that a function binds when it is called; `*` for any."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            yield from node.names
        elif isinstance(node, ast.Name) and node.id == "globals":
            yield "*"


def _by_outline(outline: Outline) -> Iterator[tuple[int, Step]]:
    """Yield what can be told by definitions and imports alone, with the offset of each."""
    found = [
        (each.start, Step(binds=(each.name,) if bound else (), module=each.module, attribute=each.attribute,
                          level=each.level, coped=not each.top))
        for imports, bound in ((outline.imports, True), (outline.class_imports, False))
        for each in imports
        if not each.typing_only
    ]  # fmt: skip
    found += [(each.keyword, Step(binds=each.names)) for each in outline.definitions if each.parent == MODULE]
    yield from sorted(found, key=lambda each: each[0])
