"""The house rules of the package as tables, and a checker that reads them against its own imports.

Imports are read with `ast`, nothing is executed. An import inside a function counts like any other, and so does one
under `if TYPE_CHECKING`: who reads a module has to know what it names. `import_module("literal")` is an import too.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "bae_source"
LONGEST_FILE = 600
MOST_MODULES = 20

_EVERYONE = {"errors", "model", "system"}
_FEATURES = {"refactoring", "queries", "resources"}
_WRITERS = {"transaction", "history", "reloading", "language_server", "approval", "state"}

#: What the modules of an area may import besides `errors`, `model` and their own area. The area of a module is the
#: first part of its name below the package; "" is the package's own `__init__`.
FLOORS: Mapping[str, set[str]] = {
    "errors": set(),
    "system": set(),
    "model": set(),
    "syntax": set(),
    "project": {"syntax", "state"},
    **{area: {"project", "syntax"} for area in _FEATURES},
    "resources": {"project", "syntax", "state"},
    **{area: {"state"} for area in _WRITERS},
    "transaction": {"state", "history"},
    "verification": {"syntax", "project", "resources"} | _WRITERS,
    "doctor": {"project"} | _WRITERS,
    "engine": {"verification", "doctor", "project", "syntax"} | _FEATURES | _WRITERS,
    "adapters": {"engine"},
    "": {"engine", "adapters", "functions"},
    "functions": {"adapters"},
    "__main__": {"adapters"},
}

#: The rooms of an area, the lowest first; a module imports from its own room and from lower ones. "" stands for the
#: modules that lie in the area's own folder. Areas that are left out are one room, as is all that lies in a room.
ROOMS: Mapping[str, tuple[str, ...]] = {
    "syntax": (
        "text",
        "patches",
        "outline",
        "names",
        "importing",
        "exports",
        "flow",
        "patterns",
        "rewrite",
        "signatures",
        "templates",
        "codemods",
        "inlining",
    ),
    "project": ("files", "facts", "", "naming", "interfaces", "git", "search", "references", "importing", "reading"),
    "refactoring": (
        "planning",
        "renaming",
        "moving",
        "signature",
        "rewriting",
        "inlining",
        "patching",
        "codemods",
        "extracting",
        "",
    ),
    "transaction": ("disk", "commit"),
    "history": ("record", "travel"),
    "verification": ("staged", "running", ""),
}

LONGEST_PATH = 30
"""Modules on the longest way from import to import."""

#: Where a library lives: prefixes of paths below the package.
HOMES: Mapping[str, tuple[str, ...]] = {
    "libcst": ("syntax/",),
    "git": ("history/record/",),
    "tomlkit": ("resources/",),
    "rich": ("adapters/",),
    "mcp": ("adapters/mcp/",),
    "mcp_types": ("adapters/mcp/",),
    "print": ("adapters/",),
}


@dataclass(frozen=True, order=True)
class Violation:
    """A place that breaks a rule."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True, kw_only=True)
class Import:
    """One imported module; `target` is dotted."""

    target: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Module:
    """One file of the package; `path` is relative to the package's folder, `name` dotted and absolute."""

    name: str
    path: str
    text: str
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def area(self) -> str:
        """The first part of the name below the package."""
        return area_of(self.name)


def read(package: Path) -> dict[str, Module]:
    """Read every module under the folder `package`, by dotted name."""
    files = {_name(package, path): path for path in sorted(package.rglob("*.py"))}
    return {name: _module(package, path, name, files) for name, path in files.items()}


def check(modules: Mapping[str, Module]) -> list[Violation]:
    """Return every violation of every rule, sorted by place."""
    rules = (
        check_floors,
        check_rooms,
        check_cycles,
        check_paths,
        check_homes,
        check_docstrings,
        check_lengths,
        check_folders,
    )
    return sorted(violation for rule in rules for violation in rule(modules))


def check_floors(modules: Mapping[str, Module]) -> Iterator[Violation]:
    """Find imports that go up a floor or sideways."""
    for module in modules.values():
        if module.area not in FLOORS:
            yield Violation(module.path, 1, f"`{module.area}` has no floor: give it one in tests/architecture.py")
            continue
        allowed = FLOORS[module.area] | _EVERYONE | {module.area}
        for found in module.imports:
            if _is_ours(found.target) and area_of(found.target) not in allowed:
                yield Violation(module.path, found.line, f"{_shown(module.area)} may not import {found.target}")


def check_rooms(modules: Mapping[str, Module]) -> Iterator[Violation]:
    """Find imports from a room to a higher one of the same area."""
    for module in modules.values():
        order = ROOMS.get(module.area, ())
        for found in module.imports:
            if found.target in modules and area_of(found.target) == module.area and order:
                here, there = _room(module), _room(modules[found.target])
                if here in order and there in order and order.index(there) > order.index(here):
                    yield Violation(module.path, found.line, f"{module.area}/{here} may not import {found.target}")


def check_cycles(modules: Mapping[str, Module]) -> Iterator[Violation]:
    """Find the shortest cycle through each module that is on one; each is told once, with the line of every import."""
    graph = {name: _imported(module, modules) for name, module in modules.items()}
    seen: set[frozenset[str]] = set()
    for name in sorted(graph.keys() - set(_lowest_first(graph))):
        cycle = _shortest_cycle(graph, name)
        if not cycle or frozenset(cycle) in seen:
            continue
        seen.add(frozenset(cycle))
        steps = [
            f"{modules[start].path}:{graph[start][end]} imports {end}"
            for start, end in zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        ]
        yield Violation(modules[name].path, graph[name][(cycle * 2)[1]], "import cycle: " + ", ".join(steps))


def check_paths(modules: Mapping[str, Module]) -> Iterator[Violation]:
    """Find the module from which the longest way of imports begins, where that is too long; none is on a cycle."""
    graph = {name: _imported(module, modules) for name, module in modules.items()}
    longest: dict[str, list[str]] = {}
    for name in _lowest_first(graph):
        longest[name] = [name, *max((longest[each] for each in graph[name]), key=len, default=[])]
    path = max(longest.values(), key=len, default=[])
    if len(path) > LONGEST_PATH:
        message = f"{len(path)} modules on a way of imports, more than {LONGEST_PATH}: {', '.join(path)}"
        yield Violation(modules[path[0]].path, 1, message)


def check_homes(modules: Mapping[str, Module]) -> Iterator[Violation]:
    """Find libraries, and printing, outside their homes."""
    for module in modules.values():
        uses = [(found.target.split(".")[0], found.line) for found in module.imports]
        uses += [("print", line) for line in _prints(module.tree)]
        for library, line in uses:
            homes = HOMES.get(library, ("",))
            if not module.path.startswith(homes):
                yield Violation(module.path, line, f"`{library}` lives in {' and '.join(homes)} only")


def check_docstrings(modules: Mapping[str, Module]) -> Iterator[Violation]:
    """Find modules that do not say what they are."""
    for module in modules.values():
        if not (ast.get_docstring(module.tree) or "").strip():
            yield Violation(module.path, 1, "the module has no docstring")


def check_lengths(modules: Mapping[str, Module]) -> Iterator[Violation]:
    """Find files that miss a noun."""
    for module in modules.values():
        lines = len(module.text.splitlines())
        if lines > LONGEST_FILE:
            yield Violation(module.path, lines, f"{lines} lines, more than {LONGEST_FILE}")


def check_folders(modules: Mapping[str, Module]) -> Iterator[Violation]:
    """Find folders that miss a room."""
    folders = Counter(
        path.rpartition("/")[0] for each in modules.values() if not (path := each.path).endswith("__init__.py")
    )
    for folder, count in folders.items():
        if count > MOST_MODULES:
            yield Violation(f"{folder}/__init__.py", 1, f"{count} modules, more than {MOST_MODULES}")


def area_of(name: str) -> str:
    """Return the area of a module of the package."""
    return name.removeprefix(PACKAGE).removeprefix(".").split(".")[0]


def _room(module: Module) -> str:
    """Return the room of a module in its area; "" for the area's own folder."""
    folders = module.path.split("/")[1:-1]
    return folders[0] if folders else ""


def _shown(area: str) -> str:
    return area or "__init__"


def _is_ours(name: str) -> bool:
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")


def _name(package: Path, path: Path) -> str:
    parts = (PACKAGE, *path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _module(package: Path, path: Path, name: str, known: Iterable[str]) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    home = name if path.name == "__init__.py" else name.rpartition(".")[0]
    imports = tuple(_imports(tree, home, frozenset(known)))
    return Module(name=name, path=path.relative_to(package).as_posix(), text=text, tree=tree, imports=imports)


def _imports(tree: ast.Module, home: str, known: frozenset[str]) -> Iterator[Import]:
    for node in ast.walk(tree):
        for target in _targets(node, home, known):
            yield Import(target=target, line=node.lineno)


def _targets(node: ast.AST, home: str, known: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            base = _absolute(home, module or "", level)
            # `from package import name`: the submodule where there is one, else the package that has the attribute
            yield from dict.fromkeys(f"{base}.{a.name}" if f"{base}.{a.name}" in known else base for a in names)
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield _absolute(home, name.lstrip("."), len(name) - len(name.lstrip(".")))


def _absolute(home: str, module: str, level: int) -> str:
    if not level:
        return module
    parts = home.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([module] if module else [])])


def _imported(module: Module, modules: Mapping[str, Module]) -> dict[str, int]:
    """Modules of the package that `module` imports, with the first line that does."""
    found: dict[str, int] = {}
    for each in sorted(module.imports, key=lambda each: each.line):
        if each.target in modules:
            found.setdefault(each.target, each.line)
    return found


def _shortest_cycle(graph: Mapping[str, Mapping[str, int]], start: str) -> list[str]:
    """Return the modules of the shortest cycle through `start`, beginning with it; empty if there is none."""
    paths = [[start]]
    seen: set[str] = set()
    for path in paths:
        for following in graph[path[-1]]:
            if following == start:
                return path
            if following not in seen:
                seen.add(following)
                paths.append([*path, following])
    return []


def _lowest_first(graph: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield modules, each behind all that it imports; those on a cycle, and above one, are left out."""
    seen: set[str] = set()
    while ready := [name for name, imports in graph.items() if name not in seen and seen.issuperset(imports)]:
        seen.update(ready)
        yield from ready


def _prints(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="print")):
                yield node.lineno
