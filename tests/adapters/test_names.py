"""Names from one command to the next: printed alone, and read from standard input, whatever stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source.adapters.cli import names
from bae_source.adapters.cli.cli import through_service
from tests.adapters.support import Called, Recorder, call, run

FILES = {
    "app/__init__.py": "",
    "app/net.py": """\
from app.base import Base


class Client(Base):
    def send(self):
        return self.retry()

    def retry(self):
        return 1  # retry
""",
    "app/odd.py": "def _odd():\n    pass\n",
    "app/base.py": "class Base:\n    def send(self):\n        return 0\n",
    "tests/test_net.py": "from app.net import Client\n\n\ndef test_retry():\n    assert Client().retry()\n",
    "docs/my notes.txt": "retry\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def cli(app: Path, *words: str, stdin: bytes = b"") -> Called:
    return call("--root", str(app), *words, door=through_service, stdin=stdin)


def read(stdin: bytes) -> object:
    door = Recorder()
    called = call("read", "-", door=door, stdin=stdin)
    assert called.status == 0, called.err_text
    return door.requests[0].target  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("glob", "app.net.Client.*"), ["app.net.Client.retry", "app.net.Client.send"]),
        (("grep", "retry"), [":docs/my notes.txt", "app.net.Client.send", "app.net.Client.retry",
                             "tests.test_net.test_retry"]),
        (("grep", "nowhere"), []),
        (("find", "$X.retry()"), ["app.net.Client.send", "tests.test_net.test_retry"]),
        (("search", "retry"), ["app.net.Client.retry", "tests.test_net.test_retry"]),
        (("where", "app/net.py:6"), ["app.net.Client.send"]),
        (("references", "app.net.Client.retry"), ["app.net.Client.send", "tests.test_net.test_retry"]),
        (("callers", "app.net.Client.retry"), ["app.net.Client.send", "tests.test_net.test_retry"]),
        (("callees", "app.net.Client.send"), ["app.net.Client.retry"]),
        (("subclasses", "app.base.Base"), ["app.net.Client"]),
        (("overrides", "app.base.Base.send"), ["app.net.Client.send"]),
        (("importers_of", "app.net"), ["tests.test_net"]),
        (("unused", "app.odd"), ["app.odd._odd"]),
        (("tests", "list"), ["tests.test_net.test_retry"]),
    ],
)  # fmt: skip
def test_what_is_found_is_printed_by_address(app: Path, words: tuple[str, ...], printed: list[str]) -> None:
    called = cli(app, *words, "--names")
    assert called.status == 0
    assert called.out.decode() == "".join(f"{name}\n" for name in printed)


def test_a_pipe_reads_what_was_found(app: Path) -> None:
    found = run("grep", "retry", "app", "--names", folder=app)
    called = run("read", "-", folder=app, stdin=found.out)
    assert called.status == 0
    heads = [line for line in called.out.decode().splitlines() if line.startswith("# ")]
    assert [head.split()[1] for head in heads] == ["app.net.Client.send", "app.net.Client.retry"]


@pytest.mark.parametrize(
    "words",
    [("grep", "retry"), ("references", "app.net.Client.retry"), ("grep", "-C1", "retry"), ("find", "$X.retry()")],
)
def test_what_an_answer_prints_is_understood_too(app: Path, words: tuple[str, ...]) -> None:
    called = cli(app, "read", "-", stdin=cli(app, *words).out)
    assert called.status == 0, called.err_text
    assert "# app.net.Client.send  app.net:5  etag" in called.out.decode()


def test_lines_become_names() -> None:
    assert read(b"app.a\n\n  app.b  \r\napp.c") == ("app.a", "app.b", "app.c")
    assert read(b"app.a\n") == ("app.a",)
    assert read(b"app.net:12: x = 1\napp.net:13- y: int\n--\napp:a b.txt:3: z\n") == (
        "app.net:12",
        "app.net:13",
        "app:a b.txt:3",
    )
    assert read("app.a — app.net:12: f()\n:docs/my notes.txt\n".encode()) == ("app.a", ":docs/my notes.txt")
    assert read(b"2 sure, 1 unsure\n\napp.net\n  12: f()    [call]\n\nunsure: a reason\napp.b\n  3: g()\n") == (
        "app.net:12",
        "app.b:3",
    )


def test_names_on_standard_input_take_their_place_among_the_others() -> None:
    door = Recorder()
    call("read", "first", "-", "last", door=door, stdin=b"a\nb\n")
    assert door.requests[0].target == ("first", "a", "b", "last")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("stdin", "expected"),
    [
        (b"", "holds no name"),
        (b" \n\n(no matches)\n", "holds no name"),
        (b"app.a\napp\0b\n", "a NUL byte in line 2"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "a NUL byte in line 1"),
        (b"app.a\n\xff\xfe", "not UTF-8: byte 0xff in line 2"),
    ],
)
def test_what_is_no_list_of_names_is_refused_before_anything_is_read(stdin: bytes, expected: str) -> None:
    door = Recorder()
    called = call("read", "-", door=door, stdin=stdin)
    assert (called.status, expected in called.err_text, door.requests) == (2, True, [])


def test_an_endless_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "MAX_CHARACTERS", 10)
    called = call("read", "-", stdin=b"app.a\n" * 100)
    assert (called.status, "more than 10 bytes" in called.err_text) == (2, True)


def test_hostile_names_are_no_paths(app: Path) -> None:
    called = cli(app, "read", "-", stdin=b"../../etc/passwd\n/etc/passwd:1\n$(touch x)\n-rf\napp.net.Client\n")
    assert called.status == 5
    assert b"root:" not in called.out
    assert not (app / "x").exists()
    assert [line for line in called.out.decode().splitlines() if line.startswith("# ")] == [
        called.out.decode().splitlines()[0]
    ]


def test_standard_input_is_named_once() -> None:
    assert "named twice" in call("read", "-", "-", stdin=b"a\n").err_text


def test_a_person_sees_what_input_is_awaited() -> None:
    assert "one a line" in call("read", "-", stdin=b"a\n", typed=True).err_text


@pytest.mark.parametrize("other", ["--json", "--budget=200", "--cursor=0"])
def test_names_alone_are_no_json_and_no_page(other: str) -> None:
    called = call("grep", "x", "--names", other)
    assert (called.status, "exclude each other" in called.err_text + called.out.decode()) == (2, True)


def test_what_was_not_searched_is_reported_beside_the_names(app: Path) -> None:
    (app / "app/broken.py").write_text("def retry(:\n")
    called = cli(app, "find", "$X.retry()", "--names")
    assert called.out.decode() == "app.net.Client.send\ntests.test_net.test_retry\n"
    assert "incomplete" in called.err_text
