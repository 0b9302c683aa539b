"""A folder in the system's temporary folder, for what a child needs; what dead processes left there goes first.

It is locked for as long as its process lives: the kernel lets go of it however that ends, and no number or name that
comes again is taken for its.

Invariants:
- only a folder that is named, owned and closed to others as ours are, and not locked, is removed; where
  there are no locks, none is;
- no link is followed, and what is no folder is not opened;
- a process looks once, and begins nothing more after `PATIENCE` seconds: the next one goes on.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
import weakref
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from bae_source.system.descriptors import CLOSED_IN_CHILDREN, FOLDER, WITHOUT_LINKS, lock

_PREFIX = "bae-source-scratch-"
_NAME = re.compile(f"{_PREFIX}[a-z0-9_]{{8}}")
_FLAGS = FOLDER | WITHOUT_LINKS | CLOSED_IN_CHILDREN
PATIENCE = 0.25
"""Seconds after which no more of what is left is removed."""


class Scratch(TemporaryDirectory[str]):
    """The folder, removed when its context ends or by `cleanup`; that of a process that is killed, by the next one."""

    def __init__(self) -> None:
        _clear(gettempdir())
        while True:
            super().__init__(prefix=_PREFIX)
            locked = _locked(self.name)
            if locked is not None:
                break
            super().cleanup()  # another process removed it as left over, just before it was locked
        self._unlock = weakref.finalize(self, os.close, locked)

    def cleanup(self) -> None:
        """Remove it."""
        try:
            super().cleanup()
        finally:
            self._unlock()


def remove_left(folder: str) -> None:
    """Remove what dead processes left in a temporary folder."""
    deadline = time.monotonic() + PATIENCE
    try:
        with os.scandir(folder) as found:
            for each in found:
                if time.monotonic() > deadline:
                    return
                if _NAME.fullmatch(each.name):
                    _remove_if_left(each.path)
    except OSError:
        return  # the caller that creates a folder there gets the error


_clear = cache(remove_left)


def _locked(path: str) -> int | None:
    """Lock a folder that was just made, and return its descriptor; None if another process is removing it."""
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        return None
    try:
        lock(descriptor)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        return descriptor  # no locks here, so no process removes others' folders
    if _is_at(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _remove_if_left(path: str) -> None:
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return
    try:
        status = os.fstat(descriptor)
        if status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            lock(descriptor)
            if _is_at(path, descriptor):
                shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return  # it lives, or may live
    finally:
        os.close(descriptor)


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(Path(path).lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
