"""Symbols by the last parts of their names: read, searched in, changed; refused where they are several."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import LookupFailed, Source
from bae_source.adapters.cli.cli import through_service
from tests.adapters.support import call, run
from tests.patching.support import state
from tests.queries.support import laid

FILES: dict[str, str | bytes] = {
    "app/__init__.py": "from app.net import Client\n",
    "app/net.py": """\
class Base:
    def close(self):
        return 0


class Client(Base):
    def __init__(self):
        self.wait = 5

    def send(self):
        return self.wait

    @property
    def size(self):
        return 1

    @size.setter
    def size(self, value):
        pass


def connect():
    return Client().send()


class Größe: pass
""",
    "app/web.py": "class Socket:\n    def send(self):\n        return 2\n\n\ndef app():\n    return Socket\n",
    "app/sub/__init__.py": "",
    "app/sub/deep.py": "LIMIT = 3\n\nif LIMIT:\n    def twice(): pass\nelse:\n    def twice(): pass\n",
    "app/broken.py": "def Client(:\n",
    "notes.md": "connect\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    return laid(tmp_path, FILES)


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("Client.send", "app.net.Client.send"),
        ("net.Client.send", "app.net.Client.send"),
        ("connect", "app.net.connect"),
        ("connect@body", "app.net.connect@body"),
        ("Client.size", "app.net.Client.size"),
        ("deep.LIMIT", "app.sub.deep.LIMIT"),
        ("Gro\u0308ße", "app.net.Größe"),
        ("twice[1]", "app.sub.deep.twice[1]"),
        ("deep.twice[0]@body", "app.sub.deep.twice[0]@body"),
    ],
)
def test_the_last_parts_of_a_name_stand_for_the_only_symbol_that_has_them(app: Source, short: str, full: str) -> None:
    found, plain = app.read(short), app.read(full)
    assert (found, found.etag, found.address) == (plain, plain.etag, full)
    [notice] = found.outcome.warnings
    assert (notice.code, notice.message) == ("short_name", f"{short} is {full}.")
    assert plain.outcome.warnings == ()


@pytest.mark.parametrize(
    ("short", "candidates"),
    [
        ("send", ("app.net.Client.send", "app.web.Socket.send")),
        ("twice", ("app.sub.deep.twice[0]", "app.sub.deep.twice[1]")),
    ],
)
def test_of_several_none_is_chosen_and_nothing_is_changed(app: Source, short: str, candidates: tuple[str, ...]) -> None:
    before = state(app.root)
    asked = (
        lambda: app.read(short),
        lambda: app.references(short),
        lambda: app.edit(short, "def send(self): pass"),
        lambda: app.rename(short, "put"),
        lambda: app.delete(short),
        lambda: app.apply([{"do": "delete", "target": short}]),
    )
    for ask in asked:
        with pytest.raises(LookupFailed, match=f"{short} is ambiguous: the names of 2 symbols end so") as error:
            ask()
        assert error.value.candidates == candidates
    assert state(app.root) == before


def test_a_module_s_name_is_never_short_for_something_else(app: Source) -> None:
    assert app.read("app").address == "app"  # and not the function app.web.app
    for name in ("deep", "sub.deep", "app.send", "nowhere"):
        with pytest.raises(LookupFailed):
            app.read(name)


def test_what_a_class_inherits_or_sets_on_itself_is_found_by_its_short_name(app: Source) -> None:
    assert app.read("Client.wait") == app.read("app.net.Client.wait")
    with pytest.raises(LookupFailed) as error:
        app.read("Client.close")
    assert error.value.candidates == ("app.net.Base.close",)


def test_changes_take_short_names_and_name_the_symbol_in_full(app: Source) -> None:
    before = state(app.root)
    assert "app.net.Client.send" in app.edit("Client.send", old="self.wait", new="self.wait + 1").text
    app.rename("Client.send", "put")
    assert "def put(self):\n        return self.wait + 1" in (app.root / "app/net.py").read_text()
    steps = [
        {"do": "rename", "target": "connect", "new_name": "join"},
        {"do": "edit", "target": "join", "old": "Client()", "new": "Client(  )"},
    ]
    app.apply(steps)
    assert "def join():\n    return Client(  )" in (app.root / "app/net.py").read_text()
    for _ in range(3):
        app.undo()
    assert state(app.root) == before


def test_a_new_module_is_never_taken_for_the_short_name_of_a_symbol(app: Source) -> None:
    app.write("connect", "X = 1\n")
    assert (app.root / "connect.py").read_text() == "X = 1\n"


def test_a_wrong_module_is_answered_with_the_symbols_whose_names_end_so(app: Source) -> None:
    before = state(app.root)
    for name in ("app.Socket.send", "app.models.Socket.send", "nowhere.Socket.send"):
        for words in (("read", name), ("edit", name, "--old", "2", "--new", "3")):
            called = call("--root", str(app.root), *words, door=through_service)
            assert called.status == 3, called.err_text
            assert "candidates:\n  app.web.Socket.send\n" in called.err_text
    called = call("--root", str(app.root), "read", "app.net.Client.sned", door=through_service)
    assert "app.web" not in called.err_text
    assert state(app.root) == before


def test_the_history_of_a_short_name_is_the_symbol_s(app: Source) -> None:
    app.edit("app.net.connect", old="Client()", new="Client(  )")
    app.edit("app.web.app", old="Socket", new="Socket  # it")
    found = app.history("connect")
    assert found == app.history("app.net.connect")
    assert "app.net.connect" in found
    assert "app.web" not in found
    assert [notice.message for notice in found.outcome.warnings] == ["connect is app.net.connect."]
    with pytest.raises(LookupFailed, match="send is ambiguous"):
        app.history("send")


def test_tests_take_short_names(tmp_path: Path) -> None:
    test = b"from app.net import connect\n\n\ndef test_connect():\n    assert connect() == 5\n"
    app = laid(tmp_path, {**FILES, "test_app.py": test, "test_other.py": "def test_it():\n    assert True\n"})
    assert app.tests_list("test_connect").splitlines()[-1] == "test_app.test_connect"
    assert app.tests_run("test_connect").text.startswith("The test passed")
    assert app.tests_run(affected_by=["Client.send"]).text.startswith("The test passed")
    assert "test_app.test_connect" in app.tests_results("test_connect")


def test_scopes_and_transactions_take_short_names(app: Source) -> None:
    assert app.grep("return", scope="Socket") == "app.web:3: return 2"
    text = b"edit Client.send --old self.wait --new 7\nread Client.send\n"
    called = run("do", folder=app.root, stdin=text)
    assert called.status == 0, called.err_text
    assert "return 7" in called.out.decode()
    assert "return 7" in (app.root / "app/net.py").read_text()
