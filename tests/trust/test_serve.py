"""A server for shells: what other users, and whatever else reaches its socket, get from it."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bae_source.adapters.serve import client, meeting
from tests.adapters.serve.support import Place, place, request, server, until
from tests.adapters.support import run
from tests.another_user import AnotherUser

pytestmark = pytest.mark.sampled

GREP = ("grep", "send")
CONNECTS = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "


@pytest.fixture
def at() -> Iterator[Place]:
    with place() as made:
        yield made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text("def send():\n    return 1\n")
    return tmp_path


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
@pytest.mark.parametrize("inner", [False, True])
def test_a_folder_that_others_may_enter_is_not_used(at: Place, root: Path, mode: int, inner: bool) -> None:
    folder = at.folder / "bae-source" if inner else at.folder
    folder.mkdir(exist_ok=True)
    folder.chmod(mode)
    before = list(at.folder.rglob("*"))
    refused = at.run("serve", folder=root)
    assert refused.status != 0
    assert refused.out == b""
    assert at.run(*GREP, folder=root) == run(*GREP, folder=root)
    assert list(at.folder.rglob("*")) == before


def test_nor_is_a_link_to_one(at: Place, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (at.folder / "bae-source").symlink_to(tmp_path / "elsewhere")
    assert at.run("serve", folder=root).status != 0
    assert at.run(*GREP, folder=root) == run(*GREP, folder=root)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_another_user_gets_nothing_even_where_the_folder_was_opened(
    another_user: AnotherUser, root: Path, open_folder: Path
) -> None:
    with place() as at, server(at):
        asked = request(*GREP, folder=root)
        at.folder.chmod(0o755)
        at.socket.parent.chmod(0o755)
        at.socket.chmod(0o777)
        (open_folder / "asked").write_bytes(asked)
        program = CONNECTS + "s.sendall(open('asked', 'rb').read()); print(len(s.recv(100)))"
        done = another_user.run("-c", program, str(at.socket), folder=open_folder)
        is_another = another_user.user != os.geteuid()  # only root can be one
        assert (done.stdout == b"1\n") is not is_another, done.stderr
        at.folder.chmod(0o700)
        at.socket.parent.chmod(0o700)
        at.answered(*GREP, folder=root)


def test_a_server_of_another_user_is_not_asked(another_user: AnotherUser, open_folder: Path) -> None:
    open_folder.chmod(0o777)
    path = open_folder / "s.sock"
    program = (
        "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777)"
    )
    program += "; s.listen(); c, _ = s.accept(); c.settimeout(5); print(c.recv(100))"
    with ThreadPoolExecutor() as threads:
        done = threads.submit(another_user.run, "-c", program, str(path), folder=open_folder)
        until(path.exists)
        until(lambda: bool(path.stat().st_mode & 0o002))
        if another_user.user != os.geteuid():  # only root can be another
            with pytest.raises(PermissionError):
                client.asked(str(path), b"secret", 5)
            assert done.result().stdout == b"b''\n"
        else:
            client.asked(str(path), b"mine", 5)
            assert done.result().stdout == b"b'mine'\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\0\0\0\0",
        b"\xff\xff\xff\xff",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        meeting.framed(b"bae_source 1"),
        meeting.framed(b"bae_source 9\0run\0\0"),
        meeting.framed(b"bae_source 1\0dance\0"),
        meeting.framed(b"\0" * 100_000),
        b"\x7f\xff\xff\xff" + b"x" * 3_000_000,
    ],
    ids=len,
)
def test_what_is_no_request_is_declined_or_dropped(at: Place, root: Path, content: bytes) -> None:
    with server(at) as process:
        assert at.response(content) in (b"", b"-malformed")
        assert at.answered(*GREP, folder=root) == run(*GREP, folder=root)
        assert process.poll() is None


def test_nor_do_damaged_requests_do_any_harm(at: Place, root: Path) -> None:
    chance = random.Random(1)
    asked = request(*GREP, folder=root, around={"HOME": str(root)})
    before = (root / "app.py").read_bytes()
    with server(at) as process:
        for _ in range(60):
            start = asked.index(b"\n", 4) - 4  # behind the version, as a server that meets another one ends
            damaged = bytearray(asked[4:])
            for _ in range(chance.randrange(1, 4)):
                at_byte = chance.randrange(start, len(damaged))
                damaged[at_byte : at_byte + chance.randrange(3)] = bytes(chance.randrange(3))
            at.response(meeting.framed(bytes(damaged)))
        assert at.response(asked).startswith(meeting.ACCEPTED)
        assert process.poll() is None
    assert (root / "app.py").read_bytes() == before
    assert {path.name for path in root.iterdir()} <= {"app.py", ".bae-source", ".local"}  # what a read leaves behind


def test_clients_that_say_nothing_or_half_delay_no_other_client(at: Place, root: Path) -> None:
    with server(at):
        silent = [at.connection() for _ in range(70)]
        half = request(*GREP, folder=root)[:50]
        for connection in silent[:30]:
            connection.sendall(half)
        time.sleep(2.5)
        begun = time.monotonic()
        assert at.response(request(*GREP, folder=root)).startswith(meeting.ACCEPTED)
        assert time.monotonic() - begun < 10
        for connection in silent:
            connection.close()


def test_a_client_that_does_not_take_its_answer_is_given_up(at: Place, root: Path) -> None:
    (root / "long.txt").write_text("send\n" * 500_000)
    with server(at):
        greedy = at.connection()
        greedy.sendall(request(*GREP, folder=root))
        assert greedy.recv(1) == meeting.ACCEPTED
        begun = time.monotonic()
        assert at.response(request("grep", "return", folder=root)).startswith(meeting.ACCEPTED)
        assert time.monotonic() - begun < 30
        greedy.close()
