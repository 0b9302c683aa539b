"""Engines that write do so in a copy, and what they change there is their plan. The engines here are scripts."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import pytest

from benchmarks.read.peers import WRITING, Peers
from benchmarks.read.processes import Cost, Failed, TooSlow
from benchmarks.read.subjects import Place, Subject
from benchmarks.refactor import writers
from benchmarks.refactor.engines import ENGINES, OURS
from benchmarks.refactor.subjects import Renaming
from benchmarks.refactor.table import ABOUT, Fared, Measured, markdown
from benchmarks.refactor.tool_server import ToolServer
from tests.benchmarks.read.test_peers import installed
from tests.operations.trees import put

METHOD = Renaming(
    kind="method",
    target="p.m.C.f",
    path="p/m.py",
    new="h",
    subject=Subject(target="p.m.C.f", path="p/m.py", anchor="def f("),
)
CLASS = Renaming(
    kind="class",
    target="p.m.C",
    path="p/m.py",
    new="D",
    subject=Subject(target="p.m.C", path="p/m.py", anchor="class C:"),
)
MODULE = Renaming(kind="module", target="p.m", path="p/m.py", new="n", importer="user.py")
PROJECT = {
    "p/m.py": "class C:\n    def f(self): ...\n",
    "user.py": "from p.m import C\n\nC().f()\n",
    "other.py": "x = 1\n",
}
PLACES = {Place("p/m.py", 2, 9), Place("user.py", 3, 5)}
SERVER = """
import json, os, subprocess, sys, time
from pathlib import Path

def rename():
    for name in ("p/m.py", "user.py"):
        Path(name).write_text(Path(name).read_text().replace("f(", "h("))
    Path(".state").mkdir()
    return "Rename f -> h\\n\\nApplied as edit 1"

def answer(message, result):
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}), flush=True)
        answer(message, {"capabilities": {}})
    elif message["method"] == "tools/call":
        called, failed = message["params"], False
        MODE
        answer(message, {"content": [{"type": "text", "text": text}], "isError": failed})
"""
EDITS = "text = rename()"
CODEMOD = """
import re, sys
from pathlib import Path
old, new, *files = sys.argv[8], sys.argv[10], *sys.argv[11:]
runs = {
    "p.m.C": ["p.m.D", "p/m.py", "user.py"],
    "C": ["D", "p/m.py"],
    "p.m.C.f": ["p.m.C.h", "p/m.py", "user.py"],
    "p.m": ["p.n", "user.py"],
}
assert [new, *sorted(files)] == runs[old], sys.argv
if old[-1] == "C":
    path = Path("user.py" if "." in old else "p/m.py")
    path.write_text(re.sub(r"\\bC\\b", "D", path.read_text()))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return put(tmp_path / "project", PROJECT)


def unchanged(root: Path) -> bool:
    return {str(file.relative_to(root)): file.read_text() for file in root.rglob("*") if file.is_file()} == PROJECT


def test_a_tool_changes_a_copy_and_is_asked_by_name(project: Path, tmp_path: Path) -> None:
    wanted = {"name": "C.f", "file_path": "p/m.py", "new_name": "h", "allow_large": True}
    asked = f"assert called == {{'name': 'rename_symbol', 'arguments': {wanted}}}, called; "
    asked += "assert os.environ['CODENAV_MCP_WORKSPACE'] == os.getcwd(); "
    peers = installed(tmp_path / "peers", "codenav-mcp", SERVER.replace("MODE", asked + EDITS))
    planned = writers.codenav_mcp(peers, METHOD, project, 20)
    assert planned.places == PLACES
    assert planned.cost.wall > planned.cost.cpu > 0
    assert planned.cost.peak > 1
    assert unchanged(project)


def test_a_module_is_moved_and_its_file_is_a_place(project: Path, tmp_path: Path) -> None:
    wanted = {"file_path": "p/m.py", "to_file": "p/n.py", "allow_large": True}
    asked = f"assert called == {{'name': 'move', 'arguments': {wanted}}}, called; os.rename('p/m.py', 'p/n.py'); "
    peers = installed(tmp_path / "peers", "codenav-mcp", SERVER.replace("MODE", asked + "text = 'Applied as edit 2'"))
    assert writers.codenav_mcp(peers, MODULE, project, 20).places == {Place("p/m.py", 0, 0)}
    assert unchanged(project)


def test_a_tool_that_refuses_gives_its_reason(project: Path, tmp_path: Path) -> None:
    refusal = "text = 'NOT applied: 2 new errors'"
    peers = installed(tmp_path / "peers", "codenav-mcp", SERVER.replace("MODE", refusal))
    with pytest.raises(Failed, match="2 new errors"):
        writers.codenav_mcp(peers, METHOD, project, 20)
    assert unchanged(project)


def test_serena_is_asked_by_name_path_with_the_pyright_of_the_environment(project: Path, tmp_path: Path) -> None:
    wanted = {"name_path": "C/f", "relative_path": "p/m.py", "new_name": "h"}
    asked = f"assert called == {{'name': 'rename_symbol', 'arguments': {wanted}}}, called; "
    asked += "assert sys.argv[1:4] == ['start-mcp-server', '--project', os.getcwd()], sys.argv; "
    asked += f"assert {str(tmp_path / 'peers/bin/pyright-langserver')!r} in "
    asked += "Path(os.environ['SERENA_HOME'], 'serena_config.yml').read_text(); "
    peers = installed(tmp_path / "peers", "serena", SERVER.replace("MODE", asked + EDITS))
    assert writers.serena(peers, METHOD, project, 20).places == PLACES
    assert unchanged(project)


def test_an_answer_that_is_an_error_is_no_plan(project: Path, tmp_path: Path) -> None:
    peers = installed(tmp_path / "peers", "serena", SERVER.replace("MODE", "text, failed = 'no such symbol', True"))
    with pytest.raises(Failed, match="no such symbol"):
        writers.serena(peers, METHOD, project, 20)
    with pytest.raises(Failed, match="no rename of modules"):
        writers.serena(peers, MODULE, project, 20)


def test_what_a_server_starts_ends_with_it_in_a_session_of_its_own_too(project: Path, tmp_path: Path) -> None:
    child = "text = str(subprocess.Popen(['sleep', '60'], start_new_session=True).pid)"
    peers = installed(tmp_path / "peers", "server", SERVER.replace("MODE", child))
    with ToolServer([peers.program("server")], project, limit=20) as server:
        server.initialize()
        pid = int(server.call("any", {}))
        os.kill(pid, 0)
    for _ in range(100):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    raise AssertionError("the child is alive")


def test_a_tool_that_takes_too_long_is_ended(project: Path, tmp_path: Path) -> None:
    peers = installed(tmp_path / "peers", "codenav-mcp", SERVER.replace("MODE", "time.sleep(60)"))
    with pytest.raises(TooSlow):
        writers.codenav_mcp(peers, METHOD, project, 1.5)
    assert unchanged(project)


def test_ours_writes_a_copy_and_leaves_the_project(project: Path) -> None:
    planned = writers.ours_written(Peers(folder=Path(sys.prefix)), METHOD, project, 60)
    assert planned.places == PLACES
    assert unchanged(project)


def test_libcst_gets_the_files_with_the_word_and_then_the_defining_one(project: Path, tmp_path: Path) -> None:
    peers = installed(tmp_path / "peers", "python", CODEMOD)
    planned = writers.libcst(peers, CLASS, project, 20)
    assert planned.places == {Place("p/m.py", 1, 7), Place("user.py", 1, 17), Place("user.py", 3, 1)}
    assert unchanged(project)
    assert writers.libcst(peers, METHOD, project, 20).places == set()
    assert writers.libcst(peers, MODULE, project, 20).places == {Place("p/m.py", 0, 0)}


def test_codenav_is_named_as_one_without_a_rename(project: Path, tmp_path: Path) -> None:
    with pytest.raises(Failed, match=r"codenav 0\.0\.3 has no rename"):
        writers.codenav(installed(tmp_path / "peers", "none", ""), METHOD, project, 20)


def test_the_engines_that_write_are_pinned_exactly() -> None:
    pins = [line for line in WRITING.read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z-]+==[\d.]+", pin) for pin in pins)
    assert {"codenav-mcp", "libcst", "serena-agent"} < {pin.partition("==")[0] for pin in pins}


def test_the_table_has_a_row_for_each_engine_that_was_asked() -> None:
    assert list(ABOUT) == list(ENGINES)
    none = frozenset[Place]()
    one = frozenset({Place("m.py", 1, 1)})
    result = Fared(right=one, missed=none, wrong=none, strings=one, prose=one, text=none)
    cost = Cost(wall=1.25, cpu=1, peak=1)
    refused = {"jedi": "no plan within 5 s", "codenav": "no plan: codenav 0.0.3 has no rename"}
    measured = Measured(
        costs={OURS: cost, "ty": cost, "jedi": cost}, results={OURS: result, "ty": result}, refused=refused
    )
    title, _, head, rule, *rows = markdown(METHOD, 1, measured, {"ty": "7.8", "jedi": "9"}.__getitem__).split("\n")
    assert title == "`p.m.C.f` to `h`: 1 places have to change"
    assert head.count("|") == rule.count("|") == 8
    assert [row.split(" | ")[0].removeprefix("| ").split()[0] for row in rows] == [OURS, "jedi", "ty", "codenav"]
    assert rows[1].startswith("| jedi 9 | – | – | – | – | – | no plan within 5 s; ")
    assert rows[2].startswith("| ty 7.8 | 1 | 0 | 0 | 2 | 1.2 (1.0) | ")
    assert "codenav 0.0.3 has no rename" in rows[3]
