"""How a server begins and ends, and what does it no harm."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from bae_source.adapters.serve import meeting
from tests.adapters.serve.support import Place, place, request, server, until
from tests.adapters.support import REPOSITORY, command, environment, run

pytestmark = pytest.mark.sampled

GREP = ("grep", "send")
ENDLESS = ("grep", "(x+x+)+y", "--time-limit", "60")


@pytest.fixture
def at() -> Iterator[Place]:
    with place() as made:
        yield made


@pytest.fixture
def slow(project: Path) -> Path:
    """A project in which one search takes longer than anybody waits."""
    (project / "app/slow.py").write_text(f"text = '{'x' * 60}'  # y\n")
    return project


def test_it_reports_its_status_and_ends_on_request(at: Place, project: Path) -> None:
    assert at.ended()
    with server(at) as process:
        at.answered(*GREP, folder=project)
        assert f"runs as process {process.pid} since" in at.status()
        assert at.status().splitlines()[1:] == [str(project)]
        assert (
            at.run("serve", "--stop", folder=project).out == b"The server that ran as process %d ends.\n" % process.pid
        )
        assert process.wait(30) == 0
        assert list((at.folder / "bae-source").glob("*.sock")) == []
    assert at.run("serve", "--stop", folder=project).out == b"No server runs.\n"


def test_there_is_one_at_a_time(at: Place, project: Path) -> None:
    with server(at):
        second = at.run("serve", folder=project)
        assert (second.status, second.out) == (2, b"")
        assert "A server runs already." in second.err_text
        at.answered(*GREP, folder=project)


def test_it_ends_when_nothing_is_asked(at: Place) -> None:
    with server(at, "--idle", "0.5") as process:
        assert process.wait(30) == 0
    assert at.ended()
    assert at.run("serve", "--idle", "-1", folder=at.folder).status == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_also_while_it_works_and_the_client_goes_on_by_itself(
    at: Place, slow: Path, number: signal.Signals
) -> None:
    with server(at) as process, at.connection() as connection:
        connection.sendall(request(*ENDLESS, folder=slow))
        assert connection.recv(1) == meeting.ACCEPTED
        time.sleep(0.5)
        process.send_signal(number)
        assert connection.recv(1) == b""  # no answer, above all no wrong one
        assert process.wait(30) == 0
    assert at.run(*GREP, folder=slow) == run(*GREP, folder=slow)


def test_it_ends_with_its_runtime_folder(at: Place) -> None:
    with server(at, before="from bae_source.adapters.serve import server\nserver._LOOK = 0.1") as process:
        shutil.rmtree(at.folder / "bae-source")
        assert process.wait(60) == 0


def test_it_ends_after_the_answer_with_which_it_grew_too_large(at: Place, project: Path) -> None:
    program = "from bae_source.adapters.serve import meeting, server; import sys; server._MEMORY = 1; "
    program += "server.Server(meeting.stem_in({'XDG_RUNTIME_DIR': sys.argv[1]})).run(lambda: print('!', flush=True))"
    words = [sys.executable, "-P", "-c", program, str(at.folder)]
    with subprocess.Popen(words, env=environment(**at.variables), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"!\n"
        assert at.response(request(*GREP, folder=project)).startswith(meeting.ACCEPTED)
        assert process.wait(30) == 0


def test_a_socket_of_a_server_that_died_is_passed_over_and_replaced(at: Place, project: Path) -> None:
    with server(at) as process:
        process.kill()
        process.wait()
    assert at.socket.exists()
    assert at.run(*GREP, folder=project) == run(*GREP, folder=project)
    assert at.ended()
    with server(at):
        assert at.answered(*GREP, folder=project) == run(*GREP, folder=project)


def test_a_server_that_does_not_answer_is_not_waited_for(at: Place, project: Path) -> None:
    with server(at) as process:
        process.send_signal(signal.SIGSTOP)
        assert at.run(*GREP, folder=project) == run(*GREP, folder=project)
        process.send_signal(signal.SIGCONT)
        at.answered(*GREP, folder=project)


def test_one_that_is_killed_at_work_leaves_the_work_to_the_client(at: Place, slow: Path) -> None:
    with server(at) as process:
        client = subprocess.Popen(
            command("grep", "(x+x+)+y", "--time-limit", "3"),
            cwd=slow,
            env=environment(**at.variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        time.sleep(1)
        process.kill()
        _, output = client.communicate(timeout=60)
        assert client.returncode == 0
        assert b"timed_out" in output


def test_a_client_that_goes_away_ends_its_search(at: Place, slow: Path) -> None:
    with server(at):
        with at.connection() as connection:
            connection.sendall(request(*ENDLESS, folder=slow))
            assert connection.recv(1) == meeting.ACCEPTED
            time.sleep(0.5)
        begun = time.monotonic()
        assert at.response(request(*GREP, folder=slow)).startswith(meeting.ACCEPTED)
        assert time.monotonic() - begun < 20


def test_ctrl_c_ends_the_client_and_the_server_stays(at: Place, slow: Path) -> None:
    with server(at):
        client = subprocess.Popen(
            command(*ENDLESS), cwd=slow, env=environment(**at.variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        time.sleep(1)
        client.send_signal(signal.SIGINT)
        out, output = client.communicate(timeout=30)
        assert (client.returncode, out) == (130, b"")
        assert b"Traceback" not in output
        at.answered(*GREP, folder=slow)


def test_who_comes_while_another_is_served_does_it_himself(at: Place, slow: Path) -> None:
    with server(at), at.connection() as connection:
        connection.sendall(request(*ENDLESS, folder=slow))
        assert connection.recv(1) == meeting.ACCEPTED
        assert at.run(*GREP, folder=slow) == run(*GREP, folder=slow)


def test_many_at_once_all_get_their_own_answer(at: Place, project: Path) -> None:
    asked = ["send", "stop", "Client", "nowhere"] * 3
    expected = {word: run("grep", word, folder=project) for word in set(asked)}
    with server(at), ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda word: at.run("grep", word, folder=project), asked))
    assert found == [expected[word] for word in asked]


def test_another_version_in_its_place_has_it_end_and_answers_by_itself(
    at: Place, project: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(REPOSITORY / "bae_source", copy / "bae_source", ignore=shutil.ignore_patterns("__pycache__"))
    with place(copy) as other, server(other) as process:
        expected = other.answered(*GREP, folder=project)
        response = other.response(request(*GREP, folder=project).replace(b"\x000.1.0\n", b"\x000.2.0\n"))
        assert response == meeting.DECLINED + meeting.ENDING
        assert process.wait(30) == 0
        assert other.run(*GREP, folder=project) == expected
    with place(copy) as other, server(other) as process:
        other.answered(*GREP, folder=project)
        text = copy / "bae_source/queries/grep.py"
        text.write_text(text.read_text().replace("(no matches in text)", "(nothing)"))
        assert other.run(*GREP, folder=project) == expected
        assert process.wait(30) == 0


def test_a_process_of_another_world_is_left_to_itself(at: Place, project: Path) -> None:
    with server(at):
        asked = request(*GREP, folder=project)
        other = asked[4:].replace(b"\nutf-8\n", b"\nlatin-1\n", 1)
        assert at.response(meeting.framed(other)) == b"-another world"
        assert at.response(asked).startswith(meeting.ACCEPTED)


def test_projects_that_were_not_asked_for_longest_are_let_go(at: Place, tmp_path: Path) -> None:
    with server(at):
        for number in range(6):
            root = tmp_path / f"p{number}"
            root.mkdir()
            (root / "a.py").write_text("send = 1\n")
            assert at.response(request(*GREP, "--root", ".", folder=root)).startswith(meeting.ACCEPTED)
        shutil.rmtree(tmp_path / "p5")
        until(lambda: at.status().splitlines()[1:] == [str(tmp_path / f"p{number}") for number in (2, 3, 4)])


def test_a_read_that_took_long_starts_one_without_a_parent(at: Place, large: Path) -> None:
    expected = run("unused", folder=large)
    (large / ".bae-source").exists() and shutil.rmtree(large / ".bae-source")
    assert at.run("unused", folder=large) == expected
    until(lambda: not at.ended())
    process = int(at.status().partition("process ")[2].partition(" ")[0])
    try:
        assert Path(f"/proc/{process}/cwd").readlink() == Path("/")
        assert os.getsid(process) == process
        assert {Path(f"/proc/{process}/fd/{number}").readlink() for number in range(3)} == {Path(os.devnull)}
        assert b"SECRET" not in Path(f"/proc/{process}/environ").read_bytes()
        assert at.answered("unused", folder=large, SECRET="1") == expected
        at.run("serve", "--stop", folder=large)
        until(at.ended)
        at.run("unused", folder=large, BAE_SOURCE_SERVE="on")
        time.sleep(1)
        assert at.ended()  # one that cannot stay is not started again and again
    finally:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("changes", [{"BAE_SOURCE_SERVE": "off"}, {"BAE_SOURCE_SERVE": "0"}, {"CI": "true"}], ids=str)
def test_none_is_started_where_none_is_wanted(at: Place, large: Path, changes: dict[str, str]) -> None:
    at.run("unused", folder=large, **changes)
    assert list(at.folder.iterdir()) == []


def test_a_short_read_starts_none(at: Place, project: Path) -> None:
    assert at.run(*GREP, folder=project).status == 0
    assert list(at.folder.iterdir()) == []


@pytest.mark.parametrize("variables", [{"XDG_RUNTIME_DIR": ""}, {"XDG_RUNTIME_DIR": "run"}], ids=str)
def test_without_a_runtime_folder_everything_is_as_ever(project: Path, variables: dict[str, str]) -> None:
    with place() as at:
        refused = at.run("serve", folder=project, **variables)
        assert (refused.status, refused.out) == (2, b"")
        assert "XDG_RUNTIME_DIR" in refused.err_text
        assert at.run(*GREP, folder=project, **variables) == run(*GREP, folder=project)


def test_a_path_too_long_for_a_socket_has_no_server(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 25)
    folder.mkdir(mode=0o700)
    assert Place(folder).run(*GREP, folder=project) == run(*GREP, folder=project)
    assert Place(folder).run("serve", folder=project).status == 2
    with socket.socket(socket.AF_UNIX) as probe, pytest.raises(OSError, match="path too long"):
        probe.bind(str(folder / "x.sock"))


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A project on which `unused` takes longer than to load what answers it."""
    root = tmp_path / "large"
    root.mkdir()
    for number in range(120):
        lines = [f"def f{each}(a, b):\n    return [a.x{each}, b, f{each - 1}]\n" for each in range(1, 40)]
        (root / f"m{number}.py").write_text("\n\n".join(lines))
    return root
