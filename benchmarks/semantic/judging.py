"""A package's own tests, before and after a change, and whether a report announced what broke.

A break is *announced* if each test that it broke has an unsure or probable place, or a mention, of the report

- on a line that the test's own failure names, or
- in a string, bytes too, of which such a line has the name alone: in an assignment to a name that the line has, or in
  the decorator that parametrizes the test.

A string elsewhere in a test that fails does not count, nor does what the failure of another test names.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import venv
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchmarks.corpus import Unavailable
from benchmarks.semantic.subjects import Subject

_TOOLS = ("pytest", "hypothesis", "pretend", "freezegun", "pyyaml", "tomli_w")
_SECONDS = 600
_ENDED = "pytest ended with"
_SECTION = re.compile(r"^_+ (\S.*?) _+$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_TRACED = re.compile(r"^[^\s:]+:\d+: in .*\n((?: {4}.*\n)+)", re.MULTILINE)


class Suite(Struct, frozen=True, kw_only=True):
    """The tests of a package.

    Parameters:
        python: an interpreter that has what they need.
        subject: the package.
    """

    python: Path
    subject: Subject

    def failing(self, root: Path) -> tuple[set[str], str]:
        """Run them, and return those that fail, and all that was printed."""
        command = [str(self.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-rfE"]
        environment = {**os.environ, "PYTHONPATH": str(root / self.subject.source), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [*command, *self.subject.options, self.subject.tests],
            cwd=root, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
        lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        failing = {line.split(" - ")[0] for line in lines}
        if done.returncode not in (0, 1) and not failing:
            failing = {f"{_ENDED} {done.returncode}"}
        return failing, done.stdout + done.stderr


def is_announced(report: Mapping[str, Any], printed: str, broken: Collection[str], root: Path) -> bool:
    """Whether a report announces each test that a change broke.

    Parameters:
        printed: by pytest, after the change.
        broken: as `Suite.failing` returns them.
        root: the folder of the release, as it was before the change.
    """
    places = [each for key in ("unsure", "probable", "mentions") for each in report.get(key, ())]
    pieces = _SECTION.split(printed)
    sections = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    return all(any(_names(each, test, *_section(sections, test, printed), root) for each in places) for test in broken)


def _section(sections: Mapping[str, str], test: str, printed: str) -> tuple[str, str]:
    """Return title and text of what pytest prints of the failure of a test; all of it where it did not run."""
    if test.startswith(_ENDED):
        return "", printed
    path, _, inside = test.partition(" ")[2].partition("::")
    name, bracket, given = inside.partition("[")
    title = f"{name.replace('::', '.')}{bracket}{given}" or path
    titles = (title, f"ERROR collecting {title}", f"ERROR at setup of {title}", f"ERROR at teardown of {title}")
    return title, "".join(sections.get(each, "") for each in titles)


def _names(place: Mapping[str, Any], test: str, title: str, section: str, root: Path) -> bool:
    """Whether a failure names a place, or has what stands there by name."""
    files = _files(place["module"])
    if any(re.search(rf"(?<![\w.-]){re.escape(file)}:{place['line']}:", section) for file in files):
        return True
    if place.get("kind") != "string":
        return False
    known = set(_WORD.findall("".join(_TRACED.findall(section))))
    if "[" in title and test.partition("::")[0].endswith(files):
        known |= {f"@{name}" for name in title.partition("[")[0].split(".")}
    paths = (root / file for file in files if (root / file).is_file())
    return any(not known.isdisjoint(_given_by(path, place["line"])) for path in paths)


def _given_by(path: Path, line: int) -> Iterator[str]:
    """Yield the names that are assigned on a line, and with `@` before it the one that a decorator there decorates."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Assign) and _is_on(node, line):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and _is_on(node, line) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from (f"@{node.name}" for each in node.decorator_list if _is_on(each, line))


def _is_on(node: ast.stmt | ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _files(module: str) -> tuple[str, str]:
    path = "/".join(part for part in module.split(".") if part)
    return f"{path}.py", f"{path}/__init__.py"


def words_of_pytest(python: Path) -> frozenset[str]:
    """Return the words in pytest's own code: what it takes from a package no rename in that package can reach."""
    code = "import _pytest, pathlib; print(pathlib.Path(_pytest.__file__).parent)"
    folder = Path(subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip())
    words: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            words |= {str(getattr(node, name)) for name in ("attr", "id", "arg", "name") if hasattr(node, name)}
    return frozenset(words)


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
