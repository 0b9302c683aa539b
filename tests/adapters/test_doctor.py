"""The doctor: it tells what there is and what is wrong, works on whatever is broken, and changes nothing."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.doctor.doctor import Doctor
from bae_source.doctor.health import Trouble
from bae_source.engine.registry import request
from bae_source.engine.service import Service
from bae_source.language_server.language_server import COMMANDS, OFF
from bae_source.model.outcome import Outcome
from bae_source.model.request import choices_of
from bae_source.model.settings import problems, settings
from bae_source.state.lock import project_lock
from bae_source.transaction.disk.port import RealDisk
from bae_source.verification.configured import CHECKERS
from benchmarks.crash.faults import in_child
from tests.adapters.support import REPOSITORY, run
from tests.another_user import AnotherUser
from tests.state_folders import state_folders

pytestmark = pytest.mark.sampled

PARTS = (
    "root", "source roots", "interpreter", "state", "transaction", "history", "plans", "telemetry", "modules", "cache",
    "settings", "policy", "packages", "programs",
)  # fmt: skip
SWITCHED_OFF = {
    "PATH": os.environ["PATH"],
    "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"],
    "BAE_SOURCE_TELEMETRY": "off",
}


def examine(root: Path, *, limit: int = 10, **changes: str) -> Outcome:
    service = Service(root, environment=SWITCHED_OFF | changes)
    try:
        return service.run(Doctor(limit=limit))
    finally:
        service.close()


def only(outcome: Outcome, code: str) -> Trouble:
    """Return the one finding of that code, which the text and the next actions must have too."""
    [trouble] = [each for each in outcome.found if each.code == code]
    assert isinstance(trouble, Trouble)
    assert f"\n  {code}: {trouble.message}\n    mend: {trouble.mend}" in outcome.text
    assert trouble.mend in outcome.next_actions
    assert outcome.exit_code == 1
    assert outcome.status == "answer"
    return trouble


def codes(outcome: Outcome) -> list[str]:
    return [each.code for each in outcome.found]


def everything(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file below a folder but the cache, which every reading request keeps."""
    return {
        path.relative_to(root).as_posix(): (path.stat().st_mode, path.read_bytes())
        for path in root.rglob("*")
        if path.is_file() and not path.name.startswith("facts-") and path.name not in (".gitignore", "id")
    }


def settle(project: Path, lines: str) -> None:
    (project / "pyproject.toml").write_text(f'[project]\nname = "app"\n[tool.bae-source]\n{lines}\n')


def test_a_sound_project_has_every_part_and_no_finding(project: Path) -> None:
    outcome = examine(project)
    assert (outcome.exit_code, outcome.found, outcome.next_actions) == (0, (), ())
    names = [line.partition("  ")[0] for line in outcome.text.splitlines() if line[:1].strip()]
    assert names == [*PARTS, "Nothing is wrong."]
    assert f"root          {project}\n" in outcome.text
    assert "\nmodules       3 Python files, none of them unreadable\n" in outcome.text
    assert f"\ninterpreter   {sys.executable} (sys.executable), Python {sys.version.split()[0]}\n" in outcome.text
    assert "\ntransaction   none under way\n" in outcome.text
    assert "\ntelemetry     off\n" in outcome.text


def test_what_python_says_is_what_the_command_line_says(project: Path) -> None:
    settle(project, "telemetri = false")
    done = run("doctor", folder=project, BAE_SOURCE_TELEMETRY="off")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BAE_SOURCE_TELEMETRY", "off")
        text = Source(project).doctor()
    assert done.status == 1
    assert done.out.decode() == text + "\n"
    assert codes(text.outcome) == ["setting_wrong"]


def test_a_project_that_has_been_changed_tells_its_history_and_telemetry(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    service = Service(project, environment=os.environ)
    made = Source(project).edit("app.client.Client.stop@body", "return None", reload="off")
    outcome = service.run(Doctor())
    assert codes(outcome) == []
    assert f"{project}/.git/bae-source: history, journal and lock; writable" in outcome.text
    assert f"{project}/.bae-source: cache and telemetry; writable" in outcome.text
    expected = f"\nhistory       1 operation, 0.0 MB, the newest {made.operation_id} at "
    waits = "\n              1 operation made, and waiting to be recorded\n"
    assert (expected in outcome.text, waits in outcome.text) == (True, True)
    assert service.run(request("history", {})).found
    outcome = service.run(Doctor())
    assert (expected in outcome.text, waits in outcome.text) == (True, False)
    assert "\ntelemetry     on\n" in outcome.text


BROKEN = {
    "no TOML": "[tool.bae-source\n",
    "no TOML, and nothing in it for the source roots": "[project\n",
    "no UTF-8": "\xff",
    "a root that is not there": '[tool.bae-source]\nsource-roots = ["lib"]\n',
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_pyproject_is_a_finding_and_the_rest_is_looked_at(project: Path, how: str) -> None:
    (project / "pyproject.toml").write_bytes(BROKEN[how].encode("latin-1"))
    before = everything(project)
    outcome = examine(project)
    [code] = codes(outcome)
    assert "pyproject" in only(outcome, code).mend
    assert (code == "layout_unknown") == (
        "\nsource roots  unknown: other requests are refused until that is mended" in outcome.text
    )
    assert "\nmodules       3 Python files" in outcome.text
    assert everything(project) == before


SETTINGS = {
    "telemetri = false": ("telemetry = false", "did you mean telemetry?"),
    "source_roots = ['app']": ('source-roots = ["app"]', "did you mean source-roots?"),
    "colour = 1": ("Remove colour from [tool.bae-source].", "there are source-roots"),
    "telemetry = 'off'": ("telemetry = false", "expected `bool`"),
    "verify-seconds = -1": ("verify-seconds = 300", "> 0"),
    "verify-seconds = true": ("verify-seconds = 300", "expected `float`"),
    "history-operations = 1.5": ("history-operations = 10000", "expected `int`"),
    "language-server = 'nope'": ('language-server = "ty"', "'nope'"),
    "types = 'mipy'": ('types = "mypy"', "'mipy'"),
    "source-roots = []\npython = 3": ('python = ".venv/bin/python"', "got `int`"),
}


@pytest.mark.parametrize("lines", SETTINGS)
def test_a_setting_that_is_unknown_or_wrong_is_a_finding_with_the_line_to_write(project: Path, lines: str) -> None:
    settle(project, lines)
    mend, expected = SETTINGS[lines]
    trouble = only(examine(project), "setting_wrong")
    assert trouble.mend == mend
    assert expected in trouble.message


@pytest.mark.parametrize("text", ["tool = 5  # telemetry", "tool.bae-source = 5", "tool.bae-source = []"])
def test_a_table_that_is_none_is_a_finding(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(f"{text}\n")
    outcome = examine(project, BAE_SOURCE_TELEMETRY="on")
    assert only(outcome, "setting_wrong").message == "[tool.bae-source] is no table."
    assert "\nmodules       3 Python files" in outcome.text


def test_every_example_of_a_setting_is_right_and_the_readme_has_every_setting() -> None:
    assert problems({each.name: each.example for each in settings()}) == ()
    page = (REPOSITORY / "docs/running.md").read_text()
    block = page.partition("[tool.bae-source]\n")[2].partition("```")[0]
    assert {line.partition(" ")[0] for line in block.splitlines() if line} == {each.name for each in settings()}


def test_the_settings_know_the_programs_that_there_are() -> None:
    words = {each.name: choices_of(each.annotation) for each in settings()}
    assert words["language-server"] == (*COMMANDS, OFF)
    assert words["types"] == CHECKERS


def test_files_that_do_not_parse_are_counted_and_named_and_none_is_left_out_in_silence(project: Path) -> None:
    for name in ("one", "three", "two"):
        (project / f"app/{name}.py").write_text("x = 1\ndef (:\n")
    (project / "app/four.py").write_bytes(b"x = '\xff'\n")
    outcome = examine(project, limit=2)
    trouble = only(outcome, "not_parsed")
    assert trouble.message == (
        "4 files cannot be read as code: app.four (encoding_invalid), app.one (syntax_invalid, line 2), and 2 more."
    )
    assert trouble.mend == "doctor --limit 4"
    assert "\nmodules       7 Python files, 4 of them unreadable\n" in outcome.text
    whole = only(examine(project, limit=4), "not_parsed")
    assert "app.three (syntax_invalid, line 2), app.two (syntax_invalid, line 2)." in whole.message
    assert whole.mend == "read app.four --full --numbers"


def test_a_root_without_python_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    before = everything(tmp_path)
    assert codes(examine(tmp_path)) == ["no_python"]
    assert everything(tmp_path) == before


def test_without_git_nothing_is_recorded_and_that_is_reported(project: Path, tmp_path: Path) -> None:
    trouble = only(examine(project, PATH=str(tmp_path)), "git_missing")
    assert "cannot be undone" in trouble.message


def test_a_history_that_is_damaged_is_a_finding(project: Path) -> None:
    Source(project).edit("app.client.Client.stop@body", "return None", reload="off")
    assert Source(project).history()
    history = state_folders(project).history
    assert codes(examine(project)) == []
    (history / "bae-source-count").unlink()
    for pack in history.glob("objects/pack/*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(b"no pack")
    before = everything(project)
    outcome = examine(project)
    assert "out of the way" in only(outcome, "history_unreadable").mend
    assert "\nhistory       unknown, " in outcome.text
    assert everything(project) == before


UNREADABLE = {"history.git": "history_unreadable", "journal": "journal_unreadable"}


@pytest.mark.parametrize("name", [*UNREADABLE, "lock", "history.lock", "staging", "pending"])
def test_what_stands_where_our_files_should_be_is_a_finding(project: Path, name: str) -> None:
    folders = state_folders(project)
    place = folders.make(folders.base) / name
    place.mkdir() if name in ("journal", "lock", "history.lock") else place.write_text("in the way")
    before = everything(project)
    trouble = only(examine(project), UNREADABLE.get(name, "state_not_writable"))
    assert everything(project) == before
    subprocess.run(trouble.mend.split(), check=True)
    assert codes(examine(project)) == []


def test_an_unreadable_history_is_a_finding(project: Path) -> None:
    Source(project).edit("app.client.Client.stop@body", "return None", reload="off")
    assert Source(project).history()
    ref = state_folders(project).history / "refs/bae-source/operations"
    ref.unlink()
    ref.mkdir()
    assert "no regular file" in only(examine(project), "history_unreadable").message


def test_a_transaction_that_another_process_left_is_shown_and_not_mended(project: Path) -> None:
    whole, mark = (project / "app/client.py").read_bytes(), project.parent / "mark"
    words = ("move", "app.client", "app.other", "--reload", "off", "--root", str(project))
    with subprocess.Popen([sys.executable, "-m", "tests.stopping", str(mark), "0", *words]) as died:
        while not mark.exists():
            time.sleep(0.02)
        died.kill()
    before = everything(project)
    assert "app/client.py" not in before
    trouble = only(examine(project), "unfinished_transaction")
    assert "the next request takes it back" in trouble.message
    assert everything(project) == before, "who looks does not mend"
    Source(project).history()
    assert (project / "app/client.py").read_bytes() == whole
    assert codes(examine(project)) == []


def test_an_edit_whose_process_died_behind_its_replacement_is_shown_and_stands(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exchange(disk: RealDisk, *arguments: Any) -> None:
        replace(disk, *arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    whole, replace = (project / "app/client.py").read_bytes(), RealDisk.exchange
    with monkeypatch.context() as patched:
        patched.setattr(RealDisk, "exchange", exchange)
        edit = partial(Source(project).edit, "app.client.Client.stop@body", "return None", reload="off")
        assert in_child(edit) == signal.SIGKILL
    made = (project / "app/client.py").read_bytes()
    assert made != whole
    before = everything(project)
    trouble = only(examine(project), "unfinished_transaction")
    assert "the next request sees whether it was made" in trouble.message
    assert "interrupted" not in trouble.message, "for after a power cut it may have been answered"
    assert everything(project) == before, "who looks does not mend"
    assert "app.client.Client.stop" in Source(project).history()
    assert (project / "app/client.py").read_bytes() == made
    assert codes(examine(project)) == []
    Source(project).undo()
    assert (project / "app/client.py").read_bytes() == whole


def test_a_process_that_is_at_work_is_no_finding(project: Path) -> None:
    folders = state_folders(project)
    folders.make(folders.base)
    with project_lock(folders.lock, wait=0, pid=4711):
        outcome = examine(project)
        assert codes(outcome) == []
        assert "\ntransaction   process 4711 is changing the project now\n" in outcome.text
    assert "\ntransaction   none under way\n" in examine(project).text


@pytest.mark.parametrize("content", [b"something else\n" * 100, b"bae_source journal 9\nopen\n", b"\x00" * 20 + b"x"])
def test_an_unreadable_journal_is_a_finding_with_its_place(project: Path, content: bytes) -> None:
    folders = state_folders(project)
    journal = folders.make(folders.base) / "journal"
    journal.write_bytes(content)
    trouble = only(examine(project), "journal_unreadable")
    assert trouble.mend == f"mv {journal} {journal}.damaged"
    assert journal.read_bytes() == content
    subprocess.run(trouble.mend.split(), check=True)
    assert codes(examine(project)) == []


def test_old_files_that_recovery_kept_are_named_with_their_place(project: Path) -> None:
    folders = state_folders(project)
    folders.make(folders.kept)
    (folders.kept / "op_1-client.py").write_text("old")
    trouble = only(examine(project), "kept_files")
    assert "1 old file" in trouble.message
    assert str(folders.kept) in trouble.message


def test_a_file_where_our_folder_should_be_is_a_finding(project: Path) -> None:
    (project / ".bae-source").write_text("in the way")
    before = everything(project)
    trouble = only(examine(project), "state_not_writable")
    assert trouble.message == f"{project}/.bae-source is no folder: no change can be made."
    assert everything(project) == before
    subprocess.run(trouble.mend.split(), check=True)
    assert codes(examine(project)) == []


@pytest.fixture
def others(project: Path, open_folder: Path, another_user: AnotherUser) -> Path:
    """The project as another user's own."""
    copy = Path(shutil.copytree(project, open_folder / "project"))
    for path in (copy, *copy.rglob("*")):
        os.chown(path, another_user.user if os.geteuid() == 0 else -1, -1)
    return copy


def found_by(user: AnotherUser, project: Path) -> str:
    """Return what the doctor finds in a process of a user who is not root."""
    code = (
        "import os, sys; from pathlib import Path\n"
        "from bae_source.doctor.doctor import Doctor; from bae_source.engine.service import Service\n"
        "service = Service(Path(sys.argv[1]), environment=os.environ)\n"
        "print(*[f'{each.code}: {each.message} {each.mend}' for each in service.run(Doctor()).found], sep='\\n')\n"
    )
    done = user.run("-c", code, str(project), folder=project)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_a_folder_that_cannot_be_written_is_a_finding(another_user: AnotherUser, others: Path) -> None:
    others.chmod(0o555)
    try:
        found = found_by(another_user, others)
    finally:
        others.chmod(0o755)
    assert re.search(f"state_not_writable: {others}\\S* cannot be written: no change", found)


def test_files_of_ours_that_cannot_be_read_are_findings(another_user: AnotherUser, others: Path) -> None:
    edit = ("edit", "app.client.Client.stop@body", "--code", "return None", "--reload", "off")
    made = another_user.run("-m", "bae_source", *edit, folder=others)
    assert made.returncode == 0, made.stderr
    assert another_user.run("-m", "bae_source", "history", folder=others).returncode == 0
    history, lock = (others / ".bae-source" / name for name in ("history.git", "lock"))
    history.chmod(0)
    lock.chmod(0)
    try:
        found = found_by(another_user, others)
    finally:
        history.chmod(0o755)
    assert f"state_not_writable: {lock} cannot be read and written: " in found
    assert f"chmod u+rwX {lock}\n" in found
    assert "history_unreadable: The history cannot be read: Permission denied." in found


def _program(path: Path, trace: Path) -> None:
    """Make a program that leaves a trace when it is run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch {trace}\necho git version 9\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_nothing_that_the_project_brings_is_run(project: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for name in ("python", "git", "ty", "pytest"):
        _program(project / ".venv/bin" / name, trace)
    (project / ".venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.4\n")
    packages = project / ".venv/lib/python3.12/site-packages"
    (packages / "pytest-8.4.1.dist-info").mkdir(parents=True)
    (packages / "pytest-8.4.1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: pytest\nVersion: 8.4.1\n")
    (project / "sitecustomize.py").write_text(f"open({str(trace)!r}, 'w')\n")
    inside = str(project / ".venv/bin")
    outcome = examine(project, PATH=inside, VIRTUAL_ENV=str(project / ".venv"))
    assert not trace.exists()
    assert f"\ninterpreter   {inside}/python (VIRTUAL_ENV), Python 3.12.4\n" in outcome.text
    assert "git_missing" in codes(outcome), "that of the project is none"
    assert "pytest, for the project's interpreter: 8.4.1" in outcome.text


def test_an_interpreter_that_is_not_there_is_a_finding(project: Path) -> None:
    settle(project, 'python = "nowhere/python"')
    trouble = only(examine(project), "interpreter_missing")
    assert f"{project}/nowhere/python (from [tool.bae-source] python)" in trouble.message
    assert trouble.mend == 'python = ".venv/bin/python"'


@pytest.mark.parametrize(("wanted", "code"), [(">=99", "interpreter_unfit"), ("new", "requirement_wrong")])
def test_an_interpreter_that_the_project_does_not_run_on_is_a_finding(project: Path, wanted: str, code: str) -> None:
    (project / "pyproject.toml").write_text(f'[project]\nname = "app"\nrequires-python = "{wanted}"\n')
    assert wanted in only(examine(project), code).message


def test_a_package_that_we_need_and_do_not_have_is_a_finding(project: Path, tmp_path: Path) -> None:
    metadata = tmp_path / "site/bae_source-9.dist-info"
    metadata.mkdir(parents=True)
    lines = "Requires-Dist: nosuchpackage>=2\nRequires-Dist: msgspec>=99\nRequires-Dist: svelte-kit; extra == 'mcp'\n"
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: bae-source\nVersion: 9\nProvides-Extra: mcp\n{lines}"
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", [str(metadata.parent), *sys.path])
        outcome = examine(project)
    mends = [each.mend for each in outcome.found]
    assert codes(outcome) == ["package_missing", "package_missing"]
    assert mends == ['pip install "nosuchpackage>=2"', 'pip install "msgspec>=99"']
    assert '[mcp] svelte-kit not installed  (pip install "bae-source[mcp]")' in outcome.text


def test_an_answer_that_is_too_long_is_refused_or_comes_in_pages(project: Path) -> None:
    shutil.rmtree(project / "app")
    source = Source(project)
    pages = [source.within(300, cursor="0").doctor()]
    while not pages[-1].complete:
        assert len(pages[-1].encode()) <= 300
        cursor = pages[-1].outcome.next_actions[0].partition('cursor="')[2].partition('"')[0]
        pages.append(source.within(300, cursor=cursor).doctor())
    assert "no_python" in "".join(pages)
