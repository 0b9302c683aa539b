"""Real code to measure and test on: source distributions at pinned versions, and the running standard library.

Invariants:
- nothing is unpacked whose SHA-256 is not the pinned one, and nothing lands outside its own folder;
- a release's folder in the cache is complete or absent, however many processes fetch it at once;
- what is fetched is never imported from here. (pip asks each project's build backend for its metadata, in an
  environment of its own and after checking the same digest.)

`python -m benchmarks.corpus` fetches everything and prints how much there is.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from filelock import FileLock

CACHE = Path(__file__).resolve().parent.parent / ".corpus"
_SECONDS = 600
_NOT_OURS = {"site-packages", "dist-packages"}


class Unavailable(Exception):
    """A release cannot be had: no network, another digest, or an archive that is not what it should be."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """One source distribution; `sha256` is the digest of its archive."""

    name: str
    version: str
    sha256: str

    @property
    def folder(self) -> str:
        """Name of its folder in the cache."""
        return f"{self.name}-{self.version}"


Download = Callable[[Release, Path], Path]

RELEASES = (
    Release(
        name="attrs",
        version="25.4.0",
        sha256="16d5969b87f0859ef33a48b35d55ac1be6e42ae49d5e853b597db70c35c57e11",
    ),
    Release(
        name="black",
        version="25.9.0",
        sha256="0474bca9a0dd1b51791fcc507a4e02078a1c63f6d4e4ae5544b9848c7adfb619",
    ),
    Release(
        name="django",
        version="5.2.8",
        sha256="23254866a5bb9a2cfa6004e8b809ec6246eba4b58a7589bc2772f1bcc8456c7f",
    ),
    Release(
        name="flask",
        version="3.1.2",
        sha256="bf656c15c80190ed628ad08cdfd3aaa35beb087855e2f494910aa3774cc4fd87",
    ),
    Release(
        name="httpx",
        version="0.28.1",
        sha256="75e98c5f16b0f35b567856f597f06ff2270a374470a5c2392242528e3e3e42fc",
    ),
    Release(
        name="requests",
        version="2.32.5",
        sha256="dbba0bac56e100853db0ea71b82b4dfd5fe2bf6d3754a8893c3af500cec7d7cf",
    ),
    Release(
        name="rich",
        version="14.2.0",
        sha256="73ff50c7c0c1c77c8243079283f4edb376f0f6442433aecb8ce7e6d0b92d1fe4",
    ),
    Release(
        name="sqlalchemy",
        version="2.0.44",
        sha256="0ae7454e1ab1d780aee69fd2aae7d6b8670a581d8847f2d1e0f7ddfbf47e5a22",
    ),
)


def packages(cache: Path = CACHE) -> Iterator[tuple[str, Path]]:
    """Yield name and root folder of every pinned release, fetching what the cache lacks.

    Raises:
        Unavailable: if a release cannot be had.
    """
    for release in RELEASES:
        yield release.name, fetch(release, cache)


def fetch(release: Release, cache: Path = CACHE, *, download: Download | None = None) -> Path:
    """Return the folder of a release's unpacked source, fetching it unless the cache has it.

    Parameters:
        release: what to fetch.
        cache: folder that keeps one folder for each release.
        download: puts the archive into a folder and returns its path; by default pip does.

    Raises:
        Unavailable: if it cannot be downloaded, or is not the pinned archive.
    """
    target = cache / release.folder
    if target.is_dir():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / f".{release.folder}.lock"):
        if not target.is_dir():
            _fetch_into(target, release, download or _download)
    return target


def standard_library() -> Path:
    """Return the folder of the running interpreter's standard library, its `test` package included."""
    return Path(sysconfig.get_path("stdlib"))


def python_files(root: Path) -> list[Path]:
    """List the `.py` files under `root`, sorted; packages installed inside a standard library are left out."""
    found: list[Path] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _NOT_OURS]
        found += [Path(folder, name) for name in files if name.endswith(".py")]
    return sorted(path for path in found if path.is_file())


def main(arguments: Sequence[str] | None = None) -> None:
    """Fetch every release and print a table of what there is."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus", description=main.__doc__)
    parser.add_argument("--cache", type=Path, default=CACHE, help="where releases are kept (default: %(default)s)")
    cache = parser.parse_args(arguments).cache
    versions = {release.name: release.version for release in RELEASES}
    print(f"{'package':<18}{'version':<10}{'files':>8}{'lines':>12}")
    try:
        for name, root in packages(cache):
            _print_row(name, versions[name], root)
    except Unavailable as error:
        sys.exit(str(error))
    _print_row("standard library", platform.python_version(), standard_library())


def _fetch_into(target: Path, release: Release, download: Download) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as staging:
        archive = download(release, Path(staging))
        _check(release, archive)
        _unpack(archive, Path(staging, "unpacked")).rename(target)


def _download(release: Release, folder: Path) -> Path:
    """Let pip fetch the archive into `folder`."""
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{release.name}=={release.version} --hash=sha256:{release.sha256}\n", encoding="utf-8")
    # Only the release itself comes as source: with `:all:` its build requirements would be compiled too, for minutes.
    options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-deps", "--no-binary", release.name]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), "-r", str(requirement)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"Downloading {release.folder} took more than {_SECONDS} seconds.") from error
    archives = sorted(folder.glob("*.tar.gz"))
    if done.returncode or len(archives) != 1:
        raise Unavailable(f"pip could not download {release.folder}:\n{done.stderr.strip()}")
    return archives[0]


def _check(release: Release, archive: Path) -> None:
    with archive.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != release.sha256:
        raise Unavailable(f"{release.folder} has the SHA-256 {found}, not the pinned {release.sha256}.")


def _unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive and return the one folder that it holds."""
    try:
        with tarfile.open(archive) as opened:
            for member in opened:
                _put(opened, member, folder)
    except tarfile.TarError as error:
        raise Unavailable(f"{archive.name} is no archive that can be unpacked safely: {error}") from error
    tops = list(folder.iterdir())
    if len(tops) != 1 or not tops[0].is_dir():
        raise Unavailable(f"{archive.name} holds {len(tops)} entries instead of one folder.")
    return tops[0]


def _put(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Unpack one file or folder below `folder`; not by `extractall`, whose filters Python has from 3.11.4 on."""
    parts = PurePosixPath(member.name).parts
    if ".." in parts or parts[:1] == ("/",) or not (member.isdir() or member.isfile()):
        raise tarfile.TarError(f"{member.name} is no file or folder inside of it")
    target = folder.joinpath(*parts)
    (target if member.isdir() else target.parent).mkdir(parents=True, exist_ok=True)
    content = archive.extractfile(member)
    if content is not None:
        target.write_bytes(content.read())


def _print_row(name: str, version: str, root: Path) -> None:
    files = python_files(root)
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    print(f"{name:<18}{version:<10}{len(files):>8,}{lines:>12,}", flush=True)


if __name__ == "__main__":
    main()
