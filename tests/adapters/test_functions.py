"""Functions for models: the definitions have each provider's form, and what a model calls goes through the one door."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bae_source import RequestError, Source, functions
from bae_source.adapters.cli.commands import STYLES
from bae_source.engine.registry import REQUESTS
from bae_source.engine.service import Service
from bae_source.model.context import steering
from bae_source.model.outcome import as_mapping
from bae_source.model.request import Effect
from tests.adapters.serve.support import until
from tests.adapters.support import call, run

VERBS = [kind.verb for kind in REQUESTS]
READ = ("read", "grep", "find", "references", "call")
READING = [kind.verb for kind in REQUESTS if kind.effect is Effect.READS]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    functions.close()


def contents(root: Path) -> dict[str, bytes]:
    """Return every file of a project, but for what is ours."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".bae-source" not in path.parts
    }


def ask(root: Path, name: Any, arguments: Any, **how: Any) -> dict[str, Any]:
    answer = functions.dispatch(name, arguments, root=root, **how)
    assert json.loads(json.dumps(answer)) == answer, "it is JSON as it is"
    assert (answer["status"] == "error") == bool(answer["errors"])
    return answer


def code(answer: dict[str, Any]) -> str:
    [error] = answer["errors"]
    return str(error["code"])


@pytest.mark.parametrize(
    ("style", "keys", "schema"),
    [
        ("openai", ["type", "name", "description", "parameters"], "parameters"),
        ("anthropic", ["name", "description", "input_schema"], "input_schema"),
        ("mcp", ["name", "title", "description", "inputSchema", "outputSchema", "annotations"], "inputSchema"),
    ],
)
def test_definitions_have_the_form_of_their_style(style: str, keys: list[str], schema: str) -> None:
    found = functions.definitions(style, profile="full")
    assert [each["name"] for each in found] == VERBS
    for each in found:
        assert list(each) == keys
        assert each["description"].count(".") >= 2, "what comes of it, and when to use it"
        assert each[schema]["type"] == "object"
        assert each[schema]["additionalProperties"] is False
        assert set(each[schema]["required"]) <= set(each[schema]["properties"])
        assert "$ref" not in json.dumps(each)
        assert each.get("type", "function") == "function"
        assert list(each.get("annotations", ())) in (
            [],
            ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"],
        )


def test_the_instructions_name_every_parameter_of_the_context() -> None:
    steered = {each.name for kind in REQUESTS if kind.family != "ast" for each in steering(kind)}
    steered -= {"language_server", "language_server_seconds"}
    assert {name for name in steered if f"{name} (" not in functions.INSTRUCTIONS} == set()


def test_a_selection_keeps_the_order_of_the_registry() -> None:
    assert [each["name"] for each in functions.definitions("mcp", ["edit", "read"])] == ["read", "edit"]
    assert [each["name"] for each in functions.definitions("openai", read_only=True, profile="full")] == READING
    assert [each["name"] for each in functions.definitions("openai", read_only=True)] == list(READ)
    assert [each["name"] for each in functions.definitions("openai", profile="read")] == list(READ)
    assert [each["name"] for each in functions.definitions("openai", ["edit", "read"], read_only=True)] == ["read"]
    assert [each["name"] for each in functions.definitions("anthropic", "read")] == ["read"]


def test_another_style_and_a_tool_that_there_is_not_are_refused_with_those_that_there_are() -> None:
    with pytest.raises(RequestError, match="no style 'opnai'") as style:
        functions.definitions("opnai")
    assert "openai" in style.value.hints[0]
    with pytest.raises(RequestError, match="no tool 'reed'") as tool:
        functions.definitions("openai", ["reed"])
    assert tool.value.code == "unknown_operation"


def test_the_command_prints_an_array_and_nothing_else(project: Path) -> None:
    done = run("functions", "--style", "openai", "--tool", "edit", "--tool", "read", "--read-only", folder=project)
    assert (done.status, done.err) == (0, b"")
    assert json.loads(done.out) == functions.definitions("openai", ["read"])


def test_the_command_knows_the_styles_and_complains_without_output() -> None:
    for style in STYLES:
        assert json.loads(call("functions", "--style", style, "--tool", "read").out) == functions.definitions(
            style, ["read"]
        )
    for argv in (("--style", "other"), (), ("--style", "mcp", "--tool", "nope")):
        wrong = call("functions", *argv)
        assert (wrong.status, wrong.out) == (2, b"")
    assert call("functions", "--style", "mcp", "--tool", "nope").err_text.startswith("error[unknown_operation]")


def test_what_a_model_calls_is_what_python_and_the_command_line_answer(project: Path) -> None:
    outcome = Source(project).read("app.client.Client.send").outcome
    answer = ask(project, "read", {"target": "app.client.Client.send"})
    offered = {"next_actions": [f'edit(target="app.client.Client.send", if_match="{outcome.etag}")']}
    assert answer == as_mapping(outcome) | offered
    uri = "sym://python/type/app/client/Client#send"
    shown = call("ast", "snippet", uri, "--root", str(project), door=_real)
    assert ask(project, "snippet", {"uris": [uri]}) == shown.json


def _real(root: Path, environment: Any, asked: Any, context: Any) -> Any:
    return Service(root, environment=environment).run(asked, context)


@pytest.mark.parametrize("given", ['{"target": "app.client"}', b'{"target": "app.client"}', {"target": "app.client"}])
def test_arguments_are_a_mapping_or_its_json(project: Path, given: Any) -> None:
    assert ask(project, "read", given)["text"].startswith("app.client")


def test_an_empty_text_stands_for_no_arguments(project: Path) -> None:
    assert ask(project, "outline", "") == ask(project, "outline", " ") == ask(project, "outline", {})


def test_a_change_is_made_and_taken_back_by_its_caller_alone(project: Path) -> None:
    before = contents(project)
    edit = {"target": "app.client.Client.stop@body", "new_source": "return None", "reload": "off", "why": "asked"}
    answer = ask(project, "edit", json.dumps(edit), who="agent")
    assert answer["status"] == "applied"
    assert b"return None" in (project / "app/client.py").read_bytes()
    assert code(ask(project, "undo", {}, who="other")) == "nothing_to_undo"
    assert ask(project, "undo", {"reload": "off"}, who="agent")["status"] == "applied"
    assert contents(project) == before


DEEP = '{"target": ' + "[" * 100_000 + "]" * 100_000 + "}"
TWICE = '{"target": "app.client", "target": "app.windows", "new_source": "x"}'
WRONG = {
    "no JSON": ("{target: 1}", "no JSON: "),
    "cut off": ('{"target": "app', "no JSON: "),
    "two values": ('{"target": "app"} {}', "no JSON: "),
    "no UTF-8": (b'{"target": "\xff"}', "no JSON: "),
    "an array": ('["app.client"]', "an array"),
    "a text": ('"app.client"', "a text"),
    "null": ("null", "null"),
    "a list": (["app.client"], "an array"),
    "nothing": (None, "null"),
    "very deep": (DEEP, "nested too deeply"),
    "deep": ('{"target": ' + "[" * 100 + "]" * 100 + "}", "nested more than"),
    "a key twice": (TWICE, "'target' is there twice"),
    "a key twice inside": ('{"target": {"a": 1, "a": 2}}', "'a' is there twice"),
    "NaN": ('{"target": NaN}', "NaN is no number"),
    "Infinity": ('{"target": -Infinity}', "-Infinity is no number"),
    "a gigantic number": ('{"target": ' + "9" * 5_000 + "}", "no JSON: "),
    "10 MB": ('{"target": "' + "x" * 10_000_000 + '"}', "10,000,000 characters"),
    "more than any JSON needs": ('{"target": "' + "x" * 50_000_000 + '"}', "characters, more than 48,000,000"),
    "a wrong type": ('{"target": 5, "new_source": "x"}', "target: expected"),
    "an unknown name": ('{"traget": "app.client"}', "did you mean target?"),
    "a number for a name": ({5: "app.client"}, "is no argument's name"),
}


@pytest.mark.parametrize("given", WRONG)
def test_wrong_arguments_are_an_answer_and_change_nothing(project: Path, given: str) -> None:
    before = contents(project)
    arguments, expected = WRONG[given]
    answer = ask(project, "edit", arguments)
    assert code(answer) == "invalid_arguments"
    [error] = answer["errors"]
    assert error["message"].startswith("edit was called wrongly: ")
    assert expected in error["message"]
    assert error["hints"]
    assert len(error["message"]) < 500
    assert contents(project) == before


@pytest.mark.parametrize("name", ["reed", "", None, 5, ["read"], "read\n", "x" * 10_000])
def test_a_tool_that_there_is_not_is_an_answer(project: Path, name: Any) -> None:
    assert code(ask(project, name, {})) == "unknown_operation"


def test_a_tool_that_was_not_offered_is_not_run(project: Path) -> None:
    before = contents(project)
    edit = {"target": "app.client.Client.stop", "old": "pass", "new": "...", "reload": "off"}
    assert code(ask(project, "edit", edit, read_only=True)) == "unknown_operation"
    answer = ask(project, "edit", edit, names=["read", "delete"])
    assert "not offered" in answer["errors"][0]["message"]
    assert contents(project) == before


def test_an_error_of_the_project_is_an_answer_with_candidates(project: Path) -> None:
    [error] = ask(project, "read", {"target": "app.client.Clint"})["errors"]
    assert error["code"] == "symbol_not_found"
    assert "app.client.Client" in error["candidates"]


def test_an_answer_keeps_to_the_budget_that_is_given(project: Path) -> None:
    (project / "app/long.py").write_text("# one\n" * 6_000)
    [error] = ask(project, "read", {"target": "app.long", "full": True})["errors"]
    assert error["code"] == "budget_exceeded"
    assert len(ask(project, "read", {"target": "app.long", "full": True}, budget=None)["text"]) == 36_000
    page = ask(project, "read", {"target": "app.long", "full": True, "cursor": "0"}, budget=600)
    assert (len(page["text"]), page["complete"]) == (600, False)


def test_a_bug_of_ours_is_an_answer(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Service, "run", broken)
    assert code(ask(project, "read", {"target": "app"})) == "internal_error"


def test_what_the_program_does_wrong_is_raised(project: Path) -> None:
    with pytest.raises(RequestError, match="is no folder"):
        functions.dispatch("read", {}, root=project / "nowhere")
    with pytest.raises(RequestError, match="no tool 'reed'"):
        functions.dispatch("read", {}, root=project, names=["reed"])


def test_the_working_directory_is_the_default_root(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "app")
    assert functions.dispatch("read", {"target": "app.client"})["status"] == "answer"


def test_one_engine_serves_a_root_until_it_is_closed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    begin = Service.__init__

    def noted(self: Service, root: Path, **more: Any) -> None:
        made.append(root)
        begin(self, root, **more)

    monkeypatch.setattr(Service, "__init__", noted)
    for _ in range(3):
        ask(project, "read", {"target": "app.client"})
    ask(project / "app" / "..", "read", {"target": "app.client"})
    assert made == [project]
    functions.close(project)
    assert ask(project, "read", {"target": "app.client"})["status"] == "answer"
    functions.close()
    functions.close(project / "never")
    assert made == [project, project]


def test_only_a_few_roots_are_kept_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    functions.close()  # those of other tests
    closed: list[Path] = []
    monkeypatch.setattr(Service, "close", lambda self: closed.append(self.root))
    roots = [tmp_path / str(number) for number in range(10)]
    for root in roots:
        root.mkdir()
        (root / "mod.py").write_text("x = 1\n")
        assert ask(root, "read", {"target": "mod.x"})["text"] == "x = 1\n"
    assert closed == roots[:2]
    assert ask(roots[0], "read", {"target": "mod.x"})["status"] == "answer"


def test_threads_on_one_root_wait_for_each_other_and_lose_nothing(project: Path) -> None:
    (project / "app/many.py").write_text("".join(f"def f{n}():\n    return 0\n\n\n" for n in range(8)))

    def change(number: int) -> dict[str, Any]:
        given = {"target": f"app.many.f{number}", "old": "return 0", "new": f"return {number + 1}", "reload": "off"}
        return functions.dispatch("edit", given, root=project, who=f"agent {number}")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(change, range(8)))
    assert {answer["status"] for answer in answers} == {"applied"}
    text = (project / "app/many.py").read_text()
    assert all(f"return {number + 1}\n" in text for number in range(8))


def test_what_the_program_gets_wrong_is_raised_before_anything_is_run(project: Path) -> None:
    for wrong in ({"budget": "8000"}, {"budget": -5}, {"who": 3}):
        with pytest.raises(RequestError):
            functions.dispatch("read", {"target": "app.client"}, root=project, **wrong)  # type: ignore[arg-type]


def test_the_functions_can_be_imported_from_where_they_are_named() -> None:
    from bae_source.functions import dispatch

    assert dispatch is functions.dispatch


def test_a_root_at_work_does_not_give_way_and_no_other_root_waits_for_it(project: Path, tmp_path: Path) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    waiting = f"command sh -c 'touch {begun}; while ! test -e {go}; do sleep 0.05; done'"
    change = {"target": "app.client.Client.stop@body", "new_source": "return 1", "dry_run": True, "verify": [waiting]}
    answers: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: answers.append(functions.dispatch("edit", change, root=project)))
    thread.start()
    until(begun.exists)
    try:
        for number in range(9):
            root = tmp_path / f"other{number}"
            root.mkdir()
            assert functions.dispatch("read", {}, root=root)["status"] == "answer"
        assert not answers, "no other root waited for it"
    finally:
        go.touch()
        thread.join()
        functions.close()
