"""A refused change that is kept is amended by a piece of it, and made; nothing is given twice."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.errors import HistoryError, LookupFailed, RequestError, ResourceError
from tests.adapters.support import run

MODULE = "LIMIT = 3\n\n\ndef f(x):\n    return x + LIMIT\n\n\ndef user():\n    return f(1)\n"
LONG = '    """Long enough a docstring, since what is short is given once more as soon as it is amended.\n\n'
NEW = f'def f(x):\n{LONG}    {"More. " * 30}\n    """\n    retrun x * LIMIT\n'
MENDED = NEW.replace("retrun", "return")


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "m.py").write_text(MODULE)
    return Source(tmp_path)


def kept(source: Source, **how: Any) -> str:
    """Return the handle of the draft that a refused edit keeps."""
    with pytest.raises(ResourceError) as caught:
        source.edit("m.f", **{"new_source": NEW, **how})
    assert (source.root / "m.py").read_text() == MODULE
    handle = str(caught.value.details["draft"])
    assert any(hint.startswith(f'amend("{handle}", old="OLD", new="NEW")') for hint in caught.value.hints)
    return handle


def test_source_that_does_not_parse_is_mended_and_made(source: Source) -> None:
    handle = kept(source)
    outcome = source.amend(handle, old="retrun", new="return")
    assert outcome.status == "applied"
    assert source.read("m.f") == MENDED
    with pytest.raises(HistoryError, match="amended and committed"):
        source.amend(handle, old="x", new="y")
    source.undo()
    assert (source.root / "m.py").read_text() == MODULE


def test_another_process_amends_with_an_etag_that_it_was_given(source: Source) -> None:
    words = ("edit", "m.f", "--source", "-", "--if-match", "0" * 16, "--json")
    refused = json.loads(run(*words, folder=source.root, stdin=MENDED.encode()).out)
    assert (refused["errors"][0]["code"], refused["etag"]) == ("stale", source.read("m.f").etag)
    given = json.dumps({"if_match": refused["etag"]})
    done = run("amend", refused["draft"], "--set", given, folder=source.root)
    assert done.status == 0, done.err_text
    assert source.read("m.f") == MENDED


def test_what_is_refused_again_keeps_what_was_amended(source: Source) -> None:
    handle = kept(source)
    with pytest.raises(ResourceError) as caught:
        source.amend(handle, old="x * LIMIT", new="x ** LIMIT")
    assert caught.value.code == "syntax_invalid"
    assert caught.value.details["draft"] == handle
    source.amend(handle, old="retrun", new="return")
    assert "return x ** LIMIT" in source.read("m.f")


def test_a_verification_that_failed_is_made_with_another_source(source: Source) -> None:
    handle = kept(source, new_source=MENDED, verify=["command false"])
    done = source.amend(handle, new_source="def f(x):\n    return 0\n", verify=["command true"])
    assert done.status == "applied"
    assert source.read("m.f") == "def f(x):\n    return 0\n"


def test_what_was_to_be_verified_is_verified_when_it_is_amended_or_committed(source: Source) -> None:
    handle = kept(source, verify=["command false"], why="faster")
    with pytest.raises(ResourceError) as caught:
        source.amend(handle, old="retrun", new="return")
    assert caught.value.code == "verify_failed"
    assert (source.root / "m.py").read_text() == MODULE
    with pytest.raises(ResourceError) as again:
        source.commit(handle)
    assert again.value.code == "verify_failed"
    assert (source.root / "m.py").read_text() == MODULE
    done = source.amend(handle, old="LIMIT", new="LIMIT", verify=["command true"])
    assert [check.name for check in done.checks if check.name.startswith("command")] == ["command true"]
    assert source.history().outcome.found[0].entry.why == "faster"


def test_a_refused_rename_is_committed_with_what_was_to_be_verified(tmp_path: Path) -> None:
    text = "class A:\n    def go(self): ...\n\n\nclass B:\n    def go(self): ...\n\n\ndef f(x):\n    x.go()\n"
    (tmp_path / "m.py").write_text(text)
    source = Source(tmp_path)
    with pytest.raises(ResourceError) as caught:
        source.rename("m.A.go", "run", verify=["command false"])
    with pytest.raises(ResourceError) as refused:
        source.commit(caught.value.details["draft"], unsure="leave")
    assert refused.value.code == "verify_failed"
    assert (tmp_path / "m.py").read_text() == text


def test_a_dry_run_that_tidies_is_made_as_it_was_shown(source: Source) -> None:
    (source.root / "m.py").write_text(f"import os\n\nX = os.sep\n{MODULE}")
    planned = source.edit("m", old="X = os.sep\n", new=f"X = {'1 + ' * 60}1\n", dry_run=True, tidy=True)
    assert "-import os" in planned.diff
    assert planned.draft
    made = source.commit(planned.draft)
    assert made.diff == planned.diff


def test_one_of_several_requests_is_amended(source: Source) -> None:
    requests = [
        {"do": "edit", "target": "m.LIMIT", "new_source": "LIMIT = 4"},
        {"do": "edit", "target": "m.g", "new_source": MENDED},
    ]
    with pytest.raises(ResourceError) as caught:
        source.apply(requests)
    handle = caught.value.details["draft"]
    with pytest.raises(RequestError, match="The draft has 2 requests"):
        source.amend(handle, set={"target": "m.f"})
    source.amend(handle, set={"target": "m.f"}, number=2)
    assert (source.root / "m.py").read_text().startswith("LIMIT = 4\n")
    assert source.read("m.f") == MENDED


def test_a_rename_that_is_refused_for_unsure_places_is_amended_or_committed(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "class A:\n    def go(self): ...\n\n\nclass B:\n    def go(self): ...\n\n\ndef f(x):\n    x.go()\n"
    )
    source = Source(tmp_path)
    with pytest.raises(ResourceError) as caught:
        source.rename("m.A.go", "run")
    handle = caught.value.details["draft"]
    with pytest.raises(ResourceError) as again:
        source.amend(handle, set={"new_name": "walk"})
    assert again.value.details["draft"] == handle
    source.commit(handle, unsure="leave")
    assert "def walk" in (tmp_path / "m.py").read_text()


def test_an_open_transaction_is_planned_anew(source: Source) -> None:
    done = run("do", "--dry-run", "--json", folder=source.root, stdin=b"edit m.LIMIT --code 'LIMIT = 4'\n")
    handle = json.loads(done.out.splitlines()[-1])["draft"]
    planned = source.amend(handle, old="4", new="5")
    assert planned.status == "planned"
    assert "+LIMIT = 5" in planned.diff
    assert (source.root / "m.py").read_text() == MODULE
    source.commit(handle)
    assert (source.root / "m.py").read_text().startswith("LIMIT = 5\n")


def test_a_dry_run_of_a_long_text_can_be_made_without_giving_it_again(source: Source) -> None:
    planned = source.edit("m.f", MENDED, dry_run=True, verify=["command true"])
    assert planned.draft
    assert f'commit("{planned.draft}") makes it as it is shown.' in planned.next_actions
    assert (source.root / "m.py").read_text() == MODULE
    assert source.edit("m.f", old="x + LIMIT", new="x", dry_run=True).draft is None, "what is short"
    done = source.commit(planned.draft)
    assert source.read("m.f") == MENDED
    assert "(in the dry run)" in done.text or any("in the dry run" in check.detail for check in done.checks)
    source.undo()
    stale = source.edit("m.f", MENDED, dry_run=True).draft
    (source.root / "m.py").write_text(MODULE.replace("x + LIMIT", "x - LIMIT"))
    with pytest.raises(ResourceError) as caught:
        source.commit(stale)
    assert caught.value.code == "stale"
    assert (source.root / "m.py").read_text() == MODULE.replace("x + LIMIT", "x - LIMIT")


def test_a_base_that_changed_is_seen(source: Source) -> None:
    handle = kept(source)
    (source.root / "m.py").write_text(MODULE.replace("def f", "def g"))
    with pytest.raises(LookupFailed):
        source.amend(handle, old="retrun", new="return")
    assert "def g(x):\n    return x + LIMIT\n" in (source.root / "m.py").read_text()


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({}, "Amend takes old and new, new_source, or set"),
        ({"old": "retrun"}, "1 of old and 0 of new"),
        ({"old": "nope at all", "new": "x"}, "does not occur in new_source of the draft"),
        ({"old": "x", "new": "y"}, "occurs"),
        ({"old": "retrun", "new": "return", "number": 2}, "no number 2"),
        ({"set": {"nope": 1}}, "nope is unknown"),
        ({"set": {"do": "nope"}}, "is no change"),
    ],
)
def test_what_is_no_amendment_changes_neither_the_draft_nor_the_code(
    source: Source, how: dict[str, Any], problem: str
) -> None:
    handle = kept(source)
    with pytest.raises(ResourceError, match=problem):
        source.amend(handle, **how)
    assert (source.root / "m.py").read_text() == MODULE
    source.amend(handle, old="retrun", new="return")
    assert source.read("m.f") == MENDED


def test_a_draft_that_there_is_not_is_refused(source: Source) -> None:
    for handle in ("draft_" + "0" * 24, "nope"):
        with pytest.raises(HistoryError) as caught:
            source.amend(handle, old="a", new="b")
        assert caught.value.code == "handle_expired"


def test_what_is_short_keeps_no_draft(source: Source) -> None:
    with pytest.raises(ResourceError) as caught:
        source.edit("m.f", new_source="def f(: ...")
    assert "draft" not in caught.value.details


@pytest.mark.parametrize("name", ["f", "g"])
def test_an_edit_renames_as_well_whichever_name_the_source_has(source: Source, name: str) -> None:
    outcome = source.edit("m.f", f"def {name}(x):\n    return x\n", rename_to="g", if_match=source.read("m.f").etag)
    assert outcome.status == "applied"
    expected = MODULE.replace("def f(x):\n    return x + LIMIT", "def g(x):\n    return x").replace("f(1)", "g(1)")
    assert (source.root / "m.py").read_text() == expected
    source.undo()
    assert (source.root / "m.py").read_text() == MODULE


def test_pieces_are_replaced_and_the_symbol_renamed_on_the_command_line(source: Source) -> None:
    words = ("--old", "x + LIMIT", "--new", "x - LIMIT", "--rename-to", "g")
    done = run("edit", "m.f", *words, folder=source.root)
    assert done.status == 0, done.err_text
    assert (source.root / "m.py").read_text() == MODULE.replace("def f", "def g").replace("f(1)", "g(1)").replace(
        "+", "-"
    )


@pytest.mark.parametrize("target", ["m", "m.f@body", "m.f[0]", ":notes.md"])
def test_what_is_no_symbol_is_not_renamed_by_an_edit(source: Source, target: str) -> None:
    with pytest.raises(RequestError, match="rename_to goes with a whole symbol"):
        source.edit(target, old="x", new="y", rename_to="g")
    assert (source.root / "m.py").read_text() == MODULE


def test_a_rename_that_is_refused_leaves_the_edit_undone(source: Source) -> None:
    with pytest.raises(ResourceError) as caught:
        source.edit("m.f", "def user(x):\n    return x\n", rename_to="user")
    assert re.match(r"Request 1 of 2, rename:", caught.value.message)
    assert (source.root / "m.py").read_text() == MODULE
