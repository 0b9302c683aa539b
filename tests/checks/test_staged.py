"""What is staged is judged, whatever the working tree holds, and nothing is written."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.engine.service import Context, Service
from bae_source.errors import RequestError, SourceError
from bae_source.project.git import index as git_index
from bae_source.project.git.index import GitIndex
from bae_source.state.journal_head import MAGIC
from bae_source.verification.staged.request import CheckStaged
from tests.checks.staging import ENVIRONMENT, check, findings, git, staged, write
from tests.state_folders import state_folders

FINE, BROKEN = "x = 1\n", "x = = 1\n"
WRONG = "app.core:1: SYNTAX_INVALID app.core does not parse: line 1, column 5: invalid syntax."


def as_it_is(root: Path) -> dict[str, str]:
    """Return all files but our own cache, git's among them, by digest and time."""
    paths = [path for path in root.rglob("*") if path.is_file() and ".bae-source" not in path.parts]
    return {str(path): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}" for path in paths}


@pytest.mark.parametrize(("index", "disk"), [(BROKEN, FINE), (FINE, BROKEN)])
def test_the_staged_content_counts_and_not_the_working_tree(tmp_path: Path, index: str, disk: str) -> None:
    root = staged(tmp_path, {"app/core.py": index})
    write(root, {"app/core.py": disk})
    assert findings(root, "app/core.py") == ([WRONG] if index == BROKEN else [])


def test_a_function_that_does_not_parse_is_found_though_references_read_the_rest(tmp_path: Path) -> None:
    broken = "def f():\n    x = = 1\n    return x\n\ny = 1\n"
    root = staged(tmp_path, {"app/__init__.py": "", "app/core.py": broken, "app/a.py": "from app.core import y\ny\n"})
    expected = ["app.core:2: SYNTAX_INVALID app.core does not parse: line 2, column 9: invalid syntax."]
    assert findings(root, "app/core.py") == findings(root, "app/core.py") == expected


def test_what_is_missing_in_the_working_tree_is_there_if_it_is_staged(tmp_path: Path) -> None:
    root = staged(tmp_path, {"app/__init__.py": "", "app/a.py": FINE, "app/core.py": "from app.a import x, y\n"})
    (root / "app/a.py").unlink()
    assert findings(root, "app/core.py") == ["app.core:1: NAME_NOT_FOUND app.a has no y."]


def test_what_differs_from_the_last_commit_is_looked_at_where_no_files_are_named(tmp_path: Path) -> None:
    root = staged(tmp_path, {"old.py": BROKEN, "gone.py": BROKEN, "app/core.py": FINE})
    assert findings(root)[0].startswith("gone:1: SYNTAX_INVALID")  # everything, before the first commit
    git(root, "commit", "-qm", "first")
    assert findings(root) == []
    write(root, {"app/core.py": BROKEN, "not_staged.py": BROKEN})
    git(root, "add", "app/core.py")
    git(root, "rm", "-q", "gone.py")
    assert findings(root) == [WRONG]


@pytest.mark.parametrize(
    "name", ["a b.py", "-x.py", "größe.py", "a\nb.py", 'quo"te.py', ":(top)x.py", os.fsdecode(b"\xff.py")]
)
def test_odd_names_are_names(tmp_path: Path, name: str) -> None:
    [found] = findings(staged(tmp_path, {name: BROKEN}), name)
    shown = name.removesuffix(".py").replace("\n", "\\n")
    assert found.startswith(f"{shown}:1: SYNTAX_INVALID")


SCRIPT = "#!/usr/bin/env python3\ndef f(:\n"


def test_python_that_is_no_module_of_the_project_is_parsed_and_named_by_its_path(tmp_path: Path) -> None:
    files = {".venv/lib/x.py": BROKEN, "build/y.py": BROKEN, "bin/tool": SCRIPT, "bin/fine.pyw": "import app.gone\n"}
    root = staged(tmp_path, {**files, "app/__init__.py": ""})
    outcome = check(root, *files)
    assert outcome.text.splitlines() == [
        ".venv/lib/x.py:1: SYNTAX_INVALID .venv/lib/x.py does not parse: line 1, column 5: invalid syntax.",
        "bin/tool:2: SYNTAX_INVALID bin/tool does not parse: line 2, column 7: invalid syntax.",
        "build/y.py:1: SYNTAX_INVALID build/y.py does not parse: line 1, column 5: invalid syntax.",
    ]
    assert (outcome.exit_code, outcome.complete, outcome.warnings) == (1, True, ())
    assert check(root, "bin/fine.pyw").text == "(no findings in 0 modules and 1 other file)"


def test_what_is_plainly_no_python_is_passed_over(tmp_path: Path) -> None:
    files = {"data.json": BROKEN, "Makefile": BROKEN, "run.sh": SCRIPT, "old": "#!/usr/bin/python2\nprint 1\n"}
    root = staged(tmp_path, {**files, "app/core.py": FINE, "gone.py": BROKEN})
    (root / "link.py").symlink_to("app/core.py")
    git(root, "add", "link.py")
    git(root, "commit", "-qm", "first")
    git(root, "rm", "-q", "gone.py")
    outcome = check(root, *files, "link.py", "gone.py")
    assert (outcome.text, outcome.complete, outcome.warnings) == ("(no findings in 0 modules)", True, ())


def test_files_that_were_named_and_not_looked_at_are_reported(tmp_path: Path) -> None:
    root = staged(tmp_path, {"app/core.py": FINE})
    write(root, {"untracked.py": BROKEN})
    outcome = check(root, "untracked.py", "app", "app/core.py", "no\nwhere.pyi")
    assert (outcome.found, outcome.complete) == ((), False)
    assert [each.message for each in outcome.warnings] == ["Not looked at: untracked.py, app, no\\nwhere.pyi."]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"x = '\xff'\n", "ENCODING_INVALID"),
        (b"\x00\x01\x02", "SYNTAX_INVALID"),
        (b"# coding: martian\n", "ENCODING_INVALID"),
        (b"# coding: utf-7\nx = '+AGE-'\n", "NOT_LOSSLESS"),
    ],
)
def test_bytes_that_are_no_code_are_found(tmp_path: Path, content: bytes, code: str) -> None:
    [found] = findings(staged(tmp_path, {"app/core.py": content}), "app/core.py")
    assert f" {code} " in found


def test_code_in_another_encoding_and_with_other_line_ends_is_fine(tmp_path: Path) -> None:
    files = {
        "a.py": "# coding: latin-1\r\nx = '\xe9'\r\n".encode("latin-1"),
        "b.py": b"\xef\xbb\xbfy = 1\r",
        "c.py": b"",
    }
    root = staged(tmp_path, {**files, "app.py": "from a import x\nfrom b import y\n"})
    assert findings(root, "app.py", *files) == []


def test_code_that_is_too_deep_for_a_parser_is_no_finding(tmp_path: Path) -> None:
    deep = {
        "a.py": "x = " + "-" * 20_000 + "1\n",
        "b.py": "x = " + " + ".join(["1"] * 20_000) + "\n",
        "c.py": "__all__ = ['x', 'gone']\nx = " + "-" * 20_000 + "1\n",
        "d.py": "match x:\n    case " + "[" * 150 + "a" + "]" * 150 + ":\n        y = 1\n",
    }
    root = staged(tmp_path, {**deep, "app.py": "from a import x\nfrom b import x\nfrom d import y\n"})
    missing = "c:1: EXPORT_NOT_FOUND __all__ of c names gone, which c does not have."
    assert findings(root, *deep, "app.py") == [missing]


def test_a_gigantic_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_index, "LARGEST", 1_000)
    root = staged(tmp_path, {"a.py": "x = 1\n" * 500_000, "b.py": BROKEN, "c.py": FINE})
    outcome = check(root, "a.py", "b.py", "c.py")
    assert [each.address for each in outcome.found] == ["b"]
    assert not outcome.complete
    assert outcome.warnings[0].message == "Too large or too deep to be sure of: a."


def test_a_file_in_conflict_is_found_and_nothing_is_reported_of_its_names(tmp_path: Path) -> None:
    root = staged(tmp_path, {"app/__init__.py": "", "app/a.py": FINE, "app/core.py": "from app.a import y\n"})
    oid = git(root, "hash-object", "-w", "--stdin", given=b"y = 1\n").decode().strip()
    entries = "".join(f"100644 {oid} {stage}\tapp/a.py\n" for stage in (1, 2, 3))
    git(root, "update-index", "--force-remove", "app/a.py")
    git(root, "update-index", "--index-info", given=entries.encode())
    assert findings(root, "app/a.py", "app/core.py") == ["app.a:1: UNMERGED app.a is in conflict; merge it."]


def test_names_in_all_that_are_not_there_are_found(tmp_path: Path) -> None:
    text = "from .a import f\n__all__ = ['f', 'gone', 'f']\n"
    root = staged(tmp_path, {"app/__init__.py": text, "app/a.py": "def f(): ...\n"})
    assert findings(root, "app/a.py") == [
        "app:2: EXPORT_NOT_FOUND __all__ of app names gone, which app does not have.",
        "app:2: EXPORT_TWICE __all__ of app names f twice; the first time in line 2.",
    ]
    write(root, {"app/__init__.py": text + "# more\n"})
    lines = findings(root, "app/a.py")
    assert all(
        line.endswith("The working tree has another version of the module, so it is not mended.") for line in lines
    )


def test_names_in_all_of_a_stub_or_of_what_is_made_are_no_finding(tmp_path: Path) -> None:
    files = {
        "app/__init__.pyi": "__all__ = ['a']\n",
        "app/a.pyi": "",
        "app/b.py": "__all__ = ['x']\ndef f():\n    global x\n    x = 1\n",
        "app/c.py": "__all__ = ['x']\nglobals().update(x=1)\n",
    }
    assert findings(staged(tmp_path, {"app/__init__.py": "", **files}), *files) == []


def test_a_transaction_that_was_cut_short_is_reported_and_left(tmp_path: Path) -> None:
    root = staged(tmp_path, {"app/core.py": FINE})
    folders = state_folders(root)
    journal = folders.make(folders.base) / "journal"
    journal.write_bytes(MAGIC + b"\nprepared\n")
    before = as_it_is(root)
    [found] = findings(root, "app/core.py")
    assert found.startswith("UNFINISHED_TRANSACTION A transaction of bae_source is being made, or was cut short;")
    assert as_it_is(root) == before


def test_nothing_is_written_and_nothing_of_the_users_is_run(tmp_path: Path) -> None:
    root = staged(tmp_path / "repo", {"app/__init__.py": "", "app/core.py": "from app import a\n", "app/b.py": FINE})
    git(root, "commit", "-qm", "first")
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch '{ran}'\ncat\n")
    script.chmod(0o755)
    for name in (
        "core.fsmonitor",
        "filter.x.clean",
        "filter.x.smudge",
        "diff.x.textconv",
        "core.pager",
        "diff.external",
    ):
        git(root, "config", name, str(script))
    write(root, {".gitattributes": "* filter=x diff=x\n", "app/b.py": "y = 2\n"})
    for hook in ("post-index-change", "reference-transaction"):
        (root / ".git/hooks" / hook).write_bytes(script.read_bytes())
        (root / ".git/hooks" / hook).chmod(0o755)
    os.utime(root / "app/core.py", (1, 1))
    before = as_it_is(root)
    assert findings(root, "app/core.py", "app/b.py") == ["app.core:1: NAME_NOT_FOUND app has no a."]
    assert findings(root) == []
    assert as_it_is(root) == before
    assert not ran.exists()


def test_there_has_to_be_a_repository(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="There is no git repository here") as caught:
        check(tmp_path)
    assert caught.value.hints == ("Run it inside of one, or name its folder with --root DIR.",)


def test_git_has_to_be_there(tmp_path: Path) -> None:
    root = staged(tmp_path, {"a.py": FINE})
    with pytest.raises(RequestError, match="Git is needed to read what is staged"):
        check(root, environment=ENVIRONMENT | {"PATH": str(tmp_path)})


def test_a_broken_index_is_reported(tmp_path: Path) -> None:
    root = staged(tmp_path, {"a.py": FINE})
    (root / ".git/index").write_bytes(b"nonsense")
    with pytest.raises(RequestError, match="Git cannot read the index of this project"):
        check(root)


LOST = "a:1: UNREADABLE a was not looked at: Git does not have the content of the file."


def test_an_object_that_git_lost_is_a_finding_and_nothing_is_reported_of_its_names(tmp_path: Path) -> None:
    root = staged(tmp_path, {"a.py": FINE, "b.py": "from a import y\n"})
    oid = git(root, "rev-parse", ":a.py").decode().strip()
    (root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    outcome = check(root, "a.py", "b.py")
    assert (outcome.complete, outcome.exit_code, outcome.text) == (False, 1, LOST)
    outcome = check(root, "b.py")
    assert (outcome.complete, outcome.exit_code, outcome.text) == (False, 0, "(no findings in 1 module)")
    assert outcome.warnings[0].message == "Not to be read, so imports from there are not known: a.py."


def test_an_object_of_which_git_gives_a_part_is_not_taken_for_all_of_it(tmp_path: Path) -> None:
    real = shutil.which("git")
    (tmp_path / "git").write_text(f"""#!/bin/sh
case "$*" in *cat-file*) read oid; echo "$oid blob 6"; printf 'x ='; exit;; esac
exec {real} "$@"
""")
    (tmp_path / "git").chmod(0o755)
    root = staged(tmp_path / "repo", {"a.py": FINE})
    outcome = check(root, "a.py", environment=ENVIRONMENT | {"PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}"})
    assert (outcome.complete, outcome.exit_code, outcome.text) == (False, 1, LOST)


def test_a_project_file_that_does_not_parse_is_an_error(tmp_path: Path) -> None:
    root = staged(tmp_path, {"pyproject.toml": "[tool.bae-source\n", "a.py": FINE})
    with pytest.raises(SourceError, match=r"pyproject\.toml does not parse"):
        check(root, "a.py")


def test_a_repository_with_other_digests_is_read_as_well(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", ".")
    write(tmp_path, {"app/core.py": BROKEN})
    git(tmp_path, "add", ".")
    assert findings(tmp_path, "app/core.py") == [WRONG]


def test_the_index_is_asked_below_the_folder_alone(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = staged(tmp_path, {"a/x.py": FINE, "b/y.py": FINE})
    with GitIndex(root / "a", ENVIRONMENT) as index:
        assert list(index.entries()) == ["x.py"]
        assert index.content(index.entries()["x.py"].oid) == FINE.encode()


def test_the_api_asks_it_and_a_transaction_cannot(tmp_path: Path) -> None:
    source = Source(staged(tmp_path, {"app/core.py": BROKEN}))
    text = source.check_staged(["app/core.py"])
    assert text == WRONG
    assert [(each.address, each.line, each.code) for each in text.outcome.found] == [("app.core", 1, "SYNTAX_INVALID")]
    with source.transaction() as tx:
        assert not hasattr(tx, "check_staged")
    draft = Service(source.root).draft("a reason")
    with pytest.raises(RequestError, match="which planned ones cannot be"):
        draft.run(CheckStaged(), Context())
