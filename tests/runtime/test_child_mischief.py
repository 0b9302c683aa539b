"""Modules that misbehave while they are imported in a child: each has a clear outcome, and everything is back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bae_source.errors import TransactionError
from bae_source.system import supervisor
from tests.runtime.support import Trial

_LINUX = sys.platform == "linux"
GOOD = "x = 1\n"

FINE = {
    "prints a gigabyte": "import os\nchunk = b'x' * (1 << 20)\nfor _ in range(1024): os.write(1, chunk)\n",
    "forks, and the fork goes on": "import os\nos.fork()\n",
    "forks, and the fork fails": "import os\nif os.fork() == 0: raise RuntimeError('the fork')\n",
    "closes its streams": "import sys, os\nsys.stdout.close(); sys.stderr.close()\nfor n in (0, 1, 2): os.close(n)\n",
    "closes every descriptor": "import os\nos.closerange(0, 256)\n",
    "replaces sys.stdout": "import sys\nclass Out:\n    def write(self, text): 1/0\nsys.stdout = Out()\n",
    "starts a thread that never ends": "import threading\nthreading.Thread(target=threading.Event().wait).start()\n",
    "goes to another folder": "import os\nos.chdir('/')\n",
    "asks to be called at the end": "import atexit, os\natexit.register(os._exit, 3)\n",
    "ignores signals": "import signal\nfor s in (2, 15, 1): signal.signal(s, signal.SIG_IGN)\n",
    "prints what an answer looks like": "import sys\nprint('{\"finished\": true}')\n",
}

FAILS = {
    "exit()": ("exit()\n", "reload_failed", "SystemExit: None"),
    "sys.exit(0)": ("import sys\nsys.exit(0)\n", "reload_failed", "SystemExit: 0"),
    "os._exit": ("import os\nos._exit(0)\n", "reload_failed", "ended the interpreter (status 0)"),
    "a signal": ("import os\nos.kill(os.getpid(), 9)\n", "reload_failed", "ended the interpreter (status -9)"),
    "a signal to its group": ("import os\nos.killpg(0, 9)\n", "reload_failed", "ended the interpreter (status -9)"),
    "a stop": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n", "timed_out", "took longer than"),
    "becoming a daemon": (
        "import os\nif os.fork(): os._exit(0)\nos.setsid()\n",
        "reload_failed",
        "ended the interpreter (status 0)",
    ),
    "printing for ever": ("while True: print('x' * 9999)\n", "timed_out", "took longer than"),
    "forking for ever": (
        "import os, time\nwhile True:\n    if os.fork(): time.sleep(60)\n    time.sleep(0.05)\n",
        "timed_out",
        "took longer than",
    ),
}


def alive(mark: Path) -> list[int]:
    """Return the processes of which the argument or environment names the project."""
    found = []
    for folder in Path("/proc").iterdir() if _LINUX else ():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                text = (folder / "cmdline").read_bytes() + bytes((folder / "cwd").readlink())
            except OSError:
                continue
            if os.fsencode(mark) in text and b"pytest" not in text:
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize("source", FINE.values(), ids=FINE)
def test_harmless_code_passes(trial: Trial, source: str, capfd: pytest.CaptureFixture[str]) -> None:
    trial.write("app/a.py", GOOD)
    trial.time_limit = 100.0  # a gigabyte takes its time on a machine that has other things to do
    handlers, folder = signal.getsignal(signal.SIGTERM), Path.cwd()
    assert trial.change({"app/a.py": source, "app/b.py": "import os\nassert os.getcwd()\n"}, "child") == ()
    assert capfd.readouterr() == ("", "")
    assert (signal.getsignal(signal.SIGTERM), Path.cwd()) == (handlers, folder)
    assert alive(trial.root) == []


@pytest.mark.parametrize(("source", "code", "message"), FAILS.values(), ids=FAILS)
def test_what_cannot_be_imported_fails_clearly_and_everything_is_back(
    trial: Trial, source: str, code: str, message: str
) -> None:
    file = trial.write("app/a.py", GOOD)
    trial.time_limit = 1.0 if code == "timed_out" else 20.0
    error = trial.failure({"app/a.py": source, "app/new.py": "y = 1\n"}, "child")
    assert (error.code, message in error.message) == (code, True), error.message
    assert "app.a" in error.message
    assert file.read_text() == GOOD
    assert not (trial.root / "app/new.py").exists()
    assert alive(trial.root) == []


def test_a_grandchild_in_a_session_of_its_own_is_killed_too(trial: Trial, tmp_path: Path) -> None:
    trial.write("app/a.py", GOOD)
    mark = tmp_path / "alive"
    source = (
        "import os, subprocess, time\n"
        f"subprocess.Popen(['sh', '-c', 'echo $$ > {mark}; exec sleep 60'], start_new_session=True)\n"
        f"while not os.path.exists({str(mark)!r}) or not open({str(mark)!r}).read(): time.sleep(0.01)\n"
    )
    assert trial.change({"app/a.py": source}, "child") == ()
    process = int(mark.read_text())
    until = time.monotonic() + 5
    while time.monotonic() < until and _runs(process) is _LINUX:
        time.sleep(0.01)
    assert _runs(process) is not _LINUX, "other systems do not tell who its children are"


def _runs(process: int) -> bool:
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True).stdout.strip()
    return shown[:1] not in (b"", b"Z", b"X")


def test_a_fork_does_not_answer_for_its_parent(trial: Trial) -> None:
    trial.write("app/a.py", GOOD)
    with pytest.raises(TransactionError, match="RuntimeError: the parent"):
        trial.change(
            {"app/a.py": "import os\nif os.fork(): raise RuntimeError('the parent')\n"},
            "child",
        )


def test_a_child_whose_starter_dies_before_it_knows_of_it_is_ended(tmp_path: Path) -> None:
    """The supervisor finds neither a reader of what it tells, nor a writer of what it is to wait for."""
    asked, control = os.pipe()
    reader, status = os.pipe()
    os.close(control)
    os.close(reader)
    mark = str(tmp_path / "mark")
    words = [str(asked), str(status), "0", "", "sh", "-c", "sleep 60; :", mark]
    folder = str(Path(supervisor.__file__).parent)
    code = f"import sys; sys.path.append({folder!r}); import supervisor; supervisor.main()"
    command = [sys.executable, "-I", "-S", "-c", code, *words]
    done = subprocess.run(command, pass_fds=(asked, status), timeout=30, check=False)
    os.close(asked)
    os.close(status)
    assert done.returncode == 0
    running = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True)
    assert mark not in running.stdout
