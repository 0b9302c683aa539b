"""Pieces of text replaced: several pairs at once, every place or one of them, and what differs by white space alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.adapters.toolbox import Toolbox
from bae_source.engine.service import Service
from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError
from tests.adapters.support import run

MODULE = """\
LIMIT = 1


class A:
    def m(self, x):
        if x:
            y = x + LIMIT
            return y
        return LIMIT

    def k(self, x):
        if x:
            y = x
            return y + LIMIT
        return x
"""
TEXT = "Set `limit`.\n\n* one\n* two\n* one\n"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "mod.py").write_text(MODULE)
    (tmp_path / "notes.md").write_text(TEXT)
    return Source(tmp_path)


def refused(source: Source, target: str, **how: Any) -> ResourceError:
    """Return the error of an edit, after which everything is as it was."""
    with pytest.raises(ResourceError) as caught:
        source.edit(target, reload="off", **how)
    assert (source.root / "mod.py").read_text() == MODULE
    assert (source.root / "notes.md").read_text() == TEXT
    return caught.value


@pytest.mark.parametrize("target", ["mod.A.m", "mod.A", "mod"])
def test_several_pairs_are_one_change(source: Source, target: str) -> None:
    outcome = source.edit(
        target, old=["y = x + LIMIT", "return LIMIT\n\n"], new=["y = x + 2", "return 2\n\n"], reload="off"
    )
    assert outcome.status == "applied"
    assert (source.root / "mod.py").read_text() == MODULE.replace("x + LIMIT", "x + 2").replace(
        "return LIMIT\n\n", "return 2\n\n"
    )
    source.undo()
    assert (source.root / "mod.py").read_text() == MODULE


def test_pairs_that_only_parse_together_are_taken(source: Source) -> None:
    source.edit("mod.A.m", old=["if x:", "return y\n"], new=["try:", "return y\n        finally:\n            x = 0\n"])
    assert "        try:\n            y = x + LIMIT\n            return y\n        finally:\n            x = 0\n" in (
        source.read("mod.A.m")
    )


def test_each_piece_is_given_in_its_own_line_on_the_command_line(source: Source) -> None:
    words = ("--old", "* two", "--new", "* 2", "--old", "Set", "--new", "Choose")
    done = run("edit", ":notes.md", *words, "--root", str(source.root), folder=source.root)
    assert done.status == 0, done.err_text
    assert (source.root / "notes.md").read_text() == TEXT.replace("* two", "* 2").replace("Set", "Choose")


@pytest.mark.parametrize(("target", "old", "count"), [("mod", "LIMIT", 4), ("mod.A", "LIMIT", 3), ("mod.A.k", "x", 4)])
def test_every_place_in_the_target_and_none_outside_is_replaced(
    source: Source, target: str, old: str, count: int
) -> None:
    outcome = source.edit(target, old=old, new="z_", every=True, reload="off")
    assert outcome.status == "applied"
    assert (source.root / "mod.py").read_text().count("z_") == count
    assert source.edit(target, old="z_", new=old, every=True, reload="off").status == "applied"
    assert (source.root / "mod.py").read_text() == MODULE


def test_every_place_of_a_text_file_and_of_a_text_that_holds_the_old_one(source: Source) -> None:
    source.edit(":notes.md", old="* one", new="* one more", every=True)
    assert (source.root / "notes.md").read_text() == TEXT.replace("* one", "* one more")
    assert source.edit(":notes.md", old="* one", new="* one more", every=True).status == "unchanged"


@pytest.mark.parametrize("nth", [1, 2])
def test_one_of_several_places_is_named_by_its_number(source: Source, nth: int) -> None:
    source.edit(":notes.md", old="* one", new="* 1", nth=nth)
    found = (source.root / "notes.md").read_text().splitlines()
    assert [line for line in found if "1" in line or "one" in line] == (
        ["* 1", "* one"] if nth == 1 else ["* one", "* 1"]
    )


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"old": ["a", "b"], "new": ["c"]}, "2 of old and 1 of new"),
        ({"old": [], "new": []}, "0 of old and 0 of new"),
        ({"old": "x", "new": "y", "every": True, "nth": 1}, "exclude"),
        ({"old": ["x", "y"], "new": ["z", "z"], "nth": 1}, "nth can be given with one old"),
        ({"new_source": "x = 1", "every": True}, "every and nth go with old"),
        ({"old": "x", "new": "y", "nth": 0}, "nth"),
        ({"old": ["if x:\n            y = x + LIMIT", "y = x + LIMIT\n"], "new": ["1", "2"]}, "overlap in mod.A.m"),
        ({"old": "", "new": "2"}, "old is empty"),
    ],
)
def test_a_call_that_does_not_say_what_is_meant_is_malformed(source: Source, how: dict[str, Any], problem: str) -> None:
    error = refused(source, "mod.A.m", **how)
    assert isinstance(error, RequestError)
    assert problem in error.message
    assert error.hints


def test_a_place_that_there_is_not_is_named(source: Source) -> None:
    error = refused(source, ":notes.md", old="* one", new="* 1", nth=3)
    assert isinstance(error, LookupFailed)
    assert error.message == "old occurs 2 times in :notes.md, on its lines 3, 5; there is no number 3."
    several = refused(source, ":notes.md", old="* one", new="* 1")
    assert several.code == "ambiguous_symbol"
    assert "nth" in several.hints[0]


@pytest.mark.parametrize("indent", ["", "  ", "    ", "\t", "                "])
@pytest.mark.parametrize("target", ["mod.A.m", "mod"])
def test_text_that_is_indented_otherwise_is_replaced_and_that_is_reported(
    source: Source, target: str, indent: str
) -> None:
    old = f"{indent}if x:\n{indent}    y = x + LIMIT\n"
    new = f"{indent}if x > 1:\n{indent}    # more\n\n{indent}    y = x\n"
    outcome = source.edit(target, old=old, new=new, reload="off")
    assert [notice.code for notice in outcome.warnings] == ["old_fitted"]
    assert "differs from lines " in outcome.warnings[0].message
    assert "        if x > 1:\n            # more\n\n            y = x\n            return y\n" in source.read(
        "mod.A.m"
    )


def test_white_space_at_line_ends_is_overlooked_on_either_side(source: Source) -> None:
    outcome = source.edit("mod.A.m", old="y = x + LIMIT  \n            return y", new="return x", reload="off")
    assert "white space at line ends" in outcome.warnings[0].message
    (source.root / "mod.py").write_text(MODULE.replace("y = x + LIMIT\n", "y = x + LIMIT \t\n"))
    outcome = source.edit("mod.A.m", old="y = x + LIMIT\n            return y\n", new="return x\n", reload="off")
    assert "white space at line ends" in outcome.warnings[0].message
    assert (source.root / "mod.py").read_text() == MODULE.replace("y = x + LIMIT\n            return y", "return x")


def test_white_space_at_the_end_of_a_single_line_is_overlooked(source: Source) -> None:
    outcome = source.edit("mod.A.m", old="            return y   ", new="            return x", reload="off")
    assert "white space at line ends" in outcome.warnings[0].message
    assert (source.root / "mod.py").read_text() == MODULE.replace("return y\n", "return x\n", 1)
    again = refused_text(source, old="return y  ", new="z")
    assert "does not occur" in again.message


def refused_text(source: Source, **how: Any) -> ResourceError:
    with pytest.raises(LookupFailed) as caught:
        source.edit("mod.A.m", reload="off", **how)
    return caught.value


def test_what_is_nearly_a_part_of_a_line_is_shown_with_that_line(source: Source) -> None:
    error = refused(source, "mod.A.m", old="x + LIMT", new="1")
    assert error.hints[0] == "line 3 of it is '            y = x + LIMIT'"


def test_white_space_is_not_overlooked_where_two_places_differ_by_it(source: Source) -> None:
    other = "    if x:\n        y = 1\n  if x:\n      y = 1\n"
    (source.root / "notes.md").write_text(other)
    with pytest.raises(LookupFailed, match="but for white space it stands 2 times, on its lines 1, 3") as caught:
        source.edit(":notes.md", old=" if x:\n     y = 1\n", new=" z\n")
    assert caught.value.hints
    assert (source.root / "notes.md").read_text() == other


def test_what_does_not_occur_shows_what_is_nearest_and_the_etag(source: Source) -> None:
    error = refused(source, "mod.A.m", old="if x:\n    y = x + BOUND\n    return y", new="pass")
    assert error.hints[0].startswith("The nearest are its lines 2 to 4, below")
    box = Toolbox(Service(source.root))
    arguments = {"target": "mod.A.m", "old": "if x:\n    y = x + BOUND\n    return y", "new": "return 1"}
    outcome = box.call("edit", arguments)
    assert outcome.diff == "        if x:\n            y = x + LIMIT\n            return y\n"
    assert outcome.etag == source.read("mod.A.m").etag
    again = box.call(
        "edit",
        {**arguments, "old": outcome.diff, "new": "        return 1\n", "if_match": outcome.etag, "reload": "off"},
    )
    assert again.status == "applied"


@pytest.mark.parametrize("target", ["mod.A.m", "mod.A", "mod", "mod@docstring", ":notes.md"])
def test_what_does_not_occur_anywhere_brings_the_etag(source: Source, target: str) -> None:
    (source.root / "mod.py").write_text(f'"""Doc."""\n{MODULE}')
    with pytest.raises(LookupFailed) as caught:
        source.edit(target, old="nothing\nlike this\n", new="x")
    assert caught.value.details["etag"] == source.read(target, full=True).etag


@pytest.mark.parametrize("target", ["mod.A.m", "mod.A", ":notes.md"])
def test_a_refused_etag_brings_what_is_there_now(source: Source, target: str) -> None:
    error = refused(source, target, old="x", new="y", every=True, if_match="0123456789abcdef")
    assert isinstance(error, Refused)
    assert error.code == "stale"
    present = source.read(target)
    assert error.details["preview"] == present
    assert error.details["etag"] == present.etag
    done = run("edit", target, "--old", "x", "--new", "y", "--if-match", "0" * 16, "--json", folder=source.root)
    assert json.loads(done.out)["etag"] == present.etag
    assert json.loads(done.out)["diff"] == present
    shown = run("edit", target, "--old", "x", "--new", "y", "--if-match", "0" * 16, folder=source.root)
    assert f"etag {present.etag}\n{present}" in shown.err_text
    source.edit(
        target,
        old="x" if target != ":notes.md" else "Set",
        new="y",
        every=True,
        if_match=error.details["etag"],
        reload="off",
    )


def test_line_ends_of_the_file_are_kept(tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_bytes(MODULE.replace("\n", "\r\n").encode())
    source = Source(tmp_path)
    source.edit(
        "mod", old=["if x:\n    y = x + LIMIT", "LIMIT = 1"], new=["if x:\n    y = 5", "LIMIT = 2"], reload="off"
    )
    text = (tmp_path / "mod.py").read_bytes().decode()
    assert text.count("\n") == text.count("\r\n")
    assert text.replace("\r\n", "\n") == MODULE.replace("x + LIMIT", "5").replace("LIMIT = 1", "LIMIT = 2")


def test_several_targets_change_alike_as_one_operation(source: Source) -> None:
    outcome = source.edit(["mod.A.m", "mod.A.k"], old="x:", new="x is not None:", reload="off")
    assert outcome.status == "applied"
    assert (source.root / "mod.py").read_text() == MODULE.replace("if x:", "if x is not None:")
    source.undo(reload="off")
    assert (source.root / "mod.py").read_text() == MODULE
    error = refused(source, ["mod.A.m", "mod.A.k"], old="y + LIMIT", new="y")  # type: ignore[arg-type]
    assert error.message.startswith("Request 1 of 2, edit: old does not occur in mod.A.m")
    wrong = refused(source, ["mod.A.m", "mod.A.k"], old="x", new="y", if_match="0" * 16)  # type: ignore[arg-type]
    assert "can be given with one target only" in wrong.message


def test_names_on_standard_input_change_alike(source: Source) -> None:
    listed = run("glob", "mod.A.?", folder=source.root)
    done = run("edit", "-", "--old", "if x:", "--new", "if not x:", folder=source.root, stdin=listed.out)
    assert done.status == 0, done.err_text
    assert (source.root / "mod.py").read_text() == MODULE.replace("if x:", "if not x:")


def test_an_import_that_several_modules_get_is_reported_once(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text("X = 1\n")
    outcome = Source(tmp_path).edit(["a.X", "b.X", "c.X"], old="1", new="os.sep", imports=["import os"], reload="off")
    messages = [notice.message for notice in outcome.warnings if notice.code == "imports_added"]
    assert messages == ["Added to a, b, c: import os."]
