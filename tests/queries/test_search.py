"""search: which symbols come first and why, where it looks, and what it could not look at."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bae_source import LookupFailed, RequestError, Source
from benchmarks import corpus
from tests.adapters.support import run
from tests.queries.support import laid

APP = {
    "app/__init__.py": '"""Mail and dates."""\n',
    "app/mail.py": (
        '"""Sending mails."""\n\n\ndef send_mail(to):\n    """Send one message."""\n\n\nclass Mailer:\n'
        '    """Keeps a connection.\n\n    It retries when sending fails.\n    """\n\n    # sends in the background\n'
        "    def push(self): ...\n\n\nMAX_RETRIES = 3\n"
    ),
    "app/dates.py": "def parseHTTPDate(text): ...\n\n\ndef parse(text):\n    '''Parse any date.'''\n",
    "tests/test_mail.py": "def test_send_mail(): ...\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    return laid(tmp_path, APP)


def addresses(source: Source, *words: str, **options: object) -> list[str]:
    return [symbol.address for symbol in source.search(*words, **options).outcome.found]  # type: ignore[arg-type]


def test_the_best_symbol_comes_first_and_says_why(app: Source) -> None:
    assert app.search("send mail").splitlines()[0] == (
        "app.mail.send_mail — Send one message.  (name: send, mail; path: mail; summary: send)"
    )
    assert app.search("send mail").complete


def test_names_are_taken_apart(app: Source) -> None:
    assert addresses(app, "parse", "http", "date")[0] == "app.dates.parseHTTPDate"
    assert addresses(app, "parseHttpDate")[0] == "app.dates.parseHTTPDate"
    assert addresses(app, "max_retries")[0] == "app.mail.MAX_RETRIES"


def test_endings_do_not_matter(app: Source) -> None:
    assert addresses(app, "retry") == addresses(app, "retries")
    assert set(addresses(app, "sending")) == set(addresses(app, "sends"))


def test_docstrings_and_comments_are_searched(app: Source) -> None:
    assert addresses(app, "connection") == ["app.mail.Mailer"]
    assert addresses(app, "background") == ["app.mail.Mailer.push"]
    [symbol] = app.search("background").outcome.found
    assert (symbol.why, symbol.kind, symbol.line) == ((("comments", ("background",)),), "method", 15)


def test_a_word_inside_a_longer_one_counts_less(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "def safestring(): ...\ndef safe_text(): ...\n"})
    assert addresses(source, "safe") == ["m.safe_text", "m.safestring"]


def test_tests_come_behind_what_they_test(app: Source) -> None:
    found = addresses(app, "send mail")
    assert found.index("app.mail.send_mail") < found.index("tests.test_mail.test_send_mail")


def test_the_order_is_the_same_each_time_and_ties_are_by_address(tmp_path: Path) -> None:
    source = laid(tmp_path, {f"{name}.py": "def go_there(): ...\n" for name in "cab"})
    assert addresses(source, "go there") == ["a.go_there", "b.go_there", "c.go_there"]
    assert source.search("go there") == Source(source.root).search("go there")


def test_only_so_many_are_shown_and_more_can_be_asked_for(app: Source) -> None:
    found = app.search("mail", limit=1)
    assert len(found.outcome.found) == 1
    assert found.outcome.next_actions[-1] == 'search("mail", limit=2)'
    assert len(app.search("mail", limit=100).outcome.found) > 3


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("app.dates", []),
        ("app.mail.Mailer", ["app.mail.Mailer", "app.mail.Mailer.push"]),
        ("app.mail.Mailer.push", ["app.mail.Mailer.push"]),
        ("tests", ["tests.test_mail.test_send_mail"]),
    ],
)
def test_a_scope_limits_the_search(app: Source, scope: str, expected: list[str]) -> None:
    assert sorted(addresses(app, "send", scope=scope)) == expected


def test_every_answer_is_an_address(app: Source) -> None:
    for address in addresses(app, "send mail parse date retry", limit=100):
        assert app.read(address).address == address


def test_words_outside_ascii_are_found(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "m.py": "def größe(): ...\n",
        "n.py": "# coding: latin-1\ndef f():\n    'Die Größe.'\n".encode("latin-1"),
    }
    assert addresses(laid(tmp_path, files), "Größe") == ["m.größe", "n.f"]


def test_words_that_say_nothing_do_not_count_beside_others(app: Source) -> None:
    assert addresses(app, "how to send a mail") == addresses(app, "send mail")


def test_nothing_that_fits_is_an_answer(app: Source) -> None:
    found = app.search("zebra")
    assert (found, found.complete, found.outcome.found) == ("(no matches)", True, ())


@pytest.mark.parametrize("words", [(), ("",), ("  ", "!?"), tuple(f"word{n}x{n}" for n in range(40))])
def test_no_words_or_too_many_are_refused(app: Source, words: tuple[str, ...]) -> None:
    with pytest.raises(RequestError) as caught:
        app.search(*words)
    assert caught.value.code == "invalid_arguments"


def test_options_and_scopes_that_are_wrong_are_refused(app: Source) -> None:
    with pytest.raises(RequestError):
        app.search("mail", limit=0)
    with pytest.raises(LookupFailed):
        app.search("mail", scope="app.nett")


def test_a_file_that_does_not_parse_is_reported_if_it_could_fit(tmp_path: Path) -> None:
    source = laid(tmp_path, {"good.py": "def needle(): ...\n", "bad.py": "def needle(:\n"})
    found = source.search("needle")
    assert [symbol.address for symbol in found.outcome.found] == ["good.needle"]
    assert not found.complete
    assert [notice.message.split(":")[0] for notice in found.outcome.warnings] == ["bad was not searched"]
    assert source.search("zebra").complete


def test_an_edit_is_seen_at_once(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "def f():\n    '''Say one.'''\n"})
    assert source.search("zebra") == "(no matches)"
    source.edit("m.f@docstring", "'''Say zebra.'''", reload="off")
    assert addresses(source, "zebra") == ["m.f"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("basic auth", "requests.auth.HTTPBasicAuth"),
        ("parse dict header", "requests.utils.parse_dict_header"),
        ("guess json encoding", "requests.utils.guess_json_utf"),
        ("follow redirects", "requests.sessions.SessionRedirectMixin.resolve_redirects"),
        ("default timeout session adapter", "requests.adapters.HTTPAdapter"),
    ],
)
def test_what_a_person_looks_for_in_requests_is_among_the_first_ten(words: str, expected: str, tmp_path: Path) -> None:
    root = tmp_path / "requests"
    shutil.copytree(corpus.fetch(next(each for each in corpus.RELEASES if each.name == "requests")), root)
    assert expected in addresses(Source(root), words)


def test_the_command_line_prints_the_same(app: Source) -> None:
    called = run("search", "background", "--limit", "3", folder=app.root)
    assert (called.status, called.err) == (0, b"")
    assert called.out == b"app.mail.Mailer.push  (comments: background)\n"
    several = run("search", "send", "mail", "--scope", "app", folder=app.root)
    assert several.out.startswith("app.mail.send_mail — Send one".encode())
    assert run("search", folder=app.root).status == 2


def test_a_file_whose_name_is_no_text_is_searched_like_others(tmp_path: Path) -> None:
    try:
        (tmp_path / "b\udcffad.py").write_text("def send(): ...\n")
    except OSError:
        pytest.skip("the file system takes no such name")
    outcome = laid(tmp_path, {"m.py": "def send(): ...\n"}).search("send").outcome
    assert [line.partition("  ")[0] for line in outcome.text.splitlines()] == ["b\udcffad", "m.send"]
