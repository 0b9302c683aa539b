"""Projects that are kept warm, and the command line run on them in the place of another process.

What stays from one request to the next is what is known of files (`Kept`), which is given out for the stamps that they
have now. All else begins anew with each request, as in a process of its own: the environment, where our state lies,
the cache's file. So an outcome is the same as without a server.

Invariants:
- only what is a query and starts no program is answered, whatever a client sends;
- nothing is read from standard input, and nothing of the caller's process is changed: its folder is an argument;
- a handful of projects is kept: those of the latest requests.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from msgspec import Struct

from bae_source.adapters.bug import BUG
from bae_source.adapters.cli import cli
from bae_source.adapters.cli.streams import Sink, Streams, wants_colour
from bae_source.adapters.serve import meeting
from bae_source.engine.service import Context, Service
from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request

_MOST = 4
Parts = list[tuple[int, bytes]]


class Declined(BaseException):
    """A request that its own process has to carry out; the command line lets it through."""


class Call(Struct, frozen=True, kw_only=True):
    """The command line, folder and environment that a client's process was started with.

    Parameters:
        argv: without the program's name.
        folder: its current folder.
        terminals: whether standard output is one, and standard error.
        program: how a person starts it.
        mask: its file mode creation mask.
    """

    argv: list[str]
    folder: str
    environment: Mapping[str, str]
    terminals: tuple[bool, bool]
    program: str
    mask: int


def call_of(fields: list[bytes]) -> Call:
    """Return the call that a request's fields are, from the folder on.

    Raises:
        Declined: they are none.
    """
    try:
        (out, err, by_module), mask, count = _numbers(fields[1])
        words, around = fields[2 : 2 + count], fields[2 + count :]
        if len(words) != count or not words:
            raise ValueError(count)
        return Call(
            argv=[os.fsdecode(each) for each in words],
            folder=os.fsdecode(fields[0]),
            environment={
                os.fsdecode(name): os.fsdecode(value) for name, _, value in (e.partition(b"=") for e in around)
            },
            terminals=(out, err),
            program="python -m bae_source" if by_module else "bae-source",
            mask=mask,
        )
    except (ValueError, IndexError):
        raise Declined("malformed") from None


def _numbers(field: bytes) -> tuple[tuple[bool, bool, bool], int, int]:
    bits, mask, count = field.decode("ascii").split(" ")
    out, err, by_module = (each == "1" for each in bits)
    return (out, err, by_module), int(mask) & 0o777, int(count)


class Engines:
    """The projects that are kept, by root."""

    def __init__(self) -> None:
        self._services: OrderedDict[str, Service] = OrderedDict()

    @property
    def roots(self) -> list[str]:
        """The folders of the projects."""
        return list(self._services)

    def answer(self, call: Call) -> bytes:
        """Run a command line and return its answer.

        Raises:
            Declined: its own process has to.
        """
        if call.argv[0] not in meeting.READS or not os.path.isdir(call.folder):
            raise Declined("no read")
        parts: Parts = []
        out, err = (
            Sink(
                raw=cast("BinaryIO", _Part(number, parts)),
                terminal=terminal,
                colour=wants_colour(call.environment, terminal=terminal),
            )
            for number, terminal in enumerate(call.terminals, 1)
        )
        streams = Streams(
            stdin=cast("BinaryIO", _NoInput()),
            stdin_terminal=False,
            stdout=out,
            stderr=err,
            environment=call.environment,
            program=call.program,
            folder=Path(call.folder),
        )
        before = os.umask(call.mask)
        try:
            status = cli.main(call.argv, streams=streams, door=self._through)
        finally:
            os.umask(before)
        if status == BUG:
            raise Declined("a bug")  # which may be one of what is kept
        return meeting.answer_of(status, parts)

    def tidy(self) -> None:
        """Let go of projects whose folder is there no more."""
        for root in self.roots:
            if not os.path.isdir(root):
                del self._services[root]

    def _through(self, root: Path, environment: Mapping[str, str], request: Request, context: Context) -> Outcome:
        if request.effect is not Effect.READS or request.runner != "query" or request.staged or not request.recovers:
            raise Declined("no query")
        if not os.path.isdir(root):
            raise Declined("no folder")  # the message names it as it was typed
        service = self._service(os.path.realpath(root), environment)
        try:
            return service.run(request, context)
        finally:
            service.close()

    def _service(self, root: str, environment: Mapping[str, str]) -> Service:
        service = self._services.pop(root, None)
        if service is None:
            service = Service(Path(root), environment=environment, process_is_ours=True, process_stays=True)
        else:
            service.begin_anew(environment)
        self._services[root] = service
        while len(self._services) > _MOST:
            self._services.popitem(last=False)
        return service


class _Part:
    """A stream of the client's.

    Parameters:
        number: of its descriptor.
        parts: takes what is written, with that of the others.
    """

    def __init__(self, number: int, parts: Parts) -> None:
        self._number = number
        self._parts = parts

    def write(self, content: bytes) -> int:
        self._parts.append((self._number, bytes(content)))
        return len(content)

    def flush(self) -> None:
        """Do nothing: the client gets it all at the end."""

    def fileno(self) -> int:
        raise OSError("no file")


class _NoInput:
    """Standard input, which a server does not have."""

    def read(self, *_: Any) -> NoReturn:
        raise Declined("standard input")
