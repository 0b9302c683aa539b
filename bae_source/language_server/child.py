"""A language server as a child process: bytes in and out under a deadline, and nothing left behind.

Invariants:
- the command is a list, never a shell's line; there is no terminal; what it says on stderr is not kept;
- the child leads a session of its own, and the whole of it is killed when we are done with it: on `end`, when nobody
  holds the child any more, and at the latest when this process ends, however it does (`watched`);
- no call blocks beyond its deadline, whether the child reads, writes, hangs, or does nothing but write.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bae_source.language_server.wire import Decoder, Garbage, Message, encode
from bae_source.system.watched import Watched

_PIECE = 65_536
_MAX_UNSENT = 64_000_000


class Died(Exception):
    """The child has ended, or cannot be started."""


class Late(Exception):
    """The deadline has passed."""


class Child:
    """A running server.

    Raises:
        Died: it cannot be started.
    """

    def __init__(self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> None:
        try:
            self._child = Watched(
                command,
                folder=folder,
                environment=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            raise Died(str(error)) from error
        process, self.end = self._child.process, self._child.end
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._unsent = bytearray()
        self._decoder = Decoder()

    def post(self, message: Message) -> None:
        """Put a message in the queue of what is sent while messages are exchanged."""
        if len(self._unsent) > _MAX_UNSENT:
            raise Garbage("more questions than can be answered")
        self._unsent += encode(message)

    def exchange(self, receive: Callable[[Message], None], done: Callable[[], bool], deadline: float) -> None:
        """Send what is queued and hand each message that comes to `receive`, until `done` says so.

        Raises:
            Died: the child has ended.
            Garbage: what came is no message.
            Late: `deadline`, of the monotonic clock, has passed.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            writing = False
            while not done():
                left = deadline - time.monotonic()
                if left <= 0:
                    raise Late
                if bool(self._unsent) is not writing:
                    writing = not writing
                    if writing:
                        selector.register(self._input, selectors.EVENT_WRITE)
                    else:
                        selector.unregister(self._input)
                for key, _ in selector.select(left):
                    if key.fd == self._output:
                        self._read(receive)
                    else:
                        self._write()

    def flush(self) -> None:
        """Send what can be sent at once; the next exchange sends the rest, and finds what is wrong."""
        while self._unsent:
            before = len(self._unsent)
            try:
                self._write()
            except Died:
                return
            if len(self._unsent) == before:
                return

    def _write(self) -> None:
        try:
            sent = os.write(self._input, self._unsent[:_PIECE])
        except BlockingIOError:
            return
        except OSError as error:
            raise Died("it does not read any more") from error
        del self._unsent[:sent]

    def _read(self, receive: Callable[[Message], None]) -> None:
        try:
            chunk = os.read(self._output, _PIECE)
        except BlockingIOError:
            return
        except OSError as error:
            raise Died("it cannot be read from") from error
        if not chunk:
            raise Died("it has closed its output")
        for message in self._decoder.feed(chunk):
            receive(message)
