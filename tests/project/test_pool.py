"""Several processes that work facts out: the same facts, in order, whatever becomes of the processes.

Programs and copies of this process alike. That this process has threads, which its test runner needs, is overlooked
here; `test_started` has processes of their own.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bae_source.errors import LookupFailed, ResourceError
from bae_source.project.facts import index, pool
from bae_source.project.facts.kept import Kept
from bae_source.project.facts.kinds import SUMMARY, FactKind
from bae_source.project.facts.pool import Batch, Pool
from bae_source.project.files.port import Disk
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from tests.project.faulty_pool import deadly_outside_of, serve_nonsense

pytestmark = pytest.mark.sampled

CONTENTS = [
    f"def f{number}():\n    return {number}\n{'# more' * (number % 7) * 500}\n".encode() for number in range(400)
]
MANY = pool.MANY + 1


@pytest.fixture(params=["programs", "copies"])
def ours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the processes are copies of this one."""
    monkeypatch.setattr("bae_source.system.own_process.can_be_copied", lambda: True)
    return bool(request.param == "copies")


def facts(batches: list[Batch]) -> list[bytes | None]:
    return [result[0] if result else None for batch in batches for result in batch.results()]


def children(parent: int) -> list[int]:
    """Processes whose parent is `parent`, zombies left out."""
    done = subprocess.run(["ps", "-o", "pid=,stat=,comm=", "--ppid", str(parent)], capture_output=True, text=True)
    rows = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    return [int(pid) for pid, state, name in rows if not state.startswith("Z") and name != "ps"]


def open_files(pid: int | str = "self") -> dict[int, str]:
    """What the descriptors of a process stand for."""
    found = {}
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # the folder itself
            found[int(each.name)] = str(each.readlink())
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_many_files_are_done_by_processes_and_come_in_order(ours: bool) -> None:
    with Pool("summary", 2, process_is_ours=ours) as several:
        batches = several.submit(CONTENTS)
        assert facts(batches) == [SUMMARY.extract(content) for content in CONTENTS]
        started = several.pids
        assert len(started) == 1, "this process is the other one"
    assert not any(alive(pid) for pid in started)


def test_few_files_are_done_here() -> None:
    with Pool("summary", 2) as several:
        assert facts(several.submit(CONTENTS[:20])) == [SUMMARY.extract(content) for content in CONTENTS[:20]]
        assert several.pids == ()


def test_with_one_processor_all_is_done_here() -> None:
    with Pool("summary", 1) as several:
        assert len(facts(several.submit(CONTENTS))) == 400
        assert several.pids == ()


def test_a_process_has_a_session_of_its_own_and_no_terminal(ours: bool) -> None:
    with Pool("summary", 2, process_is_ours=ours) as several:
        facts(several.submit(CONTENTS))
        for pid in several.pids:
            assert os.getsid(pid) == pid
            assert Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[4] == "0", "no terminal"


def test_a_process_that_is_killed_costs_nothing(ours: bool) -> None:
    with Pool("summary", 2, process_is_ours=ours) as several:
        batches = several.submit(CONTENTS[:200])
        batches[0].results()
        for pid in several.pids:
            os.kill(pid, signal.SIGKILL)
        assert facts(batches) == [SUMMARY.extract(content) for content in CONTENTS[:200]]
        assert facts(several.submit(CONTENTS)) == [SUMMARY.extract(content) for content in CONTENTS]


DEADLY = b"# deadly\n" + b"#" * 600_000
HANGING = b"# hanging\n" + b"#" * 600_000
"""Too large to be done by this process."""


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that end on one file, as a parser's crash would end them."""
    monkeypatch.setattr(FactKind, "extract", deadly_outside_of(os.getpid()))
    monkeypatch.setattr(pool, "SERVE", "tests.project.faulty_pool:serve_deadly")


def test_a_file_that_ends_the_process_costs_itself_alone(ours: bool, deadly: None) -> None:
    contents = [*CONTENTS[:70], DEADLY, *CONTENTS[70:150], DEADLY]
    with Pool("summary", 2, process_is_ours=ours) as several:
        assert facts(several.submit(contents)) == [
            None if content == DEADLY else SUMMARY.extract(content) for content in contents
        ]


def test_a_file_that_never_comes_to_an_end_costs_itself_alone(ours: bool, deadly: None) -> None:
    contents = [*CONTENTS[:110], HANGING, *CONTENTS[110:130]]
    with Pool("summary", 2, process_is_ours=ours, seconds=1 if ours else 3) as several:  # a program has to start
        assert facts(several.submit(contents))[110] is None
        assert facts(several.submit(CONTENTS[:5])) == [SUMMARY.extract(content) for content in CONTENTS[:5]]


def test_a_crash_is_an_error_in_the_answer_and_is_not_remembered(
    ours: bool, deadly: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(MANY + 20):
        (tmp_path / f"m{number:03}.py").write_bytes(DEADLY if number == 60 else CONTENTS[number])
    monkeypatch.setattr(pool, "processors", lambda: 2)
    kept = Kept(clock=time.time_ns, process_is_ours=ours)
    space = Workspace(Disk(tmp_path), kept=kept)
    found = dict(space.index.summaries(space.census.paths))
    error = found.pop("m060.py")
    assert isinstance(error, ResourceError)
    assert (error.code, error.details["module"]) == ("not_lossless", "m060")
    assert not any(isinstance(each, ResourceError) for each in found.values())
    again = Workspace(Disk(tmp_path), kept=kept).index.summary("m060.py")
    assert again.entries == (), "here, where it does not crash, it is looked at again"


def test_where_no_process_can_be_started_the_work_is_done_here(ours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(sys, "executable", "/nothing/there")
    monkeypatch.setattr(os, "fork", refused)
    before = open_files(), signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with Pool("summary", 2, process_is_ours=ours) as several:
        assert facts(several.submit(CONTENTS)) == [SUMMARY.extract(content) for content in CONTENTS]
        assert several.pids == ()
        assert (open_files(), signal.pthread_sigmask(signal.SIG_BLOCK, [])) == before


def test_a_caller_that_stops_half_way_leaves_no_process(
    ours: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(400):
        (tmp_path / f"m{number:03}.py").write_bytes(CONTENTS[number])
    monkeypatch.setattr(pool, "processors", lambda: 2)
    before = set(children(os.getpid()))
    space = Workspace(Disk(tmp_path), kept=Kept(process_is_ours=ours))
    found = space.index.summaries(space.census.paths)
    next(found)
    assert set(children(os.getpid())) - before
    found.close()  # type: ignore[attr-defined]
    assert set(children(os.getpid())) - before == set()


HOST = """
    import sys, os
    from pathlib import Path
    from bae_source.project.facts import pool
    from bae_source.project.files.port import Disk
    from bae_source.project.facts.kept import Kept
    from bae_source.project.workspace import Workspace
    pool.processors = lambda: 2
    print("main ran", flush=True)
    space = Workspace(Disk(Path(sys.argv[1])), kept=Kept(process_is_ours="ours" in sys.argv))
    for path, found in space.index.summaries(space.census.paths * 1):
        print(path, flush=True)
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("large")
    for number in range(1500):
        (root / f"m{number:04}.py").write_text("".join(f"def f{n}():\n    return {n}, {number}\n" for n in range(100)))
    return root


def host(tmp_path: Path, root: Path, *words: str, group: bool = False) -> subprocess.Popen[str]:
    script = tmp_path / "host.py"  # no `if __name__` guard: who copies or imports the main program runs it again
    script.write_text(textwrap.dedent(HOST))
    return subprocess.Popen(
        [sys.executable, str(script), str(root), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=group,
    )  # fmt: skip


@pytest.mark.parametrize("words", [(), ("ours",)], ids=["programs", "copies"])
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_caller_ends_its_processes(
    tmp_path: Path, large: Path, sent: signal.Signals, words: tuple[str, ...]
) -> None:
    process = host(tmp_path, large, *words, group=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "main ran\n"
    assert process.stdout.readline().startswith("m0000")
    workers = children(process.pid)
    assert len(workers) == 1
    started = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in (process.pid, *workers)]
    assert (started[0] == started[1]) is bool(words), "a copy runs what it is a copy of"
    os.kill(process.pid, sent)
    rest, _ = process.communicate(timeout=30)
    assert rest.count("\n") < 1499, "it was stopped half-way"
    assert "main ran" not in rest
    limit = time.time() + 10
    while time.time() < limit and any(map(alive, workers)):
        time.sleep(0.05)
    assert not any(map(alive, workers))


def test_the_callers_program_is_not_run_again_by_the_processes(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"m{number:03}.py").write_bytes(CONTENTS[number])
    process = host(tmp_path, tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.count("main ran") == 1
    assert err == ""


def test_projects_code_and_settings_do_not_reach_the_processes(tmp_path: Path) -> None:
    """A project on PYTHONPATH whose modules are called like ours or Python's: none of them is imported."""
    project = tmp_path / "project"
    project.mkdir()
    for name in ("sitecustomize", "msgspec", "ast", "libcst"):
        (project / f"{name}.py").write_text(
            f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + '\\n')\nraise SystemExit(9)\n"
        )
    for number in range(150):
        (project / f"m{number}.py").write_bytes(CONTENTS[number])
    code = textwrap.dedent(HOST).replace(
        "pool.processors",
        "import ast, libcst, msgspec  # the caller's own, who is one of those that parse\n"
        f"sys.path.insert(0, {str(project)!r}); os.environ['PYTHONPATH'] = {str(project)!r}\npool.processors",
    )
    done = subprocess.run([sys.executable, "-c", code, str(project)], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.count("\n") == 155
    assert not (tmp_path / "ran").exists()


def test_facts_do_not_depend_on_how_many_processes_made_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(300):
        (tmp_path / f"m{number:03}.py").write_bytes(CONTENTS[number] if number % 50 else b"def f(:\n# \xff")
    answers = []
    for processes in (1, 2, 3):
        monkeypatch.setattr(pool, "processors", lambda count=processes: count)
        monkeypatch.setattr(index, "WINDOW_FILES", 64 * processes)
        space = Workspace(Disk(tmp_path))
        answers.append(list(space.index.summaries(space.census.paths)))
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]) == 300


def test_processes_are_started_while_the_project_is_walked_if_many_files_are_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(MANY + 20):
        (tmp_path / f"m{number:03}.py").write_bytes(CONTENTS[number])
    monkeypatch.setattr(pool, "processors", lambda: 2)
    before = set(children(os.getpid()))
    space = Workspace(Disk(tmp_path))
    with space.index.expecting():
        assert set(children(os.getpid())) == before
        assert len(space.census.paths) == MANY + 20
        assert len(set(children(os.getpid())) - before) == 1
        ready = dict(space.index.uses_of(space.census.paths))
    assert set(children(os.getpid())) == before
    assert ready == dict(Workspace(Disk(tmp_path)).index.uses_of(space.census.paths))


def test_no_process_is_started_for_a_small_project_or_where_nothing_is_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(MANY + 20):
        (tmp_path / f"m{number:03}.py").write_bytes(b"x = 1\n")
    monkeypatch.setattr(pool, "processors", lambda: 2)
    before = set(children(os.getpid()))
    assert len(Workspace(Disk(tmp_path)).census.paths) == MANY + 20
    assert set(children(os.getpid())) == before
    for number in range(30):
        (tmp_path / f"m{number:03}.py").unlink()
    space = Workspace(Disk(tmp_path))
    with space.index.expecting():
        assert len(space.census.paths) == MANY - 10
        assert set(children(os.getpid())) == before


def test_an_error_while_many_files_are_expected_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(MANY + 20):
        (tmp_path / f"m{number:03}.py").write_bytes(b"x = 1\n")
    monkeypatch.setattr(pool, "processors", lambda: 2)
    before = set(children(os.getpid()))
    space = Workspace(Disk(tmp_path))
    with pytest.raises(LookupFailed), space.index.expecting():
        resolve(space, f"m000.x{len(space.census.paths)}")
    assert set(children(os.getpid())) == before
    assert [path for path, _ in space.index.uses_of(["m000.py"])] == ["m000.py"]


def test_large_files_are_done_by_other_processes_and_small_ones_here_too(ours: bool) -> None:
    large = [f"x{number} = '{'y' * 520_000}'\n".encode() for number in range(3)]
    contents = [*CONTENTS[:60], *large]
    with Pool("summary", 2, process_is_ours=ours) as several:
        batches = several.submit(contents)
        assert facts(batches) == [SUMMARY.extract(content) for content in contents]


def test_what_a_process_makes_up_is_no_answer(ours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "serve", serve_nonsense)
    monkeypatch.setattr(pool, "SERVE", "tests.project.faulty_pool:serve_nonsense")
    with Pool("summary", 2, process_is_ours=ours) as several:
        found = facts(several.submit(CONTENTS[:110]))
        assert None in found
        for content, answered in zip(CONTENTS[:110], found, strict=True):
            assert answered in (None, SUMMARY.extract(content))
