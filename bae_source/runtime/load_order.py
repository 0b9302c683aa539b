"""In which order changed modules are loaded again: what a module imports comes before it.

Invariant: nothing is parsed here; compiled code says what it imports and which names it binds.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType

_STORES = {"STORE_NAME", "STORE_GLOBAL"}


def stored_names(code: CodeType) -> frozenset[str]:
    """Return the names that a module's code binds at its top level; what `import *` brings is not known."""
    return frozenset(step.argval for step in dis.get_instructions(code) if step.opname in _STORES)


def code_objects(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_objects(constant)


def dependencies_first(codes: Mapping[str, CodeType], packages: Mapping[str, str]) -> tuple[str, ...]:
    """Order modules by what they import; a cycle keeps the given order.

    Parameters:
        codes: compiled modules by name.
        packages: for each, the package that its relative imports start from.
    """
    needs = {name: [other for other in imported(codes[name], packages[name]) if other in codes] for name in codes}
    ordered: dict[str, None] = {}
    visiting: set[str] = set()

    def visit(name: str) -> None:
        if name in ordered or name in visiting:
            return
        visiting.add(name)
        for other in needs[name]:
            visit(other)
        ordered[name] = None

    for name in codes:
        visit(name)
    return tuple(ordered)


def imported(code: CodeType, package: str) -> Sequence[str]:
    """Return what a module imports at its top level: for `from a import b` both `a` and `a.b`."""
    found: list[str] = []
    constants: list[object] = []
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_CONST" or step.opname == "LOAD_SMALL_INT":
            constants.append(step.argval)
        elif step.opname == "IMPORT_NAME" and len(constants) >= 2:
            level, names = constants[-2], constants[-1]
            base = _absolute(step.argval, level if isinstance(level, int) else 0, package)
            found.append(base)
            found += (f"{base}.{name}" for name in (names if isinstance(names, tuple) else ()))
    return found


def _absolute(name: str, level: int, package: str) -> str:
    if not level:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])
