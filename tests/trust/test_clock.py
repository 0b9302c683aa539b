"""A clock and file times that are far ahead or long ago: requests answer, and nothing that is kept is stale.

From the year 2262 on, Python itself cannot tell the time: `time.time` raises OverflowError, and so does the import of
whatever asks for it, `logging` before all. A clock is set ahead here for one process and its children alone.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bae_source.functions import dispatch
from bae_source.system.compiled import may_pass
from tests.adapters.mcp.support import Raw
from tests.adapters.support import Called, environment, run
from tests.transaction.support import NO_GIT, PATH, Project
from tests.transaction.test_recovery import filled, staged
from tests.transaction.test_single import CHANGES, Acting, cut

pytestmark = pytest.mark.sampled

RAISING = """\
import time


def time_ns():
    raise OverflowError("timestamp too large to convert to C _PyTime_t")


time.time = time.time_ns = time_ns
"""
"""What Python does where it cannot tell the time."""

AHEAD = """\
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *found)
{
    int status = syscall(SYS_clock_gettime, clock, found);
    if (clock == CLOCK_REALTIME)
        found->tv_sec += atoll(getenv("CLOCK_AHEAD"));
    return status;
}

time_t time(time_t *found)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return found ? (*found = now.tv_sec) : now.tv_sec;
}

int gettimeofday(struct timeval *found, void *zone)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    found->tv_sec = now.tv_sec;
    found->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""
"""A library that sets the clock ahead for a process that loads it: Python's, git's and any other."""

YEAR = 31_556_952
FILES = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
    "app/__init__.py": "",
    "app/m.py": "x = 1\n\n\ndef f():\n    return x\n",
    "app/n.py": "from app.m import f\n",
}
MADE = {"target": "app.m.f", "old": "return x", "new": "return 2"}
REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read", {"target": "app.m.f"}),
    ("references", {"target": "app.m.f"}),
    ("grep", {"pattern": "ret+"}),
    ("glob", {"pattern": "app.m.*"}),
    ("search", {"words": ["f"]}),
    ("doctor", {}),
    ("edit", {**MADE, "dry_run": True}),
    ("edit", MADE),
    ("edit", {"target": "app.m.f", "old": "return 2", "new": "return 3", "verify": ["import"]}),
    ("move", {"target": "app.n", "to": "app.q"}),
    ("history", {}),
    ("undo", {"count": 2}),
    ("redo", {}),
    ("check_staged", {}),
    ("prune", {"keep": 1}),
    ("forget", {}),
)
COMMANDS = (
    ["read", "app.m.f"],
    ["doctor"],
    ["edit", "app.m.f", "--old", "return x", "--new", "return 2", "--verify", "import"],
    ["history", "--since", "2d"],
    ["undo"],
    ["redo"],
    ["hook"],
    ["prune", "--older-than", "1d"],
    ["forget"],
)


@pytest.fixture(scope="module")
def ahead(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library; compiled, so only where there is a compiler."""
    folder = tmp_path_factory.mktemp("clock")
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("no C compiler, or a system on which such a library is loaded in another way")
    (folder / "ahead.c").write_text(AHEAD)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "ahead.so", folder / "ahead.c"], check=True)
    return folder / "ahead.so"


@pytest.fixture(params=["python", "2301"])
def clock(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The variables of a process whose clock is ahead."""
    if request.param == "python":
        (tmp_path / "start").mkdir()
        (tmp_path / "start/sitecustomize.py").write_text(RAISING)
        return {"PYTHONPATH": os.pathsep.join((str(tmp_path / "start"), environment()["PYTHONPATH"]))}
    library = request.getfixturevalue("ahead")
    return {"LD_PRELOAD": str(library), "CLOCK_AHEAD": str((int(request.param) - 2026) * YEAR)}


def laid(root: Path) -> Path:
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return laid(tmp_path / "project")


def checked(called: Called, argv: list[str]) -> Called:
    """Make sure that a request answered; what it found may be wrong with the project."""
    assert called.status in (0, 1), (argv, called.err_text)
    assert not any(word in called.err_text for word in ("Traceback", "error[", "is a bug")), (argv, called.err_text)
    return called


def test_commands_answer_whatever_the_clock_says(clock: dict[str, str], project: Path) -> None:
    for argv in COMMANDS:
        checked(run(*argv, folder=project, **clock), argv)
    assert (project / "app/m.py").read_text() == FILES["app/m.py"].replace("return x", "return 2")


def test_what_is_recorded_under_one_clock_is_undone_under_another(clock: dict[str, str], project: Path) -> None:
    edit = ["edit", "app.m.f", "--old", "return x", "--new", "return 2"]
    for first, then in (clock, {}), ({}, clock):
        checked(run(*edit, folder=project, **first), edit)
        assert b"app.m.f" in checked(run("history", folder=project, **then), ["history"]).out
        checked(run("undo", folder=project, **then), ["undo"])
        assert (project / "app/m.py").read_text() == FILES["app/m.py"]


def test_what_was_changed_a_moment_ago_is_seen(clock: dict[str, str], project: Path) -> None:
    for text in ("return x", "return y", "return z"):
        (project / "app/m.py").write_text(FILES["app/m.py"].replace("return x", text))
        assert text.encode() in run("read", "app.m.f", folder=project, **clock).out
        assert b"app.m" in run("grep", text, folder=project, **clock).out


READ_HISTORY = ("history", "undo", "redo", "prune", "forget")


def test_functions_in_a_process_of_others_answer_or_say_what_is_wrong(clock: dict[str, str], project: Path) -> None:
    code = (
        "import json, sys; from bae_source.functions import dispatch\n"
        "print(json.dumps([dispatch(verb, given)['errors'] for verb, given in json.loads(sys.argv[1])]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(REQUESTS)],
        cwd=project, env=environment(**clock), capture_output=True, timeout=60,
    )  # fmt: skip
    for (verb, _), errors in zip(REQUESTS, json.loads(done.stdout), strict=True):
        if verb not in ("doctor", *READ_HISTORY):
            assert errors == [], verb
        for error in errors:  # a library that is needed cannot be loaded there
            assert error["code"] == ("nothing_to_undo" if verb in READ_HISTORY else "forbidden")
            assert "clock is past the year 2262, where Python cannot tell" in error["message"]


def test_a_server_answers_whatever_the_clock_says(clock: dict[str, str], project: Path) -> None:
    server = Raw(project, **clock)
    try:
        server.initialize()
        assert "return x" in server.call("read", target="app.m.f")["content"][0]["text"]
        assert not server.call("edit", target="app.m.f", old="return x", new="return 2")["isError"]
        assert not server.call("undo")["isError"]
        assert server.leave() == 0
    finally:
        server.kill()


TIMES = (2**63 - 1, 2**63, 2**64, 253_402_300_800 * 10**9, 2**62 * 10**9, -1, -(2**63), -(2**63) - 1, -(2**62) * 10**9)
"""Nanoseconds: the last of 64 bits, with and without a sign, the year 10000, and what seconds of 64 bits may be."""


@pytest.fixture
def timeless() -> Iterator[Path]:
    """A folder on a file system that keeps any time, in memory."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no file system in memory")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        os.utime(name, ns=(TIMES[4], TIMES[4]))
        if Path(name).stat().st_mtime_ns != TIMES[4]:
            pytest.skip("the file system in memory does not keep any time")
        yield Path(name)


def stamp(root: Path, moment: int) -> None:
    """Give files and folders of a project a time."""
    for folder, _, names in os.walk(root, topdown=False):
        for path in (folder, *(f"{folder}/{name}" for name in names)):
            if ".git" not in path and ".bae-source" not in path:
                os.utime(path, ns=(moment, moment))


@pytest.mark.parametrize("moment", TIMES)
def test_every_request_answers_whatever_the_times_of_files_are(timeless: Path, moment: int) -> None:
    root = laid(timeless / "project")
    for verb, given in REQUESTS:
        stamp(root, moment)
        assert dispatch(verb, given, root=root)["errors"] == [], verb
    assert (root / "app/m.py").read_text() == FILES["app/m.py"].replace("return x", "return 3")
    assert (root / "app/n.py").read_text() == FILES["app/n.py"]
    stamp(root, moment)
    again = dispatch("edit", {"target": "app.m.f", "old": "3", "new": "4", "verify": ["command false"]}, root=root)
    assert again["errors"][0]["code"] == "verify_failed"
    assert (root / "app/m.py").stat().st_mtime_ns == moment, "it was taken back"


@pytest.mark.parametrize("moment", TIMES)
def test_an_old_file_of_such_a_time_that_a_power_cut_emptied_is_not_taken_for_a_newer_one(
    timeless: Path, moment: int
) -> None:
    project: Project = filled(timeless / "p", path=PATH)
    os.utime(project.root / "a.py", ns=(moment, moment))
    cut(project, CHANGES["edited"], Acting("unlink", instead=True))
    (old,) = staged(project)
    old.write_bytes(b"")
    os.utime(old, ns=(moment, moment))
    (notice,) = Project(project.root, path=NO_GIT).transactions.recover()  # where the history cannot say what was made
    assert "had been made when its process ended, and it stands: a." in notice.message
    assert project.content("a.py") == b"A = 2\n"


@pytest.mark.parametrize(("since", "passes"), [(5, True), (10, True), (20, False), (-1, True), (2**32 + 20, True)])
def test_a_compiled_file_is_kept_only_where_four_bytes_can_tell_its_time(since: int, passes: bool) -> None:
    header = struct.pack("<4xIII", 0, 10, 6)
    assert may_pass(header, size=6, since=since) is passes
