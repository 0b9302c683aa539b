"""The server: answers one request after the other, in the order in which they came.

    waiting  --a whole frame-->  declined | carried out  --answer-->  gone

It ends when no request has come for a while, when its socket or its runtime folder goes (so with the user's session),
when a file of its own code or what is installed changes, when it has grown too large, and at a signal. A client that
goes away interrupts its request, as Ctrl-C would interrupt the command; one that has to wait for another's goes its
own way (`client`).

Invariants:
- the engine is called by this one thread, which waits for nothing but `poll` and, for a moment, a client that takes
  its answer;
- a request is at most `_LARGEST` bytes, comes within `_IN_TIME`, and at most `_MOST` are on their way;
- a socket that another server left is replaced under the lock alone, so no living one loses its own;
- clients of other users, and what is no request, get nothing.
"""

from __future__ import annotations

import errno
import fcntl
import gc
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType

from msgspec import Struct

from bae_source.adapters.serve import meeting
from bae_source.adapters.serve.engines import Call, Declined, Engines, call_of
from bae_source.system.descriptors import SAFELY, lock
from bae_source.system.frames import Frames

IDLE = 600.0
_LARGEST = 1 << 20
_MOST = 64
_IN_TIME, _TAKEN = 2.0, 5.0
"""Seconds that a request may take to come, and an answer to be taken."""
_PAUSE, _LOOK = 1.0, 10.0
"""Seconds without a request after which there is time to tidy up, and to look whether it is still wanted."""
_MEMORY = 1 << 30
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Running(OSError):
    """Another server has the place."""


class _Client(Struct):
    """A connection whose request has not come whole."""

    connection: socket.socket
    frames: Frames
    until: float


class Server:
    """The server of one place.

    Parameters:
        stem: where it listens, as `meeting.stem_in` has it.
        idle: seconds without a request after which it ends.
    """

    def __init__(self, stem: str, *, idle: float = IDLE) -> None:
        self._path = stem + meeting.SOCKET
        self._lock = stem + meeting.LOCK
        self._idle = idle
        self._world = meeting.world()
        self._files = _files()
        self._code = _stamps(self._files)
        self._engines = Engines()
        self._poll = select.poll()
        self._clients: dict[int, _Client] = {}
        self._begun = self._last_request = self._last_look = time.monotonic()
        self._answered = 0
        self._is_over = self._is_untidy = False
        self._current: socket.socket | None = None

    def run(self, listening: Callable[[], None] = lambda: None) -> None:
        """Answer until it is time to end.

        Parameters:
            listening: called when clients can come.

        Raises:
            Running: another server has the place.
            OSError: it cannot be had.
            KeyboardInterrupt: a signal ended it.
        """
        signal.signal(signal.SIGIO, self._heed)
        with ExitStack() as end:
            door = self._open(end)
            end.callback(self._drop_all)
            self._poll.register(door, select.POLLIN)
            gc.collect()
            gc.freeze()
            listening()
            while not self._is_over:
                with suppress(_Left):  # just when its answer was there
                    self._turn(door)

    def _open(self, end: ExitStack) -> socket.socket:
        """Take the place, and listen there; the end gives it back."""
        folder = os.path.dirname(self._path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not meeting.is_private(folder):
            raise PermissionError(errno.EPERM, "it is not this user's alone", folder)
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | SAFELY, 0o600)
        end.callback(os.close, descriptor)
        try:
            lock(descriptor)
        except BlockingIOError:
            raise Running(errno.EADDRINUSE, "a server runs already", self._path) from None
        with suppress(FileNotFoundError):
            os.unlink(self._path)  # of a server that died: a living one would have the lock
        door = end.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        door.setblocking(False)
        mask = os.umask(0o177)
        try:
            door.bind(self._path)
        finally:
            os.umask(mask)
        self._place = os.lstat(self._path).st_ino
        end.callback(self._leave)
        door.listen(_MOST)
        return door

    def _leave(self) -> None:
        """Take the socket away, unless another one is there."""
        with suppress(OSError):
            if os.lstat(self._path).st_ino == self._place:
                os.unlink(self._path)

    def _turn(self, door: socket.socket) -> None:
        """Wait for something to happen, and see to it."""
        ready = self._poll.poll(self._wait() * 1000)
        for number, _ in ready:
            if number == door.fileno():
                self._accept(door)
            elif number in self._clients:
                self._receive(self._clients[number])
        now = time.monotonic()
        for client in [each for each in self._clients.values() if each.until < now]:
            self._drop(client)
        if self._is_untidy and now - self._last_request >= _PAUSE:
            self._engines.tidy()
            gc.collect()
            gc.freeze()  # what is kept need not be looked at again
            self._is_untidy = False
        if not ready or now - self._last_look >= _LOOK:
            self._look(now)

    def _wait(self) -> float:
        """Return for how many seconds there is nothing to look at."""
        if self._clients:
            return 0.1
        if self._is_untidy:
            return _PAUSE
        return max(0.0, min(_LOOK, self._last_request + self._idle - time.monotonic())) + 0.01

    def _look(self, now: float) -> None:
        """See whether anything will be asked."""
        gone = True
        with suppress(OSError):
            gone = os.lstat(self._path).st_ino != self._place
        self._is_over = self._is_over or gone or now - self._last_request >= self._idle or self._is_outdated()
        self._last_look = now

    def _accept(self, door: socket.socket) -> None:
        with suppress(OSError):
            connection, _ = door.accept()
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            if meeting.user_of(credentials) != os.geteuid() or len(self._clients) >= _MOST:
                connection.close()
                return
            connection.setblocking(False)
            self._clients[connection.fileno()] = _Client(connection, Frames(_LARGEST), time.monotonic() + _IN_TIME)
            self._poll.register(connection, select.POLLIN)

    def _receive(self, client: _Client) -> None:
        """Take a piece of a request; answer it once it is whole."""
        try:
            piece = client.connection.recv(_LARGEST)
            found = client.frames.take(piece)
        except BlockingIOError:
            return
        except (OSError, ValueError):
            piece, found = b"", []
        if found or not piece:
            connection = client.connection
            self._drop(client, closing=not found)
            if found:
                with connection:
                    self._answer(connection, found[0].split(b"\0"))

    def _drop(self, client: _Client, *, closing: bool = True) -> None:
        self._poll.unregister(client.connection)
        del self._clients[client.connection.fileno()]
        if closing:
            client.connection.close()

    def _drop_all(self) -> None:
        for client in list(self._clients.values()):
            self._drop(client)

    def _answer(self, connection: socket.socket, fields: list[bytes]) -> None:
        """Answer one request."""
        connection.settimeout(_TAKEN)
        with suppress(OSError):  # a client that has gone
            try:
                connection.sendall(self._reply(connection, *fields))
            except (Declined, TypeError) as error:
                reason = error.args[0] if isinstance(error, Declined) else "malformed"
                connection.sendall(meeting.DECLINED + str(reason).encode())
        if _resident() > _MEMORY:
            self._is_over = True

    def _reply(self, connection: socket.socket, magic: bytes, kind: bytes, world: bytes, *rest: bytes) -> bytes:
        if magic != meeting.MAGIC:
            raise Declined("malformed")
        if kind == meeting.STATUS:
            return meeting.ACCEPTED + self._state().encode("utf-8", "surrogateescape")
        if kind == meeting.STOP:
            self._is_over = True
            return meeting.ACCEPTED + str(os.getpid()).encode()
        if kind != meeting.RUN:
            raise Declined("malformed")
        if self._is_over or _version(world) != _version(self._world) or self._is_outdated():
            self._is_over = True  # what comes next is for a server of what is installed now
            raise Declined(meeting.ENDING.decode())
        if world != self._world:
            raise Declined("another world")
        call = call_of(list(rest))
        connection.sendall(meeting.ACCEPTED)
        return self._carried_out(connection, call)

    def _carried_out(self, connection: socket.socket, call: Call) -> bytes:
        self._is_untidy = True
        with self._watched(connection):
            answer = self._engines.answer(call)
        if self._is_over:
            raise ConnectionAbortedError  # a signal to this process is none to the client's
        self._answered += 1
        self._last_request = time.monotonic()
        return answer

    @contextmanager
    def _watched(self, connection: socket.socket) -> Iterator[None]:
        """Interrupt what is inside when the client goes.

        The kernel says so by a signal, so no second thread is needed, beside which no process could be copied.
        """
        flags = fcntl.fcntl(connection, fcntl.F_GETFL)
        fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
        self._current = connection
        try:
            fcntl.fcntl(connection, fcntl.F_SETFL, flags | os.O_ASYNC)
            self._check()  # it may have gone before
            yield
        finally:
            self._current = None
            fcntl.fcntl(connection, fcntl.F_SETFL, flags)

    def end(self, _number: int, _frame: FrameType | None) -> None:
        """End at a signal; the request that is carried out is its client's again."""
        self._is_over = True
        raise KeyboardInterrupt

    def _is_outdated(self) -> bool:
        return _stamps(self._files) != self._code

    def _heed(self, _number: int, _frame: FrameType | None) -> None:
        self._check()

    def _check(self) -> None:
        """Interrupt the request whose client has gone."""
        if self._current is None:
            return
        peer = select.poll()
        peer.register(self._current, select.POLLRDHUP)
        if peer.poll(0):
            self._current = None
            raise _Left

    def _state(self) -> str:
        seconds = int(time.monotonic() - self._begun)
        lines = [
            f"A server of bae_source {_version(self._world).decode()} runs as process {os.getpid()} "
            f"since {seconds} s: {self._answered} answers, {_resident() / 1e6:.0f} MB.",
            *self._engines.roots,
        ]
        return "\n".join(lines)


class _Left(KeyboardInterrupt):
    """The client of the request that is carried out has gone: to the engine, a Ctrl-C."""


def detached(stem: str, path: str) -> None:
    """Be the server that `starting` starts.

    Parameters:
        stem: where it listens.
        path: where its starter found modules, a folder a line.
    """
    os.closerange(3, max(map(int, os.listdir("/dev/fd"))) + 1)
    os.chdir("/")
    sys.path[:] = path.split("\n")
    with suppress(OSError, KeyboardInterrupt):
        served(Server(stem))
    os._exit(0)


def served(server: Server, listening: Callable[[], None] = lambda: None) -> None:
    """Run a server in a process of its own, until its end or a signal; as `Server.run`."""
    for number in _ENDINGS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, server.end)
    server.run(listening)


def _version(world: bytes) -> bytes:
    return world.partition(b"\n")[0]


def _files() -> list[str]:
    """Return the files of our code, and the folders in which libraries are installed."""
    ours = Path(__file__).parents[2]
    files = [str(path) for path in ours.rglob("*") if path.suffix != ".pyc" and path.is_file()]
    return [*files, *(each for each in sys.path if each.endswith("-packages") and os.path.isdir(each))]


def _stamps(files: list[str]) -> object:
    """Return a value that is equal as long as no file changes or goes."""
    try:
        found = [os.stat(path) for path in files]
    except OSError:
        return object()
    return [(each.st_mtime_ns, each.st_size, each.st_ino) for each in found]


def _resident() -> int:
    """Return the bytes of memory of this process."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
