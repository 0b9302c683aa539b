"""Notebooks and scripts without `.py`: no answer that they may have something to do with is complete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.project.files import stamps
from tests.queries.support import laid

MODULES = {
    "pyproject.toml": "",
    "pkg/__init__.py": "class A:\n    def f(self): ...\n",
    "other.py": "from pkg import A\n",
}
RUN = "from pkg import A\nA().f()\n"


def notebook(*cells: tuple[str, str], output: str = "") -> str:
    """Return a notebook with cells of some types, each with its source in lines."""
    return json.dumps(
        {
            "cells": [
                {"cell_type": kind, "source": text.splitlines(keepends=True), "outputs": [output], "metadata": {}}
                for kind, text in cells
            ],
            "metadata": {},
            "nbformat": 4,
        }
    )


SPEAKING = {
    ":nb.ipynb is a notebook, whose cells are not searched": {"nb.ipynb": notebook(("code", RUN))},
    "pkg:nb.ipynb is a notebook, whose cells are not searched": {"pkg/nb.ipynb": notebook(("code", "%time\n" + RUN))},
    ":torn.ipynb is a notebook, whose cells are not searched": {"torn.ipynb": '{"cells": [' + json.dumps(RUN)},
    ":bin/serve is a script whose name does not end in .py, so it is not searched": {
        "bin/serve": "#!/usr/bin/env python3\n" + RUN
    },
    ":run is a script whose name does not end in .py, so it is not searched": {
        "run": "#!/usr/bin/env -S uv run --script\n" + RUN
    },
    ":site.wsgi is a script whose name does not end in .py, so it is not searched": {"site.wsgi": RUN},
}
SILENT = {
    "of other names": {"nb.ipynb": notebook(("code", "As = fs")), "serve": "#!/usr/bin/python\n# pkgs, AB, f2\n"},
    "in text and drawings": {"nb.ipynb": notebook(("markdown", RUN), ("code", "x"), output="pkg A f \x1b[0m")},
    "no programs": {"LICENSE": RUN, "tool": "#!/bin/sh\n" + RUN, "nb.json": notebook(("code", RUN))},
    "of an editor": {".ipynb_checkpoints/nb.ipynb": notebook(("code", RUN))},
    "ignored": {".gitignore": "*.ipynb\n/serve\n", "nb.ipynb": notebook(("code", RUN)), "serve": "#!python\n" + RUN},
}
ASKED = [("references", "pkg.A"), ("callers", "pkg.A.f"), ("subclasses", "pkg.A"), ("overrides", "pkg.A.f"),
         ("importers_of", "pkg")]  # fmt: skip


@pytest.mark.parametrize(("verb", "asked"), ASKED)
@pytest.mark.parametrize("message", SPEAKING)
def test_one_that_mentions_the_target_is_named(tmp_path: Path, message: str, verb: str, asked: str) -> None:
    answer = getattr(laid(tmp_path, {**MODULES, **SPEAKING[message]}), verb)(asked)
    assert not answer.complete
    (notice,) = answer.outcome.warnings
    assert notice.message == f"{message}, so there may be more in {message.partition(' ')[0]}."


@pytest.mark.parametrize(("verb", "asked"), ASKED)
@pytest.mark.parametrize("kind", SILENT)
def test_what_runs_nothing_of_the_name_leaves_the_answer_complete(
    tmp_path: Path, kind: str, verb: str, asked: str
) -> None:
    (tmp_path / ".git").mkdir()
    answer = getattr(laid(tmp_path, {**MODULES, **SILENT[kind]}), verb)(asked)
    assert (answer.complete, answer.outcome.warnings) == (True, ())


def test_letters_that_are_escaped_in_a_notebook_are_read(tmp_path: Path) -> None:
    files = {"pkg.py": "def größe(): ...\ndef f(): ...\n", "nb.ipynb": notebook(("code", "import pkg\npkg.größe()"))}
    source = laid(tmp_path, files)
    assert "gr\\u00f6\\u00dfe" in files["nb.ipynb"]
    assert not source.references("pkg.größe").complete
    assert source.references("pkg.f").complete


@pytest.mark.parametrize("settled", [False, True])
def test_a_live_engine_notices_when_one_begins_to_speak_of_it(
    tmp_path: Path, settled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "TICK", 0 if settled else 2_000_000_000)
    source = laid(tmp_path, {**MODULES, "nb.ipynb": notebook(), "serve": "#!/usr/bin/python\n"})
    for text in ("", RUN, "x = 1\n", RUN):
        for path, content in (("nb.ipynb", notebook(("code", text))), ("serve", "#!/usr/bin/python\n" + text)):
            (tmp_path / path).write_text(content)
            for verb, asked in (*ASKED, *ASKED):
                assert getattr(source, verb)(asked).complete is (text != RUN)
            (tmp_path / path).write_text("")
        assert source.references("pkg.A").complete


def test_one_that_comes_and_goes_is_noticed_by_a_live_engine_and_by_another(tmp_path: Path) -> None:
    source = laid(tmp_path, MODULES)
    for there in (False, True, False, True):
        if there:
            (tmp_path / "nb.ipynb").write_text(notebook(("code", RUN)))
        else:
            (tmp_path / "nb.ipynb").unlink(missing_ok=True)
        for engine in (source, Source(tmp_path)):
            for verb, asked in ASKED:
                assert getattr(engine, verb)(asked).complete is not there


def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "nb.ipynb").write_text(notebook(("code", RUN)))
    source = laid(tmp_path / "project", MODULES)
    (tmp_path / "project" / "nb.ipynb").symlink_to(tmp_path / "nb.ipynb")
    assert source.references("pkg.A").complete


def test_a_change_of_what_one_may_use_names_it(tmp_path: Path) -> None:
    source = laid(tmp_path, {**MODULES, "other.py": "", "serve": "#!/usr/bin/python\n" + RUN})
    (notice,) = source.move("pkg", "pkb", reload="off").warnings
    assert notice.code == "not_searched"
    assert notice.message.startswith(":serve is a script")
    assert notice.message.endswith("so there may be more places in it.")
