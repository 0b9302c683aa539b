"""Code that never ends, floods, kills, hides or breaks what runs it: the session goes on, and says what is lost."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bae_source import Session
from bae_source.adapters.session.events import Lost, Omitted, Panel
from tests.adapters.session.conftest import (
    CHANGING,
    built,
    built_to_change,
    contents,
    gone,
    in_a_change,
    is_running,
)

pytestmark = pytest.mark.sampled

ALIVE = "print('alive', len('abc'), kept)"


@pytest.fixture
def kept(session: Session) -> Session:
    """The shared session, with a name that has to survive."""
    session.run("kept = 1\nhome()")
    return session


@pytest.mark.parametrize(
    "code",
    [
        "exit()",
        "raise SystemExit(3)",
        "raise BaseException('base')",
        "raise KeyboardInterrupt",
        "def f(n): return f(n + 1)\nf(0)",
        "class R:\n    def __repr__(self): raise BaseException('no repr')\nR()",
        "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
        "import sys\nsys.setrecursionlimit(60)\n'x' * len(read.__doc__)",
        "x = []\nfor i in range(100_000): x = [x]\nrepr(x)",
        "raise ExceptionGroup('many', [ValueError(str(i)) for i in range(1000)])",
        "e = ValueError(); e.__cause__ = e; raise e",
        "del x_that_is_not_there",
        "import sys; sys.stdout.fileno = None; sys.exit('x' * 1_000_000)",
        "class E(Exception):\n    name = property(lambda self: 1 / 0)\nraise E",
        "class E(NameError):\n    name = property(lambda self: 1 / 0)\nraise E",
        "class M(type):\n    __name__ = property(lambda cls: 1 / 0)\nclass E(Exception, metaclass=M): pass\nraise E",
        "class S(str):\n    encode = None\nclass R:\n    def __repr__(self): return S('x')\nraise ValueError(R())",
        "from bae_source.errors import LookupFailed\ne = LookupFailed('symbol_not_found', 'x'); e.message = 7; raise e",
        "from bae_source import Outcome\nOutcome(status='answer', text=5)",
        "from bae_source import Outcome\nOutcome(status='answer', exit_code=10 ** 5000)",
        "from bae_source.model.selection import Selected\nSelected(status='answer', selections=(5,))",
    ],
)
def test_whatever_a_block_raises_is_an_outcome_and_the_names_stay(kept: Session, code: str) -> None:
    ran = kept.run(code)
    assert ran.outcome.errors[0].code in ("code_failed", "interrupted")
    assert not ran.lost
    assert len(ran.text.encode()) < 9000
    assert kept.run(ALIVE).text.endswith("alive 3 1")


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.stdout.close(); sys.stderr.close()",
        "import os; os.close(1); os.close(2); open('/dev/null')",
        "import sys; sys.stdout = sys.stderr = None",
        "import sys; del sys.stdout",
        "import builtins\nfor name in list(vars(builtins)):\n    if name[0] != '_': del builtins.__dict__[name]",
        "import builtins; builtins.len = builtins.print = builtins.BaseException = None",
        "import sys; sys.modules.clear(); sys.path.clear(); sys.meta_path.clear(); sys.path_hooks.clear()",
        "import sys\nfor name in list(sys.modules): sys.modules[name] = None",
        "import signal\nfor n in range(1, 32):\n    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)",
        "import sys; sys.setrecursionlimit(100); sys.settrace(lambda *a: 1 / 0)",
        "import os; os.chdir('/')",
        "del source, home, nav, back",
        "for name in [each for each in globals() if each != 'kept']: del globals()[name]",
        "import sys; sys.excepthook = sys.displayhook = None",
        "import gc; gc.disable()\nimport linecache; linecache.cache = None",
        "import threading; failing = threading.Thread(target=lambda: 1 / 0); failing.start(); failing.join()",
        "import os\nif os.fork() == 0: pass",
    ],
)
def test_whatever_a_block_breaks_is_whole_again_for_the_next(kept: Session, code: str) -> None:
    assert not kept.run(code).lost
    assert kept.run(ALIVE).text.endswith("alive 3 1")
    assert kept.run('source()\nread("app.client.limit")').outcome.text == "limit = 3\n"
    assert kept.run("1 / 0").outcome.errors[0].message.startswith("ZeroDivisionError")


def test_a_flood_of_output_is_cut_and_reported_and_takes_no_memory(kept: Session) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ran = kept.run("import os\nprint('first')\nfor _ in range(1000): os.write(1, b'x' * 1_000_000)\nprint('last')")
    [panel] = ran.events
    assert isinstance(panel, Panel)
    assert panel.cut > 999_970_000
    assert f"… {panel.cut:,} bytes of output are left out here …" in panel.output
    assert panel.output.startswith("first\nxxx")
    assert panel.output.endswith("xlast\n")
    assert len(ran.text.encode()) <= 24_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_a_value_that_is_gigantic_is_cut_and_says_so(kept: Session) -> None:
    ran = kept.run("'x' * 100_000_000")
    assert len(ran.text.encode()) <= 24_000
    assert ran.text.endswith("… (100,000,002 characters in all)")
    assert len(ran.text.encode()) > 20_000
    assert not ran.outcome.complete


def test_many_calls_are_counted_and_all_of_it_is_within_the_budget(kept: Session) -> None:
    ran = kept.run(
        "source()\nfor _ in range(400):\n    try: nav(0)\n    except Exception: print('x' * 100)\n'y' * 100_000"
    )
    omitted = ran.events[-2]
    assert isinstance(omitted, Omitted)
    assert omitted.calls == omitted.failed == 401 - (len(ran.events) - 2)
    assert len(ran.text.encode()) <= 24_000


def test_a_block_that_takes_too_long_is_interrupted_and_the_names_stay(kept: Session) -> None:
    for code in ("while True: pass", "await __import__('asyncio').sleep(60)", "class R:\n def __repr__(s): "
                 "__import__('time').sleep(60)\nR()"):  # fmt: skip
        ran = kept.run(code, seconds=0.2)
        assert ran.outcome.errors[0].code == "timed_out"
        assert ran.outcome.text == (
            "The block took longer than 0.2 seconds, and was ended; the names are as it left them."
        )
        assert not ran.lost
    assert kept.run(ALIVE).text.endswith("alive 3 1")


def test_a_block_that_will_not_be_interrupted_is_killed_with_what_it_started_and_says_what_is_lost(
    tmp_path: Path,
) -> None:
    project = built(tmp_path)
    with Session(project) as session:
        session.run(
            "import subprocess, signal\nsource.app()\nkept = 1\n"
            "own = subprocess.Popen(['sleep', '300'])\n"
            "away = subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
            "daemon = int(subprocess.run(['sh', '-c', 'setsid sleep 300 >&- 2>&- <&- & echo $!'],"
            " capture_output=True, start_new_session=True).stdout)"
        )
        processes = [int(each) for each in session.run("print(own.pid, away.pid, daemon)").text.split("\n")[-1].split()]
        assert all(map(is_running, processes))
        ran = session.run(
            "tx = transaction('never')\ntx.edit('app.client.limit', 'limit = 4')\nprint('so far')\n"
            "signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
            seconds=0.5,
        )
        assert ran.lost
        assert ran.outcome.errors[0].code == "timed_out"
        assert "The namespace is lost: the block took longer than 0.5 seconds" in ran.text
        assert "◆ transaction.edit(app.client.limit, limit = 4) -> Outcome (planned)" in ran.text
        assert "so far" in ran.text
        assert isinstance(ran.events[-1], Lost)
        assert all(map(gone, processes))
        assert contents(project) == contents(built(tmp_path / "again"))
        assert session.run("'kept' in globals()").outcome.text == "False"
        assert session.trail == ("home", "source", "app")
        assert session.run('read("client.limit")').outcome.text == "limit = 3\n"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os._exit(3)", "it ended itself with status 3"),
        ("import ctypes; ctypes.string_at(0)", "it was ended by SIGSEGV"),
        ("import os; os.closerange(3, 300)", "it ended itself with status 74"),
        ("import os, signal; os.kill(os.getppid(), signal.SIGKILL)\nwhile True: pass", "it was ended from outside"),
        (
            "import os\nfor number in range(3, 200):\n    try: os.write(number, b'{}' * 50)\n    except OSError: pass",
            "it sent bytes that are no message",
        ),
    ],
)
def test_the_death_of_a_worker_is_reported_with_its_cause_and_the_next_block_has_another(
    root: Path, code: str, reason: str
) -> None:
    with Session(root, seconds=20) as session:
        ran = session.run(code)
        assert ran.lost
        assert ran.outcome.errors[0].code == "namespace_lost"
        assert reason in ran.outcome.text
        assert session.run("1 + 1").outcome.text == "2"


def test_the_death_of_a_worker_between_blocks_is_reported_before_anything_runs(root: Path, tmp_path: Path) -> None:
    with Session(root) as session:
        worker = int(session.run("import os; os.getpid()").outcome.text)
        os.kill(worker, signal.SIGKILL)
        assert gone(worker)
        time.sleep(0.1)  # the supervisor notices it by itself
        ran = session.run(f"open({str(tmp_path / 'ran')!r}, 'w')")
        assert ran.lost
        assert "since the last block it was ended by SIGKILL, so this one was not run" in ran.outcome.text
        assert not (tmp_path / "ran").exists()
        assert session.run("1 + 1").outcome.text == "2"


def test_closing_a_session_ends_threads_and_processes_that_go_on(root: Path) -> None:
    with Session(root) as session:
        code = (
            "import subprocess, threading, os\nthreading.Thread(target=threading.Event().wait).start()\n"
            "os.getpid(), subprocess.Popen(['sleep', '300'], start_new_session=True).pid"
        )
        processes = eval(session.run(code).outcome.text)
    assert all(map(gone, processes))


def test_a_host_that_is_killed_takes_its_worker_along(root: Path) -> None:
    code = (
        "from bae_source import Session; session = Session('.'); "
        'print(session.run(\'import os, subprocess; os.getpid(), subprocess.Popen(["sleep", "300"],'
        " start_new_session=True).pid').outcome.text, flush=True); session.run('while True: pass')"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        processes = eval(host.stdout.readline())
        host.kill()
    assert all(map(gone, processes))


def test_ctrl_c_in_the_host_interrupts_the_block_and_nothing_else(root: Path) -> None:
    code = (
        "import os, signal, threading; from bae_source import Session; session = Session('.'); "
        "session.run('kept = 1'); "
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start(); "
        "ran = session.run('while True: pass'); "
        "print(ran.outcome.errors[0].code, ran.lost, session.run('kept').outcome.text); session.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted False 1\n", done.stderr


def test_a_block_that_its_host_leaves_is_ended_and_the_next_one_reports_that_before_it_runs(root: Path) -> None:
    class Left(BaseException):
        pass

    def leave(_number: int, _frame: object) -> None:
        raise Left

    before = signal.signal(signal.SIGALRM, leave)
    try:
        with Session(root) as session:
            worker = int(session.run("import os; os.getpid()").outcome.text)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Left):
                session.run("while True: pass")
            assert gone(worker)
            ran = session.run("1")
            assert ran.lost
            assert "was left by its host, so this one was not run" in ran.outcome.text
            assert session.run("1").outcome.text == "1"
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_host_that_is_killed_during_a_change_leaves_the_files_as_they_were_and_no_process(tmp_path: Path) -> None:
    project, begun = built_to_change(tmp_path), tmp_path / "begun"
    before = contents(project)
    code = (
        "from bae_source import Session; session = Session('.'); "
        f"print(session.run('import os; os.getpid()').outcome.text, flush=True); session.run({CHANGING!r})"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=project, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        worker, judge = int(host.stdout.readline()), in_a_change(project, begun)
        host.kill()
    assert gone(worker)
    assert gone(judge)
    assert contents(project) == before


def test_a_worker_that_takes_no_notice_of_its_interrupt_is_killed_once_its_host_is_gone(root: Path) -> None:
    code = (
        "from bae_source import Session; session = Session('.'); "
        "print(session.run('import os; os.getpid()').outcome.text, flush=True); "
        "session.run('while True:\\n    try:\\n        while True: pass\\n    except BaseException: pass')"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        worker = int(host.stdout.readline())
        host.kill()
    assert gone(worker)
