"""Seeded mutants: one statement of a function replaced by a raise, judged by the whole suite and by `--verify tests`.

    def f(x):                 def f(x):
        if x:                     if x:
            return g(x)   ->          raise RuntimeError("mutant")
        return 0                  return 0

Invariants:
- functions are chosen by the seed among all of the package that have more than a docstring, then a statement of each;
  the statement keeps its place, and the rest of the file every byte;
- the whole suite judges in a copy, so nothing of that is left where we verify;
- refused means refused by what verifies; another error is a fault of the benchmark, and reported as one.
"""

from __future__ import annotations

import ast
import random
import shutil
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path

from msgspec import Struct

from bae_source import Source
from benchmarks.read.processes import TooSlow
from benchmarks.verify.projects import Change, Project
from benchmarks.verify.runs import Answer, ask, edit, passes

RAISE = 'raise RuntimeError("mutant")'
_REFUSALS = frozenset({"verify_failed", "timed_out", "reload_failed"})
_SLOWER, _AT_LEAST = 5.0, 30.0
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Mutant(Struct, frozen=True, kw_only=True):
    """A statement that is replaced.

    Parameters:
        path: its file, relative to the project.
        line: its first line.
        change: the same as a change of the function around it.
        text: the whole file with it.
    """

    path: str
    line: int
    change: Change
    text: str


class End(Enum):
    """The ways in which a mutant ends where tests verify it."""

    REFUSED = "refused"
    NAMED = "accepted, naming tests that were not run"
    ACCEPTED = "accepted"
    FAULT = "another error, or no end"


class Verdict(Struct, frozen=True, kw_only=True):
    """A mutant, and what both judges make of it.

    Parameters:
        killed: whether the whole suite fails with it.
        end: what our verification does.
        message: what it says.
    """

    mutant: Mutant
    killed: bool
    end: End
    message: str

    @property
    def missed(self) -> bool:
        """True where our verification lets a killed mutant in without a word, or fails for another reason."""
        return self.end is End.FAULT or (self.killed and self.end is End.ACCEPTED)

    def __str__(self) -> str:
        place = f"{self.mutant.path}:{self.mutant.line} in {self.mutant.change.target}"
        whole = "killed" if self.killed else "survives"
        return f"{place}: {whole}; {self.end.value}: {' '.join(self.message.split())[:240]}"


def mutants(project: Project, count: int, seed: int) -> list[Mutant]:
    """Choose mutants by a seed, from at most so many functions."""
    chance, source = random.Random(seed), Source(project.root)
    functions = [(path, each) for path in _files(project) for each in _functions(_text(project, path))]
    found: list[Mutant] = []
    for path, function in chance.sample(functions, len(functions)):
        if len(found) == count:
            break
        text = _text(project, path)
        statement = chance.choice(list(_statements(function, text)))
        where = source.where(f"{path}:{function.lineno}")
        assert where.address is not None
        found.append(_mutant(text, path, where.address, function, statement))
    return found


def judged(project: Project, copy: Project, chosen: Sequence[Mutant], *, plain: float) -> Iterator[Verdict]:
    """Yield what both judges make of each mutant.

    Parameters:
        project: where our verification runs; it is left as it was.
        copy: a copy of it, where the whole suite runs.
        plain: seconds that the whole suite takes without mutants.
    """
    limit = max(_SLOWER * plain, _AT_LEAST)
    assert passes(copy, limit=limit), "the suite must pass without mutants"
    for mutant in chosen:
        killed = not _survives(project, copy, mutant, limit)
        try:
            answer = edit(project, mutant.change, "--verify", "tests")
        except TooSlow as error:
            yield Verdict(mutant=mutant, killed=killed, end=End.FAULT, message=str(error))
            continue
        end = _end(project, mutant, answer)
        yield Verdict(mutant=mutant, killed=killed, end=end, message=answer.warning("tests_left_out") or answer.message)


def _files(project: Project) -> list[str]:
    paths = (path for folder in project.code for path in (project.root / folder).rglob("*.py"))
    return sorted(path.relative_to(project.root).as_posix() for path in paths)


def _text(project: Project, path: str) -> str:
    with (project.root / path).open(encoding="utf-8", newline="") as file:
        return file.read()


def _functions(text: str) -> Iterator[_Function]:
    """Yield the functions that have a statement which can be replaced."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _Function) and next(_statements(node, text), None) is not None:
            yield node


def _statements(function: _Function, text: str) -> Iterator[ast.stmt]:
    """Yield the statements of a function, those of functions and classes in it aside, that a raise can replace.

    A docstring and `...` are none; nor is `elif`, whose place a raise cannot take, nor a definition with decorators.
    """
    lines = text.split("\n")
    waiting: list[ast.AST] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            if _is_replaceable(node, lines):
                yield node
            if isinstance(node, _DEFINITIONS):
                continue
        waiting += reversed([each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr)])


def _is_replaceable(node: ast.stmt, lines: Sequence[str]) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return False
    if getattr(node, "decorator_list", None):
        return False
    return not lines[node.lineno - 1].encode()[node.col_offset :].startswith(b"elif")


def _mutant(text: str, path: str, target: str, function: _Function, statement: ast.stmt) -> Mutant:
    """Describe a statement's replacement, with as many lines before it as make its text the only one in the function.

    return x   (twice in the function)   ->   old: "y = 1\n    return x", new: "y = 1\n    raise ..."
    """
    lines = text.split("\n")
    assert statement.end_lineno is not None
    assert statement.end_col_offset is not None
    begin = _offset(lines, statement.lineno, statement.col_offset)
    end = _offset(lines, statement.end_lineno, statement.end_col_offset)
    whole = "\n".join(lines[function.lineno - 1 : function.end_lineno])
    first, start = statement.lineno, begin
    while whole.count(text[start:end]) != 1:
        first -= 1
        start = _offset(lines, first, 0) + len(lines[first - 1]) - len(lines[first - 1].lstrip())
    change = Change(target=target, old=text[start:end], new=text[start:begin] + RAISE)
    return Mutant(path=path, line=statement.lineno, change=change, text=text[:begin] + RAISE + text[end:])


def _offset(lines: Sequence[str], line: int, column: int) -> int:
    """Return the offset in the text of a column that counts bytes."""
    before = sum(len(each) + 1 for each in lines[: line - 1])
    return before + len(lines[line - 1].encode()[:column].decode())


def _survives(project: Project, copy: Project, mutant: Mutant, limit: float) -> bool:
    """Say whether the whole suite passes with a mutant; the copy is as before afterwards."""
    _write(copy.root / mutant.path, mutant.text)
    try:
        return passes(copy, limit=limit)
    finally:
        shutil.copy2(project.root / mutant.path, copy.root / mutant.path)


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)


def _end(project: Project, mutant: Mutant, answer: Answer) -> End:
    """Say how a mutant ended, and take it out again where it was let in."""
    if answer.status != "applied":
        return End.REFUSED if answer.code in _REFUSALS else End.FAULT
    right = _text(project, mutant.path) == mutant.text
    undone = ask(project, "undo", "--reload", "off")
    if not right or undone.status != "applied":
        return End.FAULT
    return End.NAMED if answer.warning("tests_left_out") else End.ACCEPTED
