"""Codemods that fail, end, hang, print, or write by themselves: what is said, and that nothing is lost."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from bae_source import Source
from bae_source.engine.registry import request
from bae_source.errors import Refused, ResourceError
from tests.adapters.mcp.support import is_running
from tests.adapters.support import run
from tests.codemods import FILES, USUAL, contents, laid, ran, service

pytestmark = pytest.mark.sampled

BAD = '''"""Codemods that go wrong on one file, and write a comment into the others."""

import ctypes
import os
import signal
import sys
import time

import libcst as cst
from libcst.codemod import SkipFile, VisitorBasedCodemodCommand


class Base(VisitorBasedCodemodCommand):
    def leave_Module(self, original_node, updated_node):
        if self.context.full_module_name == "app.core":
            return self.act(updated_node)
        return updated_node.with_changes(header=(cst.EmptyLine(comment=cst.Comment("# new")), *updated_node.header))


class Raises(Base):
    def act(self, node):
        raise ValueError("boom")  # line 22


class Exits(Base):
    def act(self, node):
        os._exit(3)


class Leaves(Base):
    def act(self, node):
        sys.exit("bye")


class Crashes(Base):
    def act(self, node):
        ctypes.string_at(0)


class Hangs(Base):
    def act(self, node):
        while True:
            pass


class HangsDeaf(Base):
    def act(self, node):
        signal.setitimer(signal.ITIMER_REAL, 0)
        time.sleep(600)


class Eats(Base):
    def act(self, node):
        return bytearray(1 << 36)


class Skips(Base):
    def act(self, node):
        raise SkipFile("there is no need")


class NoPython(Base):
    def act(self, node):
        return node.with_changes(header=[cst.EmptyLine(comment=cst.Comment.__new__(Odd))])


class Odd(cst.Comment):
    value = "def f(:"


class NoModule(Base):
    def act(self, node):
        return cst.Name("x")

    def transform_module(self, tree):
        return None if self.context.full_module_name == "app.core" else super().transform_module(tree)


class Encodes(Base):
    def act(self, node):
        return node.with_changes(encoding="utf-16")


class Foreign(Base):
    def act(self, node):
        comment = cst.EmptyLine(comment=cst.Comment("# coding: latin-1"))
        return node.with_changes(header=[comment, cst.EmptyLine(comment=cst.Comment("# \\u00e9"))])


class Newlines(Base):
    def act(self, node):
        line = cst.EmptyLine(comment=cst.Comment("# other"), newline=cst.Newline(value="\\r"))
        return node.with_changes(header=[line])


class Talks(Base):
    def act(self, node):
        print("by print")
        os.system("echo by a shell >&2")
        print("x" * 100_000)
        self.warn("be careful")
        return node


class Writes(Base):
    def act(self, node):
        try:
            with open(self.context.filename, "w") as file:
                file.write("lost")
        except OSError:
            pass
        return node


class Removes(Base):
    def act(self, node):
        os.remove(self.context.filename)


import shutil
import tempfile


class RemovesFolder(Base):
    def act(self, node):
        shutil.rmtree(os.path.dirname(self.context.filename))


class Moves(Base):
    def act(self, node):
        folder = os.open(os.path.dirname(self.context.filename), os.O_RDONLY)
        os.rename("core.py", "/nowhere", src_dir_fd=folder)


class UsesOwnFolder(Base):
    def act(self, node):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(folder + "/inner")
            open(folder + "/inner/core.py", "w").close()
        return node


class WritesUnseen(Base):
    def act(self, node):
        os.system("echo '# unseen' >> " + self.context.filename)
        return node


class MakesUnseen(Base):
    def act(self, node):
        os.system("echo 'x = 1' > " + self.context.filename.replace("core", "fresh"))
        return node


class WritesElsewhere(Base):
    def act(self, node):
        with open(os.environ["BESIDE"], "a") as file:
            file.write(str(os.getpid()))
        return node
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return laid(tmp_path / "project", {**FILES, "tools/bad.py": BAD})


def refused(root: Path, name: str, **arguments: object) -> ResourceError:
    before = contents(root)
    with pytest.raises(ResourceError) as caught:
        ran(root, f"tools.bad:{name}", time_limit=4, **arguments)
    assert contents(root) == before
    return caught.value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Raises", "ValueError: boom (tools.bad:22)"),
        ("Exits", "it ended the process that ran it, with status 3"),
        ("Leaves", "SystemExit: bye (tools.bad:32)"),
        ("Crashes", "it ended the process that ran it, by SIGSEGV"),
        ("Hangs", "it took longer than 4 seconds at tools.bad:4"),
        ("Eats", "MemoryError (tools.bad:54)"),
        ("NoPython", "its output is no Python"),
        ("NoModule", "AttributeError: 'NoneType' object has no attribute 'bytes'"),
        ("Encodes", "its output cannot be decoded"),
        ("Foreign", "its output is utf-8, and says that it is iso-8859-1"),
        ("Writes", "it writes to app/core.py itself"),
        ("Removes", "it writes to app/core.py itself"),
        ("RemovesFolder", "it writes to app/"),
        ("Moves", "it writes to app/core.py itself"),
    ],
)
def test_a_file_on_which_it_fails_is_named_and_nothing_changes(name: str, expected: str, root: Path) -> None:
    error = refused(root, name)
    assert (type(error), error.code) == (Refused, "unsafe_change")
    assert f"Nothing was changed: {name} failed on 1 file of 4, beside 3 that would change." in error.message
    assert f"app.core:1: the codemod fails on it: {expected}" in error.message
    assert [each["address"] for each in error.details["report"]["changed"]] == ["app", "app.other", "app.use"]
    [place] = error.details["report"]["unsure"]
    assert (place["module"], place["certainty"]) == ("app.core", "unsure")
    assert place["reason"].startswith(f"the codemod fails on it: {expected}")


def test_a_refused_check_offers_a_call_that_still_only_checks(root: Path) -> None:
    before = contents(root)
    [hint] = refused(root, "Raises", check=True).hints
    assert hint.startswith(
        "codemod tools.bad:Raises app --check --time-limit 4.0 --unsure leave goes on with the others"
    )
    assert ran(root, "tools.bad:Raises", check=True, unsure="leave").status == "planned"
    assert contents(root) == before


def test_the_others_change_where_that_is_wanted_and_as_the_draft_that_was_kept(root: Path) -> None:
    before = contents(root)
    error = refused(root, "Exits")
    [handle] = {word for hint in error.hints for word in hint.split() if word.startswith("draft_")}
    outcome = service(root).run(request("commit", {"draft": handle, "unsure": "leave"}), USUAL)
    assert outcome.status == "applied"
    assert outcome.text.startswith(
        "Exits changed 3 of 4 files: app, app.other, app.use; 1 file on which it fails left as it is."
    )
    changed = {path for path, content in contents(root).items() if content != before[path]}
    assert changed == {"app/__init__.py", "app/other.py", "app/use.py"}
    Source(root).undo()
    assert contents(root) == before
    assert ran(root, "tools.bad:Raises", unsure="leave").status == "applied"


def test_one_that_switches_off_its_clock_is_ended_all_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "app/use.py").unlink()
    error = refused(root, "HangsDeaf")
    assert "app.core:1: the codemod fails on it: it ended the process that ran it, or did not end in time" in (
        error.message
    )


def test_a_file_that_the_codemod_skips_is_no_failure(root: Path) -> None:
    outcome = ran(root, "tools.bad:Skips")
    assert [each.address for each in outcome.changed] == ["app", "app.other", "app.use"]
    assert "1 file skipped, since there is no need: app.core." in [each.message for each in outcome.warnings]


def test_line_ends_of_one_kind_stay_of_that_kind(root: Path) -> None:
    (root / "app/core.py").write_bytes(b"x = 1\r\ny = 2\r\n")
    ran(root, "tools.bad:Newlines", scope="app.core")
    assert (root / "app/core.py").read_bytes() == b"# other\r\nx = 1\r\ny = 2\r\n"


def test_output_is_reported_and_mixed_into_nothing(root: Path) -> None:
    words = ("codemod", "tools.bad:Talks", "app", "--reload", "off")
    called = run(*words, "--json", folder=root)
    assert called.status == 0
    messages = {each["code"]: each["message"] for each in called.json["warnings"]}
    assert messages["codemod_warning"] == "The codemod warns of app.core: be careful"
    assert messages["printed"].startswith("The codemod printed for app.core: ")
    assert "by a shell" in messages["printed"]
    assert len(messages["printed"]) < 1000
    assert b"by print" not in called.err
    assert run("undo", folder=root).status == 0
    called = run(*words, "--quiet", folder=root)
    assert b"xxxx" not in called.out


def test_files_that_it_changes_unseen_refuse_the_change_and_are_named(root: Path) -> None:
    before = contents(root)
    with pytest.raises(Refused) as caught:
        ran(root, "tools.bad:WritesUnseen")
    assert caught.value.code == "unsafe_change"
    assert "app.core changed on the disk while tools.bad:WritesUnseen ran" in caught.value.message
    assert "no undo takes them back" in caught.value.message
    after = contents(root)
    assert {path for path in before if before[path] != after[path]} == {"app/core.py"}
    assert run("history", folder=root).out == b"" or b"WritesUnseen" not in run("history", folder=root).out


def test_a_module_that_it_makes_unseen_refuses_the_change_too(root: Path) -> None:
    before = contents(root)
    with pytest.raises(Refused, match=r"app\.fresh changed on the disk while tools\.bad:MakesUnseen ran"):
        ran(root, "tools.bad:MakesUnseen")
    assert contents(root) == {**before, "app/fresh.py": b"x = 1\n"}


def test_it_may_write_elsewhere(root: Path, tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    service(root, BESIDE=str(beside)).run(request("codemod", {"codemod": "tools.bad:WritesElsewhere"}), USUAL)
    assert beside.read_text().isdigit()


def test_it_may_have_a_folder_of_its_own(root: Path) -> None:
    outcome = ran(root, "tools.bad:UsesOwnFolder")
    assert (outcome.status, contents(root)["app/core.py"]) == ("applied", FILES["app/core.py"].encode())


def test_a_file_that_is_written_meanwhile_is_not_overwritten(root: Path) -> None:
    engine = service(root)

    def written(done: int, of: int, last: str) -> None:
        (root / "app/core.py").write_text("theirs = 1\n")

    engine.progress = written
    with pytest.raises(Refused) as caught:
        engine.run(request("codemod", {"codemod": "tools.one", "scope": "app"}), replace(USUAL, dry_run=False))
    assert "app.core changed on the disk while tools.one ran" in caught.value.message
    assert (root / "app/core.py").read_text() == "theirs = 1\n"
    assert (root / "app/use.py").read_text() == FILES["app/use.py"]


def test_many_files_are_done_once_each_though_several_end_their_process(root: Path) -> None:
    for number in range(60):
        (root / f"app/m{number}.py").write_text(f"x = {number}\n")
    (root / "tools/several.py").write_text(
        "import os\nfrom tools.bad import Base\n\n\nclass Several(Base):\n"
        "    def act(self, node):\n        return node\n\n"
        "    def visit_Module(self, node):\n        if self.context.full_module_name[-1] == '7':\n"
        "            os._exit(9)\n"
    )
    outcome = ran(root, "tools.several", unsure="leave")
    assert outcome.report is not None
    failed = sorted(each["module"] for each in outcome.report["unsure"])
    assert failed == sorted(f"app.m{number}" for number in range(60) if number % 10 == 7)
    assert (root / "app/m8.py").read_text() == "# new\nx = 8\n"
    assert len(outcome.report["changed"]) == 3 + 54


def test_nothing_goes_on_when_its_caller_is_killed(root: Path, tmp_path: Path) -> None:
    from tests.trust.test_ending import at_work, command

    pids = tmp_path / "pids"
    (root / "tools/slow.py").write_text(
        "import os, time\nfrom tools.bad import Base\n\n\nclass Slow(Base):\n    def act(self, node):\n"
        f"        open({str(pids)!r} + '.part', 'w').write(f'{{os.getpid()}} {{os.getppid()}}')\n"
        f"        os.rename({str(pids)!r} + '.part', {str(pids)!r})\n        time.sleep(600)\n"
    )
    before = contents(root)
    with at_work(command("codemod", "tools.slow"), root, pids) as process:
        running = [int(each) for each in pids.read_text().split()]
        assert all(map(is_running, running))
        os.kill(process.pid, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while any(map(is_running, running)):
            assert time.monotonic() < deadline, "the codemod goes on"
            time.sleep(0.02)
    assert contents(root) == before
