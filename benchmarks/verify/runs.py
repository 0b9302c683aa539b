"""Runs of the two sides: pytest as a developer calls it, and our command line, each a process of its own.

Invariants:
- bytecode is cached, as for whoever runs a command twice, and no variable of the caller changes what pytest runs;
- an answer of ours is its JSON; anything else is an error of the benchmark.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from benchmarks.read.processes import Failed, TooSlow, run
from benchmarks.verify.projects import Change, Project

OUTCOMES = ("passed", "failed", "skipped")
"""The counts that two runs must agree on."""
LIMIT = 900.0
_ANY = range(256)
_FOREIGN = ("VIRTUAL_ENV", "PYTEST_ADDOPTS", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
_COUNT = re.compile(r"(\d+) (\w+)")
_OF_TESTS = (*OUTCOMES, "xfailed", "xpassed", "error", "errors")


class Suite(Struct, frozen=True, kw_only=True):
    """One run of a whole suite: its seconds, also of CPU, and how many tests came to which outcome."""

    seconds: float
    cpu: float
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Number of tests."""
        return sum(number for name, number in self.counts.items() if name in _OF_TESTS)

    def __str__(self) -> str:
        return ", ".join(f"{number:,} {name}" for name, number in self.counts.items())


class Answer(Struct, frozen=True, kw_only=True):
    """An outcome of ours as JSON, and the seconds of the process that gave it, also of CPU with its children."""

    seconds: float
    cpu: float
    outcome: Mapping[str, Any]

    @property
    def status(self) -> str:
        """Its status, such as `applied`."""
        return str(self.outcome["status"])

    @property
    def code(self) -> str:
        """The code of its first error; "" where there is none."""
        errors = self.outcome["errors"]
        return str(errors[0]["code"]) if errors else ""

    @property
    def message(self) -> str:
        """Its first error, or its text."""
        errors = self.outcome["errors"]
        return str(errors[0]["message"] if errors else self.outcome["text"])

    def warning(self, code: str) -> str:
        """The first warning of a code; "" where there is none."""
        return next((str(each["message"]) for each in self.outcome["warnings"] if each["code"] == code), "")

    def check(self, name: str) -> Mapping[str, Any]:
        """Return the check of a name; empty where there is none."""
        return next((each for each in self.outcome["checks"] if each["name"] == name), {})


def isolate() -> None:
    """Take the variables out of this process's environment that would change what its children run."""
    for name in _FOREIGN:
        os.environ.pop(name, None)


def suite(project: Project) -> Suite:
    """Run the whole suite by `python -m pytest -q`.

    Raises:
        TooSlow: it took too long.
        Failed: pytest gave no summary.
    """
    cost, output = run(_pytest(project), cwd=project.root, limit=LIMIT, accepted=(0, 1))
    summary = output.strip().splitlines()[-1] if output.strip() else ""
    counts = {name: int(number) for number, name in _COUNT.findall(summary.partition(" in ")[0])}
    if not counts:
        raise Failed(f"pytest gave no summary: {output[-300:]!r}")
    return Suite(seconds=cost.wall, cpu=cost.cpu, counts=counts)


def passes(project: Project, *, limit: float) -> bool:
    """Say whether the whole suite passes, within so many seconds; no bytecode is written."""
    try:
        run(
            _pytest(project, "-x"),
            cwd=project.root,
            limit=limit,
            environment={"PYTHONDONTWRITEBYTECODE": "1"},
        )
    except (Failed, TooSlow):
        return False
    return True


def ask(project: Project, *words: str) -> Answer:
    """Have a command of ours answer.

    Raises:
        Failed: its answer is no outcome.
    """
    command = [sys.executable, "-m", "bae_source", *words, "--root", str(project.root), "--json"]
    cost, output = run(command, cwd=project.root, limit=LIMIT, accepted=_ANY)
    try:
        outcome = msgspec.json.decode(output)
    except msgspec.DecodeError as error:
        raise Failed(f"{' '.join(words[:2])} gave no outcome: {output[-300:]!r}") from error
    return Answer(seconds=cost.wall, cpu=cost.cpu, outcome=outcome)


def edit(project: Project, change: Change, *options: str) -> Answer:
    """Make a change through the command line."""
    return ask(project, "edit", change.target, "--old", change.old, "--new", change.new, *options)


def _pytest(project: Project, *options: str) -> list[str]:
    return [str(project.python), "-m", "pytest", "-q", *options]
