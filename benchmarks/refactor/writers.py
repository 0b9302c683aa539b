"""The engines without a plan to hand over: each renames in a copy of the project, whose files show the places.

Ours is here once more, to be compared with them: a rename that is imported before it is written, and recorded.

LibCST is a codemod for the command line; Serena and codenav-mcp are MCP servers, called as an agent calls them, without
a model. Each is used as its documentation has it, and at its best:

- LibCST gets the files that hold the word, since it resolves every name of each file that it gets; it is run once more
  on the defining module, where it knows the symbol by its local name alone (not for a method: it would add an import
  from the class, which is no module), and formats nothing;
- Serena runs pyright, its default for Python, at the release that it pins, from the peers' environment, not by `uvx`;
- codenav-mcp is allowed to change more than 40 files.

Invariants:
- the project itself is not written;
- an engine that refuses or has no such rename raises `Failed`, with its own words.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import corpus
from benchmarks.read.peers import Peers
from benchmarks.read.processes import Cost, Failed, run
from benchmarks.read.subjects import Place
from benchmarks.refactor import edits
from benchmarks.refactor.planned import Asked, Planned
from benchmarks.refactor.subjects import Renaming
from benchmarks.refactor.tool_server import ToolServer

CODENAV = "0.0.3"
"""The release of codenav that was looked into; it is not installed."""

_CODEMOD = ("-m", "libcst.tool", "codemod", "rename.RenameCommand", "--no-format", "--hide-progress")
_HERE = Path(__file__).resolve().parent.parent.parent
_STATE = ".bae-source"


def ours_written(peers: Peers, renaming: Renaming, root: Path, limit: float) -> Planned:
    """Have ours make the rename by its command line; its modules are imported with the packages of the peers."""
    with _copied(root) as copy:
        asked = ["rename", renaming.target, renaming.new, "--unsure", "leave", "--root", str(copy)]
        environment = {"BAE_SOURCE_SERVE": "off", "VIRTUAL_ENV": str(peers.folder)}
        command = [sys.executable, "-m", "bae_source", *asked]
        cost, _ = run(command, cwd=_HERE, environment=environment, limit=limit)
        return Planned(places=_changed(root, copy), cost=cost)


def libcst(peers: Peers, renaming: Renaming, root: Path, limit: float) -> Planned:
    """Run LibCST's `RenameCommand` by full names, then by local ones; the file of a module is moved by its caller."""
    with _copied(root) as copy:
        cost = _codemod(peers, renaming.target, renaming.new, copy, _holding(copy, renaming.name), limit)
        local = _local(renaming)
        if renaming.subject is not None and "." not in local:
            more = _codemod(peers, local, renaming.new, copy, [renaming.path], limit - cost.wall)
            cost = Cost(wall=cost.wall + more.wall, cpu=cost.cpu + more.cpu, peak=max(cost.peak, more.peak))
        moved = {Place(renaming.path, 0, 0)} if renaming.subject is None else set[Place]()
        return Planned(places=_changed(root, copy) | moved, cost=cost)


def serena(peers: Peers, renaming: Renaming, root: Path, limit: float) -> Planned:
    """Call Serena's `rename_symbol`, its classic tools switched on, in a project that it has not seen before."""
    if renaming.subject is None:
        raise Failed("has no rename of modules")
    symbol = {"name_path": _local(renaming).replace(".", "/"), "relative_path": renaming.path}
    with _copied(root) as copy, tempfile.TemporaryDirectory() as home:
        pyright = json.dumps({"python": {"ls_path": peers.program("pyright-langserver")}})
        (Path(home) / "serena_config.yml").write_text(f"ls_specific_settings: {pyright}\nprojects: []\n")
        command = [peers.program("serena"), "start-mcp-server", "--project", str(copy)]
        command += ["--agent-interface", "tools", "--enable-web-dashboard", "false", "--tool-timeout", f"{limit:.0f}"]
        environment = {"SERENA_HOME": home, "HOME": home, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
        cost, _ = _called(command, copy, environment, limit, "rename_symbol", {**symbol, "new_name": renaming.new})
        return Planned(places=_changed(root, copy), cost=cost)


def codenav_mcp(peers: Peers, renaming: Renaming, root: Path, limit: float) -> Planned:
    """Call codenav-mcp's `rename_symbol`, or for a module its `move`; type errors that are new make it refuse."""
    if renaming.subject is None:
        tool, asked = "move", {"file_path": renaming.path, "to_file": renaming.new_path}
    else:
        symbol = {"name": _local(renaming), "file_path": renaming.path}
        tool, asked = "rename_symbol", {**symbol, "new_name": renaming.new}
    with _copied(root) as copy, tempfile.TemporaryDirectory() as home:
        environment = {"CODENAV_MCP_WORKSPACE": str(copy), "HOME": home, "XDG_CACHE_HOME": home}
        command = [peers.program("codenav-mcp")]
        cost, answer = _called(command, copy, environment, limit, tool, {**asked, "allow_large": True})
        if not re.search(r"^Applied as edit", answer, re.MULTILINE):
            raise Failed(answer[:300])
        return Planned(places=_changed(root, copy), cost=cost)


def codenav(_: Peers, __: Renaming, ___: Path, ____: float) -> Planned:
    """Have no plan: this codenav is a browser of code, and another project than codenav-mcp."""
    raise Failed(f"codenav {CODENAV} has no rename")


WRITERS: dict[str, Asked] = {
    "ours, written": ours_written,
    "LibCST": libcst,
    "Serena": serena,
    "codenav-mcp": codenav_mcp,
    "codenav": codenav,
}


@contextmanager
def _copied(root: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / root.name
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(_STATE))
        yield copy


def _changed(root: Path, copy: Path) -> frozenset[Place]:
    """Return the places that differ in the copy; a file that went is a place, a new one has none."""
    found: set[Place] = set()
    for file in root.rglob("*"):
        path = file.relative_to(root)
        if not file.is_file() or path.parts[0] == _STATE:
            continue
        before, other = file.read_bytes(), copy / path
        if not other.exists():
            found.add(Place(path.as_posix(), 0, 0))
        elif (after := other.read_bytes()) != before:
            found.update(edits.of_texts(path.as_posix(), before.decode("utf-8"), after.decode("utf-8")))
    return frozenset(found)


def _local(renaming: Renaming) -> str:
    """Return the name of a symbol inside its module, such as `Class.method`."""
    return renaming.target.removeprefix(renaming.path.removesuffix(".py").replace("/", ".") + ".")


def _holding(root: Path, word: str) -> list[str]:
    """Return the files that hold a word, as `grep -rlw` finds them in no time that would count."""
    found = re.compile(rb"\b" + word.encode() + rb"\b")
    return [str(file.relative_to(root)) for file in corpus.python_files(root) if found.search(file.read_bytes())]


def _codemod(peers: Peers, old: str, new: str, copy: Path, files: Sequence[str], limit: float) -> Cost:
    package, dot, _ = old.rpartition(".")
    names = ["--old_name", old, "--new_name", f"{package}{dot}{new}"]
    cost, _ = run([peers.program("python"), *_CODEMOD, *names, *files], cwd=copy, limit=limit)
    return cost


def _called(
    command: Sequence[str],
    copy: Path,
    environment: Mapping[str, str],
    limit: float,
    tool: str,
    arguments: Mapping[str, object],
) -> tuple[Cost, str]:
    with ToolServer(command, copy, limit=limit, environment=environment) as server:
        server.initialize()
        answer = server.call(tool, arguments)
        return server.spent(), answer
