"""The time that each import inside a function saves at the start of frequent commands.

    python -m benchmarks.lazy_imports              a line for each import that saves less than half a millisecond
    python -m benchmarks.lazy_imports --all        every import inside a function, the least useful first

An import inside a function is worth its oddness where a frequent command starts without the modules that it loads. For
each one and each command the times of these modules are added up, the least of several runs by `-X importtime`:

    bae_source.engine.service:89   from bae_source.state.binding import UserState     2.1 ms for `bae-source glob`

Ends with 1 if more than 60 save less than half a millisecond for all of the commands.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

import bae_source
from bae_source.adapters.cli.demo import FILES
from bae_source.engine.registry import REQUESTS

_HOUSE = Path(bae_source.__file__).parent
_RUNS = 4
_LEAST = 0.5
_MOST_IDLE = 60
_UNKNOWN = 0.3
"""Milliseconds of a module that none of the commands loads; about the median of those that are loaded."""
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "read": ("read", "shop.cart.Cart.total"),
    "grep": ("grep", "price"),
    "find": ("find", "price_of($X)"),
    "around": ("read", "shop.cart.Cart.total", "--around"),
    "outline": ("outline",),
    "outlined": ("outline", "shop.cart"),
    "hover": ("ast", "hover", "sym://python/type/shop/cart/Cart"),
    "glob": ("glob", "shop.**"),
    "references": ("references", "shop.cart.Cart.total"),
    "edit": ("edit", "shop.cart.Cart.add", "--old", "append", "--new", "extend", "--dry-run"),
    "rename": ("rename", "shop.cart.Cart.total", "sum_up", "--dry-run"),
    "move": ("move", "shop.prices.price_of", "shop.cart", "--dry-run"),
    "delete": ("delete", "shop.report.report", "--dry-run"),
    "extract": ("extract", "shop.cart.Cart.total", "--code", "price_of(item)", "--as", "cost", "--dry-run"),
    "inline": ("inline", "shop.prices.PRICES", "--dry-run"),
    "codemod": ("codemod", "shop.mods", "--dry-run"),
    "history": ("history",),
    "config": ("config", "read"),
    "deps": ("deps", "list"),
    "help": ("--help",),
}
_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s*(\S+)")


class Late(Struct, frozen=True, kw_only=True):
    """An import inside a function.

    Parameters:
        module: the module that has it.
        loads: names of the modules that it loads.
    """

    module: str
    line: int
    code: str
    loads: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print what saves little; 1 if that is too much."""
    options = argparse.ArgumentParser(description="The time that imports inside functions save.")
    options.add_argument("--all", action="store_true", help="every import inside a function")
    given = options.parse_args(arguments)
    modules = {_name_of(path): path for path in sorted(_HOUSE.rglob("*.py"))}
    early, late = _imports(modules)
    times, loaded = _measured(early, {name for each in late for name in each.loads if name not in modules})
    idle = 0
    rows = [(*_saved(each, early, times, loaded), each) for each in late]
    for saved, command, each in sorted(rows, key=lambda row: row[0]):
        idle += saved < _LEAST
        if given.all or saved < _LEAST:
            print(f"{saved:6.2f} ms  {command:12} {each.module}:{each.line}  {each.code}")
    print(f"{len(rows)} imports inside functions, of which {idle} save less than {_LEAST} ms (at most {_MOST_IDLE})")
    return int(idle > _MOST_IDLE)


def _imports(modules: Mapping[str, Path]) -> tuple[dict[str, set[str]], list[Late]]:
    """Return the modules that each module loads at once, and its imports inside functions."""
    early: dict[str, set[str]] = {}
    late: list[Late] = []
    for module, path in modules.items():
        tree = ast.parse(path.read_bytes())
        inside = {id(each) for node in ast.walk(tree) if _is_function(node) for each in ast.walk(node)}
        typing = {id(each) for node in ast.walk(tree) if _is_for_types(node) for each in ast.walk(node)}
        statements = [each for each in ast.walk(tree) if isinstance(each, (ast.Import, ast.ImportFrom))]
        early[module] = set()
        for each in statements:
            names = tuple(_loads(each, modules))
            if id(each) in inside:
                late.append(Late(module=module, line=each.lineno, code=ast.unparse(each), loads=names))
            elif id(each) not in typing:
                early[module].update(names)
    return early, late


def _saved(
    each: Late, early: Mapping[str, set[str]], times: Mapping[str, float], loaded: Mapping[str, set[str]]
) -> tuple[float, str]:
    """Return the milliseconds that an import saves at most, and for which command."""
    loads: set[str] = set()
    waiting = list(each.loads)
    while waiting:
        name = waiting.pop()
        parts = name.split(".")
        for part in (".".join(parts[:end]) for end in range(1, len(parts) + 1)):
            if part not in loads:
                loads.add(part)
                waiting += early.get(part, ())
    saved = {
        command: sum(times.get(name, _UNKNOWN) for name in loads - there)
        for command, there in loaded.items()
        if each.module in there
    }
    command = max(saved, key=lambda command: saved[command], default="")
    return (saved[command], command) if command else (0.0, "")


def _measured(early: dict[str, set[str]], outside: set[str]) -> tuple[Mapping[str, float], Mapping[str, set[str]]]:
    """Return milliseconds by module, and the modules that each command loads.

    Parameters:
        early: takes what each of the modules that are none of ours loads.
    """
    times: dict[str, float] = {}
    loaded: defaultdict[str, set[str]] = defaultdict(set)
    environment = {**os.environ, "BAE_SOURCE_SERVE": "off", "PYTHONPATH": str(_HOUSE.parent)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as root:
        for path, content in FILES.items():
            file = Path(root, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        for command, words in _COMMANDS.items():
            called = next((each for each in (words[0], " ".join(words[:2])) if each in REQUESTS.commands), None)
            if called is not None:
                loaded[command].add(REQUESTS.called(called).__module__)  # `import_module` has no line
            for _ in range(_RUNS):
                for name, time in _loading(root, environment, "-m", "bae_source", *words):
                    loaded[command].add(name)
                    times[name] = min(times.get(name, 1e9), time)
        for name in outside:  # with all that it loads itself
            found = dict(_loading(root, environment, "-c", f"import {name}"))
            early[name] = set(found)
            times.update({each: time for each, time in found.items() if each not in times})
    return times, loaded


def _loading(root: str, environment: Mapping[str, str], *words: str) -> Iterator[tuple[str, float]]:
    """Yield each module that a run of Python loads, with its milliseconds."""
    line = [sys.executable, "-P", "-X", "importtime", *words]
    done = subprocess.run(line, cwd=root, env=environment, capture_output=True, text=True, check=False)
    for time, name in _LINE.findall(done.stderr):
        yield name, int(time) / 1000


def _name_of(path: Path) -> str:
    parts = path.relative_to(_HOUSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _loads(node: ast.Import | ast.ImportFrom, modules: Mapping[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
        return
    for each in node.names:
        name = f"{node.module}.{each.name}"
        yield name if name in modules else str(node.module)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


if __name__ == "__main__":
    raise SystemExit(main())
