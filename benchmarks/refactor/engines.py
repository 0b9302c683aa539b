"""The engines, each asked for the plan of one rename in a fresh process without a cache.

Servers rename a symbol by `textDocument/rename`, and a module by `workspace/willRenameFiles`, which is what an editor
asks them when its file gets another name.

Invariants:
- nothing is written: what counts is the plan; those without one write into a copy (`benchmarks/refactor/writers.py`);
- an engine that cannot plan a rename raises, and its message says so.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.read.language_server import LanguageServer
from benchmarks.read.peers import Peers
from benchmarks.read.processes import Cost, Failed, run
from benchmarks.read.subjects import Place
from benchmarks.refactor import edits
from benchmarks.refactor.planned import Asked, Planned
from benchmarks.refactor.subjects import Renaming
from benchmarks.refactor.writers import WRITERS

_SCRIPTS = Path(__file__).resolve().parent.parent / "peers"
_HERE = Path(__file__).resolve().parent.parent.parent
_PAUSE = 0.25
_STEADY = 2


def ours(_: Peers, renaming: Renaming, root: Path, limit: float) -> Planned:
    """Ask ours by its Python API, without a cache; its memory is that of its process and of all its workers.

    Each worker counts as its largest one, so it never has more than that at once.
    """
    command = [sys.executable, "-m", "benchmarks.refactor.ours", str(root), renaming.target, renaming.new]
    cost, out = run(command, cwd=_HERE, limit=limit)
    answer = json.loads(out)
    cost = Cost(wall=cost.wall, cpu=cost.cpu, peak=answer["peak"])
    left = frozenset(Place(f"{module.replace('.', '/')}.py", line, column) for module, line, column in answer["left"])
    return Planned(places=frozenset(edits.of_diff(answer["diff"])), cost=cost, left=left)


def rope(peers: Peers, renaming: Renaming, root: Path, limit: float) -> Planned:
    """Ask rope as it comes."""
    return _scripted(peers, "rename_by_rope.py", renaming, root, limit)


def rope_without_collector(peers: Peers, renaming: Renaming, root: Path, limit: float) -> Planned:
    """Ask rope with its garbage collector off, which makes it faster and larger."""
    return _scripted(peers, "rename_by_rope.py", renaming, root, limit, "--no-gc")


def jedi(peers: Peers, renaming: Renaming, root: Path, limit: float) -> Planned:
    """Ask jedi, which looks into 30 files with the word in them and says nothing of the others."""
    return _scripted(peers, "rename_by_jedi.py", renaming, root, limit)


def ty(peers: Peers, renaming: Renaming, root: Path, limit: float) -> Planned:
    """Ask ty, whose first plan is complete."""
    return _served([peers.program("ty"), "server"], renaming, root, limit)


def basedpyright(peers: Peers, renaming: Renaming, root: Path, limit: float) -> Planned:
    """Ask basedpyright until its plan stays the same; its CPU time is that until it has shut down, all asking in it."""
    command = [peers.program("basedpyright-langserver"), "--stdio"]
    return _served(command, renaming, root, limit, logged="source files", steady=_STEADY)


OURS = "ours"
ROPE = "rope"
ENGINES: dict[str, Asked] = {
    OURS: ours,
    ROPE: rope,
    "rope, no collector": rope_without_collector,
    "jedi": jedi,
    "ty": ty,
    "basedpyright": basedpyright,
    **WRITERS,
}


def _scripted(peers: Peers, script: str, renaming: Renaming, root: Path, limit: float, *more: str) -> Planned:
    place = renaming.place(root)
    asked = [str(root), place.path, str(place.line), str(place.column), renaming.new, *more]
    if renaming.subject is None and "rope" in script:
        asked[1], asked[5:] = renaming.path, [*more, "--module"]
    with tempfile.TemporaryDirectory() as cache:
        environment = {"XDG_CACHE_HOME": cache, "HOME": cache, "PATH": os.environ.get("PATH", "")}
        command = [peers.program("python"), str(_SCRIPTS / script), *asked]
        cost, out = run(command, cwd=root, environment=environment, limit=limit)
    found: set[Place] = set()
    for path, after, *_ in map(json.loads, out.splitlines()):
        if after is None:
            found.add(Place(path, 0, 0))
        else:
            found.update(edits.of_texts(path, (root / path).read_bytes().decode("utf-8"), after))
    return Planned(places=frozenset(found), cost=cost)


def _served(
    command: list[str], renaming: Renaming, root: Path, limit: float, *, logged: str = "", steady: int = 1
) -> Planned:
    """Ask a language server until it has given the same plan `steady` times in a row."""
    place = renaming.place(root)
    with tempfile.TemporaryDirectory() as cache:
        environment = {"XDG_CACHE_HOME": cache}
        with LanguageServer(command, root, limit=limit, environment=environment) as server:
            server.initialize()
            server.open(place.path)
            if logged:
                server.until_logged(logged)
            last, times = _asked(server, renaming, place), 1
            complete = time.perf_counter()
            while times < steady:
                time.sleep(_PAUSE)
                found = _asked(server, renaming, place)
                times = times + 1 if found == last else 1
                complete = time.perf_counter() if times == 1 else complete
                last = found
            cost = server.killed() if steady == 1 else server.shut_down()
    if not last:
        raise Failed("it plans no such rename")
    found_places = set(edits.of_workspace_edit(root, last))
    if renaming.subject is None:
        found_places.add(Place(renaming.path, 0, 0))  # which the editor moves, having asked
    cost = Cost(wall=complete - server.began, cpu=cost.cpu, peak=cost.peak)
    return Planned(places=frozenset(found_places), cost=cost)


def _asked(server: LanguageServer, renaming: Renaming, place: Place) -> dict[str, Any] | None:
    if renaming.subject is not None:
        return server.rename(place, renaming.new)
    return server.moved(renaming.path, renaming.new_path)
