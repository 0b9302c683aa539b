"""One step of what a module does while it is imported, and the steps that an import is.

import app                           imports app, binds `app`
import app.core as c                 takes `core` of app, binds `c`
from .core import A as B             imports .core, takes `A` of it, binds `B`
import_module("app.core")            imports app.core
import_module(".core", __package__)  imports .core
import_module(name)                  what cannot be told, unless `name` is a string that stands in the module
exec("import app.core")              imports app.core
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from bae_source.syntax.importing.conditions import chain_of
from bae_source.syntax.outline.static_values import static_strings
from bae_source.system.silence import unwarned

IMPORTERS = ("import_module", "__import__")
"""The functions that import a module whose name they are given."""
_END = re.compile(r"\)")
_MOST_ENDS = 8
"""How many brackets are tried as that which ends a call."""
_RUNNERS = (("exec",), ("eval",))
_LONGEST_CODE = 20_000
_MOST_STRINGS = 100
_LONGEST_SHOWN = 80
_OWN = "\0"
"""What stands for the importer's own package in the strings that a name is put together from."""
_OWN_PACKAGE = ("__package__", "__name__")  # the second one is the package in an `__init__`, and fails elsewhere


class Step(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One thing that a module does.

    Parameters:
        binds: the names that the module has behind it; `*` for a star import, and for what code binds by names that do
            not stand in it.
        module: the module that it imports, without leading dots; None where it imports none.
        attribute: what it takes of that; None for `import module`.
        level: how many leading dots.
        reads: a name that an import binds, with the attributes that are read of it; empty where nothing is read.
        sets: likewise, where the last of these is set instead; `*` stands for any.
        exported: the names in `__all__` from here on, where the step binds it; None where they cannot be read off.
        coped: whether it may not happen, or may fail without harm.
        unclear: a call that imports a module of which cannot be told which one, as it stands; it does nothing else.
        calls: a function or class that it calls, in its pieces; it does nothing else.
    """

    binds: tuple[str, ...] = ()
    module: str | None = None
    attribute: str | None = None
    level: int = 0
    reads: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    exported: tuple[str, ...] | None = None
    coped: bool = False
    unclear: str = ""
    calls: tuple[str, ...] = ()


def steps_of(node: ast.Import | ast.ImportFrom) -> Iterator[Step]:
    """Yield what an import statement does, name by name."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            binds = (alias.asname or alias.name,)
            yield Step(binds=binds, module=node.module or "", attribute=alias.name, level=node.level)
        elif alias.asname and "." in alias.name:
            module, _, attribute = alias.name.rpartition(".")
            yield Step(binds=(alias.asname,), module=module, attribute=attribute)
        else:
            yield Step(binds=(alias.asname or alias.name.partition(".")[0],), module=alias.name)


def step_of_call(node: ast.Call, others: Collection[str] = ()) -> Step | None:
    """Return what a call imports by a name that stands in it; None where it imports nothing, or that cannot be told.

    Parameters:
        others: names under which `import_module` was imported.
    """
    found = imports_of_call(node, CalledNames(functions=dict.fromkeys(others, IMPORTERS[0]))) or ()
    return found[0] if found and chain_of(node.func)[0] not in _RUNNERS else None


class CalledNames(Struct, frozen=True, kw_only=True):
    """What names mean in the calls of a module that import modules.

    Parameters:
        functions: those that stand for a function that imports, with its own name.
        strings: those that hold nothing but strings that can be read off, with these.
    """

    functions: Mapping[str, str] = {}
    strings: Mapping[str, tuple[str, ...]] = {}


def called_names(body: Sequence[ast.stmt]) -> CalledNames:
    """Return what a module's own names mean in its calls that import modules; only of names that mean nothing else."""
    bound: Counter[str] = Counter()
    functions: list[tuple[str, str]] = []
    values: list[tuple[str, ast.expr]] = []
    for node in (node for each in body for node in ast.walk(each)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] += 1
        elif isinstance(node, ast.arg):
            bound[node.arg] += 1
        elif isinstance(node, ast.alias):
            bound[node.asname or node.name] += 1
            functions += [(node.asname or node.name, node.name)] if node.name in IMPORTERS else []
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            function = chain_of(node.value)[0]
            functions += [(node.targets[0].id, function[-1])] if function[-1:] and function[-1] in IMPORTERS else []
            values.append((node.targets[0].id, node.value))
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
            values.append((node.target.id, node.iter))
    strings: dict[str, tuple[str, ...]] = {}
    for name, value in values:  # a list has its name before it is looped over
        read = _strings(value, strings) if bound[name] == 1 else None
        if read is None and bound[name] == 1:
            listed = static_strings(value)
            read = tuple(listed) if listed is not None else None
        strings.update({name: read} if read is not None else {})
    counted = Counter(name for name, _ in functions)
    return CalledNames(
        functions={name: own for name, own in functions if counted[name] == bound[name]}, strings=strings
    )


def imports_of_call(node: ast.Call, names: CalledNames) -> tuple[Step, ...] | None:
    """Return what a call imports by names that stand in it; None where it imports, and nobody can tell what.

    Parameters:
        names: what names mean around it.
    """
    function = chain_of(node.func)[0]
    if not function:
        return ()
    given = {each.arg: each.value for each in node.keywords}
    if function in _RUNNERS:
        return _imports_of_code(node.args[0], function[0], names) if node.args else ()
    if function == ("map",) and len(node.args) == 2 and (mapped := chain_of(node.args[0])[0]):
        function, arguments = mapped, node.args[1:]
    else:
        arguments = node.args
    own = function[-1] if function[-1] in IMPORTERS else names.functions.get(".".join(function), "")
    wanted = arguments[0] if arguments else given.get("name")
    if not own or wanted is None or any(isinstance(each, ast.Starred) for each in arguments):
        return None if own and node.args else ()
    found = _strings(wanted, names.strings) or static_strings(wanted)
    if found is None:
        return None
    if own == "__import__":
        return _imports_of_dunder(found, given, arguments)
    steps = [_step(name, arguments[1] if len(arguments) > 1 else given.get("package")) for name in found]
    told = tuple(step for step in steps if step is not None)
    return told if len(told) == len(steps) else None


def steps_of_call(node: ast.Call, names: CalledNames) -> Iterator[Step]:
    """Yield what a call imports, or that it imports what cannot be told."""
    found = imports_of_call(node, names)
    yield from (Step(unclear=_shown(node)),) if found is None else (replace(step, binds=()) for step in found)


def _shown(node: ast.Call) -> str:
    text = ast.unparse(node)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def _imports_of_dunder(
    names: Sequence[str], given: Mapping[str | None, ast.expr], arguments: Sequence[ast.expr]
) -> tuple[Step, ...] | None:
    """Return what `__import__(name, globals, locals, fromlist, level)` imports."""
    level = arguments[4] if len(arguments) > 4 else given.get("level", ast.Constant(0))
    if not isinstance(level, ast.Constant) or not isinstance(level.value, int) or level.value < 0:
        return None
    taken = arguments[3] if len(arguments) > 3 else given.get("fromlist")
    attributes: list[str | None] = [each for each in (static_strings(taken) or ()) if each] or [None]
    return tuple(
        Step(module=name, attribute=attribute, level=level.value) for name in names for attribute in attributes
    )


def _imports_of_code(code: ast.expr, function: str, names: CalledNames) -> tuple[Step, ...] | None:
    """Return what `exec` and `eval` import that are given code as text; None where the text of `exec` is not there."""
    if isinstance(code, ast.Call) and chain_of(code.func)[0] == ("compile",) and code.args:
        code = code.args[0]
    text = _text(code)
    if text is None or len(text) > _LONGEST_CODE:
        return None if function == "exec" else ()
    try:
        with unwarned():
            body = ast.parse(text.strip() if function == "eval" else text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()  # it raises
    found: list[Step] = []
    for node in (node for each in body for node in ast.walk(each)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found += steps_of(node)
        elif isinstance(node, ast.Call):
            found += imports_of_call(node, names) or ()
    return tuple(found)


def _step(name: str, package: ast.expr | None) -> Step | None:
    """Return what `import_module(name, package)` imports; None where that cannot be told."""
    if name.startswith(_OWN):
        name, package = name.removeprefix(_OWN), ast.Name(_OWN_PACKAGE[0])
        if not name.startswith("."):
            return None
    if not name.startswith("."):
        return Step(module=name) if name else None
    module = name.lstrip(".")
    level = len(name) - len(module)
    if isinstance(package, ast.Name) and package.id in _OWN_PACKAGE:
        return Step(module=module, level=level)
    around = (_text(package) or "").split(".")
    kept = len(around) - (level - 1)
    return Step(module=".".join((*around[:kept], *([module] if module else ())))) if around[0] and kept > 0 else None


def step_at(text: str, others: Collection[str]) -> Step | None:
    """Return what a call imports that a text begins with, the dots before its name left out; as `step_of_call`.

    Parameters:
        others: as those of `step_of_call`.
    """
    for end in islice(_END.finditer(text), _MOST_ENDS):
        try:
            found = ast.parse(text[: end.end()], mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # it goes on in brackets, or this one is part of a string
        return step_of_call(found, others) if isinstance(found, ast.Call) else None
    return None


def _strings(node: ast.expr, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the strings that an expression may be; None where they cannot be read off.

    Parameters:
        known: what names may hold.
    """
    if isinstance(node, ast.Name):
        return (_OWN,) if node.id in _OWN_PACKAGE else known.get(node.id)
    if isinstance(node, ast.FormattedValue):
        return _strings(node.value, known) if node.conversion == -1 and node.format_spec is None else None
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
        parts = [_strings(each, known) for each in (node.values if isinstance(node, ast.JoinedStr) else _terms(node))]
        read = [part for part in parts if part is not None]
        if len(read) < len(parts) or prod(map(len, read)) > _MOST_STRINGS:
            return None
        return tuple(map("".join, product(*read)))
    text = _text(node)
    return None if text is None else (text,)


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what is added up, from the left."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Add):
            waiting += (each.right, each.left)
        else:
            yield each


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
