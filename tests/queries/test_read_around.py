"""A symbol with its surroundings as comments above it, and an etag that is that of the symbol alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.adapters.cli.cli import through_service
from bae_source.project.reading import around
from tests.adapters.support import call
from tests.queries.support import laid

NET = """\
import json
import os
from app.errors import (
    Broken,
    Closed as Shut,
    Other,
)

LIMIT = 5
UNUSED = 6


class Base:
    pass


class Client(Base):
    \"\"\"A client.\"\"\"

    size = 3

    def send(self, data, json=None):
        if len(data) > LIMIT:
            raise Shut(os.sep)
        return wrapped(data), json

    @property
    def name(self):
        return self._name

    @name.setter
    def name(self, value):
        self._name = value

    def close(self): ...


def wrapped(data):
    return data


def go(client: Client):
    return client.send(1), wrapped(2)
"""
FILES = {
    "app/__init__.py": "",
    "app/net.py": NET,
    "app/errors.py": "class Broken(Exception): ...\nclass Closed(Exception): ...\nOther = 1\n",
    "app/use.py": "from app.net import Client, LIMIT\n\nClient().send(LIMIT)\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    return laid(tmp_path, FILES)


def test_a_method_has_its_class_imports_and_names_of_its_module_above_it(app: Source) -> None:
    found, plain = app.read("app.net.Client.send", around=True), app.read("app.net.Client.send")
    assert found.removesuffix(plain) == (
        "# in class Client(Base), app.net:17, beside\n"
        "#     size = 3\n"
        "#     @property def name(self)\n"
        "#     def close(self)\n"
        "# imports\n"
        "#     import os\n"
        "#     from app.errors import Closed as Shut\n"
        "# of app.net\n"
        "#     LIMIT = 5\n"
        "#     def wrapped(data)\n"
        "# callers: 2 sure\n"
    )
    edit = f'edit("app.net.Client.send", if_match="{plain.etag}")'
    assert found.outcome.next_actions == (edit, 'callers("app.net.Client.send")')
    assert (found.etag, found.address) == (plain.etag, plain.address)
    assert app.edit("app.net.Client.send", plain.replace("LIMIT", "UNUSED"), if_match=found.etag).status == "applied"


def test_what_uses_nothing_and_is_used_by_nothing_says_so(app: Source) -> None:
    assert app.read("app.net.Base", around=True).startswith("# callers: none found\nclass Base")
    assert app.read("app.net.UNUSED", around=True).startswith("# references: none found\nUNUSED")


def test_a_constant_has_its_references(app: Source) -> None:
    found = app.read("app.net.LIMIT", around=True)
    assert "# references: 3 sure\nLIMIT = 5\n" in found
    assert found.outcome.next_actions[1:] == ('references("app.net.LIMIT")',)


def test_callers_of_a_common_name_are_not_counted(app: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(around, "MOST_FILES", 1)
    text = app.read("app.net.Client.send", around=True)
    assert "# callers: not counted, for 2 files hold the name\n" in text


def test_of_many_members_the_number_of_the_others_is_reported(app: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(around, "MOST_MEMBERS", 1)
    monkeypatch.setattr(around, "LONGEST_SIGNATURE", 10)
    text = app.read("app.net.Client.close", around=True)
    assert "#     size = 3\n#     (+2)\n" in text
    assert text.startswith("# in class Cli…, app.net:17, beside\n")


def test_the_command_line_shows_it_for_each_of_several(app: Source) -> None:
    words = ("read", "app.net.wrapped", "app/net.py:22", "app.net", "--around", "--numbers")
    called = call("--root", str(app.root), *words, door=through_service)
    lines = called.out.decode().splitlines()
    assert called.status == 0
    assert [line for line in lines if line.startswith("# callers")] == ["# callers: 2 sure"] * 2
    assert "  23          if len(data) > LIMIT:" in lines


def test_a_modules_classes_name_their_public_methods(app: Source) -> None:
    text = app.read("app.net")
    assert "    class Base\n" in text
    assert "    class Client(Base) — A client.  has send, name, close\n" in text
    assert "has" not in app.outline("app", depth=2)
    assert "has" not in app.outline("app.net", depth=2)
