"""The type checkers: where they are, how they are called, and how their output is read.

Only errors count: warnings and notes are left to the checker's own output.

Invariants:
- a checker is found beside the project's interpreter or on the search path, by its name and by nothing else;
- nothing that it keeps lands in the project, unless it was there already.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

_MYPY = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)*: error: (?P<message>.*?)(?:  \[(?P<code>[\w-]+)\])?")
_TY = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)*: (?:error|fatal)\[(?P<code>[\w-]+)\] (?P<message>.*)")
_REMARK = re.compile(r".+?:\d+(?::\d+)*: warning\[[\w-]+\] ")


class Diagnostic(Struct, frozen=True, kw_only=True):
    """One error that a checker reports.

    Parameters:
        path: the file, as the checker names it.
        line: counted from 1.
        code: the rule; empty where it has none.
        message: one line.
    """

    path: str
    line: int
    code: str
    message: str


class Asked(Struct, frozen=True, kw_only=True):
    """The question for a checker.

    Parameters:
        root: the project's folder, in which it runs.
        python: the project's interpreter.
        cache: a folder for what it wants to keep.
        files: which files, project-relative; none for what its own settings say.
        fresh: copies of changed files, by the path of the file: their times go by what they hold, so that a cache
            which goes by whole seconds cannot take the new content for the old.
    """

    root: Path
    python: str
    cache: Path
    files: tuple[str, ...] = ()
    fresh: Mapping[str, Path]


class TypeChecker(Struct, frozen=True, kw_only=True):
    """One checker.

    Parameters:
        name: its program.
        arguments: returns what it is called with.
        read: returns the errors in its output; raises ValueError if that is no output of it.
        takes_files: whether it must be given the files, unless its settings name them.
        by_lines: whether it prints lines, among which what it could not do looks like nothing.
    """

    name: str
    arguments: Callable[[Asked], list[str]]
    read: Callable[[str], list[Diagnostic]]
    takes_files: bool = False
    by_lines: bool = False

    def explains(self, output: str, status: int) -> bool:
        """Return whether an output without errors is one of a checker that did its work and ended with a status.

        With 1 it says that it found something: warnings, where the project's settings make these count.
        """
        return status != 1 or not self.by_lines or any(map(_REMARK.match, output.splitlines()))


def _mypy(asked: Asked) -> list[str]:
    command = ["--no-error-summary", "--show-error-codes", "--no-color-output", "--no-pretty", "--hide-error-context"]
    command += ["--python-executable", asked.python]
    if not (asked.root / ".mypy_cache").is_dir():
        command += ["--cache-dir", str(asked.cache)]
    for path, copy in asked.fresh.items():
        command += ["--shadow-file", path, str(copy)]
    return [*command, *_files(asked)]


def _ty(asked: Asked) -> list[str]:
    command = ["check", "--output-format", "concise", "--color", "never", "--no-progress", "--python", asked.python]
    return [*command, *_files(asked)]


def _pyright(asked: Asked) -> list[str]:
    return ["--outputjson", "--pythonpath", asked.python, *_files(asked)]


def _pyrefly(asked: Asked) -> list[str]:
    command = ["check", "--output-format", "json", "--progress-bar", "no", "--python-interpreter-path", asked.python]
    return [*command, *_files(asked)]


def _files(asked: Asked) -> list[str]:
    return [f"./{path}" for path in asked.files]  # which no checker can take for an option


def _lines(pattern: re.Pattern[str]) -> Callable[[str], list[Diagnostic]]:
    def read(output: str) -> list[Diagnostic]:
        matches = (pattern.fullmatch(line) for line in output.splitlines())
        return [
            Diagnostic(path=match["path"], line=int(match["line"]), code=match["code"] or "", message=match["message"])
            for match in matches
            if match
        ]

    return read


def _read_pyright(output: str) -> list[Diagnostic]:
    return [
        Diagnostic(
            path=str(each.get("file", "")),
            line=each["range"]["start"]["line"] + 1 if "range" in each else 1,
            code=str(each.get("rule", "")),
            message=str(each.get("message", "")).partition("\n")[0],
        )
        for each in _listed(output, "generalDiagnostics")
        if each.get("severity") == "error"
    ]


def _read_pyrefly(output: str) -> list[Diagnostic]:
    return [
        Diagnostic(
            path=str(each.get("path", "")),
            line=int(each.get("line", 1)),
            code=str(each.get("name", "")),
            message=str(each.get("concise_description") or each.get("description", "")).partition("\n")[0],
        )
        for each in _listed(output, "errors")
        if each.get("severity", "error") == "error"
    ]


def _listed(output: str, key: str) -> Sequence[Mapping[str, Any]]:
    start = output.find("{")
    answer = json.loads(output[start:] if start >= 0 else output)
    if not isinstance(answer, dict) or not isinstance(answer.get(key), list):
        raise ValueError(f"no {key}")
    return [each for each in answer[key] if isinstance(each, dict)]


CHECKERS: Mapping[str, TypeChecker] = {
    each.name: each
    for each in (
        TypeChecker(name="mypy", arguments=_mypy, read=_lines(_MYPY), takes_files=True, by_lines=True),
        TypeChecker(name="ty", arguments=_ty, read=_lines(_TY), by_lines=True),
        TypeChecker(name="basedpyright", arguments=_pyright, read=_read_pyright),
        TypeChecker(name="pyright", arguments=_pyright, read=_read_pyright),
        TypeChecker(name="pyrefly", arguments=_pyrefly, read=_read_pyrefly),
    )
}
