"""Patches through the doors that callers use: the command line, Python, transactions, MCP and functions."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from bae_source import Source
from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError, SourceError
from bae_source.functions import dispatch
from tests.adapters.support import command, environment, run
from tests.patching.support import CORE, GUIDE, git, make, state

pytestmark = pytest.mark.sampled

TWO = """\
--- a/app/core.py
+++ b/app/core.py
@@ -4,3 +4,3 @@
 def f():
-    a = 1
+    a = 2
     return a
--- a/docs/guide.md
+++ b/docs/guide.md
@@ -7 +7,3 @@
 Three.
+
+Four.
"""
BEGUN = """\
*** Begin Patch
*** Update File: app/core.py
@@ class A:
@@     def g(self):
-        return os.name
+        return os.sep
*** Add File: app/extra.py
+from app.core import A
+
+MORE = A().g()
*** Delete File: docs/guide.md
*** End Patch
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "project")


def test_a_diff_that_was_edited_since_git_made_it_is_not_taken_for_applied(project: Path) -> None:
    (project / "app/core.py").write_text(CORE.replace("a = 1", "a = 2"))
    diff = git(project, "diff").decode()
    before = state(project)
    done = run("apply", "-", folder=project, stdin=diff.replace("+    a = 2", "+    a = 3").encode())
    assert done.status == 5, done.err_text
    assert "does not fit" in done.err_text
    assert state(project) == before
    same = run("apply", "-", folder=project, stdin=diff.encode())
    assert (same.status, same.out) == (0, b"The patch is applied already.\n")


@pytest.fixture
def src(project: Path) -> Source:
    return Source(project, who="patches")


def one(path: str, body: str) -> str:
    return f"--- a/{path}\n+++ b/{path}\n{body}"


def codes(outcome: Any) -> list[str]:
    return [each.code for each in outcome.warnings]


def test_the_command_line_takes_a_patch_from_a_file_and_from_a_pipe(project: Path, tmp_path: Path) -> None:
    before = state(project)
    (tmp_path / "two.patch").write_text(TWO)
    planned = run("apply", "--patch", str(tmp_path / "two.patch"), "--dry-run", folder=project)
    assert planned.status == 0
    assert b"+    a = 2\n" in planned.out
    assert state(project) == before
    done = run("apply", "-", "--json", "--message", "two", folder=project, stdin=TWO.encode())
    assert done.json["status"] == "applied"
    assert [each["address"] for each in done.json["changed"]] == ["app.core.f", ":docs/guide.md"]
    assert done.json["report"]["changed"] == [
        {"address": "app.core", "places": 1},
        {"address": ":docs/guide.md", "places": 1},
    ]
    assert (project / "app" / "core.py").read_text() == CORE.replace("a = 1", "a = 2")
    assert (project / "docs" / "guide.md").read_text() == f"{GUIDE}\nFour.\n"
    again = run("apply", "--patch", "-", folder=project, stdin=TWO.encode())
    assert (again.status, again.out) == (0, b"The patch is applied already.\n")
    assert run("undo", folder=project).status == 0
    assert state(project) == before


def test_bytes_that_are_no_utf_8_come_through_a_pipe(project: Path) -> None:
    text = "Grüße\n\nÖl\n".encode("latin-1")
    (project / "docs" / "old.txt").write_bytes(text)
    git(project, "add", "-A")
    (project / "docs" / "old.txt").write_bytes(text + "Köln\n".encode("latin-1"))
    patch = git(project, "diff")
    (project / "docs" / "old.txt").write_bytes(text)
    done = run("apply", "-", "--json", folder=project, stdin=patch)
    assert done.json["status"] == "applied"
    assert (project / "docs" / "old.txt").read_bytes() == text + "Köln\n".encode("latin-1")
    shown = run("history", done.json["operation_id"], folder=project)
    assert b"K\\\\udcf6ln" in shown.out
    assert run("undo", folder=project).status == 0
    assert (project / "docs" / "old.txt").read_bytes() == text


def test_requests_and_patch_exclude_each_other(project: Path, src: Source, tmp_path: Path) -> None:
    before = state(project)
    (tmp_path / "a.json").write_text('[{"do": "delete", "target": "app.uses.VALUE"}]')
    (tmp_path / "a.patch").write_text(TWO)
    both = run("apply", str(tmp_path / "a.json"), "--patch", str(tmp_path / "a.patch"), folder=project)
    assert (both.status, "requests and patch exclude each other" in both.err_text) == (2, True)
    with pytest.raises(RequestError, match="neither requests nor a patch"):
        src.apply()
    assert state(project) == before


def test_a_begun_patch_makes_and_deletes_files_and_is_undone(project: Path, src: Source) -> None:
    before = state(project)
    made = src.apply(patch=f"Here it is:\n\n```\n{BEGUN}```\nDone.\n")
    assert [each.address for each in made.changed] == ["app.core.A.g", "app.extra", ":docs/guide.md"]
    assert (project / "app" / "extra.py").read_text().startswith("from app.core import A\n")
    assert not (project / "docs").exists()
    src.undo()
    assert state(project) == before
    src.redo()
    assert src.apply(patch=BEGUN).status == "unchanged"


def test_a_patch_stands_among_requests_and_sees_those_before_it(project: Path, src: Source) -> None:
    src.apply(
        [
            {"do": "rename", "target": "app.core.f", "new_name": "h"},
            {"do": "patch", "patch": one("app/core.py", "@@ @@\n def h():\n-    a = 1\n+    a = 9\n")},
            {"do": "edit", "target": "app.core.h", "old": "a = 9", "new": "a = 10"},
        ]
    )
    assert "def h():\n    a = 10\n" in (project / "app" / "core.py").read_text()
    src.undo()
    with pytest.raises(Refused, match="Request 2 of 2, patch: 1 of 1 hunk does not fit") as caught:
        src.apply(
            [
                {"do": "delete", "target": "app.core.A"},
                {"do": "patch", "patch": one("app/core.py", "@@ @@\n-    b = 1\n+    b = 2\n")},
            ]
        )
    assert caught.value.details["request"] == 2
    assert (project / "app" / "core.py").read_text() == CORE


def test_a_transaction_takes_patches(project: Path, src: Source) -> None:
    before = state(project)
    with src.transaction("patched") as tx:
        tx.edit("app.core.A.g", old="os.name", new="os.sep")
        assert tx.apply(patch=TWO).status == "planned"
        with pytest.raises(Refused, match="does not fit"):
            tx.apply(patch=one("app/core.py", "@@ @@\n-    a = 1\n+    a = 9\n"))
        assert "a = 2" in tx.read("app.core.f")
        assert state(project) == before
    assert (project / "app" / "core.py").read_text() == CORE.replace("a = 1", "a = 2").replace("os.name", "os.sep")
    src.undo()
    assert state(project) == before


def test_a_patch_goes_through_mcp_and_functions(project: Path) -> None:
    words = command("mcp", "--root", str(project), "--profile", "full")
    before = state(project)

    async def walk() -> None:
        server = StdioServerParameters(command=words[0], args=words[1:], env=environment())
        async with Client(server) as client:
            handle = (await client.call_tool("transaction_begin", {"why": "two"})).structured_content["text"]
            planned = await client.call_tool("apply", {"transaction": handle, "patch": TWO})
            assert planned.structured_content["status"] == "planned"
            read = await client.call_tool("read", {"target": "app.core.f", "transaction": handle})
            assert "a = 2" in read.structured_content["text"]
            assert state(project) == before
            done = await client.call_tool("transaction_commit", {"transaction": handle})
            assert done.structured_content["status"] == "applied"
            assert (await client.call_tool("apply", {"patch": "nothing"})).is_error

    asyncio.run(walk())
    assert "Four." in (project / "docs" / "guide.md").read_text()
    answer = dispatch("apply", json.dumps({"patch": TWO}), root=project)
    assert answer["status"] == "unchanged"
    answer = dispatch("apply", {"patch": TWO.replace("a = 1", "a = 7"), "requests": []}, root=project)
    assert answer["status"] == "unchanged"


def test_hunks_that_fit_elsewhere_are_reported(project: Path, src: Source) -> None:
    (project / "app" / "core.py").write_text("# one\n# two\n" + CORE.replace("    a = 1", "    a = 1  "))
    made = src.apply(patch=TWO)
    assert codes(made) == ["hunk_moved", "hunk_fitted"]
    assert made.warnings[0].message == "In app.core hunks fit at another line than they name: hunk 1 from line 4 to 6."
    assert "hunk 1 at line 6, but for white space at the ends of lines" in made.warnings[1].message
    assert "    a = 2\n" in (project / "app" / "core.py").read_text()


def test_wrong_counts_are_reported_and_another_indentation_is_taken_over(project: Path, src: Source) -> None:
    body = "@@ -10,7 +10,9 @@\n def g(self):\n-    return os.name\n+    if os.sep:\n+        return os.sep\n"
    made = src.apply(patch=one("app/core.py", body))
    assert codes(made) == ["hunk_fitted", "hunk_miscounted"]
    assert (project / "app" / "core.py").read_text().endswith("        if os.sep:\n            return os.sep\n")


def test_every_hunk_that_does_not_fit_is_named_with_what_stands_there(project: Path, src: Source) -> None:
    src.apply(patch=one("docs/guide.md", "@@ -7 +7,2 @@\n Three.\n+Last.\n"))
    before = state(project)
    patch = one(
        "app/core.py", "@@ -4,2 +4,2 @@\n def f():\n-    a = 7\n+    a = 8\n@@ -1 +1 @@\n-import os\n+import sys\n"
    )
    patch += one("app/uses.py", "@@ -3 +3 @@\n-VALUE = g()\n+VALUE = 3\n")
    patch += one("docs/guide.md", "@@ -7 +7,2 @@\n Three.\n+Last.\n@@ -3 +3 @@\n-Once.\n+None.\n")
    with pytest.raises(Refused) as caught:
        src.apply(patch=patch)
    error = caught.value
    assert (error.code, state(project)) == ("stale", before)
    assert error.message == (
        "3 of 5 hunks do not fit: hunk 1 of app.core, hunk 1 of app.uses, hunk 2 of :docs/guide.md; "
        "nothing was changed."
    )
    assert error.hints[0] == (
        "app.core, hunk 1 (line 3 of the patch): its old lines are not there. The hunk has '    a = 7'. "
        "There stands in app.core.f: 4: def f():; 5:     a = 1; 6:     return a; 7: ; 8: ; 9: class A:."
    )
    assert "Applied already: hunk 1 of :docs/guide.md." in error.hints
    found = error.details["hunks"]
    assert [(each["module"], each["hunk"], each["symbol"]) for each in found] == [
        ("app.core", 1, "app.core.f"),
        ("app.uses", 1, "app.uses.VALUE"),
        (":docs/guide.md", 2, ":docs/guide.md"),
    ]
    assert found[0]["nearest"][1] == {"line": 5, "text": "    a = 1"}


def test_a_hunk_that_fits_at_two_places_is_refused_with_both(project: Path, src: Source) -> None:
    (project / "docs" / "guide.md").write_text("One.\n\nOne.\n")
    with pytest.raises(Refused, match="1 of 1 hunk does not fit") as caught:
        src.apply(patch=one("docs/guide.md", "@@ @@\n-One.\n+Two.\n"))
    assert "its old lines stand at several places, lines 1, 3" in caught.value.hints[0]
    assert (project / "docs" / "guide.md").read_text() == "One.\n\nOne.\n"


@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [
        ("app/nope.py", LookupFailed, "symbol_not_found"),
        ("../app/core.py", Refused, "outside_project"),
        ("/etc/passwd", Refused, "outside_project"),
        ("a/../../other.py", Refused, "outside_project"),
        (".git/config", Refused, "forbidden"),
        (".bae-source/id", Refused, "forbidden"),
        (".venv/lib/x.py", Refused, "forbidden"),
        ("env/lib/x.py", Refused, "outside_project"),
        ("app/__pycache__/core.pyc", Refused, "forbidden"),
        ("ignored.txt", Refused, "outside_project"),
        ("away.py", Refused, "outside_project"),
        ("linked/core.py", Refused, "unsafe_change"),
        ("image.bin", Refused, "unsafe_change"),
        ("app/\x01.py", RequestError, "invalid_name"),
    ],
)
def test_a_file_that_is_out_of_reach_is_refused(
    project: Path, src: Source, tmp_path: Path, name: str, kind: type[ResourceError], code: str
) -> None:
    (project / ".gitignore").write_text("ignored.txt\n")
    (project / "ignored.txt").write_text("a\n")
    (project / "image.bin").write_bytes(b"a\n\0\n")
    (project / "env" / "lib").mkdir(parents=True)
    (project / "env" / "pyvenv.cfg").write_text("")
    (project / "env" / "lib" / "x.py").write_text("a\n")
    (tmp_path / "other.py").write_text("a\n")
    (project / "away.py").symlink_to(tmp_path / "other.py")
    (project / "linked").symlink_to(tmp_path)
    before = state(project)
    for patch in (
        f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n",
        f"*** Begin Patch\n*** Update File: {name}\n@@\n-a\n+b\n*** End Patch\n",
    ):
        with pytest.raises(kind) as caught:
            src.apply(patch=patch)
        assert caught.value.code == code
        assert "nothing was changed" in caught.value.message
        assert state(project) == before
        assert (tmp_path / "other.py").read_text() == "a\n"


def test_a_file_that_is_not_there_is_refused_with_close_ones(src: Source) -> None:
    with pytest.raises(LookupFailed) as caught:
        src.apply(patch=one("src/app/core.py", "@@ -1 +1 @@\n-import os\n+import sys\n"))
    assert caught.value.candidates == ("app.core",)
    with pytest.raises(LookupFailed) as caught:
        src.apply(patch="*** Begin Patch\n*** Delete File: docs/guid.md\n*** End Patch\n")
    assert caught.value.candidates == (":docs/guide.md",)


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ("", RequestError),
        ("no patch\n", RequestError),
        (TWO.replace("Four", "\0"), RequestError),
        (TWO + "\ud800", RequestError),
        ("x" * 8_000_001, RequestError),
        (TWO[: TWO.index("+Four")] + "Four.\n", RequestError),
        ("diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n", RequestError),
        ("--- /dev/null\n+++ b/app/core.py\n@@ -0,0 +1 @@\n+a = 1\n", Refused),
        ("--- /dev/null\n+++ b/app/core/x.py\n@@ -0,0 +1 @@\n+a = 1\n", None),
        ("--- /dev/null\n+++ b/app/Core.py\n@@ -0,0 +1 @@\n+a = 1\n", Refused),
        ("--- /dev/null\n+++ b/docs/guide.md/x.md\n@@ -0,0 +1 @@\n+a = 1\n", Refused),
        ("--- /dev/null\n+++ b/app/uses/__init__.py\n@@ -0,0 +1 @@\n+a = 1\n", Refused),
        (one("app/core.py", "@@ -5 +5 @@\n-    a = 1\n+    a = (\n"), SourceError),
        (one("app/core.py", "@@ -6 +6 @@\n-    return a\n+return a\n"), SourceError),
        ("--- a/docs/guide.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-# Guide\n-\n", Refused),
        (
            TWO
            + one("app/core.py", "@@ -4,2 +4,2 @@\n def f():\n-    a = 1\n+    a = 2\n@@ @@\n-    a = 3\n+    a = 4\n"),
            Refused,
        ),
    ],
)
def test_what_is_at_fault_changes_nothing(
    project: Path, src: Source, patch: str, kind: type[ResourceError] | None
) -> None:
    before = state(project)
    if kind is None:
        assert src.apply(patch=patch, dry_run=True).status == "planned"
    else:
        with pytest.raises(kind):
            src.apply(patch=patch)
    assert state(project) == before


def test_a_file_is_patched_twice_as_a_series_does(project: Path, src: Source) -> None:
    again = one("app/core.py", "@@ -4,2 +4,2 @@\n def f():\n-    a = 2\n+    a = 3\n")
    src.apply(patch=TWO + again)
    assert "a = 3" in (project / "app" / "core.py").read_text()


def test_renames_follow_what_git_says_even_where_files_exchange_their_names(project: Path, src: Source) -> None:
    (project / "app" / "one.py").write_text("A = 1\n")
    (project / "app" / "two.py").write_text("B = 2\n")
    (project / "app" / "two.py").chmod(0o755)
    swap = "".join(
        f"diff --git a/app/{old}.py b/app/{new}.py\nrename from app/{old}.py\nrename to app/{new}.py\n"
        for old, new in (("one", "two"), ("two", "one"))
    )
    before = state(project)
    src.apply(patch=swap, reload="off")
    assert state(project)["app/one.py"] == (b"B = 2\n", True)
    assert state(project)["app/two.py"] == (b"A = 1\n", False)
    src.undo()
    assert state(project) == before


def test_modes_are_given_taken_back_and_not_given_twice(project: Path, src: Source) -> None:
    mode = "diff --git a/app/core.py b/app/core.py\nold mode 100644\nnew mode 100755\n"
    (project / "app" / "core.py").chmod(0o640)
    new = "diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+#!/bin/sh\n"
    made = src.apply(patch=mode + new)
    assert "old mode 100644\nnew mode 100755\n" in made.diff
    assert "new file mode 100755\n" in made.diff
    assert (project / "app" / "core.py").stat().st_mode & 0o777 == 0o750
    assert (project / "run").stat().st_mode & 0o100
    assert src.apply(patch=mode).status == "unchanged"
    src.undo()
    assert (project / "app" / "core.py").stat().st_mode & 0o777 == 0o640
    assert not (project / "run").exists()
    src.redo()
    assert (project / "app" / "core.py").stat().st_mode & 0o777 == 0o750
    assert (project / "run").stat().st_mode & 0o100


def test_what_goes_and_is_used_elsewhere_is_reported(project: Path, src: Source) -> None:
    gone = one(
        "app/core.py", "@@ -1,9 +1,5 @@\n import os\n \n \n-def f():\n-    a = 1\n-    return a\n-\n-\n class A:\n"
    )
    made = src.apply(patch=gone, dry_run=True)
    assert [each.address for each in made.changed] == ["app.core.f"]
    assert any("app.uses:1" in each.message for each in made.warnings)
    whole = src.apply(patch="*** Begin Patch\n*** Delete File: app/core.py\n*** End Patch\n", dry_run=True)
    assert ("still_imported", True) in [(each.code, "app.uses:1" in each.message) for each in whole.warnings]


def test_names_begin_at_the_top_of_the_repository_too(tmp_path: Path) -> None:
    top = tmp_path / "top"
    project = make(top / "lib" / "project")
    shutil.rmtree(project / ".git")
    git(top, "init", "-q", ".")
    src = Source(project)
    names = ("lib/project/app/core.py", "app/core.py", str(project / "app" / "core.py"))
    for number, name in enumerate(names, 1):
        body = f"*** Update File: {name}\n@@\n-    a = {number}\n+    a = {number + 1}\n"
        src.apply(patch=f"*** Begin Patch\n{body}*** Add File: {name[:-7]}n{number}.py\n+A = 1\n*** End Patch\n")
    assert (project / "app" / "core.py").read_text() == CORE.replace("a = 1", "a = 4")
    assert all((project / "app" / f"n{number}.py").exists() for number in (1, 2, 3))
    with pytest.raises(Refused, match="outside of the project"):
        src.apply(patch="*** Begin Patch\n*** Add File: ../other.py\n+A = 1\n*** End Patch\n")
    assert not (top / "lib" / "other.py").exists()


def test_a_patch_that_was_tried_is_planned_anew_on_what_the_files_hold_now(project: Path, src: Source) -> None:
    assert src.apply(patch=TWO, dry_run=True).status == "planned"
    (project / "app" / "core.py").write_text(CORE.replace("import os", "import os, sys"))
    assert src.apply(patch=TWO).status == "applied"
    assert "import os, sys" in (project / "app" / "core.py").read_text()
    (project / "app" / "core.py").write_text(CORE.replace("a = 1", "a = 5"))
    before = state(project)
    with pytest.raises(Refused, match=r"1 of 2 hunks does not fit: hunk 1 of app.core"):
        src.apply(patch=TWO)
    assert state(project) == before


def test_a_file_that_is_changed_and_then_renamed_has_both_changes(project: Path, src: Source) -> None:
    update = "*** Update File: docs/guide.md\n"
    moved = f"{update}@@\n-One.\n+1.\n{update}*** Move to: docs/n.md\n@@\n-Two.\n+2.\n"
    src.apply(patch=f"*** Begin Patch\n{moved}*** End Patch\n")
    assert (project / "docs" / "n.md").read_text() == "# Guide\n\n1.\n\n2.\n\nThree.\n"
    assert not (project / "docs" / "guide.md").exists()


def test_a_file_is_renamed_to_the_same_letters_in_another_case(project: Path, src: Source) -> None:
    before = state(project)
    src.apply(patch="diff --git a/docs/guide.md b/docs/Guide.md\nrename from docs/guide.md\nrename to docs/Guide.md\n")
    assert [each.name for each in (project / "docs").iterdir()] == ["Guide.md"]
    src.undo()
    assert state(project) == before
    new = "diff --git a/docs/Guide.md b/docs/Guide.md\nnew file mode 100644\n"
    with pytest.raises(Refused, match="case alone"):
        src.apply(patch=new)
    assert state(project) == before


@pytest.mark.parametrize("patch", ["", "\n", " \r\n"])
def test_an_empty_patch_says_so_and_names_the_next_call(project: Path, patch: str) -> None:
    before = state(project)
    done = run("apply", "--patch", "-", folder=project, stdin=patch.encode())
    assert done.status == 2
    assert done.err_text.startswith("error[invalid_arguments]: The patch is empty; nothing was changed.\n")
    assert "git diff HEAD" in done.err_text
    unnamed = run("apply", "-", folder=project, stdin=patch.encode())
    assert unnamed.status == 2
    assert "Standard input is empty: no changes are in it, and no patch." in unnamed.err_text
    assert state(project) == before


def test_the_verdict_counts_files_that_cannot_be_patched(project: Path, src: Source) -> None:
    others = "".join(one(name, "@@ -1 +1 @@\n-a\n+b\n") for name in ("app/cor.py", ".git/config", "../out.py"))
    before = state(project)
    with pytest.raises(Refused) as caught:
        src.apply(patch=one("app/uses.py", "@@ -3 +3 @@\n-VALUE = g()\n+VALUE = 3\n") + others)
    assert caught.value.message == (
        "1 of 4 hunks does not fit, and 3 files cannot be patched: hunk 1 of app.uses; nothing was changed."
    )
    assert caught.value.candidates == ("app.core",)
    with pytest.raises(Refused, match=r"3 files cannot be patched: .*app/cor.py, which the patch names, is not there"):
        src.apply(patch=TWO + others)
    assert state(project) == before


@pytest.mark.parametrize("numbers", ["@@ -1,3 +1,3 @@", "@@ @@"])
@pytest.mark.parametrize(
    "body", [" # Guide\n \n-One.\n+One.\n", " # Guide\n \n-One.\n+Two.\n", " # Guide\n \n One.\n+Two.\n"]
)
def test_a_newline_is_not_taken_from_a_line_before_the_end(project: Path, body: str, numbers: str) -> None:
    before = state(project)
    patch = one("docs/guide.md", f"{numbers}\n{body}\\ No newline at end of file\n")
    done = run("apply", "-", folder=project, stdin=patch.encode())
    assert (done.status, state(project)) == (5, before)
    assert "it ends the file without a newline, and its lines stand before the end" in done.err_text


@pytest.mark.parametrize("form", ["git", "begun"])
def test_a_file_that_is_renamed_twice_leaves_nothing_between(project: Path, src: Source, form: str) -> None:
    before = state(project)
    git(project, "tag", "first")
    for old, new, text in (("guide", "b", ""), ("b", "c", "x\n"), ("c", "d", "")):
        git(project, "mv", f"docs/{old}.md", f"docs/{new}.md")
        with (project / "docs" / f"{new}.md").open("a") as file:
            file.write(text)
        git(project, "update-index", f"--chmod={'+' if text else '-'}x", f"docs/{new}.md")
        git(project, "commit", "-q", "-a", "-m", new)
    patch = git(project, "format-patch", "--stdout", "first..HEAD").decode()
    git(project, "reset", "-q", "--hard", "first")
    if form == "begun":
        patch = (
            "*** Begin Patch\n*** Update File: docs/guide.md\n*** Move to: docs/b.md\n"
            "*** Update File: docs/b.md\n*** Move to: docs/d.md\n@@\n Three.\n+x\n*** End Patch\n"
        )
    made = src.apply(patch=patch)
    expected = {name: each for name, each in before.items() if name != "docs/guide.md"}
    assert state(project) == {**expected, "docs/d.md": (f"{GUIDE}x\n".encode(), False)}
    assert "rename from docs/guide.md\nrename to docs/d.md\n" in made.diff
    src.undo()
    assert state(project) == before


def test_a_file_that_is_renamed_and_made_a_program_comes_back_as_none(project: Path, src: Source) -> None:
    before = state(project)
    names = "rename from docs/guide.md\nrename to docs/run.md\n"
    modes = "old mode 100644\nnew mode 100755\n"
    made = src.apply(patch=f"diff --git a/docs/guide.md b/docs/run.md\n{modes}similarity index 100%\n{names}")
    assert made.diff.endswith(f"{modes}similarity index 100%\n{names}")
    after = state(project)
    assert after["docs/run.md"] == (GUIDE.encode(), True)
    src.undo()
    assert state(project) == before
    src.redo()
    assert state(project) == after
