"""A change of the engine that passed its checks and proves bad: taken back, by the engine or without it."""

from __future__ import annotations

import shlex
import sys

from tests.adapters.meta.support import Installed, notices

REFUSED = "bae_source.errors.Refused"
GLOB = "bae_source.queries.glob.Glob.answer@body"


def test_a_bad_change_that_passed_is_taken_back_by_a_fresh_process(installed: Installed) -> None:
    before = installed.files()
    made = installed.typed("meta", "edit", GLOB, "--code", 'raise RuntimeError("bad")', "--why", "to try")
    assert [each["name"] for each in made["checks"]] == ["import", "smoke"]
    assert made["next_actions"][0] == f"meta undo {made['operation_id']}"
    assert set(notices(made)) >= {"engine_changed", "way_back"}
    assert installed.code("glob", "app*") == "internal_error"

    assert made["operation_id"] in installed.typed("meta", "history")["text"]
    assert "(no operations)" in installed.typed("history")["text"]
    assert installed.typed("meta", "undo")["status"] == "applied"
    assert not installed.changed_since(before)
    assert installed.typed("glob", "app*")["text"].strip() == "app"
    assert installed.state.is_dir()

    forgotten = installed.typed("meta", "forget")
    assert "old text of the engine" in forgotten["text"]
    assert forgotten["warnings"] == []


def test_a_program_that_needs_no_engine_brings_back_what_does_not_start(installed: Installed) -> None:
    before = installed.files()
    breaks = 'import os\nif os.environ.get("BROKEN"):\n    raise SystemExit("broken")'
    made = installed.typed("meta", "insert", "bae_source.errors", "--position", "last", "--code", breaks)
    assert made["status"] == "applied", made
    assert installed.python("-m", "bae_source", "meta", "undo", BROKEN="1").returncode == 1
    program, *words = shlex.split(notices(made)["way_back"].partition("back: ")[2])
    assert program == sys.executable

    spoilt = installed.package / "errors.py"
    changed = spoilt.read_bytes()
    spoilt.write_bytes(changed + b"# by hand\n")
    refused = installed.python(*words, BROKEN="1")
    assert refused.returncode == 1
    assert "was changed since" in refused.stderr
    spoilt.write_bytes(changed)

    done = installed.python(*words, BROKEN="1")
    assert done.returncode == 0, done.stderr
    assert not installed.changed_since(before)
    assert installed.typed("meta", "read", REFUSED)["status"] == "answer"
