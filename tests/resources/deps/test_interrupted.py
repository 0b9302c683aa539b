"""Changes of dependencies that are interrupted, or that several processes make at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import ResourceError
from tests.resources.deps.installable import files_of, installed, packages, versions

pytestmark = pytest.mark.sampled

CHILD = """
import sys
from bae_source import Source
print(Source(sys.argv[1]).deps.upgrade("alpha>=2"))
"""
SLOW = """
import os, sys, time
if "install" in sys.argv and "--dry-run" not in sys.argv:
    from pip._internal.operations.install import wheel
    real = wheel.install_wheel
    def install(*given, **named):
        open({reached!r}, "w").close()
        {then}
    wheel.install_wheel = install
"""


def slowed(root: Path, reached: Path, then: str) -> None:
    """Have pip wait, or do something else, in the middle of an installation: the old release is gone by then."""
    (packages(root) / "slow.pth").write_text("import slow\n")
    (packages(root) / "slow.py").write_text(
        "import sys, importlib.abc\n"
        "class Finder(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'pip._internal.commands.install':\n"
        "            sys.meta_path.remove(self)\n"
        f"            exec({SLOW.format(reached=str(reached), then=then)!r}, {{}})\n"
        "sys.meta_path.insert(0, Finder())\n"
    )


def until(condition: object) -> None:
    end = time.monotonic() + 30
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, "installer"])
def test_an_installation_that_is_interrupted_in_the_middle_is_put_back(root: Path, tmp_path: Path, how: object) -> None:
    Source(root).deps.add("alpha<2")
    reached = tmp_path / "reached"
    slowed(root, reached, "os.kill(os.getpid(), 9)" if how == "installer" else "time.sleep(60)")
    before = files_of(root), installed(root)
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(root)], stderr=subprocess.PIPE, env=environment)
    until(reached.exists)
    if how == "installer":
        assert b"it ended with -9" in child.communicate()[1] or child.returncode
    else:
        assert not (packages(root) / "alpha-1.1.dist-info").exists(), "it is in the middle"
        child.send_signal(how)
        child.communicate()
    assert child.returncode
    if how == signal.SIGKILL:
        for name in ("slow.pth", "slow.py"):
            (packages(root) / name).unlink()
        before[1].pop("slow.pth")
        before[1].pop("slow.py")
        outcome = Source(root).deps.add("alpha<2", dry_run=True)
        assert [each.code for each in outcome.warnings] == ["recovered"]
    assert (files_of(root), installed(root)) == before


def test_an_environment_that_cannot_be_put_back_is_an_error_that_says_so(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bae_source.resources.deps.saved import Saved

    Source(root).deps.add("alpha<2")
    slowed(root, tmp_path / "reached", "raise OSError('broken')")
    real = Saved.restore

    def fails(self: Saved) -> None:
        raise OSError(28, "No space left on device", "alpha")

    monkeypatch.setattr(Saved, "restore", fails)
    with pytest.raises(ResourceError) as caught:
        Source(root).deps.upgrade("alpha>=2")
    assert caught.value.code == "rollback_failed"
    assert "alpha could not be put back: No space left on device" in caught.value.message
    assert '"alpha<2"' in (root / "pyproject.toml").read_text()
    monkeypatch.setattr(Saved, "restore", real)
    Source(root).deps.add("alpha<2", dry_run=True)
    assert versions(root)["alpha"] == "1.1", "the next change of dependencies puts it back"


def test_two_processes_at_once_both_succeed(root: Path) -> None:
    script = "import sys\nfrom bae_source import Source\nSource(sys.argv[1]).deps.add(sys.argv[2])\n"
    children = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(root), name],
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        )
        for name in ("gamma", "Foo.Bar")
    ]
    errors = [child.communicate()[1] for child in children]
    assert [child.returncode for child in children] == [0, 0], errors
    text = (root / "pyproject.toml").read_text()
    assert ('"gamma"' in text, '"Foo.Bar"' in text) == (True, True)
    assert versions(root) == {"alpha": "2.0", "beta": "1.0", "foo_bar": "1.0", "gamma": "1.0"}
