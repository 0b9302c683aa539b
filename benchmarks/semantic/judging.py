"""A package's own tests, before and after a change."""

from __future__ import annotations

import ast
import os
import subprocess
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchmarks.corpus import Unavailable
from benchmarks.semantic.subjects import Subject

_TOOLS = ("pytest", "hypothesis", "pretend", "freezegun", "pyyaml", "tomli_w")
_SECONDS = 600


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
            failing = {f"pytest ended with {done.returncode}"}
        return failing, done.stdout + done.stderr


def is_announced(report: Mapping[str, Any], printed: str) -> bool:
    """Whether a report has an unsure or probable place, or a mention, on a line that a failure names.

    Of a mention in bytes or a string the failure may name the constant that holds them instead, or be of the very test
    that has them, as `parametrize` does.
    """
    places = [each for key in ("unsure", "probable", "mentions") for each in report.get(key, ())]
    for each in places:
        if each.get("kind") == "string":
            name = each["symbol"].removeprefix(f"{each['module']}.")
            test = f"FAILED {_files(each['module'])[0]}::{name.replace('.', '::')}"
            if f"({name})" in printed or f"{test}[" in printed or f"{test} " in printed:
                return True
    return any(f"{file}:{each['line']}:" in printed for each in places for file in _files(each["module"]))


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
