"""Settings read and changed through the command line, Python, a session and MCP."""

from __future__ import annotations

import asyncio
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
    assert planned.said.startswith("Dry run, nothing was changed: ")
    assert settings(root) == SETTINGS
    answer = called(root, "config", *words)
    assert (answer.status, settings(root)) == (0, SETTINGS.replace(old, new)), answer.said
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
    ("verb", "placed", "words"),
    [
        ("config_set", ("tool.ruff.line-length", "wide"), "is a string, and tool.ruff.line-length is an integer"),
        ("config_set", ("project.version", "2.0"), "2.0 is a float, and project.version is a string"),
        ("config_set", ("project.version", 2), "2 is an integer, and project.version is a string"),
        ("config_add", ("project.dependencies", 1), "the items of project.dependencies are each a string"),
    ],
)
def test_a_type_is_not_changed_by_chance(root: Path, verb: str, placed: tuple[str, object], words: str) -> None:
    error = refused(root, verb, *placed)
    assert error.code == "invalid_arguments"
    assert words in error.message
    assert any("retype=True" in hint for hint in error.hints)


def test_the_hint_writes_a_number_as_a_string(root: Path) -> None:
    error = refused(root, "config_set", "project.version", "2.0")
    assert error.hints[0] == 'config_set("project.version", value="\\"2.0\\"") writes it as a string.'
    answer = called(root, "config", "set", "project.version", "2.0")
    assert "-> config set project.version '\"2.0\"' writes it as a string." in answer.said


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

    asyncio.run(walk())
    assert settings(root) == SETTINGS.replace("100", "88")
