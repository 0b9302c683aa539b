"""Seeded renames and moves in real packages, each judged by the package's own tests.

    python -m benchmarks.semantic                        all of them: 100 renames and 50 moves over five packages
    python -m benchmarks.semantic --only pluggy --count 5 --moves 0 --seed 7

For each name: a fresh copy, one rename, or one move to another module of the package or to a new one, without options,
then the package's tests. A change *breaks* where a test fails that passed before. It is *told* where the report has an
unsure or probable place, or a mention, on a line that the failure names. Names that pytest itself takes from a package
are left out: no rename in the package can reach them.

Invariants:
- what is renamed is drawn by the seed from all definitions, parameters and local names of the package, by kind;
- a test that failed before is not counted.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bae_source
from bae_source.errors import ResourceError
from benchmarks.corpus import CACHE, Release, Unavailable, fetch

_TOOLS = ("pytest", "hypothesis", "pretend", "freezegun", "pyyaml", "tomli_w")
_SECONDS = 600
MODULE_LEVEL = ("function", "class", "variable")
MEMBERS = ("method", "attribute", "instance attribute")
KINDS = (*MODULE_LEVEL, *MEMBERS, "parameter", "local")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A package whose names are changed.

    Parameters:
        source: the folder that stands on `sys.path`.
        package: the folder of the package itself.
        tests: what pytest is given.
    """

    release: Release
    source: str
    package: str
    tests: str


SUBJECTS = (
    Subject(
        release=Release(
            name="pluggy",
            version="1.7.0",
            sha256="d1eaa46ebb595891b860ab086b4d09c8588af65ebd4361b8e8f4bb8920b90ba8",
        ),
        source="src",
        package="src/pluggy",
        tests="testing",
    ),
    Subject(
        release=Release(
            name="packaging",
            version="26.4",
            sha256="c4b671c41ddb9bf26e543c37723610d28fb6bf7affc4da17cf048d419d2c062a",
        ),
        source="src",
        package="src/packaging",
        tests="tests",
    ),
    Subject(
        release=Release(
            name="tomlkit",
            version="0.15.2",
            sha256="83e32755ba1d20d9340bd069ee97e9f6232ba2346b63ffcba425de01f7e327a6",
        ),
        source="",
        package="tomlkit",
        tests="tests",
    ),
    Subject(
        release=Release(
            name="itsdangerous",
            version="2.2.0",
            sha256="e0050c0b7da1eea53ffaf149c0cfbb5c6e2e2b69c4bef22c81fa6eb73e5f6173",
        ),
        source="src",
        package="src/itsdangerous",
        tests="tests",
    ),
    Subject(
        release=Release(
            name="more-itertools",
            version="11.2.1",
            sha256="cbf08fd0af284dc69718b9b76a8e6203df624d70209ea511e4219d350c856f63",
        ),
        source="",
        package="more_itertools",
        tests="tests",
    ),
)


@dataclass(kw_only=True)
class Row:
    """One rename and what came of it.

    Parameters:
        result: `applied`, or the code of the error.
        broken: the tests that failed because of it.
        told: whether the report names a place in a file that a broken test's failure names.
    """

    subject: str
    kind: str
    target: str
    result: str
    message: str = ""
    broken: list[str] = field(default_factory=list)
    told: bool = False

    @property
    def line(self) -> str:
        """The row as it is printed."""
        what = f"BROKEN {len(self.broken)}{' (told)' if self.told else ''}" if self.broken else self.result
        return f"{self.subject:<15}{self.kind:<19}{self.target:<60}{what}  {self.message[:150]}"


def names_of(root: Path, subject: Subject) -> dict[str, list[str]]:
    """Return the addresses of what a package binds, by kind.

    Parameters:
        root: the folder of the package's distribution.
    """
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    top = root / subject.source
    for path in sorted((root / subject.package).rglob("*.py")):
        relative = path.relative_to(top).with_suffix("")
        module = ".".join(relative.parts).removesuffix(".__init__")
        for kind, name in _bound(ast.parse(path.read_text(encoding="utf-8")).body, module, in_class=False):
            if name.rpartition(".")[2].strip("_") and not name.rpartition(".")[2].startswith("__"):
                found[kind].append(name)
    return {kind: list(dict.fromkeys(names)) for kind, names in found.items()}


def _bound(body: Sequence[ast.stmt], owner: str, *, in_class: bool) -> Iterator[tuple[str, str]]:
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ("method" if in_class else "function"), f"{owner}.{statement.name}"
            yield from _inside(statement, f"{owner}.{statement.name}", owner if in_class else "")
        elif isinstance(statement, ast.ClassDef):
            yield "class", f"{owner}.{statement.name}"
            yield from _bound(statement.body, f"{owner}.{statement.name}", in_class=True)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield ("attribute" if in_class else "variable"), f"{owner}.{target.id}"


def _inside(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, owner: str) -> Iterator[tuple[str, str]]:
    given = function.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    for each in parameters[1:] if owner else parameters:
        yield "parameter", f"{name}.{each.arg}"
    known = {each.arg for each in parameters}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in known:
            known.add(node.id)
            yield "local", f"{name}.{node.id}"
        is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
        if owner and is_own and isinstance(node.ctx, ast.Store):  # type: ignore[attr-defined]
            yield "instance attribute", f"{owner}.{node.attr}"  # type: ignore[attr-defined]


def drawn(names: dict[str, list[str]], count: int, seed: int, used: frozenset[str]) -> list[tuple[str, str]]:
    """Return so many names of all kinds in turn.

    Parameters:
        used: words that are left out.
    """
    source = random.Random(seed)
    rows = {
        kind: source.sample(fit, len(fit))
        for kind, every in names.items()
        if (fit := [each for each in every if each.rpartition(".")[2] not in used])
    }
    found: list[tuple[str, str]] = []
    while len(found) < count and any(rows.values()):
        for kind in [kind for kind in KINDS if rows.get(kind)]:
            found.append((kind, rows[kind].pop()))
    return found[:count]


class Tests:
    """The tests of a package, in an environment of their own."""

    def __init__(self, python: Path, subject: Subject) -> None:
        self.python = python
        self.subject = subject

    def failing(self, root: Path) -> tuple[set[str], str]:
        """Run them, and return those that fail, and all that was printed."""
        command = [str(self.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-rfE"]
        environment = {**os.environ, "PYTHONPATH": str(root / self.subject.source), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [*command, self.subject.tests],
            cwd=root, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
        lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        failing = {line.split(" - ")[0] for line in lines}
        if done.returncode not in (0, 1) and not failing:
            failing = {f"pytest ended with {done.returncode}"}
        return failing, done.stdout + done.stderr


def moves(names: dict[str, list[str]], count: int, seed: int) -> list[tuple[str, str, str]]:
    """Return so many definitions of all kinds in turn, and the module that each goes to: every third to a new one."""
    source = random.Random(seed)
    modules = sorted({name.rpartition(".")[0] for kind in MODULE_LEVEL for name in names[kind]})
    rows = {kind: source.sample(names[kind], len(names[kind])) for kind in MODULE_LEVEL}
    found: list[tuple[str, str, str]] = []
    while len(found) < count and any(rows.values()):
        for kind in [kind for kind in MODULE_LEVEL if rows[kind]]:
            target = rows[kind].pop()
            own = target.rpartition(".")[0]
            others = [each for each in modules if each != own and "." in each]
            new = f"{own.partition('.')[0]}.moved_{len(found)}"
            found.append((f"move {kind}", target, new if len(found) % 3 == 2 or not others else source.choice(others)))
    return found[:count]


def measured(subject: Subject, tests: Tests, pristine: Path, count: int, moved: int, seed: int) -> Iterator[Row]:
    """Yield what comes of each rename and each move in a package."""
    before, _ = tests.failing(pristine)
    used = frozenset(_words_of_pytest(tests.python)) if subject.release.name == "pluggy" else frozenset[str]()
    names = names_of(pristine, subject)
    renames = [(kind, target, "") for kind, target in drawn(names, count, seed, used)]
    for kind, target, to in (*renames, *moves(names, moved, seed)):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, subject.release.folder)
            shutil.copytree(pristine, root)
            shown = f"{target} -> {to}" if to else target
            row = Row(subject=subject.release.name, kind=kind, target=shown, result="applied")
            try:
                project = bae_source.Source(root)
                if to:
                    outcome = project.move(target, to, reload="off")
                else:
                    outcome = project.rename(target, _new_name(target), reload="off")
            except ResourceError as error:
                row.result, row.message = error.code, error.message
            else:
                after, printed = tests.failing(root)
                row.broken = sorted(after - before)
                row.told = bool(row.broken) and _is_told(outcome.report or {}, printed)
                row.message = next((line for line in printed.splitlines() if line.startswith("E  ")), "") * bool(
                    row.broken
                )
        yield row


def _new_name(target: str) -> str:
    old = target.rpartition(".")[2]
    return f"{old}_renamed" if old.islower() or old.startswith("_") else f"{old}Renamed"


def _is_told(report: Mapping[str, Any], printed: str) -> bool:
    places = [each for key in ("unsure", "probable", "mentions") for each in report.get(key, ())]
    return any(f"{each['module'].rpartition('.')[2]}.py:{each['line']}:" in printed for each in places)


def _words_of_pytest(python: Path) -> set[str]:
    code = "import _pytest, pathlib; print(pathlib.Path(_pytest.__file__).parent)"
    folder = Path(subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip())
    words: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            words |= {str(getattr(node, name)) for name in ("attr", "id", "arg", "name") if hasattr(node, name)}
    return words


def environment_of(folder: Path) -> Path:
    """Return the Python of an environment that can run the tests of all packages.

    Raises:
        Unavailable: it cannot be made.
    """
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        done = subprocess.run([str(python), "-m", "pip", "install", "-q", *_TOOLS], capture_output=True, check=False)
        if done.returncode:
            raise Unavailable(f"The tools of the tests could not be installed: {done.stderr.decode()[-300:]}")
    return python


def main(arguments: Sequence[str] | None = None) -> None:
    """Rename names that a seed draws, run the packages' own tests after each, and print what broke."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.semantic", description=main.__doc__)
    parser.add_argument("--only", action="append", default=[], help="a package; may be given several times")
    parser.add_argument("--count", type=int, default=20, help="renames of each package (default: %(default)s)")
    parser.add_argument("--moves", type=int, default=10, help="moves in each package (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="a file for the rows")
    given = parser.parse_args(arguments)
    rows: list[Row] = []
    try:
        python = environment_of(CACHE / "semantic-environment")
        for subject in SUBJECTS:
            if given.only and subject.release.name not in given.only:
                continue
            pristine = fetch(subject.release)
            for row in measured(subject, Tests(python, subject), pristine, given.count, given.moves, given.seed):
                rows.append(row)
                print(row.line, flush=True)
    except Unavailable as error:
        sys.exit(str(error))
    _summary(rows)
    if given.json:
        given.json.write_text(json.dumps([vars(row) for row in rows], indent=1), encoding="utf-8")


def _summary(rows: Sequence[Row]) -> None:
    print()
    groups = {"module level": MODULE_LEVEL, "members": MEMBERS, "parameters": ("parameter",), "locals": ("local",)}
    groups["moves"] = tuple(f"move {kind}" for kind in MODULE_LEVEL)
    for name, kinds in groups.items():
        some = [row for row in rows if row.kind in kinds]
        applied = sum(row.result == "applied" for row in some)
        print(f"{name:<14}{len(some):>5} asked{applied:>5} applied ({applied / max(len(some), 1):.0%})")
    broken = [row for row in rows if row.broken]
    told = sum(row.told for row in broken)
    print(f"broken {len(broken)} of {len(rows)}, {told} of them told; refused: {dict(Counter(r.result for r in rows))}")


if __name__ == "__main__":
    main()
