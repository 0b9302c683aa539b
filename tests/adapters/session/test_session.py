"""A session: blocks run in a process of their own, and what they come to."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

from bae_source import RequestError, Session, Source
from bae_source.adapters.session.child.remote import BlockFailed
from bae_source.adapters.session.events import Called, Entered, Panel
from bae_source.model.selection import KINDS
from tests.adapters.session.conftest import built, contents, gone


def lines(session: Session, code: str) -> list[str]:
    return [event.line for event in session.run(code).events]


def test_the_value_of_the_last_expression_is_the_result_and_names_stay(session: Session) -> None:
    assert session.run("x = 20\nx + 1").outcome.text == "21"
    assert session.run("x * 2").outcome.text == "40"
    assert session.run("y = 1").outcome.text == ""
    assert session.run("# nothing").events == ()


def test_a_call_is_one_line_and_its_value_is_shown_once(session: Session, root: Path) -> None:
    ran = session.run('home()\nsource()\nread("app.client.Client")')
    assert [event.line for event in ran.events] == [
        "◆ home() -> home",
        "◆ source() -> home > source",
        "[source] ◆ read(app.client.Client) -> str (5 lines)",
    ]
    assert ran.outcome.text == Source(root).read("app.client.Client")
    assert ran.outcome.etag == Source(root).read("app.client.Client").etag
    assert ran.text.count("def send") == 1
    assert ran.trail == session.trail == ("home", "source")


def test_a_panel_has_what_was_printed_and_a_value_that_is_no_calls(session: Session) -> None:
    ran = session.run('source()\nprint("one")\nlen(read("app.client.limit"))')
    *events, panel = ran.events
    assert [type(event) for event in events] == [Entered, Called]
    assert isinstance(panel, Panel)
    assert (panel.output, panel.value, panel.cut) == ("one\n", "10", 0)
    assert ran.text.endswith("one\n10")
    assert not ran.is_shown


def test_a_value_of_a_call_in_a_block_before_is_shown_as_one(session: Session) -> None:
    session.run('source()\nkept = read("app.client.limit")')
    ran = session.run("kept")
    assert ran.events == ()
    assert ran.outcome.text == "limit = 3\n"


def test_await_at_the_top_level(session: Session) -> None:
    code = "import asyncio\nasync def f(): return 5\ntask = asyncio.ensure_future(f())\nawait task"
    assert session.run(code).outcome.text == "5"
    assert session.run("await asyncio.sleep(0, result=task.result() + 1)").outcome.text == "6"


def test_an_error_of_the_engine_is_an_outcome_with_its_code_and_no_traceback(session: Session) -> None:
    ran = session.run('source()\nread("nope")\nnever = 1')
    assert ran.events[-1].line == "[source] ◆ read(nope) -> LookupFailed"
    assert ran.outcome.errors[0].code == "symbol_not_found"
    assert "Traceback" not in ran.text
    assert "Traceback" in ran.traceback
    assert session.run("'never' in globals()").outcome.text == "False"


def test_an_error_of_the_code_names_its_line_and_has_the_callers_part_of_the_traceback(session: Session) -> None:
    ran = session.run("def f():\n    return 1 / 0\n\nf()")
    assert ran.outcome.errors[0].code == "code_failed"
    assert ran.outcome.errors[0].message == "ZeroDivisionError: division by zero (line 2)"
    assert "return 1 / 0" in ran.traceback
    assert str(Path(__file__).parents[3]) not in ran.traceback


def test_a_tool_that_the_place_does_not_have_is_an_error_that_says_where_it_is(session: Session) -> None:
    ran = session.run('home()\nread("app")')
    assert ran.outcome.errors[0].hints == ("read is a tool of source: source() enters it, source.read(…) calls it.",)


def test_a_name_that_is_nearly_a_tools_is_answered_with_the_tools(session: Session) -> None:
    session.run("home()")
    for name, candidates in [
        ("edt", ("source.edit",)),
        ("create", ("source.write", "source.insert", "source.rename")),
        ("qqq", ()),
    ]:
        assert session.run(f"{name}('x')").outcome.errors[0].candidates == candidates


def test_what_a_wrong_call_is_answered_with_is_bounded(session: Session) -> None:
    for code in (
        "read(**{'x%d' % i: 1 for i in range(20000)})",
        "back(**{'x' * 9000 + str(i): 1 for i in range(999)})",
    ):
        assert len(session.run(f"source()\n{code}").text.encode()) < 10_000


def test_changes_are_made_by_the_caller_that_the_session_names(tmp_path: Path) -> None:
    project = built(tmp_path)
    with Session(project, who="agent") as session:
        ran = session.run('source.app.client()\nedit("app.client.limit", "limit = 4", reload="off")')
        assert ran.outcome.status == "applied"
        assert ran.answer["operation_id"] == ran.outcome.operation_id
        assert ran.outcome.address == "app.client.limit"
        assert "agent" in session.run("history()").outcome.text
        nothing = session.run('undo(edit("app.client.limit", "limit = 4", reload="off").operation_id)')
        assert "operation_id is None" in nothing.outcome.text
        assert Source(project).read("app.client.limit").strip() == "limit = 4"
        assert session.run("undo()").outcome.status == "applied"
    assert contents(project) == contents(built(tmp_path / "again"))


def test_selections_are_what_every_adapter_answers(session: Session, root: Path) -> None:
    session.run("source()")
    uri = "sym://python/type/app/client/Client"
    assert session.run(f'symbols("{uri}")').answer == Source(root).symbols(uri)
    several = session.run(f'snippet("{uri}", "{uri}#send")').answer
    assert several == {"answers": Source(root).snippet(uri, f"{uri}#send")}


def test_the_text_of_selections_is_their_json_lines_errors_among_them(session: Session, root: Path) -> None:
    session.run("source()")
    good, bad = "sym://python/type/app/client/Client", "sym://python/mod/no"
    for verb in KINDS:
        for uris in ([good], [bad], [good, bad, f"{good}#send"]):
            call = f"{verb}({', '.join(map(repr, uris))})"
            event, *lines = session.run(call).text.splitlines()
            assert event.startswith(f"[source] ◆ {verb}(")
            found = getattr(Source(root), verb)(*uris)
            assert lines == [json.dumps(each) for each in (found if len(uris) > 1 else [found])]


def test_help_tells_all_of_a_tool_and_an_entry_ends_a_block(session: Session) -> None:
    session.run("source()")
    text = session.run("help(callers)").text
    assert "callers(target: str, scope: str | None = None, *, " in text
    assert "    target: " in text
    for code, expected in [
        ("help(nav)", "nav(depth: int = 3) -> str"),
        ("help('back')", "back()"),
        ("help('history')", "history(target: str = "),
        ("help(source.app)", "app — An application."),
        ("help(source)", "source — The project's code"),
        ("help(len)", "Return the number of items"),
        ("nav", "nav(depth: int = 3) -> str"),
    ]:
        text = session.run(code).text
        assert expected in text
        assert "object at" not in text
        assert "__slots__" not in text


def test_a_transition_is_one_line_and_what_the_place_is_comes_when_it_is_looked_at(session: Session) -> None:
    session.run("home()")
    for code, trail in [
        ("source()", "home > source"),
        ("source.app.client()", "home > source > app.client"),
        ("back()", "home > source"),
        ("source.enter()", "home > source"),
        ("home()", "home"),
    ]:
        ran = session.run(code)
        assert ran.text == f"◆ {code.replace('.enter', '')} -> {trail}"
        assert ran.outcome.text == trail
        assert ran.entry is None
    shown = session.run("there = source.app()\nthere")
    assert shown.entry is not None
    assert shown.entry.trail == ("home", "source", "app")
    assert shown.outcome.text.startswith("app — An application.")
    assert shown.text == f"◆ source.app() -> home > source > app\n{shown.outcome.text}\n"
    assert "\nTools (help(NAME)" in session.run("print(source())").text
    assert "\n  read(target: str" in session.run("help(source)").text
    assert "Tools of source: read, " in session.run("nav()").text


def test_standard_input_is_empty_and_says_so(session: Session) -> None:
    failure = session.run("input()").outcome.errors[0]
    assert failure.message.startswith("EOFError")
    assert failure.hints == ("Code in a session has no standard input; give it what it needs as names.",)


def test_what_is_no_code_is_refused_before_anything_runs(session: Session) -> None:
    for code, expected in [
        (5, "code is no text"),
        ("x" * 1_000_001, "has 1,000,001 characters"),
        ("'\ud800'", "surrogates"),
    ]:
        ran = session.run(code)  # type: ignore[arg-type]
        assert ran.outcome.errors[0].code == "invalid_arguments"
        assert expected in ran.outcome.text
    assert session.run("1", seconds=-1).outcome.errors[0].code == "invalid_arguments"


@pytest.mark.parametrize("code", ["def f(", "x = \0", "1 +", "  x = 1", "return 5", "(" * 500 + ")" * 500])
def test_what_does_not_parse_does_not_run(session: Session, code: str) -> None:
    ran = session.run(f"ran = True\n{code}")
    assert ran.outcome.errors[0].code in ("syntax_invalid", "code_failed")
    assert session.run("'ran' in globals()").outcome.text == "False"


@pytest.mark.parametrize("given", [{"budget": 5}, {"budget": "8000"}, {"seconds": 0}, {"seconds": float("nan")}])
def test_limits_that_make_no_sense_are_refused(root: Path, given: dict[str, object]) -> None:
    with pytest.raises(RequestError):
        Session(root, **given)  # type: ignore[arg-type]


def test_a_folder_that_is_none_is_refused(root: Path) -> None:
    for wrong in (root / "nope", 5):
        with pytest.raises(RequestError):
            Session(wrong)  # type: ignore[arg-type]


def test_a_session_that_is_closed_runs_nothing_and_closing_twice_is_once(root: Path) -> None:
    session = Session(root)
    session.run("1")
    session.close()
    session.close()
    assert session.run("1").outcome.errors[0].code == "handle_expired"


def test_the_namespace_is_callables_whose_calls_are_made_in_the_worker(session: Session, root: Path) -> None:
    session.run("home()")
    assert "read" not in session.namespace
    session.namespace["source"]()
    read = session.namespace["read"]("app.client.Client")
    assert (read, read.etag) == (Source(root).read("app.client.Client"), Source(root).read("app.client.Client").etag)
    assert session.namespace["source"].app.client.read("Client.send").startswith("    def")
    assert session.namespace["symbols"]("sym://python/mod/app/client")["status"] == "ok"
    with pytest.raises(RequestError, match="bogus is unknown"):
        session.namespace["read"]("app", bogus=1)
    with pytest.raises(RequestError, match="takes plain data"):
        session.namespace["read"](object())
    with pytest.raises(KeyError):
        session.namespace["nope"]
    session.run("read = 7")
    with pytest.raises(BlockFailed, match="TypeError: 'int' object is not callable"):
        session.namespace["read"]("app")
    session.run("home()")


def test_what_a_call_is_given_or_asked_for_by_name_is_never_code(session: Session, tmp_path: Path) -> None:
    session.run("source()")
    trace = tmp_path / "ran"
    code = f"open({str(trace)!r}, 'w').close()"
    for name in (f"target={code}, full", f"target, **{code} or dict", "class", "a b", ""):
        with pytest.raises(RequestError, match="is no name that a call in a session can have"):
            session.namespace["read"](**{name: True})
        with pytest.raises(RequestError, match="is no name that a call in a session can have"):
            getattr(session.namespace["source"], name)
    with pytest.raises(RequestError, match="is no name"):
        getattr(session.namespace["source"], f"app if {code} else print")
    assert not trace.exists()
    session.run("home()")


def test_completion_survives_whatever_an_object_does_when_it_is_asked(session: Session) -> None:
    session.run("class D:\n    def __dir__(self): raise SystemExit\n    at = property(lambda self: exit())\nd = D()")
    assert session.complete("d.a") == ((), 0)
    assert session.complete("d.at.b") == ((), 0)
    assert session.run("type(d).__name__").outcome.text == "'D'"


def test_completion_knows_names_attributes_arguments_and_addresses(session: Session) -> None:
    session.run("home()\nsource.app.client()\nmine = 5")
    for text, word, length in [
        ("sour", "source", 4),
        ("x = min", "mine", 3),
        ("source.app.cl", "source.app.client", 13),
        ("source.re", "source.read", 9),
        ('read("app.cl', "app.client", 6),
        ('read("Client.se', "Client.send", 9),
        ("read(tar", "target=", 3),
        ('edit("x", dry', "dry_run=", 3),
    ]:
        words, replaced = session.complete(text)
        assert word in words, text
        assert replaced == length
    assert session.complete('read("*[')[0] == ()
    assert session.complete("source.nope.")[0] == ()
    assert session.complete("x = '\ud800'") == ((), 0)


def test_completion_knows_what_can_be_imported(session: Session) -> None:
    assert session.complete("import app.cl") == (("app.client",), 6)
    assert session.complete("from app.ne") == (("app.net",), 6)
    assert "app" in session.complete("x = 1\nimport ")[0]


def test_nothing_of_a_session_starts_before_the_first_block(root: Path) -> None:
    def children() -> int:
        found = subprocess.run(["ps", "-A", "-o", "ppid="], capture_output=True, text=True).stdout.split()
        return found.count(str(os.getpid()))

    before = children()
    with Session(root) as session:
        assert children() == before
        session.run("1")
        assert children() == before + 1
    assert children() == before


def test_the_environment_is_the_callers(root: Path) -> None:
    with Session(root, environment={"WORD": "said"}) as session:
        assert session.run("import os\nos.environ['WORD'], 'HOME' in os.environ").outcome.text == "('said', False)"


def test_output_and_calls_of_threads_between_blocks_are_reported_with_the_next_block(session: Session) -> None:
    session.run(
        "source()\nimport threading\n"
        "def go():\n    gate.wait(10)\n    read('app.client')\n    print('from a thread')\n"
        "gate = threading.Event(); thread = threading.Thread(target=go); thread.start()"
    )
    ran = session.run("gate.set(); thread.join()")
    assert "[source] ◆ read(app.client) -> str (3 lines)" in ran.text
    assert "from a thread" in ran.text


def test_a_session_that_is_not_closed_ends_its_worker_when_it_is_gone(root: Path) -> None:
    session = Session(root)
    worker = int(session.run("import os; os.getpid()").outcome.text)
    del session
    assert gone(worker)


def test_a_folder_whose_name_is_no_text_has_sessions_too(tmp_path: Path) -> None:
    project = built(tmp_path / os.fsdecode(b"caf\xe9 $(x) 'q'"))
    with Session(project) as session:
        assert session.run('source.read("limit.top")').outcome.text == "top = 1\n"


def test_a_session_runs_one_block_at_a_time_and_refuses_others_meanwhile(session: Session, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = f"import time, os\nopen({str(begun)!r}, 'w').close()\nwhile os.path.exists({str(begun)!r}): time.sleep(0.01)"
    first = threading.Thread(target=session.run, args=(code,))
    first.start()
    while first.is_alive() and not begun.exists():
        first.join(0.01)
    assert session.run("1").outcome.errors[0].code == "busy"
    begun.unlink()
    first.join()
    assert session.run("1").outcome.text == "1"
