"""Processes of another user, and folders that they may enter: for tests of what permissions and owners come to.

Root may look anywhere, so such a test asks as another user, in a process that is that user's from its beginning. It
needs Python, this package and what that imports. Where one of these lies in a folder that only root may enter, as below
root's home, the process gets a copy of it in a folder that everybody may enter. Who is not root cannot become another
user; the process is then one's own, for which permissions count.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

REPOSITORY = Path(__file__).parents[1]
NOBODY = 65534
_EVERYBODY = 0o005
_NOT_NEEDED = {"site-packages", "dist-packages", "test", "idlelib", "tkinter", "ensurepip", "lib2to3"}
"""Folders at the top of the standard library."""
_PRIVATE = ("XDG_", "TMPDIR", "TEMP", "TMP", "PYTHONPATH", "VIRTUAL_ENV")
"""How variables begin that lead to a user's own folders."""


class AnotherUser:
    """The means to start Python as another user.

    Parameters:
        python: a program that this user may run.
        environment: its variables.
        user: number of the user and of its only group; one's own where it cannot be another.
    """

    def __init__(self, python: str, environment: Mapping[str, str], user: int) -> None:
        self.python = python
        self.environment = environment
        self.user = user

    def run(self, *words: str, folder: Path, **changes: str) -> subprocess.CompletedProcess[bytes]:
        """Run Python with these words in a folder that the user may enter, and return what came of it."""
        becoming = {"user": self.user, "group": self.user, "extra_groups": []} if os.geteuid() == 0 else {}
        return subprocess.run(
            [self.python, *words],
            cwd=folder,
            env={**self.environment, **changes},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            **becoming,
        )


@contextmanager
def open_folder() -> Iterator[Path]:
    """Make a folder that everybody may enter and list, unlike what is below `tmp_path`, and let that hold below it too.

    Raises:
        OSError: no folder for temporary files lets other users in.
    """
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        if os.geteuid() != 0 or all(folder.stat().st_mode & 0o001 for folder in _with_parents(Path(place))):
            break
    else:
        raise PermissionError(f"other users may not enter {tempfile.gettempdir()}, /tmp or /var/tmp")
    mask = os.umask(0o022)
    try:
        with tempfile.TemporaryDirectory(dir=place) as name:
            Path(name).chmod(0o755)
            yield Path(name)
    finally:
        os.umask(mask)


def another_user(place: Path) -> AnotherUser:
    """Return the means to be another user; `place` is an open folder for a home, and for what has to be copied."""
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    home = place / "home"
    home.mkdir()
    if os.geteuid() == 0:
        os.chown(home, user, user)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_PRIVATE)}
    environment = kept | {"HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(REPOSITORY)}
    if os.geteuid() != 0 or all(map(_is_open, (Path(sys.executable), *_python(), *_packages()))):
        return AnotherUser(sys.executable, environment, user)
    python, libraries = _copy_of_python(place)
    environment |= {"PYTHONPATH": str(_copy_of_packages(place))} | libraries
    return AnotherUser(python, environment, user)


def _with_parents(path: Path) -> tuple[Path, ...]:
    whole = path.resolve()
    return (whole, *whole.parents)


def _is_open(path: Path) -> bool:
    """Say whether everybody may read a file, or enter and list a folder, and get there by any of its names."""
    return path.stat().st_mode & _EVERYBODY == _EVERYBODY and all(
        folder.stat().st_mode & 0o001 for name in (path.absolute(), path.resolve()) for folder in name.parents
    )


def _python() -> tuple[Path, ...]:
    """Return the interpreter and the folders of the standard library, without those of a virtual environment."""
    base = {"platbase": sys.base_exec_prefix}
    folders = {sysconfig.get_path(kind, vars=base) for kind in ("stdlib", "platstdlib")}
    return (Path(sys.executable).resolve(), *map(Path, sorted(folders)))


def _packages() -> tuple[Path, ...]:
    """Return this package and the folders that hold what it imports."""
    return (REPOSITORY / "bae_source", *(Path(str(found.locate_file(""))) for found in _needed().values()))


def _needed() -> dict[str, metadata.Distribution]:
    """Return this package's distribution and those that it always needs, by name."""
    found: dict[str, metadata.Distribution] = {}
    pending = ["bae-source"]
    while pending:
        name = re.sub(r"[-_.]+", "-", pending.pop()).lower()
        if name not in found:
            found[name] = metadata.distribution(name)
            needs = map(Requirement, found[name].requires or ())
            pending += [each.name for each in needs if each.marker is None or each.marker.evaluate({"extra": ""})]
    return found


def _copy_of_python(place: Path) -> tuple[str, dict[str, str]]:
    """Copy the interpreter, its shared libraries and the standard library, unless everybody may use them anyway."""
    program, *folders = _python()
    if all(map(_is_open, (program, *folders))):
        return str(program), {}
    prefix, copied = Path(sys.base_prefix).resolve(), place / "python"
    libraries = [path for pattern in ("*.so*", "*.dylib") for path in prefix.glob(f"lib/{pattern}") if path.is_file()]
    for path in (program, *libraries):
        _copy(path, copied / path.relative_to(prefix))
    for folder in folders:
        _copy_whole(folder, copied / folder.resolve().relative_to(prefix), without=_NOT_NEEDED)
    lib = str(copied / "lib")
    return str(copied / program.relative_to(prefix)), {"LD_LIBRARY_PATH": lib, "DYLD_LIBRARY_PATH": lib}


def _copy_of_packages(place: Path) -> Path:
    """Copy this package and what it needs, and return the folder in which they can be imported."""
    copied = place / "packages"
    _copy_whole(REPOSITORY / "bae_source", copied / "bae_source")
    for found in _needed().values():
        for name in found.files or ():
            if ".." not in name.parts and name.suffix != ".pyc":
                _copy(Path(str(found.locate_file(name))), copied / name)
    return copied


def _copy_whole(folder: Path, target: Path, *, without: Set[str] = frozenset()) -> None:
    for top, names, files in os.walk(folder):
        names[:] = [name for name in names if name not in without and not name.startswith(("__pycache__", "config-"))]
        without = frozenset()
        for name in files:
            _copy(Path(top, name), target / Path(top, name).relative_to(folder))


def _copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    target.chmod(0o755)
