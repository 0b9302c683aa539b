"""Releases that change under a running process: its modules, what it holds, sessions, and servers of tools."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from bae_source import Session
from tests.resources.deps.installable import PYPROJECT, files_of, install, packages, versions

pytestmark = pytest.mark.sampled

SWAP = """
import sys, types
root, packages = sys.argv[1:]
sys.path += [root, packages]
from bae_source import Source
src = Source(root)
src.deps.add("alpha<2", "broken<2", "ending<2", "gamma")

import alpha, alpha.inner, alpha.old, beta, broken, ending, gamma, libcst
assert src.deps.get("alpha") is alpha and alpha.VERSION == "1.1"
assert src.deps.get("gamma") is gamma
holder = types.ModuleType("holder")
holder.Kept, sys.modules["holder"] = alpha.inner.Kept, holder
old, kept = alpha, alpha.inner.Kept()

outcome = src.deps.upgrade("alpha>=2")
notices = {each.code: each.message for each in outcome.warnings}
new = sys.modules["alpha"]
assert new is not old and new.VERSION == "2.0" and old.VERSION == "1.1"
assert sys.modules["alpha.inner"].VERSION == "2.0" and new.inner is sys.modules["alpha.inner"]
assert "alpha.old" not in sys.modules, "the new release has none"
assert sys.modules["beta"] is beta and sys.modules["libcst"] is libcst, "they did not change"
assert notices["reloaded"] == "Imported anew in this process: alpha, alpha.inner.", notices
assert notices["forgotten"] == "No longer loaded in this process: alpha.old.", notices
assert "holder" in notices["holds_old_objects"] and "__main__" in notices["holds_old_objects"], notices
assert src.deps.get("alpha") is new
assert type(kept) is holder.Kept is not new.inner.Kept, "nothing is patched"

src.undo()
back = src.deps.get("alpha")
assert back.VERSION == "1.1" and back is sys.modules["alpha"] and sys.modules["alpha.inner"].VERSION == "1.1"

for old, reason in ((broken, "RuntimeError: no"), (ending, "SystemExit: 3")):
    name = old.__name__
    outcome = src.deps.upgrade(f"{name}>=2")
    notices = {each.code: each.message for each in outcome.warnings}
    assert f"goes on with the old modules of {name}, since {reason}; restart" in notices["restart_needed"], notices
    assert sys.modules[name] is old and src.deps.get(name) is old and old.VERSION == "1.0"
    src.undo()

src.deps.remove("gamma")
assert "gamma" not in sys.modules, "it is gone"
try:
    src.deps.get("gamma")
except Exception as error:
    assert error.code == "symbol_not_found" and "deps_add" in error.hints[1], error.hints
else:
    raise AssertionError
before = {name: id(module) for name, module in sys.modules.items() if name.startswith("alpha")}
try:
    src.deps.upgrade("alpha>=2", verify=["command false"])
except Exception as error:
    assert error.code == "verify_failed", error
else:
    raise AssertionError
assert {name: id(sys.modules[name]) for name in before} == before, "the old modules are back"
print("all of it")
"""


def test_modules_of_a_running_process_follow_the_release(root: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SWAP, str(root), str(packages(root))],
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
    )
    assert ended.stdout == "all of it\n", ended.stderr


def test_what_bae_source_runs_on_is_never_swapped(root: Path, links: Path, tmp_path: Path, monkeypatch: Any) -> None:
    from tests.resources.deps.installable import wheel

    others = tmp_path / "others"
    others.mkdir()
    for version in ("1.0", "2.0"):
        wheel(others, "pathspec", version, files={"pathspec/__init__.py": f'VERSION = "{version}"\n'})
    monkeypatch.setenv("PIP_FIND_LINKS", f"{links} {others}")
    script = (
        "import sys\nroot, packages = sys.argv[1:]\nsys.path.insert(0, packages)\n"
        "from bae_source import Source\nsrc = Source(root)\n"
        "import pathspec\nassert pathspec.VERSION == '1.0', pathspec\n"
        "warnings = src.deps.upgrade('pathspec>=2').warnings\n"
        "[notice] = [each.message for each in warnings if each.code == 'restart_needed']\n"
        "assert 'bae_source itself runs on pathspec here' in notice, notice\n"
        "assert sys.modules['pathspec'] is pathspec\nprint('all of it')\n"
    )
    (root / "pyproject.toml").write_text(PYPROJECT.replace("alpha>=1", "pathspec"))
    install(root, "pathspec==1.0")
    ended = subprocess.run(
        [sys.executable, "-c", script, str(root), str(packages(root))],
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
    )
    assert ended.stdout == "all of it\n", ended.stderr


def test_a_session_changes_dependencies_and_goes_on_with_them(root: Path) -> None:
    before = files_of(root)
    with Session(root) as session:
        ran = session.run(
            'source.deps()\nadd("alpha<2")\nfirst = get("alpha").VERSION\nupgrade("alpha>=2")\n'
            "import alpha\n(first, get('alpha').VERSION, alpha.VERSION)"
        )
        assert ran.text.rstrip().endswith("('1.1', '2.0', '2.0')"), ran.text
        assert not ran.outcome.errors
        ran = session.run("source.undo()\nsource.undo()\nremove('nosuch')")
        assert "nosuch is not declared by this project." in ran.text, ran.text
    assert (files_of(root), versions(root)) == (before, {})


def test_a_client_of_the_server_changes_dependencies_by_one_tool(root: Path) -> None:
    words = ["-m", "bae_source", "mcp", "--root", str(root)]
    server = StdioServerParameters(command=sys.executable, args=words, env=os.environ | {"PYTHONPATH": str(Path.cwd())})
    before = files_of(root)

    async def walk() -> None:
        async with Client(server) as client:
            asked = {"verb": "deps_add", "arguments": {"requirements": ["gamma"], "group": "dev"}}
            added = (await client.call_tool("change", asked)).structured_content
            assert added["status"] == "applied"
            assert added["text"].endswith("Installs gamma 1.0, alpha 2.0, beta 1.0.")
            asked = {"verb": "deps_get", "arguments": {"dependency": "gamma"}}
            got = (await client.call_tool("call", asked)).structured_content
            assert got["text"] == "gamma 1.0 gives gamma."
            asked = {"verb": "deps_add", "arguments": {"requirements": ["nosuch"]}}
            failed = await client.call_tool("change", asked)
            assert failed.is_error
            assert "No matching distribution found for nosuch" in failed.content[0].text
            undone = await client.call_tool("change", {"verb": "undo", "arguments": {}})
            assert undone.structured_content["status"] == "applied"

    asyncio.run(walk())
    assert (files_of(root), versions(root)) == (before, {})
