"""Ways to call the command line: in this process with a door of the test's own, or for real in another one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from bae_source.adapters.cli.cli import Door, main
from bae_source.adapters.cli.streams import Sink, Streams, wants_colour
from bae_source.engine.service import Context
from bae_source.errors import ResourceError
from bae_source.model.outcome import Outcome
from bae_source.model.request import Request

REPOSITORY = Path(__file__).parents[2]
_UNSET = ("NO_COLOR", "FORCE_COLOR", "TERM", "PYTHONDONTWRITEBYTECODE")
ANSWER = Outcome(status="answer", text="x = 1\n", address="app.x", etag="e1")


@dataclass
class Called:
    """What a call came to."""

    status: int
    out: bytes
    err: bytes

    @property
    def json(self) -> Any:
        """The one line on standard output; anything else there fails."""
        assert self.out.find(b"\n") == len(self.out) - 1 >= 0, self.out
        return json.loads(self.out)

    @property
    def err_text(self) -> str:
        return self.err.decode()


@dataclass
class Recorder:
    """A door that gives one answer and keeps what went through it."""

    outcome: Outcome | BaseException = ANSWER
    roots: list[Path] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    contexts: list[Context] = field(default_factory=list)
    environments: list[Mapping[str, str]] = field(default_factory=list)

    def __call__(self, root: Path, environment: Mapping[str, str], asked: Request, context: Context) -> Outcome:
        self.roots.append(root)
        self.environments.append(environment)
        self.requests.append(asked)
        self.contexts.append(context)
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


def call(
    *argv: str,
    door: Door | None = None,
    stdin: bytes = b"",
    typed: bool = False,
    terminal: bool = False,
    environment: Mapping[str, str] | None = None,
    program: str = "bae-source",
) -> Called:
    """Call the command line in this process.

    Parameters:
        typed: whether standard input is a terminal.
        terminal: whether standard output and error are.
    """
    environment = environment or {}
    out, err = BytesIO(), BytesIO()
    colour = wants_colour(environment, terminal=terminal)
    streams = Streams(
        stdin=BytesIO(stdin),
        stdin_terminal=typed,
        stdout=Sink(raw=out, terminal=terminal, colour=colour),
        stderr=Sink(raw=err, terminal=terminal, colour=colour),
        environment=environment,
        program=program,
    )
    status = main(argv, streams=streams, door=door or Recorder())
    return Called(status, out.getvalue(), err.getvalue())


def asked(*argv: str, stdin: bytes = b"") -> dict[str, Any]:
    """Return the fields of the request that a command line becomes, those left at their defaults too."""
    door = Recorder()
    called = call(*argv, door=door, stdin=stdin)
    assert called.status == 0, called.err_text
    [request] = door.requests
    return {"verb": request.verb} | {name: getattr(request, name) for name in request.__struct_fields__}


def fails(error: ResourceError | BaseException, *argv: str) -> Called:
    """Call a verb whose door raises `error`."""
    return call(*(argv or ("read", "app")), door=Recorder(error))


def environment(**changes: str) -> dict[str, str]:
    """Return the environment for a process of ours: this one's, without what sets colours or forbids bytecode."""
    kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
    return kept | {"PYTHONPATH": search_path(str(REPOSITORY))} | changes


def search_path(*first: str) -> str:
    """Return folders as a search path for a process of ours, those of this one behind them."""
    return os.pathsep.join(filter(None, dict.fromkeys([*first, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])))


def command(*argv: str) -> list[str]:
    return [sys.executable, "-m", "bae_source", *argv]


def run(*argv: str, folder: Path, stdin: bytes = b"", **changes: str) -> Called:
    """Run the command line as a process of its own in `folder`."""
    done = subprocess.run(
        command(*argv), cwd=folder, input=stdin, capture_output=True, env=environment(**changes), timeout=60
    )
    return Called(done.returncode, done.stdout, done.stderr)
