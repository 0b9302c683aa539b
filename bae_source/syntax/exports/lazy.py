"""Tables by which a package finds names only when they are asked for.

    _LAZY = {"A": ".x", "B": "pkg.y"}                    name -> module
    _LAZY = {"A": (".x", "A")}, {"A": "pkg.x.A"}         name -> module and name
    _import_structure = {"x": ["A", "B"]}                module -> names
    attach(__name__, submodules=["y"], submod_attrs={"x": ["A"]})
    recreate_module(__name__, by_module={"pkg.x": ["A"]})

The function that finds them is `__getattr__` of the package, or of a class of which it makes another module object:
`sys.modules[__name__] = Lazy(__name__)`, `sys.modules[__name__].__class__ = Lazy`.

Invariants:
- a dictionary is such a table only if the module loads lazily, by a call that can import, looks something up in it for
  more than an error's text, and its values are spelled in one of these ways, with modules that the package has;
  anything else is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.exports.view import BRANCH, Listed, Statement, View
from bae_source.syntax.outline.static_values import is_typing_test
from bae_source.syntax.text.items import Items, items_of

_WITH_TABLES = {"attach": "submod_attrs", "recreate_module": "by_module"}
"""Functions that get a table, as their third argument or by its name."""
_LAZY_MODULES = ("_LazyModule", "LazyModule", *_WITH_TABLES)
_STUB = "attach_stub"

_MODULES = (".{module}", "{package}.{module}", "{module}")
"""Spellings of a module in a table."""
_SPELLINGS = tuple(module + name for name in ("", ".{name}", ":{name}") for module in _MODULES)
"""Spellings of a module and its name in one string."""


class Table(Struct, frozen=True, kw_only=True):
    """One table of names that are found when they are asked for.

    Parameters:
        entries: the places of its entries.
        quote: the quotes of its keys.
        values: what each entry holds: the text of its value where that is one, or module and name of a pair.
        lists: the names of each module, where modules are the keys; empty where names are.
        spelling: how it spells a module, as a format of `package`, `module` and `name`.
        pair: whether values are pairs; then the text in front of, between and behind them.
    """

    entries: Items
    quote: str
    values: tuple[tuple[str, ...], ...]
    lists: tuple[Listed, ...]
    spelling: str
    pair: tuple[str, str, str] | None = None

    def entry(self, package: str, module: str, name: str) -> str:
        """Return the text of a new entry for one name."""
        value = f"{self.quote}{self.spelling.format(package=package, module=module, name=name)}{self.quote}"
        if self.pair:
            value = f"{self.pair[0]}{value}{self.pair[1]}{self.quote}{name}{self.quote}{self.pair[2]}"
        return f"{self.quote}{name}{self.quote}: {value}"


def is_lazy(view: View) -> bool:
    """Return whether a package finds names only when they are asked for."""
    nodes = [node for each in view.statements for node in _outside_functions(each.node)]
    if any(_is_marker(node) for node in nodes):
        return True
    is_set = any(_is_own_entry(target) for node in nodes for target in _targets(node))
    return is_set and any(_is_marker(inner) for node in nodes if isinstance(node, ast.ClassDef) for inner in node.body)


def is_replaced(view: View) -> bool:
    """Return whether a package puts another object in its place in `sys.modules`, which may lack the names it binds."""
    nodes = (node for each in view.statements for node in _outside_functions(each.node))
    return any(isinstance(target, ast.Subscript) and _is_own_entry(target) for n in nodes for target in _targets(n))


def by_stub(view: View) -> bool:
    """Return whether its stub tells what is found."""
    calls = (node for each in view.statements for node in ast.walk(each.node) if isinstance(node, ast.Call))
    return any(_name_of(call.func) == _STUB for call in calls)


def tables(view: View, package: str, modules: Sequence[str]) -> list[Table]:
    """Return the tables of a package.

    Parameters:
        package: its name.
        modules: the names of all modules below it, without its own name in front.
    """
    if not is_lazy(view) or not _imports_something(view):
        return []
    read = {name for each in view.statements for name in _names_read(each.node)}
    found = []
    for statement, node, name in _dictionaries(view):
        if name is not None and name not in read:
            continue
        table = _table(view, statement, node, package, modules)
        if table is not None:
            found.append(table)
    return found


def exposing_spans(view: View, package: str, modules: Sequence[str]) -> tuple[Span, ...]:
    """Return the places that say what a package exposes, apart from imports: `__all__` and tables.

    Parameters: as `tables` has them.
    """
    listed = submodules(view)
    inside = [table.entries.inside for table in tables(view, package, modules)]
    return (*(each.span for each in view.alls if each.how != BRANCH), *inside, *([listed.span] if listed else ()))


def submodules(view: View) -> Listed | None:
    """Return the list of modules that are found by their names."""
    for each in view.statements if "attach" in view.text else ():
        for node in ast.walk(each.node):
            if isinstance(node, ast.Call) and _name_of(node.func) == "attach":
                wanted = [word.value for word in node.keywords if word.arg == "submodules"] + node.args[1:2]
                for value in wanted:
                    inner = value.args[0] if isinstance(value, ast.Call) and value.args else value
                    if listed := view.listed(each, inner):
                        return listed
    return None


def names_in(table: Table, package: str, module: str) -> list[str]:
    """Return the names that a table finds in a module."""
    if table.lists:
        key = table.spelling.format(package=package, module=module, name="")
        lists = zip(table.entries.keys, table.lists, strict=True)
        return [name for each, listed in lists if each == key for name in listed.names if name]
    pairs = zip(table.entries.keys, table.values, strict=True)
    return [
        name for name, value in pairs if value[0] == table.spelling.format(package=package, module=module, name=name)
    ]


def _is_marker(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name == "__getattr__"
    if isinstance(node, ast.Call):
        return _name_of(node.func) in _LAZY_MODULES
    return isinstance(node, ast.Name) and node.id == "__getattr__" and isinstance(node.ctx, ast.Store)


def _targets(node: ast.AST) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else []


def _is_own_entry(node: ast.expr) -> bool:
    """Return whether something is `sys.modules[__name__]`, or the class of that."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__" and _is_own_entry(node.value)
    if not isinstance(node, ast.Subscript) or _name_of(node.value) != "modules":
        return False
    return isinstance(node.slice, ast.Name) and node.slice.id == "__name__"


def _imports_something(view: View) -> bool:
    """Return whether a call could import a requested name."""
    for each in view.statements:
        for node in ast.walk(each.node):
            if isinstance(node, ast.Call):
                name = _name_of(node.func)
                if "import" in name or name in ("getattr", *_LAZY_MODULES, _STUB):
                    return True
    return False


def _names_read(node: ast.AST) -> Iterator[str]:
    """Yield the names that are read, but for what an error's text or a test for membership reads."""
    if isinstance(node, ast.Raise):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    tested = node.comparators if isinstance(node, ast.Compare) else ()
    for child in ast.iter_child_nodes(node):
        if not (child in tested and isinstance(child, ast.Name)):
            yield from _names_read(child)


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return
    for child in ast.iter_child_nodes(node):
        yield from _outside_functions(child)


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _dictionaries(view: View) -> Iterator[tuple[Statement, ast.Dict, str | None]]:
    """Yield the dictionaries that could be tables, with the name each is bound to."""
    for each in view.statements:
        node = each.node
        if isinstance(node, ast.If) and is_typing_test(node.test):
            continue
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(node.value, ast.Dict) and isinstance(target, ast.Name):
                yield each, node.value, target.id
            elif isinstance(node.value, ast.Call) and (word := _WITH_TABLES.get(_name_of(node.value.func))):
                values = [given.value for given in node.value.keywords if given.arg == word]
                for value in [*values, *node.value.args[2:3]]:
                    if isinstance(value, ast.Dict):
                        yield each, value, None


def _table(view: View, statement: Statement, node: ast.Dict, package: str, modules: Sequence[str]) -> Table | None:
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    if not keys or len(keys) != len(node.keys):
        return None
    spans = [
        Span(statement.span(key).start, statement.span(value).end)
        for key, value in zip(node.keys, node.values, strict=True)
    ]
    whole = statement.span(node)
    entries = items_of(view.text, spans, keys, Span(whole.start + 1, whole.end - 1))
    if entries is None:
        return None
    quote = "'" if view.text[spans[0].start] == "'" else '"'
    lists = [view.listed(statement, value) for value in node.values]
    if all(isinstance(value, ast.Constant) and isinstance(value.value, str) for value in node.values):
        texts = [(value.value,) for value in node.values]  # type: ignore[attr-defined]
        spelling = _spelling(
            _SPELLINGS, package, modules, [(text[0], key) for text, key in zip(texts, keys, strict=True)]
        )
        return (
            Table(entries=entries, quote=quote, values=tuple(texts), lists=(), spelling=spelling) if spelling else None
        )
    if any(each is None or None in each.names for each in lists):
        return None
    named = [each for each in lists if each is not None]
    if all(
        len(each.names) == 2 and isinstance(value, ast.Tuple) for each, value in zip(named, node.values, strict=True)
    ):
        pairs = [(str(each.names[0]), str(each.names[1])) for each in named]
        if spelling := _spelling(_MODULES, package, modules, pairs):
            return Table(
                entries=entries,
                quote=quote,
                values=tuple(pairs),
                lists=(),
                spelling=spelling,
                pair=_around(view.text, named[-1]),
            )
    spelling = _spelling(_MODULES, package, modules, [(key, "") for key in keys])
    if spelling is None:
        return None
    return Table(
        entries=entries, quote=quote, values=tuple((key,) for key in keys), lists=tuple(named), spelling=spelling
    )


def _around(text: str, pair: Listed) -> tuple[str, str, str]:
    """Return what stands in front of, between and behind the two strings of a pair."""
    first, second = pair.items.spans
    return text[pair.span.start : first.start], text[first.end : second.start], text[second.end : pair.span.end]


def _spelling(ways: Sequence[str], package: str, modules: Sequence[str], seen: Sequence[tuple[str, str]]) -> str | None:
    """Return the way in which most of some texts spell a module of the package; None if less than half do in any."""
    counts = {
        way: sum(
            any(way.format(package=package, module=module, name=name) == text for module in modules)
            for text, name in seen
        )
        for way in ways
    }
    best = max(counts, key=lambda way: counts[way])
    return best if counts[best] and 2 * counts[best] >= len(seen) else None
