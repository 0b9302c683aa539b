"""The engine's own source: what reaches it, what of it can be changed, and that nothing else is within reach."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bae_source.adapters.cli import cli
from bae_source.engine.registry import REQUESTS
from bae_source.errors import RequestError
from tests.adapters.meta.support import NEW_REQUEST, Installed
from tests.another_user import NOBODY

pytestmark = pytest.mark.sampled

REFUSED = "bae_source.errors.Refused"


def test_the_engine_is_read_by_name_and_nothing_beside_it(installed: Installed) -> None:
    (installed.package / "link.py").symlink_to(installed.folder / "neighbour.py")
    try:
        assert installed.typed("meta", "read", REFUSED)["text"].startswith("class Refused(ResourceError):")
        assert installed.typed("meta", "glob", "*")["text"].strip() == "bae_source"
        assert "xyzzy" not in installed.typed("meta", "grep", "xyzzy|SECRET")["text"]
        for name in ("neighbour", ":pyproject.toml", str(installed.folder / "neighbour.py") + ":1", "bae_source.link"):
            assert installed.code("meta", "read", name) in ("symbol_not_found", "outside_project", "invalid_name")
    finally:
        (installed.package / "link.py").unlink()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("edit", REFUSED, "--code", "class Refused(:"), "syntax_invalid"),
        (
            ("edit", REFUSED + "@docstring", "--old", "harm", "--new", 'harm"""\n\n    x = 1 / 0\n    """'),
            "reload_failed",
        ),
        (("edit", "bae_source.queries.read.Read.answer@body", "--code", "raise ValueError"), "verify_failed"),
        (("insert", "bae_source.errors", "--position", "last", "--code", "raise SystemExit(0)"), "reload_failed"),
        (("write", "other.module", "--code", "x = 1"), "forbidden"),
        (("write", ":pyproject.toml", "--code", "x = 1", "--overwrite"), "forbidden"),
        (("edit", "bae_source.state.folders.OURS", "--code", 'OURS = "x"'), "forbidden"),
        (("edit", "bae_source.engine.meta.smoke.SECONDS", "--code", "SECONDS = 1.0", "--dry-run"), "forbidden"),
        (("edit", REFUSED, "--old", "Doing", "--new", "To do", "--verify", "tests"), "invalid_arguments"),
        (("delete", "bae_source.queries.read", "--force"), "verify_failed"),
        (("edit", "bae_source.queries.grep.Grep", "--old", '= "grep"', "--new", '= "read"'), "verify_failed"),
        (("tests", "run"), "unknown_operation"),
        (("check_staged",), "unknown_operation"),
        (("meta", "read", REFUSED), "unknown_operation"),
        (("shell",), "unknown_operation"),
        (("raed", REFUSED), "unknown_operation"),
        ((), "invalid_arguments"),
        (("read", REFUSED, "--root", "."), "invalid_arguments"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_changed(
    installed: Installed, words: tuple[str, ...], code: str
) -> None:
    assert installed.code("meta", *words) == code


def test_requests_about_other_facts_than_code_do_not_take_the_engine_for_a_project(installed: Installed) -> None:
    words = [shlex.split(each.examples[0]) for each in REQUESTS if each.__module__.startswith("bae_source.resources.")]
    script = f"from bae_source.adapters.cli import cli\nfor words in {words!r}: cli.main(['meta', *words])"
    done = installed.python("-c", script)
    assert done.stderr.count("is about a project, and the engine's own source is none.") == len(words) > 10, done
    assert done.stdout == ""


def test_no_installer_is_run_for_a_change_of_the_engine(installed: Installed) -> None:
    (installed.folder / "uv.lock").write_text("version = 1\n")
    write = {"do": "write", "target": ":pyproject.toml", "source": '[project]\nname = "n"\nversion = "1"\n'}
    for more in ({}, {"files_only": True}):
        requests = [write, {"do": "deps_add", "requirements": ["six"], **more}]
        script = f"from bae_source import Source\nSource({str(installed.project)!r}).meta.apply({requests!r})"
        done = installed.python("-c", script, PATH=str(installed.project))
        assert "Refused: pyproject.toml is not in bae_source, which alone meta changes." in done.stderr
    (installed.folder / "uv.lock").unlink()


def test_what_hangs_is_stopped_and_nothing_is_changed(installed: Installed) -> None:
    script = f"""
from bae_source import Source, TransactionError
from bae_source.engine.meta import making, smoke
making.IMPORT_SECONDS = 1.0
smoke.SECONDS = 2.5
meta = Source({str(installed.project)!r}).meta
for target, source in (
    ("bae_source.queries.where", "while True:\\n    pass"),
    ("bae_source.queries.read.Read.answer@body", "while True:\\n    pass"),
):
    try:
        meta.insert(target, source, position="last") if "@" not in target else meta.edit(target, source)
    except TransactionError as error:
        print(error.code, error.message)
"""
    done = installed.python("-c", script)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["timed_out", "timed_out"], done
    assert "at the step 'read'" in done.stdout


def test_an_installation_that_cannot_be_written_is_read(installed: Installed) -> None:
    edit = ("meta", "edit", REFUSED, "--old", "Doing", "--new", "To do")
    file = installed.package / "errors.py"
    mode = file.stat().st_mode
    file.chmod(0o444)
    try:
        assert installed.code(*edit) == "forbidden"
        assert installed.typed("meta", "read", REFUSED)["status"] == "answer"
        file.chmod(mode)
        if os.geteuid() == 0:
            os.chown(file, NOBODY, NOBODY)
            assert installed.code(*edit) == "forbidden"
            assert installed.typed("meta", "read", REFUSED)["status"] == "answer"
    finally:
        if os.geteuid() == 0:
            os.chown(file, 0, 0)
        file.chmod(mode)


def test_an_engine_in_an_archive_is_read_and_not_changed(installed: Installed, tmp_path: Path) -> None:
    archive = tmp_path / "engine.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path, content in installed.files().items():
            packed.writestr(path, content)
    found = installed.typed("meta", "read", REFUSED, PYTHONPATH=str(archive))
    assert found["text"].startswith("class Refused")
    refused = installed.typed("meta", "edit", REFUSED, "--old", "Doing", "--new", "To do", PYTHONPATH=str(archive))
    assert refused["errors"][0]["code"] == "forbidden"
    assert "archive" in refused["errors"][0]["message"]
    shutil.rmtree(installed.state / "archives")


def test_without_a_folder_for_its_history_the_engine_is_not_changed(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    nowhere = {"HOME": str(tmp_path / "taken"), "TMPDIR": str(tmp_path / "taken")}
    assert installed.typed("meta", "read", REFUSED, **nowhere)["status"] == "answer"
    edit = ("meta", "edit", REFUSED, "--old", "Doing", "--new", "To do")
    assert installed.code(*edit, **nowhere) == "forbidden"


def test_a_project_does_not_reach_the_engine(installed: Installed) -> None:
    assert installed.code("read", REFUSED) == "symbol_not_found"
    commands = installed.project / "commands"
    commands.write_text(f"meta edit {REFUSED} --old Doing --new 'To do'\n")
    done = installed.python("-m", "bae_source", "do", str(commands))
    commands.unlink()
    assert done.returncode != 0
    assert "meta is nothing that do carries out" in done.stderr


def test_what_has_a_door_of_its_own_does_not_lead_to_the_engine(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["meta", "read", REFUSED], door=lambda *_: pytest.fail("asked")) == RequestError.exit_code
    assert "meta is a command by itself" in capsys.readouterr().err


@pytest.mark.parametrize("options", [(), ("--meta",), ("--meta", "--read-only")])
def test_a_server_reaches_the_engine_only_where_it_was_started_for_it(
    installed: Installed, options: tuple[str, ...]
) -> None:
    found = anyio.run(_served, installed, options)
    assert len(found["tools"]) < 16_000
    read, change, undo = found["answers"]
    if not options:
        assert [each["errors"][0]["code"] for each in (read, change, undo)] == ["unknown_operation"] * 3
        assert "--meta" in read["errors"][0]["hints"][0]
    elif "--read-only" in options:
        assert read["status"] == "answer"
        assert change["status"] == undo["status"] == "error"
    else:
        assert read["text"].startswith("class Refused")
        assert change["status"] == "applied", change
        assert change["next_actions"][0].startswith('change(verb="meta undo"')
        assert undo["status"] == "applied"
        assert found["hello"]["text"] == "Hello from the new verb"
        assert found["gone"]["errors"][0]["code"] == "unknown_operation"


def test_meta_and_a_list_of_tools_exclude_each_other(installed: Installed) -> None:
    assert installed.code("mcp", "--meta", "--tools", "read") == "invalid_arguments"


async def _served(installed: Installed, options: tuple[str, ...]) -> dict[str, Any]:
    words = ["-P", "-m", "bae_source", "mcp", "--root", str(installed.project), *options]
    parameters = StdioServerParameters(command=sys.executable, args=words, env=installed.environment, cwd=Path("/"))
    async with Client(stdio_client(parameters)) as client:

        async def called(tool: str, verb: str, **arguments: Any) -> Any:
            result = await client.call_tool(tool, {"verb": verb, "arguments": arguments})
            return result.structured_content or {"status": "error", "text": str(result.content)}

        tools = await client.list_tools()
        shown = json.dumps([each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in tools.tools])
        answers = [await called("call", "meta read", target="bae_source.errors.Refused")]
        offered = {each.name for each in tools.tools}
        if "change" not in offered:
            refused = await called("call", "meta apply", requests=NEW_REQUEST)
            return {"tools": shown, "answers": [*answers, refused, await called("call", "meta undo")]}
        answers.append(await called("change", "meta apply", requests=NEW_REQUEST))
        hello = await called("call", "hello")
        answers.append(await called("change", "meta undo"))
        return {"tools": shown, "answers": answers, "hello": hello, "gone": await called("call", "hello")}
