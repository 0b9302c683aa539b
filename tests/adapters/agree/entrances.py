"""The five public entrances, each on a copy of the project and in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bae_source.adapters.cli.arguments import SEVERAL, Argument, Shape, of_context, of_request
from bae_source.engine.registry import REQUESTS
from bae_source.model.request import command_of

Json = dict[str, Any]
REPOSITORY = Path(__file__).parents[3]
_LONGEST_WORD = 100_000


FAULTS = Path(__file__).with_name("faults")


def environment(root: Path) -> dict[str, str]:
    """Return the environment of what works on a project: its disk can be made to fail."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "NO_COLOR")}
    path, fault = os.pathsep.join([str(FAULTS), str(REPOSITORY)]), str(root.parent / "fault")
    return kept | {
        "PYTHONPATH": path,
        "AGREE_FAULT": fault,
        "USER": "agree",
        "LOGNAME": "agree",
        "BAE_SOURCE_TELEMETRY": "off",
    }


class Driven:
    """An adapter behind a driver: one process that answers line by line."""

    def __init__(self, name: str, root: Path) -> None:
        self.root = root
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.adapters.agree.driver", name, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
            env=environment(self.root),
            text=True,
        )

    def ask(self, verb: str, arguments: Json) -> Json:
        """Ask, and return the answer's JSON."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"verb": verb, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the driver has died: {verb} {str(arguments)[:200]}"
        found: Json = json.loads(line)
        return found

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=20)


class Typed:
    """The command line: a process for the first request of each verb and for one in four, and one for all others."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._others = Driven("command line", root)
        self._verbs: set[str] = set()
        self._number = 0

    def ask(self, verb: str, arguments: Json) -> Json:
        """Ask, and return the answer's JSON."""
        kind = REQUESTS.named(verb)
        assert kind is not None
        words, typed = words_of(verb, arguments)
        json_flag = [] if kind.family == "ast" else ["--json"]
        line = [*command_of(kind).split(), "--root", str(self.root), *json_flag, *words]
        self._number += 1
        if verb in self._verbs and self._number % 4:
            answers: list[Json] = self._others.ask(verb, {"line": line, "typed": typed})["lines"]
        else:
            answers = self._alone(line, typed)
        self._verbs.add(verb)
        return answers[0] if len(answers) == 1 else {"answers": answers}

    def _alone(self, line: list[str], typed: str) -> list[Json]:
        done = subprocess.run(
            [sys.executable, "-m", "bae_source", *line],
            input=typed.encode("utf-8", "surrogatepass"),
            capture_output=True,
            cwd=self.root,
            env=environment(self.root),
            timeout=120,
        )
        answers = [json.loads(answer) for answer in done.stdout.splitlines()]
        assert answers, done.stderr.decode()
        return answers

    def close(self) -> None:
        """End the process that answers."""
        self._others.close()


def words_of(verb: str, arguments: Json) -> tuple[list[str], str]:
    """Return arguments as the words that a person types, and what goes to standard input."""
    kind = REQUESTS.named(verb)
    assert kind is not None
    if verb == "apply":
        steering = {name: arguments[name] for name in arguments if name not in ("requests", "message")}
        document = {name: arguments[name] for name in arguments if name in ("requests", "message")}
        return [*_words([*of_context(kind)], steering)[0], "-"], json.dumps(document)
    return _words([*of_request(kind), *of_context(kind)], arguments)


def _words(declared: list[Argument], arguments: Json) -> tuple[list[str], str]:
    placed: list[str] = []
    flagged: list[str] = []
    typed = ""
    for parameter in dict.fromkeys(each.parameter for each in declared):
        value = arguments.get(parameter)
        if value is None or (value is False and _of(declared, parameter, value).shape is Shape.FLAG):
            continue
        argument = _of(declared, parameter, value)
        if not argument.flags:
            placed += value if isinstance(value, list) else [str(value)]
        elif argument.shape is Shape.FILE:
            flagged += [argument.flags[0], "-"]
            typed = value
        elif argument.shape in (Shape.FLAG, Shape.DENIAL):
            flagged += [argument.flags[0]] if value is (argument.shape is Shape.FLAG) else []
        else:
            values = value if isinstance(value, list) else [value]
            flagged += [f"{argument.flags[0]}={each}" for each in values]
    return [*flagged, "--", *placed], typed


def _of(declared: list[Argument], parameter: str, value: object) -> Argument:
    """Return the argument that a value is given by: a file's where it is too long for a word, or cannot be one."""
    choice = [each for each in declared if each.parameter == parameter]
    if isinstance(value, str) and (len(value) > _LONGEST_WORD or "\0" in value):
        return next(each for each in choice if each.shape is Shape.FILE)
    if isinstance(value, list):
        return next(each for each in choice if each.shape in SEVERAL)
    return next(each for each in choice if each.shape is not Shape.FILE)


ADAPTERS = ("python", "command line", "session", "mcp", "functions")


@contextmanager
def opened(folder: Path, build: Any) -> Iterator[dict[str, Driven | Typed]]:
    """Open all entrances, each on a project of its own below `folder`."""
    found: dict[str, Driven | Typed] = {}
    try:
        for name in ADAPTERS:
            root = folder / name.replace(" ", "_") / "project"
            build(root)
            found[name] = Typed(root) if name == "command line" else Driven(name, root)
        yield found
    finally:
        for entrance in found.values():
            entrance.close()
