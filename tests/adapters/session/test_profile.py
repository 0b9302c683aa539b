"""Profiles of a session: a name, a tree, help, completion or a hint offers no tool that the profile leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from bae_source import RequestError, Session
from bae_source.adapters.offer import ProfileName
from bae_source.adapters.session.places import PLACES, short_name
from bae_source.adapters.session.profile import Profile
from bae_source.engine.registry import REQUESTS
from bae_source.model.request import Effect
from tests.adapters.session.conftest import FILES, built, contents

CORE = ["read", "find", "grep", "references", "edit", "apply", "rename", "move", "delete", "undo"]
READING = [kind.verb for kind in REQUESTS if kind.effect is Effect.READS]
CHANGING = [verb for verb in REQUESTS.verbs if verb not in READING]
ANEW = 'Session(root) in Python, or "bae-source shell" without --profile, opens one that changes the project.'


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(built(tmp_path_factory.mktemp("read")), profile="read", seconds=20) as opened:
        yield opened


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(built(tmp_path_factory.mktemp("core")), profile="core", seconds=20) as opened:
        yield opened


def names(session: Session, place: str) -> set[str]:
    """Return the names of tools and transactions that a place gives the code."""
    verbs = [short_name(PLACES[place.rpartition(".")[2]], verb) for verb in REQUESTS.verbs]
    known = (*dict.fromkeys(verbs), "transaction", "call", "change")
    ran = session.run(f"{place}()\n[name for name in {known!r} if name in globals()]")
    return set(eval(ran.outcome.text))


@pytest.mark.parametrize("place", ["home", "source", "source.tests"])
def test_a_session_that_reads_offers_nothing_that_changes(reading: Session, place: str) -> None:
    there = PLACES[place.rpartition(".")[2]]
    expected = {short_name(there, verb) for verb in there.tools if verb in READING}
    assert expected
    assert names(reading, place) == expected
    assert set(eval(reading.run(f"{place}.supported_tools").outcome.text)) == expected
    assert not {*CHANGING, "transaction"} & set(eval(reading.run(f"dir({place})").outcome.text))
    for code in (f"{place}.nav()", f"print(help({place}))", place):
        shown = reading.run(code).text
        assert not [verb for verb in (*CHANGING, "transaction") if f"{verb}(" in shown or f"{verb}, " in shown]
        assert code == place or "This session only reads" in shown
    given = set(reading.namespace)
    assert given == {"home", "source", "back", "nav", *expected}


@pytest.mark.parametrize("verb", [*CHANGING, "transaction"])
def test_a_tool_that_changes_is_an_error_that_says_how_another_session_is_opened(reading: Session, verb: str) -> None:
    for code in (
        f'{verb}("app.client.limit")',
        f'source.{verb}("app.client.limit", dry_run=True)',
        f"source.app.client.{verb}",
        f"home.{verb}",
        f"source.tests.{verb}()",
        f"source[{verb!r}]",
    ):
        ran = reading.run(code)
        [failure] = ran.outcome.errors
        assert failure.code == "unknown_operation"
        assert failure.message == f"{verb} is not offered: this session only reads."
        assert failure.hints == (ANEW,)
    assert reading.run(f"hasattr(source, {verb!r})").outcome.text == "False"
    assert f"{verb} is not offered" in reading.run(f"help({verb!r})").text
    with pytest.raises(KeyError):
        reading.namespace[verb]
    with pytest.raises(RequestError, match="this session only reads"):
        getattr(reading.namespace["source"], verb)("app.client.limit")
    assert contents(reading.root) == FILES


def test_a_request_that_changes_is_refused_whatever_code_made_it(reading: Session) -> None:
    for verb, given in [
        ("edit", {"target": "app.client.limit", "new_source": "limit = 9"}),
        ("delete", {"target": "app.other"}),
        ("apply", {"requests": [{"do": "delete", "target": "app.other"}]}),
        ("tests_run", {}),
        ("undo", {}),
    ]:
        ran = reading.run(f"tool = source.read\ntype(tool)({verb!r}, tool._desk, tool._spot)(**{given!r})")
        assert ran.outcome.errors[0].message == f"{verb} is not offered: this session only reads."
    assert contents(reading.root) == FILES


def test_a_session_that_reads_answers_and_completes_what_it_offers(reading: Session) -> None:
    reading.run("source()")
    assert "limit = 3" in reading.run('read("app.client.limit")').text
    assert reading.complete("ed")[0] == ()
    assert reading.complete("source.ed")[0] == ()
    assert "reads" not in reading.run('reed("x")').text
    assert reading.run('reed("x")').outcome.errors[0].candidates == ("source.read",)
    assert reading.run('delte("x")').outcome.errors[0].candidates == ()
    assert reading.complete("outl")[0] == ("outline",)
    assert [word for word in reading.complete("transac")[0] if word == "transaction"] == []


def test_no_next_call_of_a_session_that_reads_is_one_of_a_change(reading: Session) -> None:
    with Session(reading.root) as full:
        hints = full.run("source.tests.results()").outcome.errors[0].hints
    assert any(each.startswith("source.tests.run(") for each in hints)
    assert reading.run("source.tests.results()").outcome.errors[0].hints == ()
    assert contents(reading.root) == FILES


@pytest.mark.parametrize("profile", ["read", "core"])
def test_the_profile_outlives_a_worker_that_was_lost(tmp_path: Path, profile: ProfileName) -> None:
    with Session(built(tmp_path), profile=profile) as session:
        before = names(session, "source.tests")
        assert session.run("import os; os._exit(3)").lost
        assert session.trail == ("home", "source", "tests")
        assert "edit" not in session.run("sorted(globals())").outcome.text
        assert names(session, "source.tests") == before
        if profile == "read":
            ran = session.run('source.edit("app.client.limit", "limit = 9")')
            assert ran.outcome.errors[0].hints == (ANEW,)
    assert contents(tmp_path) == FILES


@pytest.mark.parametrize(
    ("place", "verbs"), [("home", {"undo"}), ("source", {*CORE, "transaction"}), ("source.tests", set())]
)
def test_a_session_of_the_core_offers_few_tools_and_two_that_make_all_calls(
    core: Session, place: str, verbs: set[str]
) -> None:
    assert names(core, place) == {*verbs, "call", "change"}
    tree, shown = core.run("nav()").text, core.run(f"help({place})").text
    assert "call, change" in " ".join(tree.split())
    assert 'call(verb="help") lists all other verbs.' in tree
    assert "call(verb: str, arguments: dict = {}) -> str | dict" in shown
    assert "change(verb: str, arguments: dict = {}) -> Outcome" in shown
    assert "outline(" not in shown
    assert {"call", "change"} <= set(core.namespace)
    assert "outline" not in core.namespace


def test_other_verbs_are_called_through_the_two_with_names_as_they_are_meant_in_the_place(core: Session) -> None:
    with Session(core.root) as full:
        there = full.run('source.app.client.outline("Client")').outcome
    through = core.run('source.app.client.call("outline", {"target": "Client"})')
    assert through.events[0].line == "[source.app.client] ◆ call(outline, target=Client) -> str (2 lines)"
    assert (through.outcome.text, through.outcome.status) == (there.text, "answer")
    assert core.namespace["call"](verb="outline", arguments={"target": "app.client.Client"}) == there.text
    hovered = core.namespace["call"](verb="ast hover", arguments={"uris": ["sym://python/mod/app/client"]})
    assert hovered["status"] == "ok"
    core.run("home()")
    assert "limit = 3" in core.run('call(verb="read", arguments={"target": "app.client.limit"})').text


def test_help_explains_the_two_and_the_verbs_behind_them(core: Session) -> None:
    assert "Ask anything else: outline" in core.run("help(call)").text
    assert "Make any other change: insert" in core.run("help('change')").text
    assert "Make any other change: insert" in core.run("print(change.help)").text
    shown = core.run("help('outline')").text
    assert "depth: Levels of members" in shown
    assert shown.rstrip().endswith('call(verb="outline", arguments={…}) calls it.')
    listed = core.run('call("help")').outcome.text
    assert [line.partition(" ")[0] for line in listed.splitlines()] == list(REQUESTS.verbs)
    assert core.run('call("help", {"verb": "insert"})').outcome.text.startswith("insert(")


@pytest.mark.parametrize(
    ("code", "error", "hint"),
    [
        ('outline("app")', "unknown_operation", 'call(verb="outline", arguments={…}) calls it.'),
        ('source.outline("app")', "unknown_operation", 'call(verb="outline", arguments={…}) calls it.'),
        ("source.insert", "unknown_operation", 'change(verb="insert", arguments={…}) calls it.'),
        ("transaction().insert", "unknown_operation", 'change(verb="insert", arguments={…}) calls it.'),
        ('call("write", {"target": "app.x"})', "invalid_arguments", 'change(verb="write", arguments={…}) calls it.'),
        ('call("delete", {"target": "app.other"})', "invalid_arguments", "delete is a tool."),
        ('change("outline")', "invalid_arguments", 'call(verb="outline", arguments={…}) calls it.'),
        ('call("outlien")', "unknown_operation", "Did you mean outline?"),
        ('change("x" * 5000)', "unknown_operation", "change takes"),
        ("call()", "invalid_arguments", "call(verb="),
        ('change("insert", 3)', "invalid_arguments", "change(verb="),
        ('change("write", {1: 2})', "invalid_arguments", "write(target"),
        ('change("write", {"target": "app.x", "bogus": 1})', "invalid_arguments", "write(target"),
        ('change("write", target="app.x")', "invalid_arguments", "change(verb"),
        ('change("write", {}, 3)', "invalid_arguments", "change(verb"),
        ('call("call", {"verb": "outline"})', "unknown_operation", "call takes"),
    ],
)
def test_a_wrong_call_says_how_it_is_made_and_changes_nothing(core: Session, code: str, error: str, hint: str) -> None:
    ran = core.run(f"source()\n{code}")
    [failure] = ran.outcome.errors
    assert failure.code == error
    assert any(each.startswith(hint) for each in failure.hints), failure.hints
    assert len(ran.text) < 4000
    assert contents(core.root) == FILES


def test_a_name_that_is_nearly_a_verbs_is_answered_by_the_call_that_can_be_made(core: Session) -> None:
    failure = core.run('source()\noutlin("x")').outcome.errors[0]
    assert failure.candidates == ('call(verb="outline", arguments={…})',)
    assert core.run('edt("x")').outcome.errors[0].candidates == ("source.edit",)
    assert core.run('home()\nread("x")').outcome.errors[0].hints == (
        "read is a tool of source: source() enters it, source.read(…) calls it.",
    )


def test_next_calls_are_written_as_the_session_makes_them_and_can_be_made(tmp_path: Path) -> None:
    with Session(built(tmp_path), profile="core", budget=2000) as session:
        made = session.run(
            'change("insert", {"target": "app.client.limit", "position": "after", "new_source": "more = 4\\n"})'
        )
        assert made.outcome.next_actions[0].startswith("undo(")
        assert contents(tmp_path)["app/client.py"].endswith("more = 4\n")
        redo = session.run("undo()").outcome.next_actions[0]
        assert redo.startswith('change(verb="redo", arguments={"operation_id": "op_')
        assert contents(tmp_path) == FILES
        assert session.run(redo).outcome.status == "applied"
        (tmp_path / "long.py").write_text("".join(f"def f{number}() -> None: ...\n" for number in range(300)))
        first = session.run('call("outline", {"target": "long", "private": True})')
        following = first.outcome.next_actions[0]
        assert following.startswith('call(verb="outline", arguments={"target": "long", "private": True, ')
        second = session.run(following.partition(") ")[0].rstrip(")") + ")")
        assert second.outcome.text != first.outcome.text
        assert "def f" in second.outcome.text
        left = session.run('call("outline", {"target": "long"})\n' * 3 + "x = 1").text
        assert "left out, " in left
        assert 'call(verb="outline", arguments={"target": "long"}) shows it' in left


def test_a_transaction_has_the_tools_of_the_profile(tmp_path: Path) -> None:
    with Session(built(tmp_path), profile="core") as session:
        ran = session.run(
            "with transaction() as tx:\n"
            '    tx.edit("app.client.limit", "limit = 4")\n'
            '    tx.change("insert", {"target": "app.client.limit", "position": "after", "new_source": "more = 5"})\n'
            '    print(tx.call("read", {"target": "app.client.more"}))\n'
            '    assert "change" in dir(tx) and "insert" not in dir(tx)\n'
        )
        assert not ran.outcome.errors, ran.text
        assert "transaction.change(insert, target=app.client.limit" in ran.text
        assert "more = 5" in ran.text
        assert contents(tmp_path)["app/client.py"].endswith("limit = 4\nmore = 5\n")
        session.run("undo()")
        assert contents(tmp_path) == FILES
        session.run(
            'with transaction() as tx:\n    tx.change("delete", {"target": "app.other"})\n    raise ValueError\n'
        )
        assert contents(tmp_path) == FILES


def test_completion_knows_the_two_their_arguments_and_the_verbs_that_they_call(core: Session) -> None:
    core.run("source()")
    assert "change" in core.complete("chan")[0]
    assert core.complete("outl")[0] == ()
    assert core.complete("call(ver")[0] == ("verb=",)
    assert core.complete('call("outl')[0] == ("outline",)
    assert "insert" in core.complete('change(verb="ins')[0]
    assert core.complete('call("inser')[0] == ()
    assert "app.client" in core.complete('call("outline", {"target": "app.cl')[0]


def test_all_tools_are_offered_where_no_profile_is_named(tmp_path: Path) -> None:
    with Session(built(tmp_path)) as session:
        assert names(session, "source") == {*PLACES["source"].tools, "transaction"}
        assert "only reads" not in session.run("nav()").text


@pytest.mark.parametrize("name", ["all", "", "READ", None, 3])
def test_a_profile_that_there_is_not_is_refused_and_nothing_is_started(tmp_path: Path, name: str) -> None:
    with pytest.raises(RequestError, match="There is no profile") as caught:
        Session(built(tmp_path), profile=name)  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.hints) == ("unknown_operation", ("There are core, read, full.",))
    assert not (tmp_path / ".bae-source").exists()


@pytest.mark.parametrize("name", get_args(ProfileName))
def test_every_verb_can_be_called_or_is_refused(name: str) -> None:
    profile = Profile(name)
    for verb in REQUESTS.verbs:
        ways = [bool(profile.places(verb)), bool(profile.through.get(verb)), profile.refusal(verb) is not None]
        assert ways in ([True, False, False], [False, True, True], [False, False, True]), verb
        assert (name == "read" and verb in CHANGING) == (ways == [False, False, True])
