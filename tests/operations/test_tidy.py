"""Imports that changes leave unused, by `apply` and in transactions: only what all of them leave counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.errors import Refused, RequestError

CORE = "import json\n\n\ndef load(text):\n    return json.loads(text)\n\n\ndef dump(data):\n    return str(data)\n"
LOAD: dict[str, Any] = {"do": "edit", "target": "core.load", "old": "json.loads(text)", "new": "text"}
DUMP: dict[str, Any] = {"do": "edit", "target": "core.dump", "old": "str(data)", "new": "json.dumps(data)"}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "core.py").write_text(CORE)
    return Source(tmp_path)


def read(source: Source) -> str:
    return (source.root / "core.py").read_text()


def codes(outcome: Any) -> list[str]:
    return [each.code for each in outcome.warnings]


def test_apply_says_what_all_changes_leave_unused(source: Source) -> None:
    outcome = source.apply([LOAD, {**DUMP, "new": "repr(data)"}], reload="off")
    assert codes(outcome) == ["import_unused"]
    assert outcome.next_actions[1:] == ('imports_remove("core", names=["json"]) takes out what is unused now.',)
    assert read(source).startswith("import json\n")


def test_what_a_later_change_uses_again_stays(source: Source) -> None:
    outcome = source.apply([LOAD, DUMP], tidy=True, reload="off")
    assert codes(outcome) == []
    assert read(source).startswith("import json\n")


def test_apply_takes_out_what_all_changes_leave_unused(source: Source) -> None:
    outcome = source.apply([LOAD], tidy=True, reload="off")
    assert codes(outcome) == ["imports_removed"]
    assert read(source).startswith("def load(text):\n    return text\n")
    source.undo(outcome.operation_id, reload="off")
    assert read(source) == CORE


def test_a_transaction_is_tidied_by_its_commit(source: Source) -> None:
    with source.transaction("drop json", tidy=True, reload="off") as tx:
        first = tx.edit("core.load", old="json.loads(text)", new="text")
        assert codes(first) == []
        assert "import json" in tx.read("core", full=True)
        assert codes(tx.preview()) == ["import_unused"]
    assert read(source).startswith("def load(text):")


def test_a_transaction_that_uses_it_again_keeps_it(source: Source) -> None:
    with source.transaction("move json", tidy=True, reload="off") as tx:
        tx.edit("core.load", old="json.loads(text)", new="text")
        tx.edit("core.dump", old="str(data)", new="json.dumps(data)")
    assert read(source).startswith("import json\n")


def test_a_dry_run_shows_what_would_go(source: Source) -> None:
    outcome = source.edit("core.load", old="json.loads(text)", new="text", tidy=True, dry_run=True)
    assert "-import json" in outcome.diff
    assert read(source) == CORE


def test_only_requests_that_plan_a_change_take_it(source: Source) -> None:
    source.apply([LOAD], reload="off")
    with pytest.raises(RequestError, match="tidy is unknown"):
        source.undo(tidy=True)  # type: ignore[call-arg]


REMOVE: dict[str, Any] = {"do": "imports_remove", "target": "core", "names": ["json"]}
OTHER: dict[str, Any] = {"do": "edit", "target": "web.X", "new_source": "X = 2"}


@pytest.mark.parametrize("requests", [[REMOVE, LOAD], [LOAD, REMOVE]])
def test_an_import_may_go_before_what_uses_it_does(source: Source, requests: list[dict[str, Any]]) -> None:
    outcome = source.apply(requests, reload="off")
    assert outcome.status == "applied"
    assert read(source).startswith("def load(text):\n    return text\n")


@pytest.mark.parametrize("web", ["from core import json\nX = 1\n", "import core\nX = 1\ncore.json.dumps(X)\n"])
def test_an_import_that_is_still_used_in_the_end_is_refused(source: Source, web: str) -> None:
    (source.root / "web.py").write_text(web)
    for requests, lines in (([REMOVE, OTHER], "core:"), ([REMOVE, LOAD, OTHER], "web:")):
        with pytest.raises(Refused, match="json of core is still used, and its import was not taken out") as caught:
            source.apply(requests, reload="off")
        assert lines in caught.value.message
        assert caught.value.hints == ('imports_remove("core", names=["json"], force=True) takes it out all the same.',)
        assert read(source) == CORE


def test_what_another_module_imports_from_elsewhere_is_no_user(source: Source) -> None:
    (source.root / "web.py").write_text("import json\nX = json.dumps(1)\n")
    assert source.apply([REMOVE, LOAD, OTHER], reload="off").status == "applied"


def test_all_imports_that_go_are_named(tmp_path: Path) -> None:
    names = ["abc", "ast", "bisect", "calendar", "csv", "dis", "json"]
    imports = "".join(f"import {name}\n" for name in names)
    (tmp_path / "core.py").write_text(f"{imports}\n\ndef load():\n    return {', '.join(names)}\n")
    outcome = Source(tmp_path).delete("core.load", tidy=True, reload="off", dry_run=True)
    message = next(each.message for each in outcome.warnings if each.code == "imports_removed")
    assert message.endswith(f": core ({', '.join(names)}).")
    left = Source(tmp_path).delete("core.load", reload="off")
    message = next(each.message for each in left.warnings if each.code == "import_unused")
    assert message.startswith(f"Nothing uses {', '.join(names)} of core any more")
