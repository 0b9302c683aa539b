"""Folders that may not be listed or entered and files that may not be read: they are named, and no answer is complete.

Root may look anywhere, so the questions are asked by another user, about a project that was closed to that user.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from bae_source.errors import Refused, ResourceError
from bae_source.model.outcome import Outcome
from bae_source.project.workspace import Workspace
from tests.another_user import AnotherUser, open_folder
from tests.queries import questions_closed
from tests.queries.questions_closed import SELECTOR
from tests.queries.support import close, laid

FILES: dict[str, str | bytes] = {
    "pk/__init__.py": "",
    "pk/core.py": "class A: ...\ndef f(): ...\n",
    "pk/closed.py": "from pk.core import A, f\n",
    "pk/latin.py": b"from pk.core import A, f\nx = '\xff'\n",
    "pk/sub/__init__.py": "from pk.core import A, f\nclass B(A): ...\n",
    "pk/sub/page.html": "<p>\n",
    "pk/art/logo.txt": "logo\n",
    "pk/art/inner/old.txt": "old\n",
    "pk/closed.txt": "text\n",
    "top/thing.txt": "thing\n",
    "other/__init__.py": "",
    "other/m.py": "x = 1\n",
}
CLOSED = ("pk/closed.py", "pk/closed.txt", "pk/sub", "pk/art/inner", "top")


@pytest.fixture(scope="module", params=[0o000, 0o444], ids=["closed", "not entered"])
def answers(request: pytest.FixtureRequest, another_user: AnotherUser) -> dict[str, Any]:
    with open_folder() as root:
        laid(root, FILES)
        for path in CLOSED:
            (root / path).chmod(request.param if (root / path).is_dir() else 0o000)
        try:
            done = another_user.run("-c", Path(questions_closed.__file__).read_text("utf-8"), str(root), folder=root)
        finally:
            for path in CLOSED:
                (root / path).chmod(0o755)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = pickle.loads(done.stdout)
    return found


def messages(outcome: Outcome) -> list[str]:
    return [notice.message for notice in outcome.warnings]


@pytest.mark.parametrize("question", ["outline", "nothing listed", "read"])
def test_a_listing_of_the_project_names_what_may_not_be_listed(answers: dict[str, Any], question: str) -> None:
    outcome = answers[question]
    assert not outcome.complete
    assert messages(outcome) == ["pk.art.inner, pk.sub, top may not be listed, and what lies there was not shown."]
    assert [notice.code for notice in outcome.warnings] == ["forbidden"]


@pytest.mark.parametrize("question", ["outline of a package", "its own line", "read a package"])
def test_a_listing_of_a_package_names_what_may_not_be_listed_in_it(answers: dict[str, Any], question: str) -> None:
    outcome = answers[question]
    assert not outcome.complete
    assert messages(outcome)[0] == "pk.art.inner, pk.sub may not be listed, and what lies there was not shown."


@pytest.mark.parametrize("question", ["read a folder", "outline of a folder"])
def test_so_does_a_listing_of_a_folder_of_data_files(answers: dict[str, Any], question: str) -> None:
    outcome = answers[question]
    assert (outcome.text, outcome.complete) == ("pk:art/logo.txt (5 bytes)\n", False)
    assert messages(outcome) == ["pk.art.inner may not be listed, and what lies there was not shown."]


@pytest.mark.parametrize("question", ["outline of another", "outline of a module"])
def test_what_no_closed_folder_belongs_to_is_complete(answers: dict[str, Any], question: str) -> None:
    assert (answers[question].complete, messages(answers[question])) == (True, [])


def test_searches_say_the_same(answers: dict[str, Any]) -> None:
    lead = "pk.art.inner, pk.sub, top may not be listed, and what lies there was not searched."
    assert messages(answers["glob"])[0] == lead


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("closed package", "pk.sub may not be listed, so it is not known what is in it."),
        ("outline of the closed", "pk.sub may not be listed, so it is not known what is in it."),
        ("inside the closed", "pk.sub may not be listed, so it is not known whether pk.sub.B is there."),
        ("closed at the top", "top may not be listed, so it is not known what is in it."),
        ("closed data", "pk.sub may not be listed, so it is not known what is in it."),
        ("data in the closed", "pk.sub may not be listed, so it is not known whether pk:sub/page.html is there."),
        ("place in the closed", "pk.sub may not be listed, so it is not known what is in it."),
    ],
)
def test_a_name_in_a_closed_folder_is_not_reported_as_missing(
    answers: dict[str, Any], question: str, message: str
) -> None:
    error = answers[question]
    assert (error.code, error.message) == ("symbol_not_found", message)
    assert error.hints == ("Check its permissions; doctor says what mends them.",)
    assert not error.candidates


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("closed file", "pk.closed"),
        ("closed file in full", "pk.closed"),
        ("closed data file", "pk:closed.txt"),
        ("read by selector", "pk.closed"),
    ],
)
def test_a_file_that_may_not_be_read_is_named(answers: dict[str, Any], question: str, name: str) -> None:
    error = answers[question]
    assert (error.code, error.message, error.exit_code) == ("forbidden", f"{name} may not be read.", 5)
    assert error.hints == ("Check its permissions.",)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("skeleton in the closed", "pk.sub may not be listed, so it is not known what is in it."),
        ("snippet in the closed", "pk.sub may not be listed, so it is not known what is in it."),
        ("hover of the closed", "top may not be listed, so it is not known what is in it."),
    ],
)
def test_a_selector_of_what_is_in_a_closed_folder_is_not_reported_to_have_no_module(
    answers: dict[str, Any], question: str, message: str
) -> None:
    answer = answers[question]
    [fault] = answer["errors"]
    assert (fault["code"], fault["message"]) == ("SYMBOL_NOT_FOUND", message)
    assert (answer["data"], answer["next_actions"]) == (None, ["doctor"])


def test_a_selector_that_any_closed_folder_may_hold_names_them(answers: dict[str, Any]) -> None:
    answer = answers["path that may end there"]
    lead = "No module of the project has the path old, or a path that ends in it. "
    expected = "pk.art.inner, pk.sub, top may not be listed, and what lies there was not searched."
    assert answer["errors"][0]["message"] == lead + expected
    assert answer["next_actions"] == ["doctor", "search old"]
    exact = answers["exact path that cannot be there"]
    assert exact["errors"][0]["message"] == "No module of the project has the path pk/gone, from a source root on."
    assert "doctor" not in exact["next_actions"]


def test_a_place_in_a_file_that_may_not_be_read_is_known_by_its_module(answers: dict[str, Any]) -> None:
    outcome = answers["place in the closed file"]
    assert (outcome.address, outcome.text, outcome.complete) == ("pk.closed", "pk.closed: may not be read.\n", False)


@pytest.mark.parametrize("kind", ["skeleton", "snippet", "hover"])
def test_a_selector_of_a_file_that_may_not_be_read_has_a_code_of_the_format(answers: dict[str, Any], kind: str) -> None:
    [fault] = answers[kind]["errors"]
    assert (fault["code"], fault["message"]) == ("ENCODING_INVALID", "pk.closed may not be read.")
    assert fault["details"]["sym"] == SELECTOR
    assert (answers[kind]["kind"], answers[kind]["data"]) == (kind, None)
    assert answers[kind]["next_actions"] == ["doctor"]


@pytest.mark.parametrize("question", ["references", "callers", "subclasses", "importers"])
def test_who_refers_names_the_packages_that_may_hold_more(answers: dict[str, Any], question: str) -> None:
    outcome = answers[question]
    assert not outcome.complete
    for name in ("pk.sub", "pk.art.inner", "top"):
        assert f"{name} may not be listed, so there may be more in {name}." in messages(outcome)
    assert "pk.closed may not be read, so there may be more in pk.closed." in messages(outcome)


@pytest.mark.parametrize("question", ["references", "callers", "subclasses", "importers", "references again"])
def test_a_file_that_cannot_be_decoded_is_reported_in_the_same_words(answers: dict[str, Any], question: str) -> None:
    expected = "pk.latin cannot be decoded as utf-8: byte 30 on line 2 does not fit, so there may be more in pk.latin."
    assert expected in messages(answers[question])


def test_a_deletion_names_the_packages_that_may_hold_more(answers: dict[str, Any]) -> None:
    [notice] = [notice for notice in answers["deletion"].warnings if notice.code == "not_searched"]
    assert notice.message.startswith("5 files could not be looked into, so there may be more places in them: ")
    unparsed = [each.partition(": ")[0] for each in answers["deletion"].report["unparsed"]]
    assert unparsed == ["pk.art.inner", "pk.closed", "pk.latin", "pk.sub", "top"]


def test_what_holds_a_closed_folder_is_not_deleted(answers: dict[str, Any]) -> None:
    error = answers["deletion of the closed"]
    assert (error.code, error.message) == ("forbidden", "A folder in pk may not be listed.")


def test_a_selector_of_a_file_that_changed_meanwhile_has_a_code_of_the_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = laid(tmp_path, {"m.py": "x = 1\n"})

    def changed(self: Workspace, path: str) -> None:
        raise Refused("stale", "m changed while the project was read.", hints=["Ask again."])

    monkeypatch.setattr(Workspace, "tree_at", changed)
    answer = source.symbols("sym://python/mod/m")
    assert [fault["code"] for fault in answer["errors"]] == ["SYNTAX_INVALID"]
    assert answer["next_actions"] == ["Ask again."]


def test_a_closed_source_root_leaves_every_listing_incomplete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = laid(tmp_path, {"src/hidden.py": "", "pk/__init__.py": "", "pk/m.py": "x = 1\n"})
    close(monkeypatch, "src")
    for target in ("", "pk"):
        outcome = source.outline(target).outcome
        assert messages(outcome) == ["(a source root) may not be listed, and what lies there was not shown."]
        assert not outcome.complete
    assert source.outline("pk.m").complete
    with pytest.raises(ResourceError, match=r"\(a source root\) may not be listed, so it is not known whether gone is"):
        source.read("gone")


def test_a_project_of_which_nothing_may_be_listed_is_not_called_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = laid(tmp_path, {"pk/__init__.py": ""})
    close(monkeypatch, "pk")
    outcome = source.outline().outcome
    assert (outcome.text, outcome.complete) == ("(no Python modules)\n", False)
    assert messages(outcome) == ["pk may not be listed, and what lies there was not shown."]
