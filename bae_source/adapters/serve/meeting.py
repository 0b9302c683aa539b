"""The meeting place of a client and a server, and the conditions under which one answers in the other's place.

    $XDG_RUNTIME_DIR/bae-source/<installation>.sock     the server of one user for one installation, for all projects
    $XDG_RUNTIME_DIR/bae-source/<installation>.lock     locked by the server as long as it lives

The request is one frame: a length in four bytes, then fields that NUL separates, which neither a path nor an argument
nor a variable can hold. The answer is `ACCEPTED`, and once it is known a frame (`answer_of`); or `DECLINED` and the
reason; or nothing, where the server has ended. Whatever is no answer leaves the work to the client.

Invariants:
- a folder counts only if it is this user's and closed to all others, as the XDG specification has it;
- each side asks the kernel whose process the other is, and speaks with this user's processes only;
- the world of a process is all that decides what it would find at a path and is none of its variables: the version of
  our code, Python, the mount namespace, the root folder, groups. A server answers for its own world alone;
- nothing is imported here but what every Python has loaded, and `_socket`.
"""

import os
import stat
import sys

SWITCH = "BAE_SOURCE_SERVE"
OFF = ("0", "off", "false", "no")
RUNTIME = "XDG_RUNTIME_DIR"
MAGIC, RUN, STATUS, STOP = b"bae_source 1", b"run", b"status", b"stop"
ACCEPTED, DECLINED = b"+", b"-"
ENDING = b"ending"
"""The reason of a server that ends now: another may be started."""
HEAD = 4
SOCKET, LOCK = ".sock", ".lock"
READS = frozenset(
    ("callees", "callers", "definition", "find", "glob", "grep", "importers_of", "imports_of",
     "outline", "overrides", "read", "references", "search", "subclasses", "unused", "where")
)  # fmt: skip
"""The verbs that a server answers: queries of one word, none of which starts a program."""
_LONGEST = 107
"""Bytes of a socket's path."""
_PRIME = 2**61 - 1


def stem_in(environment: "os._Environ[str] | dict[str, str]") -> str | None:
    """Return the path of the socket of this installation, without its ending; None where there can be none."""
    runtime = environment.get(RUNTIME, "")
    if not runtime.startswith("/") or not is_private(runtime):
        return None
    stem = f"{runtime.rstrip('/')}/bae-source/{_name(installation()):x}"
    return stem if len(os.fsencode(stem + SOCKET)) <= _LONGEST else None


def is_private(folder: str) -> bool:
    """Return whether something is a folder of this user's that is closed to all others."""
    try:
        status = os.lstat(folder)
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def installation() -> list[str]:
    """Return the mark of one installation: our package's folder, Python, and where it finds modules."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = os.path.dirname(sys.argv[0]) if sys.argv else ""
    return [package, sys.executable, *(each for each in sys.path if each.startswith("/") and each != program)]


def world() -> bytes:
    """Return the facts that two processes must share to get the same answers."""
    version = sys.modules[__name__.partition(".")[0]].__version__
    try:
        mounts = os.readlink("/proc/self/ns/mnt")
    except OSError:
        mounts = ""
    root = os.stat("/")
    facts = (version, sys.version, sys.getfilesystemencoding(), sys.flags.optimize, mounts, root.st_dev, root.st_ino)
    user = (os.getuid(), os.geteuid(), os.getegid(), sorted(os.getgroups()))
    return "\n".join(map(str, (*facts, *user))).encode("utf-8", "surrogateescape")


def user_of(credentials: bytes) -> int:
    """Return the user whose process is at the other end of a connection.

    Parameters:
        credentials: as SO_PEERCRED gives them: process, user and group.
    """
    return int.from_bytes(credentials[4:8], sys.byteorder)


def framed(body: bytes) -> bytes:
    """Return bytes as a frame."""
    return len(body).to_bytes(HEAD, "big") + body


def answer_of(status: int, parts: "list[tuple[int, bytes]]") -> bytes:
    """Return an exit status, and what was written to descriptors 1 and 2 in its order, as an answer."""
    pieces = [bytes((stream,)) + framed(part) for stream, part in parts]
    return framed(bytes((status,)) + b"".join(pieces))


def parts_of(answer: bytes) -> "tuple[int, list[tuple[int, bytes]]] | None":
    """Return the arguments of `answer_of`; None for anything else, such as half of an answer."""
    if len(answer) <= HEAD or int.from_bytes(answer[:HEAD], "big") != len(answer) - HEAD:
        return None
    parts, at = [], HEAD + 1
    while at < len(answer):
        end = at + 1 + HEAD + int.from_bytes(answer[at + 1 : at + 1 + HEAD], "big")
        if answer[at] not in (1, 2) or end > len(answer):
            return None
        parts.append((answer[at], answer[at + 1 + HEAD : end]))
        at = end
    return answer[HEAD], parts


def _name(parts: list[str]) -> int:
    """Return a number for some texts; two installations that share one by chance tell each other by their worlds."""
    return int.from_bytes(os.fsencode("\0".join(parts)), "big") % _PRIME
