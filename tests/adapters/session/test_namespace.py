"""The names of a session, in this process: places, tools, names as they are meant in a place, and events."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bae_source import LookupFailed, RequestError
from bae_source.adapters.session.completing import completions
from bae_source.adapters.session.namespace import Namespace
from bae_source.engine.service import Service
from bae_source.errors import ResourceError
from tests.adapters.session.conftest import Here, built, contents


def test_a_session_begins_in_source_with_its_tools(here: Here) -> None:
    assert here.namespace.trail[-1].name == "source"
    assert {"read", "edit", "glob", "transaction", "home", "source", "back", "nav"} <= set(here.names)
    assert here.lines == []


def test_at_home_there_are_places_and_the_tools_of_home(here: Here) -> None:
    here.names["home"]()
    assert {"home", "source", "back", "nav", "history", "undo"} <= set(here.names)
    assert "read" not in here.names


def test_entering_brings_the_tools_of_a_place_and_leaving_takes_them(here: Here) -> None:
    here.names["source"]()
    assert {"read", "edit", "transaction"} <= set(here.names)
    here.names["home"]()
    assert not {"read", "edit", "transaction"} & set(here.names)
    assert here.lines == ["◆ source() -> home > source", "◆ home() -> home"]


def test_a_call_is_one_event_with_its_place_and_none_at_home(here: Here) -> None:
    here.names["home"]()
    here.names["history"]()
    here.names["source"]()
    here.names["read"]("app.client")
    here.names["source"].app.client.read("Client", dedent=True)
    assert here.lines == [
        "◆ home() -> home",
        "◆ history() -> str (1 line)",
        "◆ source() -> home > source",
        "[source] ◆ read(app.client) -> str (3 lines)",
        "[source.app.client] ◆ read(Client, dedent=True) -> str (5 lines)",
    ]


def test_a_call_that_fails_is_one_event_with_the_class_of_its_error(here: Here) -> None:
    with pytest.raises(LookupFailed):
        here.names["source"].read("nope")
    assert here.lines == ["[source] ◆ read(nope) -> LookupFailed"]


def test_a_wrong_argument_is_answered_with_every_problem_the_signature_and_the_first_line_of_help(here: Here) -> None:
    here.names["source"]()
    with pytest.raises(RequestError) as raised:
        here.names["read"](325035, bogus=1, fulll=True)
    assert "target: expected `str | array`, got `int`" in raised.value.message
    assert "bogus is unknown" in raised.value.message
    assert "did you mean full?" in raised.value.message
    hint = raised.value.hints[0]
    assert hint.startswith(
        """read(target: str | Sequence[str] = '', *, view: Literal["auto", "summary", "source"] = 'auto', full: bool"""
    )
    assert "Read the source of symbols" in hint
    with pytest.raises(RequestError, match="viw is unknown, did you mean view"):
        here.names["read"](viw="source")
    assert "    view: What is shown of a module" in here.names["read"].help


def test_a_word_that_is_called_wrongly_is_answered_by_its_signature_and_goes_nowhere(here: Here) -> None:
    source = here.names["source"]
    source.app()
    calls: list[tuple[Callable[[], Any], str, str]] = [
        (lambda: source.app("x"), "1 arguments are given by place, at most 0 can be", "source.app(): Enter it."),
        (lambda: source.enter(x=1), "source.enter was called wrongly: x is unknown", "source.enter(): Enter it."),
        (lambda: here.names["back"](3), "back was called wrongly: 1 arguments", "back(): Go back"),
        (lambda: here.names["nav"](dpth=1), "dpth is unknown, did you mean depth?", "nav(depth: int = 3) -> str: Show"),
        (lambda: source.nav(1, 2), "2 arguments are given by place", "source.nav(depth: int = 3) -> str: Show"),
        (lambda: source.nav(depth=0), "depth: 0 is no number from 1", "source.nav(depth: int = 3) -> str: Show"),
    ]
    for call, problem, hint in calls:
        here.events.clear()
        with pytest.raises(RequestError) as raised:
            call()
        assert problem in raised.value.message
        assert raised.value.hints[0].startswith(hint)
        assert [line.endswith(" -> RequestError") for line in here.lines] == [True]
    with pytest.raises(RequestError) as raised:
        here.names["nav"](**{"x" * 10_000 + str(number): 1 for number in range(1000)})
    assert "980 more names are unknown" in raised.value.message
    assert len(raised.value.message) < 4000
    assert here.namespace.trail[-1].name == "source.app"


def test_words_show_how_they_are_called(here: Here) -> None:
    source = here.names["source"]
    assert dir(here.names["back"]) == []
    assert repr(here.names["back"]) == "back()\n    Go back: the last step of the way is taken off."
    assert repr(here.names["nav"]).startswith("nav(depth: int = 3) -> str\n    Show the places")
    assert repr(source.transaction).startswith('transaction(why: str = "") -> transaction\n    Begin changes')


def test_a_module_that_is_an_attribute_too_can_be_entered_and_worked_in(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from pkg.other import run, sub\n",
        "pkg/other.py": "def run(): pass\ndef sub(): pass\n",
        "pkg/run.py": '"""Runs."""\nLIMIT = 3\n',
        "pkg/sub/__init__.py": '"""Under it."""\n',
        "pkg/sub/mod.py": "LIMIT = 4\n",
        "pkg/__version__.py": "version = 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    names = Namespace(Service(tmp_path), lambda _: None).names
    assert str(names["source"].pkg.run()).startswith("pkg.run — Runs. (0 classes, 0 functions)\n")
    assert names["read"]() == '"""Runs."""\nLIMIT = 3\n'
    assert names["read"]("LIMIT") == "LIMIT = 3\n"
    assert names["grep"]("LIMIT").splitlines() == ["pkg.run:2: LIMIT = 3"]
    assert names["outline"]().startswith("pkg.run — Runs.")
    assert "pkg.sub.mod (0 classes" in str(names["source"].pkg.sub())
    assert names["read"]("mod.LIMIT") == "LIMIT = 4\n"
    assert "pkg.run — Runs." in str(names["source"].pkg())
    names["source"].pkg.__version__()
    assert names["read"]() == "version = 1\n"
    assert not hasattr(names["source"].pkg, "__wrapped__")


def test_a_modules_line_keeps_to_one_line_and_its_counts_stay(tmp_path: Path) -> None:
    for name in ("short", "m" * 60, "n" * 120):
        (tmp_path / f"{name}.py").write_text(f'"""{"What it is for, at length. " * 6}"""\nclass C: pass\n')
    lines = str(Namespace(Service(tmp_path), lambda _: None).names["source"]()).splitlines()
    inside = lines[lines.index("Inside (source.NAME() enters one)") + 1 :]
    assert [line.split()[0] for line in inside] == ["m" * 60, "n" * 120, "short"]
    assert all(line.endswith("(1 class, 0 functions)") for line in inside)
    assert inside[1] == f"  {'n' * 120} (1 class, 0 functions)"
    assert "  short — What it is for, at length." in inside[2]
    assert len(inside[0]) <= len(inside[2]) <= 100


def test_what_other_tools_call_a_tool_is_offered_as_a_candidate(here: Here) -> None:
    for name, expected in [
        ("list", ("source.glob", "source.outline", "source.limit")),
        ("edt", ("source.edit",)),
        ("zzz", ()),
    ]:
        with pytest.raises(LookupFailed) as raised:
            getattr(here.names["source"], name)
        assert raised.value.candidates == expected


def test_candidates_are_spoken_of_only_where_there_are_some(here: Here) -> None:
    here.names["source"].app.client()
    for name, hint in [("zzz", "Read the module"), ("Clientt", "Name one of the candidates")]:
        with pytest.raises(LookupFailed) as raised:
            here.names["read"](name)
        assert raised.value.hints[0].startswith(hint)
        assert bool(raised.value.candidates) is hint.startswith("Name")


def test_arguments_given_too_often_are_reported_with_all_other_faults(here: Here) -> None:
    with pytest.raises(RequestError) as raised:
        here.names["source"].callers("a", "b", "c", depth=2)
    assert "3 arguments are given by place" in raised.value.message
    assert "depth is unknown" in raised.value.message


def test_in_a_module_read_shows_its_source_and_names_are_those_in_it(here: Here) -> None:
    here.names["source"].app.client()
    read = here.names["read"]
    assert str(read()).startswith('"""A client."""')
    assert str(read(view="summary")).startswith("app.client — A client.")
    assert str(read("Client.send")).startswith("    def send")
    assert read("Client.send").address == "app.client.Client.send"


def test_whole_names_mean_the_same_in_every_place(here: Here) -> None:
    here.names["source"].app.client()
    assert here.names["read"]("app.net.wire.pull").address == "app.net.wire.pull"
    assert here.names["importers_of"]("app.client").address is None
    assert here.names["read"]("app.client.Client").address == "app.client.Client"


def test_lines_and_patterns_are_whole_in_every_place_and_names_in_a_list_are_not(here: Here) -> None:
    client = here.names["source"].app.client
    assert client.read("app/net/wire.py:5").address == "app.net.wire.pull"
    assert client.read("app.net.wire:5").address == "app.net.wire.pull"
    assert "# app.net.wire.pull  app.net.wire:4" in client.read("app.net.wire.*")
    found = client.read(["Client", "app.net.wire.pull"]).outcome.found
    assert [each.address for each in found] == ["app.client.Client", "app.net.wire.pull"]


def test_a_name_that_means_two_things_is_ambiguous_and_the_place_above_takes_it_whole(here: Here) -> None:
    here.names["source"].app.client()
    with pytest.raises(LookupFailed) as raised:
        here.names["read"]("limit")
    assert raised.value.code == "ambiguous_symbol"
    assert raised.value.candidates == ("app.client.limit", "limit")
    assert here.names["source"].read("limit").address == "limit"
    assert here.names["read"]("app.client.limit").address == "app.client.limit"


def test_in_a_package_read_shows_its_interface_and_a_search_stays_inside(here: Here) -> None:
    here.names["source"].app.net()
    assert "app.net.wire — Wires." in here.names["read"]()
    assert here.names["grep"]("return").splitlines() == ["app.net.wire:5: return 1"]
    assert "app.client" in here.names["grep"]("return", "app")


def test_a_new_module_is_written_where_the_session_is(tmp_path: Path) -> None:
    project = built(tmp_path)
    namespace = Namespace(Service(project), lambda _: None)
    namespace.names["source"].app.net()
    namespace.names["write"]("fresh", "x = 1\n", reload="off")
    namespace.names["write"]("app.whole", "x = 1\n", reload="off")
    assert (project / "app/net/fresh.py").read_text() == (project / "app/whole.py").read_text() == "x = 1\n"


@pytest.mark.parametrize("name", ["nope", "client.Client", "clien", "*", "x" * 5000])
def test_a_place_that_is_not_there_is_an_error_with_close_names_and_none_of_them(here: Here, name: str) -> None:
    with pytest.raises(LookupFailed) as raised:
        here.names["source"].app[name]
    assert raised.value.code == "symbol_not_found"
    assert raised.value.candidates == (("source.app.client",) if name == "clien" else raised.value.candidates)
    assert not hasattr(here.names["source"], "nope")


def test_code_that_is_no_module_is_reported_as_code(here: Here) -> None:
    with pytest.raises(LookupFailed) as raised:
        here.names["source"].app.client.Client  # noqa: B018
    assert "It is no module, but code: source.read('app.client.Client')" in raised.value.hints


def test_a_tool_wins_over_a_module_of_its_name_which_an_index_reaches(here: Here) -> None:
    assert here.names["source"].read("limit.top").address == "limit.top"
    here.names["source"]["read"]()
    assert here.namespace.trail[-1].name == "source.read"


def test_a_place_says_what_it_is_what_it_has_and_what_is_in_it(here: Here) -> None:
    source = here.names["source"]
    assert source.name == "source"
    assert source.description == "The project's code, addressed by dotted names: read, search and change it."
    assert source.children == ("tests", "deps", "logs", "config", "ledger", "meta", "app", "limit", "read")
    assert source.app.children == ("net", "client", "other")
    assert source.app.client.description == "app.client — A client. (1 class, 0 functions)"
    assert {"read", "write", "edit", "glob", "grep", "transaction"} <= set(source.supported_tools)
    assert {"app", "read", "enter", "nav"} <= set(dir(source))


def test_tests_are_listed_in_their_place_and_a_package_of_that_name_is_reached_through_it(tmp_path: Path) -> None:
    files = {"app/core.py": "def f(): ...\n", "tests/test_core.py": "def test_f(): ...\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    events: list[str] = []
    names = Namespace(Service(tmp_path), lambda event: events.append(event.line)).names
    source = names["source"]
    assert source.children == ("tests", "deps", "logs", "config", "ledger", "meta", "app")
    source.tests()
    assert {"run", "results"} <= set(names)
    assert "list" not in names  # which is Python's own
    assert "tests_list" in names
    assert str(names["source"].tests.list()) == "1 test in 1 file.\ntests.test_core: 1 test (1 function)"
    assert source.tests.test_core.read("test_f") == "def test_f(): ...\n"
    assert events == [
        "◆ tests() -> home > source > tests",
        "[tests] ◆ tests_list() -> str (2 lines)",
        "[source.tests.test_core] ◆ read(test_f) -> str (1 line)",
    ]


def test_what_an_entry_shows(here: Here) -> None:
    text = str(here.names["source"]())
    assert text.startswith("source — The project's code")
    assert "\nhome > source\nState: 3 packages and modules inside; no changes yet\n" in text
    assert "\n  read(target: str | Sequence[str] = '', …) -> str" in text
    assert "\n  app — An application. (1 subpackage, 3 modules)\n" in text
    assert len(text.encode()) <= 8000
    assert here.namespace.described("source") == text
    assert here.namespace.described("source.app").startswith("app — An application.")


def test_the_tree_shows_where_you_are_and_how_much_more_there_is(here: Here, tmp_path: Path) -> None:
    here.names["source"].app.net.wire()
    drawn, _, tools = here.names["nav"](1).partition("\n\n")
    lines = drawn.splitlines()
    assert lines == ["home", "  source", "    tests", "    deps", "    logs", "    config", "    ledger", "    meta",
                     "    app", "      net", "        wire  <- you are here", "      client", "      other",
                     "    limit", "    read"]  # fmt: skip
    assert tools.startswith("Tools of source: read, outline, where, ")
    assert tools.splitlines()[-2].endswith(" history, wait, transaction")
    assert max(map(len, tools.splitlines())) <= 100
    hint = "help(source.tests) shows how each is called; help(NAME) tells all of one."
    assert here.names["source"].tests.nav(1).splitlines()[-1] == hint
    assert "\n\nTools of home: " in here.names["home"].nav(1)
    for number in range(20):
        (tmp_path / f"m{number:02}.py").write_text("")
    many = Namespace(Service(tmp_path), lambda _: None).names["nav"]()
    assert many.partition("\n\n")[0].splitlines()[-1] == "    +8 more"
    for wrong in (0, True, "3"):
        with pytest.raises(RequestError):
            here.names["nav"](wrong)


def test_a_name_that_was_bound_anew_stays_so_until_a_place_is_entered_which_says_it(here: Here) -> None:
    here.names["source"]()
    here.names["read"] = here.names["home"] = 7
    here.names["mine"] = 8
    here.names["nav"]()
    assert here.names["read"] == 7
    here.lines.clear()
    here.names["source"].app()
    assert here.lines == ["◆ source.app() -> home > source > app  (home, read: tools again, no names of yours)"]
    assert here.names["read"]().startswith("app — An application.")
    here.names["read"] = 9
    here.names["home"]()
    assert (here.names["read"], here.names["mine"]) == (9, 8)


def test_going_back_and_home(here: Here) -> None:
    here.names["source"].app.client()
    here.names["back"]()
    here.names["back"]()
    here.names["back"]()
    assert here.lines == [
        "◆ source.app.client() -> home > source > app.client",
        "◆ back() -> home > source",
        "◆ back() -> home",
        "◆ back() -> home",
    ]


def test_a_value_is_whole_for_code_whatever_the_budget_and_a_call_with_one_of_its_own_keeps_to_it(root: Path) -> None:
    read = Namespace(Service(root), lambda _: None, budget=100).names["read"]
    whole = read("app.client", full=True)
    assert (len(whole) > 100, whole.complete) == (True, True)
    with pytest.raises(ResourceError) as raised:
        read("app.client", full=True, budget=100)
    assert raised.value.code == "budget_exceeded"
    pages = [read("app.client", full=True, cursor="0")]
    while not pages[-1].complete:
        cursor = re.search('cursor="(.*)"', pages[-1].outcome.next_actions[0])
        assert cursor is not None
        pages.append(read("app.client", full=True, cursor=cursor[1]))
    assert max(map(len, pages)) <= 100
    assert "".join(pages) == whole


def test_what_is_reported_wrongly_of_a_transaction_is_refused_before_it_begins(here: Here) -> None:
    here.names["source"]()
    for how in ({"verify": ["nope"]}, {"verify": ["import"], "reload": "off"}, {"nope": True}):
        with pytest.raises(RequestError) as caught:
            here.names["transaction"]("two at once", **how)
        assert caught.value.code == "invalid_arguments"


@pytest.mark.parametrize("how", [{"dry_run": True}, {"verify": ("tests",)}, {"tidy": True}, {"why": "alone"}])
def test_a_change_in_a_transaction_cannot_say_how_the_commit_is_made(
    here: Here, root: Path, how: dict[str, Any]
) -> None:
    before = contents(root)
    name = next(iter(how))
    tx = here.names["source"].transaction()
    with tx, pytest.raises(RequestError, match=rf"{name} is given once, for the whole transaction"):
        tx.edit("app.client.limit", "limit = 4", **how)
    assert tx.outcome is not None
    assert tx.outcome.status == "unchanged"
    assert contents(root) == before


def test_what_is_changed_in_a_transaction_is_made_at_its_end(tmp_path: Path) -> None:
    project, lines = built(tmp_path), []
    names = Namespace(Service(project), lambda event: lines.append(event.line), who="me").names
    names["source"].app.client()
    with names["transaction"]("two at once", reload="off") as tx:
        tx.edit("app.client.limit", "limit = 4")
        tx.insert("Client", "after = 1", position="after")
        assert contents(project)["app/client.py"].endswith("limit = 3\n")
        assert tx.read("app.client.limit") == "limit = 4\n"
        assert "+limit = 4" in tx.diff()
    assert contents(project)["app/client.py"].endswith("limit = 4\n")
    assert lines[1].endswith(" -> Changes (made at its end; tools that are not its own change at once)")
    assert tx.outcome is not None
    assert tx.outcome.operation_id
    assert lines[-1].startswith("[source.app.client] ◆ transaction.commit() -> Outcome (applied, op_")
    assert "two at once" in names["history"]()


def test_an_error_in_a_transaction_abandons_it_and_nothing_is_changed(here: Here, root: Path) -> None:
    before = contents(root)
    tx = here.names["source"].transaction()
    tx.edit("app.client.limit", "limit = 4")
    with pytest.raises(LookupFailed), tx:
        tx.edit("app.client.nope", "nope = 4")
    assert contents(root) == before
    assert here.lines[-1] == "[source] ◆ transaction.abandon() -> None"
    with pytest.raises(RequestError, match="nope"):
        here.names["source"].transaction("why", nope=1)
    with pytest.raises(AttributeError, match="A transaction has no forget"):
        tx.forget()


def test_one_thread_at_a_time_is_in_the_engine_whatever_it_asks_for(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside: list[int] = []
    most: list[int] = []
    run = Service.run

    def counted(service: Service, *asked: Any) -> Any:
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.002)  # long enough for another thread to come in, if it can
        try:
            return run(service, *asked)
        finally:
            inside.pop()

    monkeypatch.setattr(Service, "run", counted)
    service = Service(root, environment={**os.environ, "BAE_SOURCE_TELEMETRY": "0"})
    namespace = Namespace(service, lambda _: None)
    source = namespace.words["source"]
    asking = (
        lambda: source["app"],
        lambda: source.read("limit.top"),
        lambda: source.children,
        lambda: str(source()),
        lambda: completions(namespace, 'read("app.cl'),
    )
    threads = [threading.Thread(target=ask) for ask in asking]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    service.close()
    assert max(most) == 1


def test_a_session_that_comes_back_is_where_it_was_as_far_as_that_is_still_there(here: Here) -> None:
    here.namespace.restore(("home", "source", "source.app", "source.app.gone"))
    assert [spot.name for spot in here.namespace.trail] == ["home", "source", "source.app"]
    assert "read" in here.names
    assert here.lines == []
