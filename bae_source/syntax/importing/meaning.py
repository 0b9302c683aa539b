"""The thing that an import binds its name to, however the import is spelled.

    from .n import x         in pkg.m: the same as `from pkg.n import x`
    import a.b as b          the same as `from a import b`
    import a.b               binds `a`, and loads a.b besides

Invariants:
- a relative import that leads out of its top package keeps its dots, so that it equals only itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct


class Place(Struct, frozen=True, kw_only=True):
    """The module whose imports are looked at.

    Parameters:
        module: its dotted name.
        package: whether it is a package's `__init__`.
    """

    module: str
    package: bool = False

    def absolute(self, module: str, level: int) -> str:
        """Return the absolute name of a module that an import names."""
        if not level:
            return module
        parts = self.module.split(".")
        kept = len(parts) - level + self.package
        if kept < 1:
            return "." * level + module
        return ".".join([*parts[:kept], *([module] if module else [])])


class Bound(Struct, frozen=True, kw_only=True):
    """One name that an import binds.

    Parameters:
        key: the name; `*` followed by the module for a star import, a dotted name for a module that is loaded besides.
        thing: the module, and what is taken from it; a module itself is taken from the package around it.
    """

    key: str
    thing: tuple[str, str]


def bindings(node: ast.Import | ast.ImportFrom, alias: ast.alias, place: Place) -> Iterator[Bound]:
    """Yield the bindings of one part of an import statement."""
    if isinstance(node, ast.ImportFrom):
        module = place.absolute(node.module or "", node.level)
        key = f"*{module}" if alias.name == "*" else alias.asname or alias.name
        yield Bound(key=key, thing=(module, alias.name))
        return
    above, _, last = alias.name.rpartition(".")
    if alias.asname:
        yield Bound(key=alias.asname, thing=(above, last))
        return
    parts = alias.name.split(".")
    yield Bound(key=parts[0], thing=("", parts[0]))
    for length in range(2, len(parts) + 1):
        loaded = ".".join(parts[:length])
        yield Bound(key=loaded, thing=("", loaded))
