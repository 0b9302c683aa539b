"""What the verbs of `ast` answer: golden JSON through the API and through the command line, and the budgets.

A golden file holds the project, the call, its exit status and the lines that it prints. Keys and their order count.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.errors import RequestError
from bae_source.model.selection import MAX_BYTES, MAX_SNIPPET_BYTES, MAX_SNIPPET_LINES, MAX_SNIPPETS
from tests.adapters.support import call, run
from tests.integration.support import made

GOLDEN = sorted((Path(__file__).resolve().parents[2] / "fixtures" / "contracts").glob("ast_*.json"))
KEYS = ["status", "kind", "data", "refs", "errors", "next_actions"]
CODES = {
    "INVALID_SELECTOR_SYNTAX",
    "LANGUAGE_NOT_SUPPORTED",
    "SYMBOL_NOT_FOUND",
    "AMBIGUOUS_SYMBOL",
    "BUDGET_EXCEEDED",
    "SYNTAX_INVALID",
    "ENCODING_INVALID",
}


def loaded(path: Path) -> dict[str, Any]:
    golden: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return golden


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_api_returns_the_golden_answer(path: Path, tmp_path: Path) -> None:
    golden = loaded(path)
    asked = dict(golden["request"])
    source = Source(made(tmp_path, golden["files"]))
    answer = getattr(source, asked.pop("do"))(*asked.pop("uris"), **asked)
    answers = answer if isinstance(answer, list) else [answer]
    assert [json.dumps(each) for each in answers] == [json.dumps(line) for line in golden["lines"]]


@pytest.mark.sampled
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_command_line_prints_the_golden_lines_and_nothing_else(path: Path, tmp_path: Path) -> None:
    golden = loaded(path)
    called = run(*golden["command"], folder=made(tmp_path, golden["files"]))
    assert called.out.decode().splitlines() == [json.dumps(line) for line in golden["lines"]]
    assert called.out.endswith(b"\n")
    assert (called.status, called.err) == (golden["exit"], b"")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_line_keeps_the_format(path: Path) -> None:
    for line in loaded(path)["lines"]:
        assert list(line) == KEYS
        assert (line["status"] == "error") is bool(line["errors"]) is (line["data"] is None)
        for error in line["errors"]:
            assert list(error) == ["code", "message", "details"]
            assert error["code"] in CODES
        if line["data"]:
            assert list(line["data"]) == ["uri", "range", "content", "signature", "children"]
            assert list(line["data"]["range"]) == ["start_line", "end_line"]
        for ref in line["refs"]:
            assert list(ref) == ["kind", "uri"]
            assert ref["kind"] == "definition"


def test_there_are_golden_lines_of_each_kind_and_each_error() -> None:
    lines = [line for path in GOLDEN for line in loaded(path)["lines"]]
    assert {line["kind"] for line in lines if line["status"] == "ok"} == {"skeleton", "snippet", "hover"}
    assert {error["code"] for line in lines for error in line["errors"]} == CODES


def test_the_calls_that_an_ambiguity_names_reach_each_candidate(tmp_path: Path) -> None:
    folder = made(
        tmp_path, {"utils.py": "A = 1\n", "pkg/utils.py": "B = 2\n", "x.py": "C = 3\n", "x/__init__.py": "D = 4\n"}
    )
    for path, contents in (("utils", {"A", "B"}), ("x", {"C", "D"})):
        refused = call_json(folder, "ast", "symbols", f"sym://python/mod/{path}")
        reached = [call_json(folder, *action.split()) for action in refused["next_actions"]]
        assert {answer["data"]["content"].partition(" ")[0] for answer in reached} == contents


def call_json(folder: Path, *argv: str) -> dict[str, Any]:
    called = run(*argv, folder=folder)
    answer: dict[str, Any] = called.json
    return answer


def test_the_same_path_in_two_source_roots_is_reached_by_the_root_that_the_answer_names(tmp_path: Path) -> None:
    settings = '[tool.bae-source]\nsource-roots = ["one", "two"]\n'
    files = {"pyproject.toml": settings, "one/tool.py": "A = 1\n", "two/tool.py": "B = 2\n"}
    folder = made(tmp_path, files)
    refused = call_json(folder, "ast", "symbols", "sym://python/mod/tool")
    assert refused["errors"][0]["code"] == "AMBIGUOUS_SYMBOL"
    reached = [call_json(folder, *action.split())["data"]["content"] for action in refused["next_actions"]]
    assert reached == ["A = ...", "B = ..."]


def test_several_uris_have_the_highest_exit_status_and_a_line_each(tmp_path: Path) -> None:
    folder = made(tmp_path, {"m.py": "def f(): ...\n", "bad.py": "def (\n"})
    good, missing, broken = "sym://python/type/m/f", "sym://python/mod/nowhere", "sym://python/mod/bad"
    for uris, status in (((good, "x"), 2), ((missing, good), 3), ((broken, missing, "x"), 4), ((good, good), 0)):
        called = run("ast", "hover", *uris, folder=folder)
        assert called.status == status
        assert len(called.out.splitlines()) == len(uris)


@pytest.mark.parametrize(
    ("argv", "code", "status"),
    [
        (["ast", "symbols"], "INVALID_ARGUMENTS", 2),
        (["ast", "snippet", "sym://python/mod/m", "--nonsense"], "INVALID_ARGUMENTS", 2),
        (["ast", "hover", "sym://python/mod/m", "--root", "nowhere"], "INVALID_ARGUMENTS", 2),
        (["ast", "symbols", "sym://python/mod/m", "--format", "yaml"], "INVALID_ARGUMENTS", 2),
    ],
)
def test_a_call_that_never_comes_to_a_look_up_is_answered_as_json_too(
    argv: list[str], code: str, status: int, tmp_path: Path
) -> None:
    called = run(*argv, folder=made(tmp_path, {"m.py": ""}))
    answer = called.json
    assert (called.status, called.err) == (status, b"")
    assert list(answer) == KEYS
    assert (answer["status"], answer["errors"][0]["code"]) == ("error", code)
    assert answer["next_actions"]


def test_a_bug_and_an_interruption_are_json_as_well() -> None:
    for wrong, code, status in ((RuntimeError("x"), "INTERNAL_ERROR", 70), (KeyboardInterrupt(), "INTERRUPTED", 130)):

        def door(*_: object, error: BaseException = wrong) -> Any:
            raise error

        called = call("ast", "hover", "sym://python/mod/m", door=door)
        assert (called.status, called.err) == (status, b"")
        assert (called.json["kind"], called.json["errors"][0]["code"]) == ("hover", code)


def test_the_api_refuses_a_call_without_any_uri(tmp_path: Path) -> None:
    source = Source(tmp_path)
    for ask in (source.symbols, source.snippet, source.hover):
        with pytest.raises(RequestError, match="uris"):
            ask()  # type: ignore[call-overload]


def test_the_uri_is_echoed_byte_for_byte(tmp_path: Path) -> None:
    source = Source(made(tmp_path, {"a/b.py": "def f(): ...\n"}))
    for uri in ("sym://python/type/b/f", "sym://python/type/a/b/f", "sym://python/mod/b", "sym://python/mod/a/b"):
        assert source.symbols(uri)["data"]["uri"] == uri
    for uri in ("sym://python/type/b/ü", " sym://python/mod/b", "sym://python/mod/b\n", "\udcff"):
        assert source.symbols(uri)["errors"][0]["details"]["sym"] == uri


def test_a_decorated_definition_starts_at_its_decorator_and_lines_are_inclusive(tmp_path: Path) -> None:
    text = "import x\n\n@x.a\n@x.b(\n    1\n)\ndef f():\n    return 1\n    # its own\n\n# not its own\n"
    answer = Source(made(tmp_path, {"m.py": text})).snippet("sym://python/type/m/f")
    assert answer["data"]["range"] == {"start_line": 3, "end_line": 9}
    assert answer["data"]["content"] == "\n".join(text.splitlines()[2:9])


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_lines_are_pythons_lines_and_a_snippet_keeps_their_ends(newline: str, tmp_path: Path) -> None:
    text = newline.join(["a = 1", "def f():", "    x = '\u2028\x0c'", "    return x", ""])
    answer = Source(made(tmp_path, {"m.py": text})).snippet("sym://python/type/m/f")
    assert answer["data"]["range"] == {"start_line": 2, "end_line": 4}
    assert answer["data"]["content"] == newline.join(["def f():", "    x = '\u2028\x0c'", "    return x"])


def test_an_empty_module_has_its_first_line(tmp_path: Path) -> None:
    answer = Source(made(tmp_path, {"m.py": ""})).symbols("sym://python/mod/m")
    assert answer["data"]["range"] == {"start_line": 1, "end_line": 1}
    assert (answer["data"]["content"], answer["data"]["children"]) == ("", [])


def test_a_total_of_exactly_the_budget_is_answered_and_one_byte_more_is_not(tmp_path: Path) -> None:
    def printed(pad: int) -> bytes:
        (tmp_path / "m.py").write_text(f"def f(a='{'x' * pad}'): ...\n")
        return run("ast", "hover", "sym://python/type/m/f", folder=tmp_path).out

    (tmp_path / "pyproject.toml").write_text('[tool.bae-source]\nlanguage-server = "off"\n')
    # the signature stands twice in a hover, and off says the same few words each time
    (tmp_path / "m.py").write_text("")
    base = len(printed(0))
    length = len(json.dumps("No refs without a language server: the language server is switched off.")) + 2
    most = (MAX_BYTES - (base - length)) // 2
    assert json.loads(printed(most))["status"] == "ok"
    assert json.loads(printed(most + 1))["errors"][0]["code"] == "BUDGET_EXCEEDED"


def test_more_than_the_budget_in_sum_is_one_error_that_names_each_uri(tmp_path: Path) -> None:
    big = "".join(f"def f{n:04}({'a' * 50}): ...\n" for n in range(150))
    folder = made(tmp_path, {f"{name}.py": big for name in "abcd"})
    uris = [f"sym://python/mod/{name}" for name in "abcd"]
    called = run("ast", "symbols", *uris, folder=folder)
    assert (called.status, called.json["errors"][0]["code"]) == (5, "BUDGET_EXCEEDED")
    assert called.json["next_actions"] == [f"ast symbols {uri}" for uri in uris]
    for action in called.json["next_actions"]:
        assert run(*action.split(), folder=folder).status == 0


def test_too_many_candidates_are_an_error_of_the_budget_that_names_some_of_them(tmp_path: Path) -> None:
    source = Source(made(tmp_path, {f"package_number_{n}/__init__.py": "" for n in range(300)}))
    answer = source.symbols("sym://python/mod/__init__")
    assert answer["errors"][0]["code"] == "BUDGET_EXCEEDED"
    assert len(answer["next_actions"]) == 20
    for action in answer["next_actions"]:
        assert source.symbols(action.split()[2])["status"] == "ok"


def test_a_snippet_of_just_the_limit_is_whole(tmp_path: Path) -> None:
    lines = "def f():\n" + "    x\n" * (MAX_SNIPPET_LINES - 1)
    text = "def g(): return '" + "é" * ((MAX_SNIPPET_BYTES - 18) // 2) + "'"
    assert len(text.encode()) == MAX_SNIPPET_BYTES
    source = Source(made(tmp_path, {"m.py": f"{lines}{text}\n"}))
    assert source.snippet("sym://python/type/m/f")["data"]["content"] == lines[:-1]
    assert source.snippet("sym://python/type/m/g")["data"]["content"] == text


def test_the_stricter_limit_cuts_and_says_so_once(tmp_path: Path) -> None:
    wide = "def f():\n" + "".join(f"    x = '{'a' * 60}'\n" for _ in range(100))
    long = "def g():\n" + "    x\n" * 100
    source = Source(made(tmp_path, {"m.py": wide + long}))
    by_bytes = source.snippet("sym://python/type/m/f")["data"]["content"].split("\n")
    by_lines = source.snippet("sym://python/type/m/g")["data"]["content"].split("\n")
    assert by_bytes[-1] == "# ... truncated"
    assert (
        len("\n".join(by_bytes[:-1]).encode())
        <= MAX_SNIPPET_BYTES
        < len("\n".join([*by_bytes[:-1], wide.split("\n")[1]]))
    )
    assert by_lines[MAX_SNIPPET_LINES:] == ["# ... 51 lines hidden"]


def test_the_rest_of_too_many_snippets_can_be_asked_for_as_the_last_one_says(tmp_path: Path) -> None:
    folder = made(tmp_path, {"m.py": "".join(f"def f{n}(): ...\n" for n in range(12))})
    asked, seen = ["ast", "snippet", "--exact", *(f"sym://python/type/m/f{n}" for n in range(12))], []
    while asked:
        answers = [json.loads(line) for line in run(*asked, folder=folder).out.splitlines()]
        assert len(answers) <= MAX_SNIPPETS
        seen += [answer["data"]["signature"] for answer in answers]
        asked = next((action.split() for action in answers[-1]["next_actions"] if "snippet" in action), [])
        assert not asked or asked[-1] == "--exact"
    assert seen == [f"def f{n}()" for n in range(12)]


def test_a_snippet_points_only_to_what_its_shown_part_uses(tmp_path: Path) -> None:
    text = "def a(): ...\ndef b(): ...\ndef f():\n    a()\n" + "    1\n" * 60 + "    b()\n"
    source = Source(made(tmp_path, {"m.py": text}))
    answer = source.snippet("sym://python/type/m/f")
    assert [ref["uri"] for ref in answer["refs"]] == ["sym://python/type/m/a"]


def test_a_class_points_by_its_bases_and_a_function_by_its_body_too(tmp_path: Path) -> None:
    text = "class A: ...\ndef b(): ...\nclass C(A):\n    def f(self): return b()\n"
    source = Source(made(tmp_path, {"m.py": text}))
    found = source.hover("sym://python/type/m/C", "sym://python/type/m/C#f", language_server_seconds=60)
    assert [[ref["uri"].rpartition("/")[2] for ref in answer["refs"]] for answer in found] == [["A"], ["b"]]


def test_errors_take_no_place_of_a_snippet(tmp_path: Path) -> None:
    source = Source(made(tmp_path, {"m.py": "def f(): ...\n"}))
    answers = source.snippet("x", "y", *["sym://python/type/m/f"] * 5)
    assert [answer["status"] for answer in answers] == ["error", "error", "ok", "ok", "ok", "ok", "ok"]


def test_markdown_says_the_same(tmp_path: Path) -> None:
    code = 'def f(a="```"):\n    """Doc."""\n\n    def inner(): ...\n'
    folder = made(tmp_path, {"m.py": code})
    called = run("ast", "snippet", "sym://python/type/m/f", "--format", "markdown", folder=folder)
    assert (called.status, called.err) == (0, b"")
    assert called.out.decode() == (
        '## snippet of `sym://python/type/m/f` (lines 1 to 4)\n\n````def f(a="```")````\n\n'
        f"````python\n{code[:-1]}\n````\n\nInside: `inner`\n\nNext:\n\n- `read m.f`\n"
    )


def test_markdown_of_an_error_stands_on_stdout_too(tmp_path: Path) -> None:
    folder = made(tmp_path, {"a/m.py": "", "b/m.py": ""})
    called = run("ast", "symbols", "sym://python/mod/m", "x", "--format=markdown", folder=folder)
    assert (called.status, called.err) == (3, b"")
    assert called.out.decode() == (
        "## AMBIGUOUS_SYMBOL\n\nm is the path of 2 files; say which one is meant.\n\n"
        "- `sym://python/mod/a/m` (mod, a/m.py)\n- `sym://python/mod/b/m` (mod, b/m.py)\n\n"
        "Next:\n\n- `ast symbols sym://python/mod/a/m`\n- `ast symbols sym://python/mod/b/m`\n\n"
        "## INVALID_SELECTOR_SYNTAX\n\n'x' is no selector: it does not begin with sym://.\n"
    )


def test_json_asked_for_by_the_general_option_is_the_same_line(tmp_path: Path) -> None:
    folder = made(tmp_path, {"m.py": "def f(): ...\n"})
    plain = run("ast", "symbols", "sym://python/type/m/f", folder=folder)
    assert run("--json", "ast", "symbols", "sym://python/type/m/f", folder=folder) == plain
    assert run("ast", "--json", "symbols", "sym://python/type/m/f", "--format", "markdown", folder=folder) == plain


def test_the_family_alone_tells_its_verbs(tmp_path: Path) -> None:
    alone = call("ast")
    assert (alone.status, alone.out) == (2, b"")
    assert "ast symbols, ast snippet, ast hover" in alone.err_text
    for argv in (["ast", "--help"], ["help", "ast"], ["--help", "ast"]):
        shown = call(*argv)
        assert shown.status == 0
        assert all(f"ast {verb} " in shown.out.decode() for verb in ("symbols", "snippet", "hover"))
    assert "Did you mean ast symbols?" in call("ast", "symbol", "x").err_text
    assert "Did you mean ast symbols?" in call("symbols", "x").err_text


def test_a_look_up_loads_none_of_the_heavy_libraries(tmp_path: Path) -> None:
    import subprocess
    import sys

    from tests.adapters.support import environment

    folder = made(tmp_path, {"m.py": "def f(): ...\n"})
    code = (
        "import sys; from bae_source.adapters.cli.cli import main\n"
        "main(['ast', sys.argv[1], 'sym://python/type/m/f'])\n"
        "print([name for name in ('libcst', 'git', 'pydantic', 'rich', 'mcp') if name in sys.modules])"
    )
    for verb in ("symbols", "snippet", "hover"):
        done = subprocess.run(
            [sys.executable, "-c", code, verb],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == "[]"
