"""Have a server answer a read, where there is one; else do it in this process, and start a server if it took long.

    bae-source grep WORD   ->   is it one of READS?   ->   cwd, arguments, environment, terminals   ->   server
                           <-   bytes of standard output and error, exit status                     <-

The outcome is the same to the byte, since a server runs the same command line on the same project, and believes
nothing that the stamps of the files do not say. Whatever is unusual (standard input, a tracing variable, no private
runtime folder) and whatever goes wrong (nothing listens, another version, no answer in time) is done here as if there
were no server. The whole environment is sent and not a list of variables, as a list can lack one.

A server is started by a read that took more of the processor than it took to load the engine: in projects of some
hundred files it takes a fraction of that, on django a search takes half as much again. None is started where
`BAE_SOURCE_SERVE` is off, in CI, or by anything but the command line's own process.

Invariants:
- nothing is loaded before the request to the server but what every Python has loaded, and `_socket`;
- to wait for a server takes at most `_PATIENCE` until it begins, and `_LONGEST` until it is done;
- nothing is written before the answer is there as a whole.
"""

import os
import sys
import time

from bae_source.adapters.serve import meeting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE, _LONGEST = 0.2, 30.0
_PIECE = 1 << 20
_PREVENTING = ("CI", "BAE_SOURCE_TRACEBACK", "_ARGCOMPLETE")
"""Variables with which neither a server is started nor asked."""


class NoServer(Exception):
    """There is no server, or it ends now."""


def through_server(load: "Callable[[], Callable[[], int]]", unwritten: "Callable[[OSError, int], int]") -> int:
    """Run a command on this process's arguments and return its exit status.

    Parameters:
        load: loads and returns what does it in this process.
        unwritten: says that an answer with a status cannot be written, and returns the status.
    """
    stem = _stem(sys.argv[1:])
    if stem is None:
        return load()()
    is_missing = False
    try:
        answer = _answer(stem)
    except NoServer:
        answer, is_missing = None, True
    except (OSError, ValueError):  # whatever it is that a server, or the current folder, cannot do
        answer = None
    if answer is not None:
        status, parts = answer
        try:
            _write(parts)
        except OSError as error:  # a reader that went away, a full disk
            return unwritten(error, status)
        return status
    begun = _seconds()
    run = load()
    loaded = _seconds()
    status = run()
    if is_missing and _seconds() - loaded > loaded - begun:
        from bae_source.adapters.serve.starting import start  # once in a while

        start(stem)
    return status


def _stem(argv: list[str]) -> str | None:
    """Return the path of the server for a command; None for a command that none may answer."""
    environment = os.environ
    if not argv or argv[0] not in meeting.READS or "-" in argv or sys.stdout is None or sys.stderr is None:
        return None
    if environment.get(meeting.SWITCH, "").lower() in meeting.OFF or any(map(environment.get, _PREVENTING)):
        return None
    return meeting.stem_in(environment) if sys.platform == "linux" else None


def _answer(stem: str) -> "tuple[int, list[tuple[int, bytes]]] | None":
    """Return the server's answer; None where it has none.

    Raises:
        NoServer: nothing listens.
        OSError: the server cannot be asked, or takes too long.
    """
    if not meeting.is_private(os.path.dirname(stem)):
        raise NoServer
    reply = asked(stem + meeting.SOCKET, _request(), _LONGEST)
    if reply.startswith(meeting.ACCEPTED):
        return meeting.parts_of(reply[1:])
    if not reply or reply == meeting.DECLINED + meeting.ENDING:
        raise NoServer
    return None


def asked(path: str, request: bytes, seconds: float) -> bytes:
    """Send a request to a socket, and return the whole reply.

    Parameters:
        seconds: how long a pause may be once the server has begun.

    Raises:
        NoServer: nothing listens.
        OSError: it cannot be asked, takes too long, or is another user's.
    """
    import _socket  # what socket is, without the 10 ms that its names take

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(_PATIENCE)
        try:
            connection.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            raise NoServer from None
        if meeting.user_of(connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)) != os.geteuid():
            raise PermissionError(path)
        connection.sendall(request)
        pieces = [connection.recv(_PIECE)]
        connection.settimeout(seconds)
        while pieces[-1]:
            pieces.append(connection.recv(_PIECE))
        return b"".join(pieces)
    except ConnectionError:
        return b""  # it ended just now
    finally:
        connection.close()


def _request() -> bytes:
    """Return this process's command as a request."""
    environment = os.environb
    mask = os.umask(0o077)
    os.umask(mask)
    argv = [os.fsencode(each) for each in sys.argv[1:]]
    by_module = os.path.basename(sys.argv[0]).partition(".")[0] == "__main__"
    how = f"{int(sys.stdout.isatty())}{int(sys.stderr.isatty())}{int(by_module)} {mask} {len(argv)}".encode()
    around = [name + b"=" + value for name, value in environment.items()]
    fields = (meeting.MAGIC, meeting.RUN, meeting.world(), os.getcwdb(), how, *argv, *around)
    return meeting.framed(b"\0".join(fields))


def _write(parts: "list[tuple[int, bytes]]") -> None:
    """Write an answer as the command line writes it."""
    for stream, part in parts:
        raw = (sys.stdout if stream == 1 else sys.stderr).buffer
        raw.write(part)
        raw.flush()


def _seconds() -> float:
    return time.process_time()
