"""Lines of files as symbols: a place means what `where` says, a range its lines, and no path leads out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bae_source import LookupFailed, Refused, RequestError, Source
from bae_source.adapters.cli.cli import through_service
from tests.adapters.support import call
from tests.queries.support import laid

LONG = "class Long:\n" + "".join(f"    def m{n}(self):\n        return {n}\n\n" for n in range(60))
NET = """\
import os

LIMIT = 3


class Client:
    def send(self):
        return 1

    @property
    def size(self):
        return 2


def connect():
    return Client()
"""
FILES: dict[str, str | bytes] = {
    "src/app/__init__.py": "",
    "src/app/net.py": NET,
    "src/app/long.py": LONG,
    "src/app/broken.py": "x = 1\ndef f(:\n    pass\n",
    "src/app/42": "a file that is called by a number\n",
    "src/app/logo.png": b"\x89PNG\r\n\x1a\n\0\0",
    "README.md": "".join(f"line {n}\n" for n in range(1, 51)),
    "docs/my notes.txt": "a note\n",
    "src/app/page.txt": "a page\n",
    "crlf.txt": "a\r\nb\r\nc\r\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    return laid(tmp_path, FILES)


@pytest.mark.parametrize("place", ["src/app/net.py:8", "app.net:8", "src/app/net.py:8:5", "{root}/src/app/net.py:8"])
def test_a_line_is_read_as_the_symbol_that_it_lies_in(app: Source, place: str) -> None:
    found, plain = app.read(place.replace("{root}", str(app.root))), app.read("app.net.Client.send")
    assert (found, found.etag, found.address) == (plain, plain.etag, "app.net.Client.send")
    assert (found.outcome.warnings, found.outcome.next_actions) == ((), plain.outcome.next_actions)


def test_the_decorated_are_meant_from_their_decorator_on(app: Source) -> None:
    assert app.read("src/app/net.py:10").address == "app.net.Client.size"


def test_a_line_outside_of_all_symbols_is_shown_with_those_around_it(app: Source) -> None:
    found = app.read("src/app/net.py:1", numbers=True)
    assert found.startswith("   1  import os\n")
    assert (found.address, found.etag) == ("app.net", app.read("app.net", full=True).etag)
    [notice] = found.outcome.warnings
    assert notice.message == "Lines 1-11 of 16 are shown for src/app/net.py:1, which is in app.net."


def test_a_line_between_the_methods_of_a_long_class_is_not_all_of_it(app: Source) -> None:
    found = app.read("src/app/long.py:100")
    assert (found.address, found.etag) == ("app.long.Long", app.read("app.long.Long").etag)
    assert found.count("\n") == 21
    assert app.read("src/app/net.py:9").startswith("class Client:")


def test_a_range_is_its_lines_and_names_what_is_in_them(app: Source) -> None:
    found = app.read("src/app/net.py:7-15")
    assert found == "".join(NET.splitlines(keepends=True)[6:15])
    assert (found.address, found.etag) == ("app.net", app.read("app.net", full=True).etag)
    assert found.outcome.next_actions == (
        'read("app.net.Client.send")',
        'read("app.net.Client.size")',
        'read("app.net.connect")',
    )
    assert found.outcome.warnings == ()


def test_a_range_inside_one_symbol_has_its_address_and_etag(app: Source) -> None:
    found, plain = app.read("src/app/net.py:7-8", numbers=True), app.read("app.net.Client.send")
    assert found == "   7      def send(self):\n   8          return 1\n"
    assert (found.address, found.etag) == ("app.net.Client.send", plain.etag)


def test_text_files_have_lines_too(app: Source) -> None:
    found = app.read("README.md:10-12")
    assert (found, found.address) == ("line 10\nline 11\nline 12\n", ":README.md")
    assert found.etag == app.read(":README.md").etag
    assert app.read(":README.md:10-12") == found
    assert app.read(":docs/my notes.txt:1-1") == "a note\n"
    assert app.read("app:page.txt:1-1") == app.read(":src/app/page.txt:1-1") == "a page\n"
    assert app.read("crlf.txt:2-2") == "b\r\n"
    assert app.read("README.md:48-400").outcome.warnings[0].message == (
        "Lines 48-50 of 50 are shown for README.md:48-400, which is in :README.md."
    )


def test_what_does_not_parse_still_has_lines(app: Source) -> None:
    found = app.read("src/app/broken.py:2-3")
    assert found == "def f(:\n    pass\n"
    assert [each.code for each in found.outcome.warnings] == ["syntax_invalid"]
    assert [each.code for each in app.read("src/app/broken.py:2").outcome.warnings] == ["syntax_invalid", "lines"]


def test_a_file_that_is_called_by_a_number_is_itself(app: Source) -> None:
    assert app.read("app:42") == FILES["src/app/42"]


@pytest.mark.parametrize(
    ("place", "error", "expected"),
    [
        ("src/app/net.py:400", LookupFailed, "has 16 lines, and no line 400"),
        (":src/app/net.py:4-5", LookupFailed, "is a module"),
        ("README.md:51", LookupFailed, "has 50 lines, and no line 51"),
        ("src/app/nope.py:3", LookupFailed, "no file"),
        ("src/app/net.py:9-8", RequestError, "ends before it begins"),
        ("src/app/net.py:0", RequestError, "count from 1"),
        ("../other.py:3", Refused, "outside of the project"),
        ("/etc/passwd:1", Refused, "outside of the project"),
        ("src/app/\0net.py:3", RequestError, "no place"),
    ],
)
def test_what_is_not_there_is_reported(app: Source, place: str, error: type[Exception], expected: str) -> None:
    with pytest.raises(error, match=expected):
        app.read(place)


def test_a_link_that_leaves_the_project_is_not_followed(app: Source, tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("outside") / "secret.txt"
    secret.write_text("secret\n")
    (app.root / "link.txt").symlink_to(secret)
    with pytest.raises((LookupFailed, Refused)):
        app.read("link.txt:1-1")


def test_a_path_without_a_line_is_refused_with_its_address(app: Source) -> None:
    with pytest.raises(RequestError) as caught:
        app.read("src/app/net.py")
    assert caught.value.hints[0] == "Try app.net."


def test_the_command_line_takes_lines_among_names(app: Source) -> None:
    called = call("--root", str(app.root), "read", "src/app/net.py:8", "README.md:1-2", door=through_service)
    assert called.status == 0
    heads = [line.split()[1:3] for line in called.out.decode().splitlines() if line.startswith("# ")]
    assert heads == [["app.net.Client.send", "app.net:7"], [":README.md", ":README.md:1"]]
    called = call("--root", str(app.root), "read", "README.md:1-2", door=through_service)
    assert (called.out, called.err_text) == (b"line 1\nline 2\n", "")


def test_the_json_has_the_place_of_lines(app: Source) -> None:
    called = call("--root", str(app.root), "read", "src/app/net.py:7-8", "--json", door=through_service)
    [place] = json.loads(called.out)["found"]
    assert (place["symbol"], place["line"], place["kind"]) == ("app.net.Client.send", 7, "lines")
    assert place["etag"] == app.read("app.net.Client.send").etag
