"""Several names in one reading: in order, each once, below its address and etag; what is wrong beside the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bae_source import LookupFailed, Refused, RequestError, Source
from bae_source.adapters.cli.cli import through_service
from bae_source.project.reading import several
from tests.adapters.support import Called, call
from tests.queries.support import laid

NET = '''\
"""Sending."""


class Client:
    """A client."""

    def send(self):
        return 1

    def close(self):
        return 2


def connect():
    return Client()
'''
FILES: dict[str, str | bytes] = {
    "app/__init__.py": "from app.net import Client\n",
    "app/net.py": NET,
    "app/broken.py": "def f(:\n",
    "app/page.html": "<p>hello</p>",
    "README.md": "# App\n",
    "docs/a.txt": "a\n",
    "docs/b.txt": "b\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    return laid(tmp_path, FILES)


def cli(app: Source, *words: str, stdin: bytes = b"") -> Called:
    return call("--root", str(app.root), *words, door=through_service, stdin=stdin)


def heads(text: str) -> list[str]:
    return [line.split()[1] for line in text.splitlines() if line.startswith(("# app", "# :"))]


def test_each_is_shown_below_its_address_place_and_etag(app: Source) -> None:
    found = app.read(["app.net.Client.send", "app.net.connect"])
    one, other = app.read("app.net.Client.send"), app.read("app.net.connect")
    assert found == (
        f"# app.net.Client.send  app.net:7  etag {one.etag}\n{one}\n"
        f"# app.net.connect  app.net:14  etag {other.etag}\n{other}"
    )
    assert (found.complete, found.outcome.warnings, found.etag, found.address) == (True, (), None, None)
    assert [(each.address, each.etag, each.kind) for each in found.outcome.found] == [
        ("app.net.Client.send", one.etag, "method"),
        ("app.net.connect", other.etag, "function"),
    ]


def test_the_etag_of_one_of_several_is_good_for_a_change(app: Source) -> None:
    first = app.read(["app.net.connect", "app.net.Client.send"]).outcome.found[0]
    app.edit(first.address, "def connect():\n    return None\n", if_match=first.etag)
    with pytest.raises(Refused):
        app.edit(first.address, "def connect():\n    return 0\n", if_match=first.etag)


def test_what_several_names_mean_is_shown_once_in_the_order_given(app: Source) -> None:
    found = app.read(["app.net.connect", "app.Client.close", "app.net.Client.close", "app.net.connect"])
    assert heads(found) == ["app.net.connect", "app.net.Client.close"]


def test_modules_files_and_selectors_may_be_among_them(app: Source) -> None:
    found = app.read(["app.net", "app:page.html", ":README.md", "sym://python/type/app/net/connect"])
    assert heads(found) == ["app.net", "app:page.html", ":README.md", "app.net.connect"]
    assert "# app.net  (interface)\napp.net — Sending." in found
    assert "<p>hello</p>\n" in found
    assert found.outcome.found[0].etag is None


def test_what_is_bound_without_a_definition_is_shown_where_it_is_bound(app: Source) -> None:
    text = "class A:\n    def go(self):\n        self.n = 1\n\n\nfor i in ():\n    pass\n"
    (app.root / "app/bound.py").write_text(text)
    found = app.read(["app.bound.A.n", "app.bound.i"])
    assert "# app.bound.A.n  app.bound:3  (statements)\napp.bound:3: self.n = 1\n" in found
    assert "# app.bound.i  app.bound:6  (statements)\napp.bound:6: for i in ():\n" in found
    assert [(each.kind, each.etag) for each in found.outcome.found] == [("attribute", None), ("variable", None)]


def test_a_pattern_stands_for_what_matches_it(app: Source) -> None:
    assert heads(app.read("app.net.*")) == ["app.net.Client", "app.net.connect"]
    assert heads(app.read(["app.net.Client.s*", "app.net.c?nnect"])) == ["app.net.Client.send", "app.net.connect"]
    assert heads(app.read(":docs/*.txt")) == [":docs/a.txt", ":docs/b.txt"]


def test_a_pattern_that_nothing_matches_is_not_found(app: Source) -> None:
    with pytest.raises(LookupFailed, match=r"Nothing matches app\.net\.x\*"):
        app.read("app.net.x*")
    called = cli(app, "read", "app.net.x*")
    assert "-> search app.net.x looks for the words.\n" in called.err_text
    assert cli(app, "search", "app.net.x").status == 0


def test_a_pattern_that_matches_too_much_is_refused(app: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several, "MOST", 1)
    with pytest.raises(Refused, match="matches 2 names, more than the 1") as caught:
        app.read("app.net.*")
    assert caught.value.hints == ('glob("app.net.*") lists them.',)


def test_the_fault_of_one_is_reported_and_the_rest_answered(app: Source) -> None:
    found = app.read(["app.net.Client.sent", "app.net.connect", "app/net.py", "app.broken.f"])
    assert heads(found)[0] == "app.net.connect"
    messages = {each.code: each.message for each in found.outcome.warnings}
    assert "Candidates: app.net.Client.send" in messages["symbol_not_found"]
    assert "Try app.net." in messages["invalid_name"]
    assert "syntax_invalid" in messages
    assert (found.complete, found.outcome.status) == (False, "answer")


def test_the_exit_status_is_that_of_a_name_not_found(app: Source) -> None:
    called = cli(app, "read", "app.net.nope", "app.net.connect")
    assert (called.status, b"def connect" in called.out) == (3, True)
    assert "warning[symbol_not_found]" in called.err_text
    assert cli(app, "read", "app/net.py", "app.net.connect").status == 3
    assert cli(app, "read", "app.net.connect", "app.net.Client").status == 0


def test_where_none_is_found_it_is_an_error(app: Source) -> None:
    with pytest.raises(LookupFailed) as caught:
        app.read(["app.net.nope", "app.net.Client.sent"])
    assert "nope" in caught.value.message
    assert "sent" in caught.value.message
    assert "app.net.Client.send" in caught.value.candidates
    called = cli(app, "read", "app.net.nope", "app.net.Client.sent")
    assert (called.status, called.out) == (3, b"")


@pytest.mark.parametrize("names", [[], [""], ["\0"], [3]])
def test_what_is_no_name_is_refused(app: Source, names: list[object]) -> None:
    with pytest.raises(RequestError):
        app.read(names)  # type: ignore[arg-type]


def test_the_json_has_a_place_and_an_etag_for_each(app: Source) -> None:
    found = json.loads(cli(app, "read", "app.net.Client", "app.net.connect", "--json").out)
    assert found["counts"] == {"sure": 2, "probable": 0, "unsure": 0, "mentions": 0}
    assert found["found"][1] == {
        "module": "app.net",
        "symbol": "app.net.connect",
        "line": 14,
        "column": 1,
        "kind": "function",
        "certainty": "sure",
        "reason": "",
        "etag": app.read("app.net.connect").etag,
    }


def test_one_word_is_read_as_ever(app: Source) -> None:
    called = cli(app, "read", "app.net.connect")
    assert called.out.decode() == "def connect():\n    return Client()\n"
    assert json.loads(cli(app, "read", "app.net.connect", "--json").out)["found"] == []


def test_numbers_and_dedent_hold_for_each(app: Source) -> None:
    found = app.read(["app.net.Client.send", "app.net.Client.close"], dedent=True, numbers=True)
    assert "   7  def send(self):\n" in found
    assert "  10  def close(self):\n" in found


def test_a_budget_names_each_of_them_as_a_narrower_call(app: Source) -> None:
    with pytest.raises(Refused) as caught:
        app.within(100).read(["app.net.Client", "app.net.connect"])
    assert 'read("app.net.Client")' in caught.value.hints
