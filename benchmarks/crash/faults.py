"""A disk whose k-th call kills the process or fails, or that stops between write and commit; a process of its own."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from bae_source.transaction.disk.port import Disk, RealDisk

CALLS = frozenset(name for name in vars(RealDisk) if not name.startswith("_"))
_LOOKING = frozenset({"fstat", "lstat", "readlink", "access", "read", "read_at", "names", "attributes", "close"})
CHANGING = CALLS - _LOOKING
"""The calls that may change something; to be killed before any other is to be killed before the next of these."""
_REPLACING = ("exchange", "rename_new", "rename")


class CountingDisk(RealDisk):
    """The real disk, which calls `at` before the call of that number; nothing is really made durable.

    Parameters:
        at: the number of a call among those that `only` names, counted from 1; 0 for none.
        hit: what happens before it.
        only: the calls that count.
        forever: whether it happens before all later ones too.
    """

    def __init__(
        self,
        at: int = 0,
        hit: Callable[[], None] = lambda: None,
        *,
        only: frozenset[str] = CHANGING,
        forever: bool = False,
    ) -> None:
        self.at = at
        self.hit = hit
        self.only = only
        self.forever = forever
        self.calls: list[str] = []

    def fsync(self, file: int) -> None:
        """Do nothing: a killed process loses no data that it handed to the system."""

    def sync_content(self, file: int) -> None:
        """Do nothing, likewise."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in CALLS or name not in self.only:
            return found

        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) == self.at or (self.forever and len(self.calls) > self.at):
                if name in ("close",):
                    found(*arguments)
                self.hit()
            return found(*arguments)

        return call


class TearingDisk(CountingDisk):
    """A disk that kills the process in the middle of the write of that number."""

    def write(self, file: int, content: memoryview) -> int:
        """Write half of it before the process dies, if it is this one's turn."""
        return super().write(file, self._half(content))

    def write_at(self, file: int, content: memoryview, offset: int) -> int:
        """Write half of it before the process dies, if it is this one's turn."""
        return super().write_at(file, self._half(content), offset)

    def _half(self, content: memoryview) -> memoryview:
        if len(self.calls) + 1 == self.at + 1 and len(content) > 1:
            return content[: len(content) // 2]
        return content


@contextmanager
def replaced(disk: Disk, action: Callable[[], object]) -> Iterator[None]:
    """Do something once, at the first wait for a folder after a target was replaced: then all of them are."""
    fsync, *_ = own = [object.__getattribute__(disk, name) for name in ("fsync", *_REPLACING)]
    replacing = dict(zip(_REPLACING, own[1:], strict=True))
    given = {name: vars(disk)[name] for name in ("fsync", *_REPLACING) if name in vars(disk)}
    waits = False

    def replace(name: str, *arguments: Any) -> None:
        nonlocal waits
        replacing[name](*arguments)
        waits = True

    def wait(file: int) -> None:
        nonlocal waits
        if waits and stat.S_ISDIR(os.fstat(file).st_mode):
            put_back()
            action()
        fsync(file)

    def put_back() -> None:
        for name in ("fsync", *_REPLACING):
            vars(disk).pop(name, None)
        vars(disk).update(given)

    for name, do in {"fsync": wait, **{name: partial(replace, name) for name in replacing}}.items():
        setattr(disk, name, do)
    try:
        yield
    finally:
        put_back()


def killed() -> None:
    """Die as by `kill -9`."""
    os.kill(os.getpid(), signal.SIGKILL)


def in_child(action: Callable[[], object]) -> int:
    """Do it in a forked process; return the signal that killed it, 0 if it ended by itself."""
    child = os.fork()
    if not child:
        status = 1
        try:
            action()
            status = 0
        except BaseException:  # noqa: BLE001 - the parent looks at the files, not at how the child ended
            status = 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
