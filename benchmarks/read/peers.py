"""The other engines: an environment of their own at pinned versions, and how each is asked for references.

Invariants:
- a peer that answers before it has indexed the project is asked again until its answer stays the same: what counts is
  the time to the complete answer, and the complete answer;
- every question meets a fresh process, without a cache of an earlier one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from benchmarks.read.language_server import LanguageServer, places
from benchmarks.read.processes import Cost, Failed, run
from benchmarks.read.subjects import Place, Subject

REQUIREMENTS = Path(__file__).resolve().parent.parent / "peers" / "requirements.txt"
WRITING = REQUIREMENTS.with_name("writing.txt")
_SCRIPTS = REQUIREMENTS.parent
_PAUSE = 0.25
_STEADY = 4


class Answer(Struct, frozen=True, kw_only=True):
    """What an engine found, and what it took.

    Parameters:
        places: where the references are; the definition itself is left out.
        cost: of a fresh process until the complete answer.
        warm: seconds that the same question took once more in the same process; None where there is none to ask.
    """

    places: frozenset[Place]
    cost: Cost
    warm: float | None = None


class Peers(Struct, frozen=True, kw_only=True):
    """The environment that the peers are installed in.

    Parameters:
        folder: of the virtual environment.
    """

    folder: Path

    def program(self, name: str) -> str:
        """Return the path of one of its programs."""
        return str(self.folder / "bin" / name)

    def ready(self, *more: Path) -> None:
        """Install what is missing, at the pinned versions.

        Parameters:
            more: files of requirements beside `REQUIREMENTS`.

        Raises:
            Failed: it cannot be installed.
        """
        if not (self.folder / "bin" / "python").exists():
            self._run(sys.executable, "-m", "venv", str(self.folder))
        files = (REQUIREMENTS, *more)
        wanted = {pin for file in files for pin in _pins(file.read_text(encoding="utf-8"))}
        if not wanted <= set(self._installed()):
            named = [part for file in files for part in ("-r", str(file))]
            self._run(self.program("python"), "-m", "pip", "install", "--quiet", *named)

    def version(self, package: str) -> str:
        """Return the installed version of a package; empty where there is none."""
        installed = dict(pin.split("==") for pin in self._installed())
        return installed.get(package.lower(), "")

    def _installed(self) -> list[str]:
        return list(_pins(self._run(self.program("python"), "-m", "pip", "list", "--format", "freeze")))

    def _run(self, *command: str) -> str:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"{' '.join(command[:4])}: {done.stderr.strip()[-500:]}")
        return done.stdout


Asked = Callable[[Peers, Subject, Path, float], Answer]
"""Asks one engine: the environment, what for, the project's folder, and the time limit in seconds."""


def ty(peers: Peers, subject: Subject, root: Path, limit: float) -> Answer:
    """Ask ty, whose first answer is complete; killed with the answer, so that its end costs it nothing."""
    return _served(root, subject, limit, [peers.program("ty"), "server"])


def ty_warm(peers: Peers, subject: Subject, root: Path, limit: float) -> Generator[float, None, None]:
    """Yield the seconds of one warm request of a running ty after another, as long as they are asked for."""
    with _server([peers.program("ty"), "server"], root, limit) as server:
        server.open(subject.path)
        place = subject.definition(root)
        server.references(place)
        while True:
            began = time.perf_counter()
            server.references(place)
            yield time.perf_counter() - began


def basedpyright(peers: Peers, subject: Subject, root: Path, limit: float) -> Answer:
    """Ask basedpyright, again and again: while it is indexing it answers a few references or none.

    It keeps its program in a child process, so its CPU time is that until it has shut down, our pauses not counted.
    """
    command = [peers.program("basedpyright-langserver"), "--stdio"]
    return _served(root, subject, limit, command, logged="source files", steady=_STEADY)


def jedi(peers: Peers, subject: Subject, root: Path, limit: float) -> Answer:
    """Ask jedi, which looks into 30 files with the word in them and says nothing of the others."""
    return _scripted(peers, "ask_jedi.py", root, subject, limit)


def rope(peers: Peers, subject: Subject, root: Path, limit: float) -> Answer:
    """Ask rope, its garbage collector off."""
    return _scripted(peers, "ask_rope.py", root, subject, limit, "--no-gc")


PEERS: dict[str, Asked] = {"ty": ty, "basedpyright": basedpyright, "jedi": jedi, "rope": rope}


def _pins(text: str) -> Iterator[str]:
    yield from (line.strip().lower() for line in text.splitlines() if "==" in line)


@contextmanager
def _server(command: list[str], root: Path, limit: float) -> Iterator[LanguageServer]:
    with (
        tempfile.TemporaryDirectory() as cache,
        LanguageServer(command, root, limit=limit, environment={"XDG_CACHE_HOME": cache}) as server,
    ):
        server.initialize()
        yield server


def _served(
    root: Path, subject: Subject, limit: float, command: list[str], *, logged: str = "", steady: int = 1
) -> Answer:
    """Ask a language server until it has given the same answer `steady` times in a row."""
    place = subject.definition(root)
    with _server(command, root, limit) as server:
        server.open(subject.path)
        if logged:
            server.until_logged(logged)
        last, times, warm = server.references(place), 1, None
        complete = time.perf_counter()
        while times < steady:
            time.sleep(_PAUSE)
            began = time.perf_counter()
            found = server.references(place)
            warm = time.perf_counter() - began
            times = times + 1 if len(found) == len(last) else 1
            complete = time.perf_counter() if times == 1 else complete
            last = found
        cost = server.killed() if steady == 1 else server.shut_down()
    cost = Cost(wall=complete - server.began, cpu=cost.cpu, peak=cost.peak)
    return Answer(places=frozenset(places(root, last) - {place}), cost=cost, warm=warm)


def _scripted(peers: Peers, script: str, root: Path, subject: Subject, limit: float, *more: str) -> Answer:
    place = subject.definition(root)
    asked = [str(root), place.path, str(place.line), str(place.column), *more]
    with tempfile.TemporaryDirectory() as cache:
        environment = {"XDG_CACHE_HOME": cache, "HOME": cache, "PATH": os.environ.get("PATH", "")}
        cost, out = run(
            [peers.program("python"), str(_SCRIPTS / script), *asked], cwd=root, environment=environment, limit=limit
        )
    found = {Place(*json.loads(line)) for line in out.splitlines()}
    return Answer(places=frozenset(found - {place}), cost=cost)
