"""Settings read and changed through the command line, Python, a session and MCP."""

from __future__ import annotations

import asyncio
import re
import shlex
from pathlib import Path

import pytest
from mcp import Client

from bae_source import Source
from bae_source.adapters.session.namespace import Namespace
from bae_source.engine.service import Service
from tests.adapters.mcp.test_clients import over_pipes
from tests.resources.config.support import SETTINGS, called, made, refused


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made(tmp_path / "project")


def settings(root: Path) -> str:
    return (root / "pyproject.toml").read_bytes().decode()


def test_sections_are_listed_each_in_a_line(root: Path) -> None:
    text = Source(root).config_read()
    lines = text.splitlines()
    assert lines[0] == "pyproject.toml: 7 sections."
    assert lines[1:4] == [
        "build-system: 2 keys (line 2)",
        "project: 3 keys (line 6)",
        "project.optional-dependencies: 1 key (line 13)",
    ]
    assert lines[-1] == "tool.mypy.overrides[0]: 1 key (line 26)"
    assert text.etag == Source(root).read(":pyproject.toml").etag


def test_a_section_is_read_as_it_stands_with_its_etag_and_its_data(root: Path) -> None:
    answer = called(root, "config", "read", "project")
    assert answer.out.decode() == SETTINGS[SETTINGS.index("[project]") : SETTINGS.index("\n[dependency-groups]")]
    found = called(root, "config", "read", "project", "--json").json
    assert found["text"] == answer.out.decode()
    [data] = found["found"]
    assert (data["key"], data["line"], data["etag"]) == ("project", 6, found["etag"])
    assert data["value"]["optional-dependencies"] == {"dev": ["pytest"]}
    assert found["counts"] == {"keys": 4}
    listed = called(root, "config", "read", "--json").json
    assert listed["found"][0] == {"section": "build-system", "keys": 2, "line": 2}


def test_dates_and_numbers_that_are_none_are_texts_in_json(tmp_path: Path) -> None:
    root = made(tmp_path / "project", "a = 2026-01-02T03:04:05Z\nb = nan\nc = [1979-05-27, 07:32:00]\n")
    found = called(root, "config", "read", "c", "--json").json
    assert found["found"][0]["value"] == ["1979-05-27", "07:32:00"]
    assert called(root, "config", "read", "b", "--json").json["found"][0]["value"] == "nan"
    assert called(root, "config", "read", "a", "--json").json["found"][0]["value"].startswith("2026-01-02")


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        (["set", "tool.ruff.line-length", "120"], "line-length = 100", "line-length = 120"),
        (["set", "tool.ruff.line-length", "0x78"], "line-length = 100", "line-length = 0x78"),
        (["set", "project.name", "other"], 'name = "demo"', 'name = "other"'),
        (["set", "project.version", '"2.0"'], '"1.0"', '"2.0"'),
        (["set", "tool.ruff.line-length", '"wide"', "--retype"], "line-length = 100", 'line-length = "wide"'),
        (["set", "tool.ruff.preview", "true"], "length = 100\n", "length = 100\npreview = true\n"),
        (["set", "tool.ruff.fix", "./here"], "length = 100\n", 'length = 100\nfix = "./here"\n'),
        (["add", "project.dependencies", "rich>=13"], "# the client\n", '# the client\n    "rich>=13",\n'),
        (["add", "tool.ruff.select", "E"], "length = 100\n", 'length = 100\nselect = ["E"]\n'),
        (["remove", "project.dependencies", "httpx>=0.27"], '    "httpx>=0.27",  # the client\n', ""),
        (["remove", "tool.mypy.overrides[0]"], '\n[[tool.mypy.overrides]]\nmodule = "a"\n', ""),
        (["rename", "tool.ruff", "ruff2"], "[tool.ruff]", "[tool.ruff2]"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_command_line_changes_one_place_and_undo_takes_it_back(
    root: Path, words: list[str], old: str, new: str
) -> None:
    planned = called(root, "config", *words, "--dry-run")
    assert planned.err_text.startswith("Dry run, nothing was changed: ")
    assert settings(root) == SETTINGS
    answer = called(root, "config", *words)
    assert (answer.status, settings(root)) == (0, SETTINGS.replace(old, new)), answer.err_text
    assert called(root, "undo").status == 0
    assert settings(root) == SETTINGS


def test_python_takes_plain_values(root: Path) -> None:
    source = Source(root)
    source.config_set("tool.ruff.lint", {"select": ["E", "F"], "preview": True})
    outcome = source.config_add("tool.ruff.lint.select", "W")
    assert outcome.text == 'Added "W" to tool.ruff.lint.select.'
    assert outcome.changed[0].address == ":pyproject.toml"
    assert settings(root) == SETTINGS.replace(
        "length = 100\n", 'length = 100\nlint = { select = ["E", "F", "W"], preview = true }\n'
    )
    source.config_remove("tool.ruff.lint.select", "E")
    source.config_remove("tool.ruff.lint")
    assert settings(root) == SETTINGS


def test_what_is_so_already_is_no_change(root: Path) -> None:
    source = Source(root)
    assert source.config_set("tool.ruff.line-length", 100).status == "unchanged"
    assert source.config_add("project.dependencies", "httpx>=0.27").status == "unchanged"
    assert source.config_rename("tool.ruff", "ruff").status == "unchanged"
    assert settings(root) == SETTINGS


@pytest.mark.parametrize(
    ("verb", "placed", "given", "words"),
    [
        ("config_set", ("tool.ruff.line-length", "wide"), {}, "is a string, and tool.ruff.line-length is an integer"),
        ("config_set", ("project.version",), {"toml": "2.0"}, "2.0 is a float, and project.version is a string"),
        ("config_set", ("project.version", 2), {}, "2 is an integer, and project.version is a string"),
        ("config_add", ("project.dependencies", 1), {}, "the items of project.dependencies are each a string"),
    ],
)
def test_a_type_is_not_changed_by_chance(
    root: Path, verb: str, placed: tuple[object, ...], given: dict[str, str], words: str
) -> None:
    error = refused(root, verb, *placed, **given)
    assert error.code == "invalid_arguments"
    assert words in error.message


HINTED = {
    ("set", "project.version", "2.0"): ['version = "2.0"'],
    ("set", "tool.ruff.line-length", '"120"'): ["line-length = 120", 'line-length = "120"'],
    ("set", "tool.ruff.line-length", "wide"): ['line-length = "wide"'],
    ("set", "tool.ruff.line-length", "-w"): ['line-length = "-w"'],
    ("set", "tool.ruff.line-length", "--", "-1.5"): ["line-length = -1.5"],
    ("set", "tool.ruff.line-length", "1979-05-27"): ["line-length = 1979-05-27"],
    ("set", "tool.ruff.line-length", "[a]"): ['line-length = ["a"]', 'line-length = "[a]"'],
    ("set", "tool.x.branch", "False"): ["branch = false", 'branch = "False"'],
    ("set", "tool.x.branch", "None"): ['branch = "None"'],
    ("set", "tool.x.branch", "yes"): ["branch = true", 'branch = "yes"'],
    ("set", "tool.x.extra", "[starlette, 'tests', True]"): [
        """extra = ["starlette", 'tests', true]""",
        """extra = "[starlette, 'tests', True]\"""",
    ],
    ("set", "tool.x.version", "3.10"): ['version = "3.10"', "version = 3.1"],
    ("set", "tool.x.versions", "[3.9, 3.10]"): ['versions = ["3.9", "3.10"]', "versions = [3.9, 3.1]"],
    ("set", "tool.x.version", "1.2.3"): ['version = "1.2.3"'],
    ("set", "tool.x.version", '"it'): ['version = "\\"it"'],
    ("add", "tool.x.versions", "3.10"): ['versions = ["3.10"]', "versions = [3.1]"],
    ("add", "project.dependencies", "1"): ['"1",'],
    ("add", "tool.x.on", "True"): ["on = [true]", 'on = ["True"]'],
}


@pytest.mark.parametrize("words", HINTED, ids=" ".join)
def test_every_call_that_a_refusal_offers_works_as_it_is_printed(root: Path, words: tuple[str, ...]) -> None:
    answer = called(root, "config", *words)
    assert (answer.status, settings(root)) == (2, SETTINGS), answer.err_text
    hints = [line.removeprefix("  -> ") for line in answer.err_text.splitlines() if line.startswith("  -> ")]
    assert len(hints) == len(HINTED[words]), hints
    for hint, line in zip(hints, HINTED[words], strict=True):
        call = re.split(r" (?:writes|takes) ", hint)[0]
        again = called(root, *shlex.split(call))
        assert again.status == 0, (hint, again.err_text)
        assert line in settings(root), hint
        assert called(root, "undo").status == 0
        assert settings(root) == SETTINGS


@pytest.mark.parametrize("verb", ["config_set", "config_add"])
@pytest.mark.parametrize(("key", "toml"), [("tool.x", "True"), ("tool.x", "3.10"), ("tool.x", "[a]")])
def test_calls_that_are_offered_to_python_work_there(root: Path, verb: str, key: str, toml: str) -> None:
    error = refused(root, verb, key, toml=toml)
    for hint in error.hints:
        call = re.split(r" writes ", hint)[0]
        assert eval(f"source.{call}", {"source": Source(root)}).status == "applied"
        Source(root).undo()
    assert len(error.hints) == 2


def test_a_value_that_none_can_replace_has_no_call(root: Path) -> None:
    answer = called(root, "config", "set", "project.dependencies", "5")
    assert answer.err_text.splitlines()[1:] == ["  -> Give another value."]
    answer = called(root, "config", "set", "tool.ruff.line-length", "None")
    assert "\n  -> config remove tool.ruff.line-length takes the key away.\n" in answer.err_text


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["tool.pytest.ini_options.addopts", "-q"], 'addopts = "-q"'),
        (["tool.pytest.ini_options.addopts", "-q -x"], 'addopts = "-q -x"'),
        (["tool.pytest.ini_options.addopts", "-x", "--dry-run=x"], None),
        (["tool.pytest.ini_options.addopts", "--strict-markers"], 'addopts = "--strict-markers"'),
        (["--retype", "tool.ruff.line-length", "-q", "--who", "me"], 'line-length = "-q"'),
        (["tool.ruff.line-length", "-5"], "line-length = -5"),
        (["tool.ruff.line-length", "--retype", "-q", "5"], "line-length = 5"),
        (["tool.ruff.line-length", "5", "-q"], "line-length = 5"),
        (["tool.ruff.line-length", "--dry-run"], None),
        (["tool.ruff.line-length", "-5", "-x"], None),
    ],
)
def test_what_follows_the_key_is_the_value_also_with_a_dash(root: Path, words: list[str], line: str | None) -> None:
    answer = called(root, "config", "set", *words)
    assert answer.status == (0 if line else 2), answer.err_text
    assert settings(root) != SETTINGS if line else settings(root) == SETTINGS
    assert (line or "") in settings(root)


def test_an_item_with_a_dash_is_added_and_removed(root: Path) -> None:
    assert called(root, "config", "add", "tool.x.opts", "-q").status == 0
    assert called(root, "config", "add", "tool.x.opts", "-x").status == 0
    assert 'opts = ["-q", "-x"]' in settings(root)
    assert called(root, "config", "remove", "tool.x.opts", "-x").status == 0
    assert 'opts = ["-q"]' in settings(root)
    assert called(root, "config", "remove", "tool.x.opts", "-q").status == 0  # which says less, and is no item
    assert "opts" not in settings(root)


def test_a_text_is_the_string_itself_but_on_the_command_line(root: Path) -> None:
    source = Source(root)
    for text in ("5.1", "true", "-q -x", '["E"]', "3.10", "", "1979-05-27", '"quoted"'):
        source.config_set("tool.x.text", text)
        assert source.config_read("tool.x").outcome.found[0].value == {"text": text}
    source.config_set("tool.x.day", toml="1979-05-27")
    assert "day = 1979-05-27\n" in settings(root)
    source.config_add("tool.x.versions", "3.10")
    assert 'versions = ["3.10"]' in settings(root)
    source.config_remove("tool.x.versions", "3.10")
    assert "versions = []" in settings(root)


def test_the_last_part_of_a_name_leads_to_the_sections_and_keys_that_end_so(root: Path) -> None:
    for word, candidate in (("ruff", "tool.ruff"), ("version", "project.version"), ("module", "[0].module")):
        answer = called(root, "config", "read", word)
        assert answer.status == 3
        found = answer.err_text.partition("candidates:\n")[2].split()
        assert found[0].endswith(candidate)
        assert called(root, "config", "read", found[0]).status == 0


def test_an_etag_of_the_key_a_section_around_it_or_the_file_lets_a_change_through_and_no_other(root: Path) -> None:
    source = Source(root)
    etags = [source.config_read(each).etag for each in ("tool.ruff.line-length", "tool.ruff", "tool", "")]
    for number, etag in enumerate(etags):
        source.config_set("tool.ruff.line-length", 101 + number, if_match=etag, dry_run=True)
    source.config_set("tool.ruff.line-length", 1)
    for etag in etags:
        error = refused(root, "config_set", "tool.ruff.line-length", 2, if_match=etag)
        assert error.code == "stale"
        assert error.details["etag"] == source.config_read("tool.ruff.line-length").etag
    own = source.config_read("tool.ruff.line-length").etag
    source.config_add("project.dependencies", "rich")  # elsewhere
    assert source.config_set("tool.ruff.line-length", 2, if_match=own).status == "applied"


OURS = [
    ("config_set", ("tool.bae-source.telemetry", True)),
    ("config_set", ('tool."bae-source".new', 1)),
    ("config_set", ("tool.'bae-source'.telemetry", True)),
    ("config_set", ('"tool".bae-source.x.y', 1)),
    ("config_add", ("tool.bae-source.source-roots", "src")),
    ("config_remove", ("tool.bae-source",)),
    ("config_remove", ("tool.bae-source.telemetry",)),
    ("config_remove", ("tool",)),
    ("config_rename", ("tool.bae-source", "other")),
    ("config_rename", ("tool", "other")),
    ("config_rename", ("tool.bae-source.telemetry", "other")),
]


@pytest.mark.parametrize(("verb", "placed"), OURS)
def test_our_own_settings_are_read_and_never_changed(root: Path, verb: str, placed: tuple[object, ...]) -> None:
    assert Source(root).config_read("tool.bae-source") == "[tool.bae-source]\ntelemetry = false\n"
    assert refused(root, verb, *placed).code == "forbidden"


@pytest.mark.parametrize(
    "text", ["", "[tool]\nx.y = 1\n", "tool = {x = {}}\n", "[tool.x]\n", "[a.bae-source]\nb = 1\n"]
)
@pytest.mark.parametrize(
    ("verb", "placed"),
    [
        ("config_set", ("tool.bae-source.logs", "/")),
        ("config_set", ("tool.bae-source", {"logs": "/"})),
        ("config_set", ('tool."bae\\u002dsource"', {})),
        ("config_set", ("tool", {"bae-source": {}})),
        ("config_rename", ("tool.x", "bae-source")),
        ("config_rename", ("a", "tool")),
    ],
)
def test_our_own_settings_are_never_added(tmp_path: Path, text: str, verb: str, placed: tuple[object, ...]) -> None:
    root = made(tmp_path / "project", text)
    error = refused(root, verb, *placed)
    assert error.code in ("forbidden", "symbol_not_found", "invalid_arguments")
    assert error.code == "forbidden" or verb == "config_rename" or "tool" in text


def test_changes_stand_among_others_and_are_undone_together(root: Path) -> None:
    source = Source(root)
    outcome = source.apply(
        [
            {"do": "config_remove", "key": "project.version"},
            {"do": "config_set", "key": "project.dynamic", "value": ["version"]},
            {"do": "edit", "target": "app.x", "new_source": "x = 2"},
        ]
    )
    assert outcome.status == "applied"
    assert 'dynamic = ["version"]' in settings(root)
    assert (root / "app/__init__.py").read_text() == "x = 2\n"
    source.undo()
    assert settings(root) == SETTINGS
    with pytest.raises(Exception, match="Request 2 of 2, config_remove: "):
        source.apply([{"do": "config_remove", "key": "tool.ruff"}, {"do": "config_remove", "key": "tool.ruff"}])
    assert settings(root) == SETTINGS


def test_a_session_has_a_place_for_them(root: Path) -> None:
    events: list[str] = []
    names = Namespace(Service(root), lambda event: events.append(event.line)).names
    shown = str(names["source"].config())
    assert "State: pyproject.toml: 7 sections; no changes yet\n" in shown
    names["source"].config.set("tool.ruff.line-length", 90)
    assert names["read"]("tool.ruff") == "[tool.ruff]\nline-length = 90\n"
    assert "State: pyproject.toml: 7 sections; last change: op_" in str(names["source"].config())
    with names["transaction"]("narrow") as tx:
        tx.set("tool.ruff.line-length", 80)
        tx.rename("tool.ruff", "ruff2")
        assert "100" not in settings(root)
        assert "= 90" in settings(root)
    assert "[tool.ruff2]\nline-length = 80\n" in settings(root)
    assert "[config] ◆ read(tool.ruff) -> str (2 lines)" in events


def test_an_mcp_client_asks_by_call_and_changes_by_change(root: Path) -> None:
    async def walk() -> None:
        async with Client(over_pipes(root, "core")) as client:
            arguments = {"verb": "config_read", "arguments": {"section": "tool.ruff"}}
            read = (await client.call_tool("call", arguments)).structured_content
            assert read["found"][0]["value"] == {"line-length": 100}
            given = {"key": "tool.ruff.line-length", "value": 88, "if_match": read["etag"]}
            done = await client.call_tool("change", {"verb": "config_set", "arguments": given})
            assert done.structured_content["status"] == "applied"
            again = await client.call_tool("change", {"verb": "config_set", "arguments": {**given, "value": 89}})
            assert again.is_error
            given = {"key": "project.version", "value": "5.1"}
            done = await client.call_tool("change", {"verb": "config_set", "arguments": given})
            assert done.structured_content["status"] == "applied"

    asyncio.run(walk())
    assert settings(root) == SETTINGS.replace("100", "88").replace('"1.0"', '"5.1"')
