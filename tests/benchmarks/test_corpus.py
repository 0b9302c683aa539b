"""The corpus is what it was pinned to, whole, and stays in its folder."""

from __future__ import annotations

import hashlib
import io
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.corpus import RELEASES, Release, Unavailable, fetch, python_files, standard_library

FILES = {"toy-1.0/toy/__init__.py": b"x = 1\n", "toy-1.0/setup.py": b"", "toy-1.0/readme.txt": b"hello"}


def test_a_release_is_unpacked_once_and_then_comes_from_the_cache(tmp_path: Path) -> None:
    shop = Shop(FILES)
    root = shop.fetch(tmp_path)
    assert shop.fetch(tmp_path) == root == tmp_path / "toy-1.0"
    assert [path.relative_to(root).as_posix() for path in python_files(root)] == ["setup.py", "toy/__init__.py"]
    assert shop.sold == 1


def test_many_that_fetch_at_once_get_one_download_and_leave_nothing_behind(tmp_path: Path) -> None:
    shop = Shop(FILES)
    with ThreadPoolExecutor(8) as pool:
        roots = set(pool.map(lambda _: shop.fetch(tmp_path), range(32)))
    assert roots == {tmp_path / "toy-1.0"}
    assert shop.sold == 1
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["toy-1.0"]


def test_another_digest_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    shop = Shop(FILES)
    with pytest.raises(Unavailable, match="SHA-256"):
        fetch(Release(name="toy", version="1.0", sha256="0" * 64), tmp_path, download=shop.download)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("name", ["../evil.py", "toy-1.0/../../evil.py"])
def test_an_archive_that_leaves_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Unavailable, match="safely"):
        Shop({**FILES, name: b"boo"}).fetch(tmp_path / "cache")
    assert list(tmp_path.rglob("evil.py")) == []


def test_an_archive_of_several_folders_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="2 entries"):
        Shop({**FILES, "other/x.py": b""}).fetch(tmp_path)


def test_bytes_that_are_no_archive_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no archive"):
        Shop({}, content=b"<html>").fetch(tmp_path)


def test_the_standard_library_comes_with_its_tests_and_without_installed_packages() -> None:
    files = python_files(standard_library())
    assert standard_library() / "ast.py" in files
    assert not [path for path in files if "site-packages" in path.parts]
    assert files == sorted(files)


def test_every_release_is_pinned_by_version_and_digest() -> None:
    assert len({release.name for release in RELEASES}) == len(RELEASES)
    assert all(len(release.sha256) == 64 for release in RELEASES)


class Shop:
    """Stands in for the package index: sells one archive, and counts."""

    def __init__(self, files: dict[str, bytes], *, content: bytes | None = None) -> None:
        self.content = _archive(files) if content is None else content
        self.release = Release(name="toy", version="1.0", sha256=hashlib.sha256(self.content).hexdigest())
        self.sold = 0

    def fetch(self, cache: Path) -> Path:
        return fetch(self.release, cache, download=self.download)

    def download(self, release: Release, folder: Path) -> Path:
        self.sold += 1
        archive = folder / "toy.tar.gz"
        archive.write_bytes(self.content)
        return archive


def _archive(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()
