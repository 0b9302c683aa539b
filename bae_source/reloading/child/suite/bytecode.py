"""Compiled files of a project, kept by the content of their sources, for runs in its tree and in its shadow.

    KEPT/3f2a…/9c41…/cpython-311.pyc                      of one source, as it is now
    KEPT/3f2a…/9c41…/test_a.cpython-311-pytest-9.1.pyc    as pytest rewrites it
         of the path   of the content

A compiled file beside its source is found by seconds and size, so that an edit of equal size in the same second
runs old code; here it is found by what it was compiled of, and so is never stale.

Invariants:
- nothing is written beside sources of the project, nor among installed packages, whose own compiled files are read;
- of one path, the last `_MOST` contents are kept.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import marshal
import os
import shutil
import sys
from typing import Any

_MOST = 3


def keep(folder: str, own: tuple[str, ...]) -> Kept:
    """Have the modules below some folders compiled into `folder`, and found there; what is installed is not ours."""
    kept = Kept(folder, own)
    kept.serve_imports()
    kept.serve_pytest()
    return kept


class Kept:
    """The compiled files.

    Files are read and written by the import system's own functions: tests may forbid all others, say where they would
    block an event loop, and modules are imported in the midst of them.
    """

    def __init__(self, folder: str, own: tuple[str, ...]) -> None:
        self._folders: set[str] = set()
        self._folder = folder
        self._own = tuple(each + os.sep for each in own)
        prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix)
        self._installed = tuple({each + os.sep for path in prefixes for each in (path, os.path.realpath(path))})

    def serve_imports(self) -> None:
        """Let imports take compiled files of the project from here, and write none elsewhere."""
        loader = importlib.machinery.SourceFileLoader
        usual, write = loader.get_code, loader.set_data
        self._write = write
        sys.dont_write_bytecode = False  # what pytest rewrites is written otherwise as well; `write` decides

        def get_code(its: Any, fullname: str) -> Any:
            path = its.get_filename(fullname)
            return self._code(its, path) if self._is_own(path) else usual(its, fullname)

        def set_data(its: Any, path: str, data: Any, **options: Any) -> None:
            if not self._is_own(path) and not self._is_installed(path):
                write(its, path, data, **options)

        loader.get_code = get_code  # type: ignore[method-assign, assignment]
        loader.set_data = set_data  # type: ignore[method-assign, assignment]

    def serve_pytest(self) -> None:
        """Let pytest keep here what it rewrites; what it once wrote beside installed plugins is taken."""
        try:
            from _pytest.assertion import rewrite
        except ImportError:
            return
        beside = getattr(rewrite, "get_cache_dir", None)
        if beside is None:
            return
        tail = getattr(rewrite, "PYC_TAIL", "")
        loader: Any = importlib.machinery.SourceFileLoader("", "")

        def cached(file_path: Any) -> Any:
            path = str(file_path)
            if self._is_installed(path) and not self._is_own(path):
                there = beside(file_path)
                if _is_fresh(loader, path, str(there / (file_path.name[:-3] + tail))):
                    return there
            return type(file_path)(self._place(path, loader.get_data(path)))

        rewrite.get_cache_dir = cached

    def _is_own(self, path: str) -> bool:
        return path.startswith(self._own) and "site-packages" not in path and not path.startswith(self._folder)

    def _is_installed(self, path: str) -> bool:
        return path.startswith(self._installed) or "site-packages" in path

    def _code(self, loader: Any, path: str) -> Any:
        """Return the code of a module of the project, compiled anew where its content was not met yet."""
        source = loader.get_data(path)
        file = os.path.join(self._place(path, source), str(sys.implementation.cache_tag) + ".pyc")  # noqa: PTH118
        magic = importlib.util.MAGIC_NUMBER
        try:
            content = loader.get_data(file)
            if content.startswith(magic):
                return marshal.loads(content[len(magic) :])
        except (OSError, EOFError, ValueError, TypeError):
            pass  # it is not there yet, or was cut off by a full disk
        code = loader.source_to_code(source, path)
        self._write(loader, file, magic + marshal.dumps(code))
        return code

    def _place(self, path: str, source: bytes) -> str:
        """Return the folder of what is compiled of a source."""
        digests = [hashlib.blake2b(each, digest_size=10).hexdigest() for each in (os.fsencode(path), source)]
        self._folders.add(os.path.join(self._folder, digests[0]))  # noqa: PTH118
        return os.path.join(self._folder, *digests)  # noqa: PTH118

    def forget_older(self) -> None:
        """Remove what was compiled of contents that sources had long before."""
        for folder in self._folders:
            try:
                found = sorted((entry.stat().st_mtime, entry.path) for entry in os.scandir(folder))
            except OSError:
                continue  # nothing could be written, or another run removes it now
            for _, path in found[:-_MOST]:
                shutil.rmtree(path, ignore_errors=True)


def _is_fresh(loader: Any, source: str, compiled: str) -> bool:
    """Return whether a file that pytest compiled is of a source as it is, by the head that pytest writes."""
    try:
        head = loader.get_data(compiled)[:16]
        status = loader.path_stats(source)
    except OSError:
        return False
    stamps = (int(status["mtime"]) & 0xFFFFFFFF, status["size"] & 0xFFFFFFFF)
    return bool(head[8:16] == b"".join(each.to_bytes(4, "little") for each in stamps))
