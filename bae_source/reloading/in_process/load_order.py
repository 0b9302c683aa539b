"""The order in which changed modules are loaded again: what a module imports comes before it.

Invariant: nothing is parsed here; compiled code says what it imports and which names it binds.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import CodeType

from msgspec import Struct

from bae_source.system.graphs import components

_STORES = {"STORE_NAME", "STORE_GLOBAL"}
_OF_IMPORTS = {
    *_STORES, "IMPORT_FROM", "IMPORT_STAR", "CALL_INTRINSIC_1", "POP_TOP", "SWAP", "ROT_TWO", "EXTENDED_ARG", "CACHE",
}  # fmt: skip


class Import(Struct, frozen=True, kw_only=True):
    """An import statement at a module's top level.

    Parameters:
        module: what is imported, absolute.
        names: what is taken from it; empty for `import module`.
        bound: the names that the statement binds; `*` for all there are.
    """

    module: str
    names: tuple[str, ...]
    bound: tuple[str, ...]


def stored_names(code: CodeType) -> frozenset[str]:
    """Return the names that a module's code binds at its top level; what `import *` brings is not known."""
    return frozenset(step.argval for step in dis.get_instructions(code) if step.opname in _STORES)


def global_names(code: CodeType) -> frozenset[str]:
    """Return those of the stored names that some function declares global: they are not bound through a mapping."""
    return frozenset(step.argval for step in dis.get_instructions(code) if step.opname == "STORE_GLOBAL")


def code_objects(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_objects(constant)


def dependencies_first(
    statements: Mapping[str, Sequence[Import]], edited: Collection[str] = (), modules: Collection[str] = ()
) -> tuple[str, ...]:
    """Order modules by what they import.

    In a cycle the edited modules come first: the names that they take from the others are there already. Among those
    that are alike, a module comes before those that take names from it, and else the given order is kept: those that
    take names from each other can be run in the order in which they were, and hardly in another.

    Parameters:
        statements: the import statements of each module, by its name, in the order in which they were loaded.
        edited: those whose source changed.
        modules: the names of all modules that there are.
    """
    needs = {
        name: [other for each in found for other in _run_by(each, name, modules) if other in statements]
        for name, found in statements.items()
    }
    takes = {name: [other for each in found for other in _taken(each, modules)] for name, found in statements.items()}
    position = {name: number for number, name in enumerate(statements)}.__getitem__
    ordered: list[str] = []
    for cycle in components(needs):
        for group in ({name for name in cycle if name in edited}, {name for name in cycle if name not in edited}):
            taking = {name: takes[name] for name in sorted(group, key=position)}
            ordered += [name for alike in components(taking) for name in sorted(alike, key=position)]
    return tuple(ordered)


def imports(code: CodeType, package: str) -> Sequence[Import]:
    """Return the import statements at a module's top level.

    Parameters:
        package: the package that its relative imports start from.
    """
    found: list[Import] = []
    constants: list[object] = []
    current: tuple[str, tuple[str, ...]] | None = None
    bound: list[str] = []
    for step in [*dis.get_instructions(code), None]:
        if current is not None and (step is None or step.opname not in _OF_IMPORTS):
            found.append(Import(module=current[0], names=current[1], bound=tuple(bound)))
            current, bound = None, []
        if step is None:
            break
        if step.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            constants.append(step.argval)
        elif step.opname == "IMPORT_NAME" and len(constants) >= 2:
            level, names = constants[-2], constants[-1]
            base = _absolute(step.argval, level if isinstance(level, int) else 0, package)
            current = (base, names if isinstance(names, tuple) else ())
            bound += ["*"] if names == ("*",) else []
        elif step.opname in _STORES and current is not None:
            bound.append(step.argval)
    return found


def imports_in_classes(code: CodeType, package: str) -> Iterator[Import]:
    """Yield the import statements in the bodies of classes, which run with the module as well.

    Parameters:
        package: the package that relative imports start from.
    """
    for part in code.co_consts:
        if isinstance(part, CodeType) and not part.co_flags & inspect.CO_OPTIMIZED:
            yield from imports(part, package)
            yield from imports_in_classes(part, package)


def mentioned(statements: Sequence[Import]) -> Sequence[str]:
    """Return the names in import statements: for `from a import b` both `a` and `a.b`."""
    found: list[str] = []
    for each in statements:
        found += [each.module, *(f"{each.module}.{name}" for name in each.names)]
    return found


def _run_by(statement: Import, importer: str, modules: Collection[str]) -> Iterator[str]:
    """Yield the modules that an import runs, which are loaded again before the importer.

    The packages around the importer have begun to run before it did: `from . import sub` takes nothing that they bind.
    """
    inner = [f"{statement.module}.{name}" for name in statement.names]
    own = importer.startswith(f"{statement.module}.")
    if not (own and inner and all(name in modules for name in inner)):
        yield statement.module
    yield from inner
    around = statement.module.rpartition(".")[0]
    if not inner and statement.bound == (statement.module.partition(".")[0],):  # `import a.b` gives what `a` has
        while around and not importer.startswith(f"{around}."):
            yield around
            around = around.rpartition(".")[0]


def _taken(statement: Import, modules: Collection[str]) -> Iterator[str]:
    """Yield the modules that a statement takes names from; what is a module itself is taken for its own names."""
    for name in statement.names:
        inner = f"{statement.module}.{name}"
        yield inner if inner in modules else statement.module


def _absolute(name: str, level: int, package: str) -> str:
    if not level:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])
