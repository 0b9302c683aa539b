"""Wheels that tests make, the folder of them that is an index to pip, and environments to install them in."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_BROUGHT = ("pip", "setuptools", "_distutils", "distutils", "pkg_resources")
"""What an environment has from the beginning."""
PYPROJECT = '[project]\nname = "app"\nversion = "1.0"\ndependencies = [\n    "alpha>=1",  # the first\n]\n'


def wheel(
    folder: Path,
    name: str,
    version: str,
    *,
    requires: Sequence[str] = (),
    extras: Mapping[str, Sequence[str]] | None = None,
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write a wheel of a distribution, whose module tells its version, and return its path.

    Parameters:
        files: what lies in it besides; of the module itself, another text.
    """
    module, extras = name.lower().replace("-", "_").replace(".", "_"), extras or {}
    info = f"{module}-{version}.dist-info"
    needs = [f"Requires-Dist: {each}" for each in requires]
    needs += [f"Provides-Extra: {each}" for each in extras]
    needs += [f'Requires-Dist: {need}; extra == "{each}"' for each, several in extras.items() for need in several]
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *needs]
    contents = {f"{module}/__init__.py": f'VERSION = "{version}"\n', **(files or {})}
    contents[f"{info}/METADATA"] = "\n".join([*lines, ""])
    contents[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{info}/RECORD"
    contents[record] = "".join(f"{path},{_digest(text)},{len(text.encode())}\n" for path, text in contents.items())
    contents[record] += f"{record},,\n"
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inner, text in contents.items():
            archive.writestr(inner, text)
    return path


def _digest(text: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def source_archive(folder: Path, name: str, version: str, *, marks: Path) -> Path:
    """Write a source distribution that builds itself, and in doing so writes a file that tells of it."""
    place = folder / f"{name}-{version}"
    place.mkdir()
    settings = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
    texts = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "pyproject.toml": f'{settings}[project]\nname = "{name}"\nversion = "{version}"\n',
        "own.py": f"import pathlib, shutil\npathlib.Path({str(marks)!r}).write_text('built')\n"
        "def build_wheel(folder, *given, **named):\n"
        "    [wheel] = pathlib.Path('dist').glob('*.whl')\n    shutil.copy(wheel, folder)\n    return wheel.name\n",
    }
    for path, text in texts.items():
        (place / path).write_text(text)
    (place / "dist").mkdir()
    wheel(place / "dist", name, version)
    with tarfile.open(folder / f"{name}-{version}.tar.gz", "w:gz") as archive:
        archive.add(place, place.name)
    shutil.rmtree(place)
    return folder / f"{name}-{version}.tar.gz"


def environment(folder: Path) -> None:
    """Make a virtual environment with pip."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True)


def copied(environment: Path, folder: Path) -> None:
    """Copy an environment, whose files are written anew by what changes them, and never in place."""
    shutil.copytree(environment, folder, symlinks=True, copy_function=os.link)


def packages(root: Path) -> Path:
    """Return the folder of packages of a project's environment."""
    [found] = (root / ".venv").glob("lib/python*/site-packages")
    return found


def versions(root: Path) -> dict[str, str]:
    """Return what is installed, pip and its like aside, as the names of the records say."""
    names = (each.name.removesuffix(".dist-info").partition("-") for each in packages(root).glob("*.dist-info"))
    return {name: version for name, _, version in names if name not in ("pip", "setuptools")}


def installed(root: Path) -> dict[str, bytes]:
    """Return the content of all that is installed, by path, compiled files and pip aside."""
    folder = packages(root)
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    found = {path.relative_to(folder): path.read_bytes() for path in files}
    return {str(path): content for path, content in found.items() if not path.parts[0].startswith(_BROUGHT)}


def files_of(root: Path) -> dict[str, bytes]:
    """Return the content of the project's own files."""
    files = (path for path in root.rglob("*") if path.is_file() and not {*path.parts} & {".venv", ".bae-source"})
    return {str(path): path.read_bytes() for path in files if "__pycache__" not in path.parts}


def install(root: Path, *what: str) -> None:
    """Install by pip itself, as anybody may meanwhile."""
    words = [root / ".venv/bin/python", "-m", "pip", "install", "--quiet", *what]
    subprocess.run(words, check=True, capture_output=True)
