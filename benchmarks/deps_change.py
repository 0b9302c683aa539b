"""Dependencies changed by real uv with real packages from a registry, compared with what uv makes of a copy itself.

- *locked*: a project with a uv.lock, installed in its environment: add, upgrade, remove, groups, extras, dry runs; each
  lock is compared, byte by byte, with that of `uv add`, `uv remove` and `uv lock` in a copy of the project;
- *workspace*: the same for the root of one, whose members stay installed as they are;
- *without pip*: a project without a lock, and an environment that `uv venv` made;
- *refused*: conflicts, what has no wheel, and locks where there is no uv.

    python -m benchmarks.deps_change

Fetches uv, unless it is on the search path, and a few small packages. Prints a table; ends with 1 where one differs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bae_source import ResourceError, Source

_PROJECT = """\
[project]
name = "app"
version = "1.0"
requires-python = ">=3.11"
dependencies = [
    "idna>=3",  # names of hosts
    "six",
]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["app"]

[dependency-groups]
dev = ["iniconfig"]
"""
_MEMBER = """\
[project]
name = "member"
version = "1.0"
requires-python = ">=3.11"
dependencies = ["iniconfig"]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["member"]
"""
_OLD = "3.4"
"""A release of idna that is not the newest."""


class Bench:
    """Projects below a folder, uv, and what came out.

    Attributes:
        differ: how many things are not as they should be.
    """

    def __init__(self, folder: Path, uv: str) -> None:
        self.differ = 0
        self._folder = folder
        self._uv = uv
        self._begun = time.perf_counter()

    def check(self, what: str, found: object, wanted: object = True) -> None:
        """Print one row."""
        same = found == wanted
        self.differ += not same
        seconds, self._begun = time.perf_counter() - self._begun, time.perf_counter()
        print(f"{'same' if same else 'DIFFERS':8} {seconds:5.1f} s  {what}")
        if not same:
            print(f"    found  {str(found)[:1500]}\n    wanted {str(wanted)[:1500]}")

    def uv(self, root: Path, *words: str) -> None:
        """Run uv in a project."""
        environment = {**os.environ, "VIRTUAL_ENV": str(root / ".venv")}
        subprocess.run([self._uv, *words], cwd=root, env=environment, check=True, capture_output=True)

    def project(self, name: str, files: dict[str, str]) -> Path:
        """Write a project."""
        root = self._folder / name
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    def lock_by_uv(self, root: Path, *words: str) -> bytes:
        """Return the lock that uv makes of a copy of a project."""
        copy = self._folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".venv", ".bae-source"))
        self.uv(copy, *words)
        return (copy / "uv.lock").read_bytes()

    def refused(self, what: str, root: Path, do: Callable[[], object], reason: str) -> None:
        """Check that a change is refused with a reason, and changes nothing."""
        before = _state(root)
        try:
            do()
        except ResourceError as error:
            self.check(f"{what}: refused", reason in error.message or error.message)
        else:
            self.check(f"{what}: refused", found=False)
        self.check(f"{what}: nothing changed", _state(root), before)


def main() -> int:
    """Make all changes and compare; 1 where something differs."""
    with tempfile.TemporaryDirectory(prefix="deps-change-") as place:
        folder = Path(os.path.realpath(place))
        uv = shutil.which("uv") or _fetched(folder)
        os.environ["PATH"] = f"{Path(uv).parent}{os.pathsep}{os.environ['PATH']}"
        os.environ.pop("VIRTUAL_ENV", None)
        bench = Bench(folder, uv)
        _locked(bench)
        _workspace(bench)
        _without_pip(bench)
        _without_uv(bench)
    print(f"{bench.differ} differ" if bench.differ else "all as uv has it")
    return 1 if bench.differ else 0


def _fetched(folder: Path) -> str:
    """Install uv in an environment of its own."""
    subprocess.run([sys.executable, "-m", "venv", folder / "uv"], check=True)
    subprocess.run([folder / "uv/bin/python", "-m", "pip", "install", "-q", "uv"], check=True)
    return str(folder / "uv/bin/uv")


def _locked(bench: Bench) -> None:
    root = bench.project("locked", {"pyproject.toml": _PROJECT, "app/__init__.py": ""})
    bench.uv(root, "lock", "--upgrade-package", f"idna=={_OLD}")
    bench.uv(root, "venv")
    bench.uv(root, "sync")
    src, first, own = Source(root), _state(root), _own(root, "app")

    def compared(what: str, change: Callable[[], Any], *words: str) -> None:
        wanted = bench.lock_by_uv(root, *words)
        change()
        bench.check(f"{what}: lock", (root / "uv.lock").read_bytes(), wanted)
        bench.check(f"{what}: the environment has what the lock says", _differences(root), {})

    outcome = src.deps.add("sniffio>=1.3", dry_run=True)
    bench.check("dry run: nothing changed", _state(root), first)
    bench.check("dry run: shows what would be installed", "Installs sniffio 1." in outcome.text or outcome.text)
    codes = [each.code for each in outcome.warnings]
    bench.check("dry run: says that the lock follows", "lock_follows" in codes or codes)
    compared("add", lambda: src.deps.add("sniffio>=1.3"), "add", "--no-sync", "sniffio>=1.3")
    before = _packages(root)
    compared("upgrade", lambda: src.deps.upgrade("idna"), "lock", "--upgrade-package", "idna")
    changed = [name for name, version in _packages(root).items() if before[name] != version]
    bench.check("upgrade: of one package alone", changed, ["idna"])
    compared(
        "group", lambda: src.deps.add("toml>=0.10", group="docs"), "add", "--no-sync", "--group=docs", "toml>=0.10"
    )
    words = ("add", "--no-sync", "--optional=shell", "rich>=13,<14")
    compared("extra", lambda: src.deps.add("rich>=13,<14", extra="shell"), *words)
    (root / "pyproject.toml").write_text((root / "pyproject.toml").read_text().replace("rich>=13,<14", "rich>=13"))
    compared("upgrade in an extra", lambda: src.deps.upgrade("rich"), "lock", "--upgrade-package", "rich")
    compared("remove", lambda: src.deps.remove("six"), "remove", "--no-sync", "six")
    words = ("remove", "--no-sync", "--optional=shell", "rich")
    compared("remove what needs others", lambda: src.deps.remove("rich", extra="shell"), *words)
    bench.check("the project itself was not touched", _own(root, "app"), own)
    both = ("anyio==4.4.0", "idna<2.8")
    bench.refused("conflict", root, lambda: src.deps.add(*both), "No solution found")
    bench.refused("no such package", root, lambda: src.deps.add("no-such-package-at-all-1"), "no-such-package-at-all-1")
    bench.refused("a command that fails", root, lambda: src.deps.add("toml", verify=["command false"]), "false")
    src.deps.add("toml>=0.10", files_only=True)
    bench.check("files only: the lock has it", "toml" in (root / "uv.lock").read_text())
    for _ in range(7):
        src.undo()
    bench.check("undo of all: files and environment", _state(root), first)
    bench.check("undo of all: the project itself", _own(root, "app"), own)
    src.redo()
    bench.check("redo: the environment has what the lock says", _differences(root), {})


def _workspace(bench: Bench) -> None:
    text = _PROJECT.replace('"six",', '"six",\n    "member",')
    text += '\n[tool.uv.workspace]\nmembers = ["packages/*"]\n\n[tool.uv.sources]\nmember = { workspace = true }\n'
    files = {"pyproject.toml": text, "app/__init__.py": "", "packages/member/pyproject.toml": _MEMBER}
    root = bench.project("workspace", {**files, "packages/member/member/__init__.py": ""})
    bench.uv(root, "lock")
    bench.uv(root, "venv")
    bench.uv(root, "sync")
    src, first, own = Source(root), _state(root), _own(root, "member")
    wanted = bench.lock_by_uv(root, "add", "--no-sync", "sniffio>=1.3")
    src.deps.add("sniffio>=1.3")
    bench.check("workspace, add: lock", (root / "uv.lock").read_bytes(), wanted)
    wanted = bench.lock_by_uv(root, "remove", "--no-sync", "six")
    src.deps.remove("six")
    bench.check("workspace, remove: lock", (root / "uv.lock").read_bytes(), wanted)
    bench.check("workspace: a member has no newer release", src.deps.upgrade("member").status, "unchanged")
    wanted = bench.lock_by_uv(root, "remove", "--no-sync", "member")
    src.deps.remove("member")
    bench.check("workspace, remove a member: lock", (root / "uv.lock").read_bytes(), wanted)
    bench.check("workspace: the member was not touched", _own(root, "member"), own)
    for _ in range(3):
        src.undo()
    bench.check("workspace: undo", _state(root), first)


def _without_pip(bench: Bench) -> None:
    root = bench.project("unlocked", {"pyproject.toml": _PROJECT, "app/__init__.py": ""})
    bench.uv(root, "venv")
    bench.uv(root, "pip", "install", f"idna=={_OLD}")
    src, first = Source(root), _state(root)
    src.deps.add("sniffio>=1.3", "rich[jupyter]; python_version < '3'", group="dev")
    bench.check("uv pip, add", {"sniffio", "six", "iniconfig"} & _versions(root).keys(), {"sniffio", "six"})
    src.deps.upgrade("idna")
    version = _versions(root)["idna"]
    bench.check(
        "uv pip, upgrade: the bound follows", f'"idna>={version}",  # names' in (root / "pyproject.toml").read_text()
    )
    src.deps.remove("six")
    bench.check("uv pip, remove", _versions(root).keys() & {"six", "sniffio"}, {"sniffio"})
    bench.refused("uv pip, conflict", root, lambda: src.deps.add("anyio==4.4.0", "idna<2.8"), "No solution found")
    bench.refused("uv pip, no wheel", root, lambda: src.deps.add("docopt"), "docopt")
    settings, late = root / "pyproject.toml", '\n[tool.uv]\nexclude-newer = "2010-01-01T00:00:00Z"\n'
    settings.write_text(settings.read_text() + late)
    bench.refused("uv pip, newer than its settings let in", root, lambda: src.deps.add("toml"), "toml")
    src.undo()
    bench.check("uv pip, undo: what they would not let in is back", "six" in _versions(root))
    settings.write_text(settings.read_text().removesuffix(late))
    for _ in range(2):
        src.undo()
    bench.check("uv pip, undo of all", _state(root), first)


def _without_uv(bench: Bench) -> None:
    root = bench.project("no-uv", {"pyproject.toml": _PROJECT, "app/__init__.py": ""})
    bench.uv(root, "lock")
    bench.uv(root, "venv")
    if (Path(sys.executable).parent / "uv").exists():
        print("left out: uv lies beside our own Python, so it is never absent")
        return
    os.environ["PATH"] = "/nowhere"
    src = Source(root)
    bench.refused("no uv", root, lambda: src.deps.add("sniffio"), "there is no uv to lock them anew")


def _state(root: Path) -> dict[str, object]:
    """Return the project's own files, and the releases that are installed."""
    files = {each: (root / each).read_bytes() for each in ("pyproject.toml", "uv.lock") if (root / each).exists()}
    return {**files, "environment": _versions(root)}


def _versions(root: Path) -> dict[str, str]:
    records = (root / ".venv").glob("lib/python*/site-packages/*.dist-info")
    pairs = (each.name.removesuffix(".dist-info").partition("-") for each in records)
    return {name.replace("_", "-"): version for name, _, version in pairs}


def _packages(root: Path) -> dict[str, str]:
    """Return the releases that a lock has."""
    found = tomllib.loads((root / "uv.lock").read_text())["package"]
    return {each["name"]: each["version"] for each in found}


def _differences(root: Path) -> dict[str, object]:
    """Return the releases that lock and environment have differently."""
    lock, there = _packages(root), _versions(root)
    return {name: (lock.get(name), there.get(name)) for name in {*lock, *there} if lock.get(name) != there.get(name)}


def _own(root: Path, name: str) -> dict[str, tuple[bytes, int]]:
    """Return the files that an editable installation has, with their times."""
    files = (root / ".venv").glob(f"lib/python*/site-packages/*{name}*/*")
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in files}


if __name__ == "__main__":
    sys.exit(main())
