"""Lines of logs of every kind and size."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bae_source import LookupFailed, Refused, RequestError, Session, Source
from bae_source.resources.logs import lines as of_lines
from tests.adapters.mcp.test_clients import over_pipes, text_of, with_client
from tests.adapters.support import environment, run
from tests.another_user import AnotherUser


def head(text: str) -> str:
    return text.partition("\n")[0].partition(";")[0]


def body(text: str) -> list[str]:
    return text.split("\n")[1:]


def write(root: Path, content: bytes) -> Source:
    (root / "var/log/app.log").write_bytes(content)
    return Source(root)


def test_the_last_100_lines_are_shown_by_the_command_line_and_python(root: Path) -> None:
    ran = run("logs", "read", "app.log", folder=root)
    first, *rest = ran.out.decode().splitlines()
    assert first == "app.log: lines 1,135 to 1,234 of 1,234; changed 2023-11-14T22:13:20Z."
    assert rest == [f"line {number}" for number in range(1135, 1235)]
    text = Source(root).logs_read("app.log")
    assert text.splitlines() == [first, *rest]
    assert text.complete


def test_the_json_has_the_facts(root: Path) -> None:
    outcome = run("logs", "read", "app.log", "--lines", "2", "--json", folder=root).json
    assert outcome["found"] == [
        {
            "log": "app.log",
            "bytes": 11_233,
            "changed": "2023-11-14T22:13:20Z",
            "first_line": 1233,
            "lines_returned": 2,
            "total_lines": 1234,
            "kind": "text",
        }
    ]
    assert outcome["counts"] == {"lines": 2}


def test_lines_from_one_on_and_the_call_that_goes_on(root: Path) -> None:
    text = Source(root).logs_read("app.log", from_line=5, lines=2)
    assert (head(text), body(text)) == ("app.log: lines 5 to 6 of 1,234", ["line 5", "line 6"])
    assert text.outcome.next_actions == ('logs_read("app.log", lines=2, from_line=7) goes on.',)
    text = Source(root).logs_read("app.log", from_line=1234)
    assert (head(text), body(text), text.outcome.next_actions) == ("app.log: line 1,234 of 1,234", ["line 1234"], ())
    text = Source(root).logs_read("app.log", from_line=2000)
    assert (head(text), body(text)) == ("app.log has 1,234 lines, and no line 2000", [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lines": 501}, "logs_read was called wrongly: lines: expected `int` <= 500."),
        ({"lines": 0}, "logs_read was called wrongly: lines: expected `int` >= 1."),
        ({"from_line": 0}, "logs_read was called wrongly: from_line: expected `int` >= 1."),
        ({"context": 2}, "context goes with search alone."),
        ({"fixed": True}, "fixed goes with search alone."),
        ({"follow": 0.0}, "logs_read was called wrongly: follow: expected `float` > 0.0."),
        ({"follow": 1.0, "search": "x", "context": 1}, "follow shows lines as they come, without context."),
    ],
)
def test_a_wrong_call_is_refused_and_nothing_is_cut_in_silence(
    root: Path, given: dict[str, object], message: str
) -> None:
    with pytest.raises(RequestError) as caught:
        Source(root).logs_read("app.log", **given)  # type: ignore[arg-type]
    assert caught.value.message == message


def test_more_than_500_lines_are_refused_on_the_command_line(root: Path) -> None:
    ran = run("logs", "read", "app.log", "--lines", "501", folder=root)
    assert (ran.status, ran.out) == (2, b"")
    assert "lines: expected `int` <= 500." in ran.err_text
    assert len(run("logs", "read", "app.log", "--lines", "500", folder=root).out.splitlines()) == 501


def test_a_log_that_is_not_there_has_close_names_as_candidates(root: Path) -> None:
    ran = run("logs", "read", "access.log", folder=root)
    assert ran.status == 3
    assert ran.err_text.splitlines()[0] == "error[symbol_not_found]: Log file not found: access.log."
    assert ran.err_text.splitlines()[-2:] == ["candidates:", "  web/access.log"]
    with pytest.raises(LookupFailed) as caught:
        Source(root).logs_read("ap.log")
    assert caught.value.candidates == ("app.log",)


@pytest.mark.parametrize(
    "name",
    [
        "../x", "../../pyproject.toml", "web/../app.log", "web/../../../pyproject.toml", "/etc/passwd", "..",
        "..\\x", "\\x", "C:\\x", "out.log", "out/secret.log", "dangling.log",
    ],
)  # fmt: skip
def test_whatever_leads_out_of_the_folder_is_refused(root: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.log").write_text("secret\n")
    (root / "var/log/out.log").symlink_to(tmp_path / "secret.log")
    (root / "var/log/out").symlink_to(tmp_path)
    (root / "var/log/dangling.log").symlink_to(tmp_path / "nothing.log")
    with pytest.raises(Refused) as caught:
        Source(root).logs_read(name)
    assert caught.value.code == "outside_project"
    assert caught.value.message.startswith("Path traversal detected: ")


@pytest.mark.parametrize("name", ["a\0b", "./app.log", "web//access.log", "web/", ".env", "x" * 5000, "\ud800", "env"])
def test_a_name_that_is_none_is_not_found(root: Path, name: str) -> None:
    (root / "var/log/.env").write_text("TOKEN=1\n")
    (root / "var/log/env").symlink_to(".env")
    with pytest.raises(LookupFailed, match=r"^Log file not found: "):
        Source(root).logs_read(name)


def test_a_pipe_a_device_and_a_folder_are_no_logs_and_are_not_waited_for(root: Path) -> None:
    folder = root / "var/log"
    os.mkfifo(folder / "pipe.log")
    (folder / "zero.log").symlink_to("/dev/zero")
    ran = run("logs", "read", "pipe.log", folder=root)
    assert (ran.status, ran.err_text.splitlines()[0]) == (
        5,
        "error[forbidden]: pipe.log is no regular file, so it is no log.",
    )
    assert run("logs", "read", "pipe.log", "--follow", "5", folder=root).status == 5
    assert run("logs", "read", "zero.log", folder=root).err_text.startswith("error[outside_project]: Path traversal")
    with pytest.raises(Refused) as caught:
        Source(root).logs_read("web")
    assert caught.value.candidates == ("web/access.log",)


@pytest.mark.another_user
def test_what_may_not_be_read_is_reported(another_user: AnotherUser, open_folder: Path) -> None:
    root = open_folder / "project"
    (root / "var/log").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[tool.bae-source]\nlogs = "var/log"\n')
    (root / "var/log/app.log").write_text("secret\n")
    (root / "var/log/app.log").chmod(0)
    if os.geteuid() == 0:
        words = ("-m", "bae_source", "logs")
        done = another_user.run(*words, "read", "app.log", "--root", str(root), folder=open_folder)
        listed = another_user.run(*words, "list", "--root", str(root), folder=open_folder).stdout
        err, status = done.stderr, done.returncode
    else:
        called = run("logs", "read", "app.log", folder=root)
        err, status, listed = called.err, called.status, run("logs", "list", folder=root).out
    assert (status, err.splitlines()[0]) == (5, b"error[forbidden]: app.log may not be read by you.")
    assert listed.splitlines()[1].endswith(b", may not be read by you")


@pytest.mark.parametrize(
    ("content", "first", "shown"),
    [
        (b"", "app.log is empty", []),
        (b"\n", "app.log: line 1 of 1", [""]),
        (b"a\nb", "app.log: lines 1 to 2 of 2", ["a", "b"]),
        (b"a\r\nb\r\n", "app.log: lines 1 to 2 of 2", ["a", "b"]),
        (b"a\r\nb\r", "app.log: lines 1 to 2 of 2", ["a", "b"]),
        (b"10 %\r20 %\n", "app.log: line 1 of 1", ["10 %\\r20 %"]),
        (b"a\x00b \x1b[31mred\x1b[0m\tend\n", "app.log: line 1 of 1", ["a\\x00b \\x1b[31mred\\x1b[0m\tend"]),
        (b"caf\xe9 \xff\xfe\n", "app.log: line 1 of 1", ["caf\\xe9 \\xff\\xfe"]),
        ("Zoë\u2028\x85 日本\n".encode(), "app.log: line 1 of 1", ["Zoë\\u2028\\x85 日本"]),
    ],
    ids=["empty", "line end", "no final newline", "crlf", "cr", "progress", "control", "latin-1", "utf-8"],
)
def test_lines_are_shown_so_that_they_drive_no_terminal(
    root: Path, content: bytes, first: str, shown: list[str]
) -> None:
    text = write(root, content).logs_read("app.log")
    assert (head(text), body(text)) == (first, shown)
    printed = run("logs", "read", "app.log", folder=root).out.decode()
    assert printed.rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x1f\x8b\x08\x00" + bytes(range(256)), "gzip data"),
        ("a line\n".encode("utf-16"), "UTF-16 text"),
        (bytes(range(256)) * 10, "binary data"),
        (bytes(100), "nothing but NUL bytes"),
        (b"LPKSHHRH" + bytes(100), "a systemd journal"),
    ],
)
def test_a_binary_log_is_described_and_not_shown(root: Path, content: bytes, kind: str) -> None:
    source = write(root, content)
    for how, done in (({}, "shown"), ({"search": "a"}, "searched"), ({"follow": 9.0}, "followed")):
        text = source.logs_read("app.log", **how)  # type: ignore[arg-type]
        assert text.partition(";")[0] == f"app.log is no text, and not {done}: it is {kind}"
        assert text.outcome.found[0].lines_returned == 0


def test_a_long_line_is_cut_and_says_so(root: Path) -> None:
    text = write(root, b"short\n" + b"x" * 5000 + b"\nend\n").logs_read("app.log")
    assert body(text) == ["short", "x" * 2000 + "… (+3,000 characters)", "end"]


def test_a_line_longer_than_what_is_looked_through_is_shown_in_part(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_lines, "LOOK", 100_000)
    source = write(root, b"x" * 500_000 + b"\nend\n")
    text = source.logs_read("app.log")
    assert body(text)[-1] == "end"
    assert len(body(text)) == 2
    assert not text.complete
    assert [each.code for each in text.outcome.warnings] == ["line_cut"]
    text = source.logs_read("app.log", from_line=1)
    assert body(text)[0].startswith("xxx")
    assert not text.complete
    assert body(source.logs_read("app.log", from_line=2)) == ["end"]
    assert body(source.logs_read("app.log", search="end")) == ["2: end"]


MEASURED = """
import resource, sys, time
from bae_source import Source
source = Source(sys.argv[1])
source.logs_read("small.log")
before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
text = source.logs_read("app.log", lines=3)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
import json
print(json.dumps([text, grown, time.monotonic() - begun, text.outcome.found[0].total_lines]))
"""


def measured(root: Path) -> tuple[str, int, float, int | None]:
    (root / "var/log/small.log").write_text("x\n")
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(root)], env=environment(), capture_output=True, check=True, timeout=60
    )
    text, kilobytes, seconds, total = json.loads(done.stdout)
    return text, kilobytes, seconds, total


def test_the_end_of_a_log_of_gigabytes_takes_no_more_memory_and_time_than_that_of_a_small_one(root: Path) -> None:
    """A sparse file: three gigabytes of NULs, with real lines at the end."""
    log = root / "var/log/app.log"
    log.write_bytes(b"")
    os.truncate(log, 3 << 30)
    with log.open("ab") as file:
        file.write(b"one\n" + b"".join(b"line %d\n" % number for number in range(1000)))
    text, kilobytes, seconds, total = measured(root)
    assert body(text) == ["line 997", "line 998", "line 999"]
    assert head(text) == "app.log: the last 3 lines of 3,221,234,366 bytes, whose lines are not counted"
    assert total is None
    assert kilobytes < 30_000
    assert seconds < 5
    text = Source(root).logs_read("app.log", lines=500, search="one|line 99")
    assert body(text)[:2] == [": one", ": line 99"]
    assert text.outcome.warnings[0].message == (
        "Only the last 256,000,000 bytes were searched, and lines are not numbered."
    )
    with pytest.raises(Refused) as caught:
        Source(root).logs_read("app.log", from_line=2)
    assert caught.value.message == (
        "Line 2 of app.log is not within its first 256,000,000 bytes, in which lines are counted."
    )


def test_the_first_line_behind_a_hole_is_shown_without_it(root: Path) -> None:
    log = root / "var/log/app.log"
    log.write_bytes(b"")
    os.truncate(log, 20_000_000)
    with log.open("ab") as file:
        file.write(b"one\ntwo\n")
    text = Source(root).logs_read("app.log")
    assert body(text) == ["one", "two"]
    assert [each.code for each in text.outcome.warnings] == ["line_cut", "nuls_left_out"]
    assert body(Source(root).logs_read("app.log", search="^one")) == ["1: one"]


def test_a_log_that_is_emptied_while_it_is_read_ends_where_it_ends(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = of_lines.line_count

    def emptied(log: of_lines.OpenLog, start: int, end: int) -> int:
        os.truncate(root / "var/log/app.log", 0)
        return before(log, start, end)

    monkeypatch.setattr("bae_source.resources.logs.reading.line_count", emptied)
    for how in ({}, {"from_line": 3}, {"search": "line"}):
        assert body(write(root, b"line 1\nline 2\nline 3\n").logs_read("app.log", **how)) == []  # type: ignore[arg-type]


def test_a_session_has_a_place_for_logs_with_its_state(root: Path) -> None:
    with Session(root) as session:
        shown = session.run("print(source.logs())").text
        assert (
            "home > source > logs\nState: 2 logs; the newest is web/access.log, changed 2027-01-15T08:00:00Z\n" in shown
        )
        ran = session.run('read("app.log", lines=2)')
        assert [event.line for event in ran.events] == ["[logs] ◆ read(app.log, lines=2) -> str (3 lines)"]
        assert body(ran.outcome.text) == ["line 1233", "line 1234"]
        refused = session.run('read("../x")').outcome
        assert refused.errors[0].code == "outside_project"
    (root / "pyproject.toml").write_text("")
    with Session(root) as session:
        assert "\nState: No folder of logs is set\n" in session.run("print(source.logs())").text


def test_a_client_of_mcp_reads_a_log_within_its_budget(root: Path) -> None:
    async def walk(client: object) -> None:
        call = client.call_tool  # type: ignore[attr-defined]
        listed = await call("call", {"verb": "logs_list"})
        assert text_of(listed).startswith("2 logs; the newest is web/access.log")
        read = await call("call", {"verb": "logs_read", "arguments": {"log": "app.log", "lines": 2}})
        assert "line 1233\nline 1234\n" in text_of(read)
        wide = root / "var/log/wide.log"
        wide.write_text("".join("x" * 999 + "\n" for _ in range(100)))
        refused = await call("call", {"verb": "logs_read", "arguments": {"log": "wide.log"}})
        assert refused.is_error
        assert "budget_exceeded" in text_of(refused)

    with_client(over_pipes(root, ""), walk)
