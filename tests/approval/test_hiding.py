"""What a policy denies to read is in no answer, at no door."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from bae_source import Session, Source, functions
from bae_source.engine.registry import REQUESTS, request
from bae_source.engine.service import Context, Service
from bae_source.errors import Refused
from bae_source.model.request import Effect, Request
from tests.adapters.mcp.test_clients import over_pipes, with_client
from tests.adapters.support import run
from tests.adapters.test_functions import contents
from tests.approval.hidden import CANARY, NAMES, PART, answer, asked, forbid, laid

pytestmark = pytest.mark.sampled

WITHOUT = {"forget", "prune", "commit", "abandon", "tests_run"}
"""Verbs that say nothing of files, and the one that runs code, which has a test of its own."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, tuple[str, ...]]]:
    """A project of which everything was read, kept and run before the policy came."""
    folder = tmp_path_factory.mktemp("hiding")
    root = laid(folder / "p")
    environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": "", "BAE_SOURCE_WHO": "agent"}
    service = Service(root, environment=environment, process_stays=True)
    answer(service, "edit", {"target": "app.secrets", "old": "return x", "new": "return x  # 1"}, Context(reload="off"))
    answer(service, "write", {"target": ":.env", "source": f"{CANARY}=2\n", "overwrite": True})
    answer(service, "tests_run", {})
    for kind in REQUESTS:
        if kind.effect is Effect.READS and kind.family != "deps":
            for arguments in islice(asked(kind, ()), 20):
                answer(service, kind.verb, arguments)
    assert CANARY in answer(service, "tests_results", {"outcome": "failed"})
    assert CANARY in answer(service, "read", {"target": "app.secrets"})
    operations = tuple(each.id for each in service.changing.history.entries(10))
    assert len(operations) == 2
    forbid(root)
    yield service, operations
    service.close()


@pytest.mark.parametrize("kind", [each for each in REQUESTS if each.verb not in WITHOUT], ids=lambda each: each.verb)
@pytest.mark.parametrize("stays", [True, False], ids=["live", "new"])
def test_no_request_answers_with_what_may_not_be_read(
    kind: type[Request], stays: bool, project: tuple[Service, tuple[str, ...]], whole: bool
) -> None:
    """Of the arguments that there are, a live engine is asked every other one, and a new one the others."""
    service, operations = project
    service = service if stays else Service(service.root, environment=service.environment)
    context = None if kind.effect is Effect.READS else Context(dry_run=True, reload="off")
    some = slice(None) if whole else slice(stays, None, 2)
    leaks = [
        arguments
        for arguments in list(asked(kind, operations))[some]
        if CANARY in answer(service, kind.verb, arguments, context)
    ]
    assert leaks == []


READING = (
    ("read", "app.secrets"),
    ("read", "app.secrets.f"),
    ("read", ":.env"),
    ("read", "app:data.csv"),
    ("read", ":pyproject.toml"),
    ("outline", "app.secrets"),
    ("references", "app.secrets.f"),
    ("importers_of", "app.secrets"),
    ("where", "app.secrets.f"),
    ("definition", "app/secrets.py:6:5"),
    ("config read", "tool.vault"),
    ("logs read", "app.log"),
    ("deps get", "msgspec"),
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    root = laid(tmp_path / "p")
    forbid(root)
    return root


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_on_the_command_line_it_is_refused_by_name_with_the_rule(words: tuple[str, str], root: Path) -> None:
    *verb, target = words
    called = run(*" ".join(verb).split(), target, "--json", folder=root)
    assert called.status == 5, called.out
    [error] = called.json["errors"]
    assert error["code"] == "forbidden"
    assert "[tool.bae-source.policy] read.deny = " in error["message"]
    assert CANARY not in called.out.decode() + called.err_text


def test_a_search_says_what_it_left_out(root: Path) -> None:
    for words in (["grep", PART], ["find", "return $x"], ["glob", "app.**"], ["references", "app.core.send"]):
        called = run(*words, "--json", folder=root)
        assert called.json["complete"] is False, words
        messages = "\n".join(each["message"] for each in called.json["warnings"])
        assert "app.secrets" in messages, words
        assert "read.deny" in messages, words
        assert "app.sub " not in messages, words


def test_a_change_that_cannot_look_into_hidden_files_says_so(root: Path) -> None:
    service = Service(root, environment=os.environ)
    outcome = service.run(request("rename", {"target": "app.core.send", "new_name": "post"}), Context(dry_run=True))
    messages = " ".join(each.message for each in outcome.warnings)
    assert "could not be looked into, so there may be more places in them" in messages
    assert "app.secrets" in messages
    assert "app.secrets" in str(outcome.report)


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("edit", {"target": "app.secrets.f", "old": "return x", "new": "return 1"}),
        ("delete", {"target": "app.secrets", "recursive": True}),
        ("move", {"target": "app.secrets", "to": "app.open"}),
        ("rename", {"target": "app.secrets", "new_name": "open"}),
        ("write", {"target": ":.env", "source": "x", "overwrite": True}),
        ("move", {"target": ":.env", "to": ":open.env"}),
        ("move", {"target": "app", "to": "other"}),
        ("config_set", {"key": "project.version", "value": "2"}),
    ],
)
def test_what_may_not_be_read_is_not_changed(verb: str, arguments: dict[str, object], root: Path) -> None:
    before = contents(root)
    service = Service(root, environment=os.environ)
    with pytest.raises(Refused) as caught:
        service.run(request(verb, arguments), Context(reload="off"))
    assert caught.value.code == "forbidden"
    assert contents(root) == before


def test_python_and_sessions_refuse_it_too(root: Path) -> None:
    source = Source(root)
    with pytest.raises(Refused):
        source.read("app.secrets")
    assert source.read("app.core.send").startswith("def send")
    with source.transaction("look") as transaction, pytest.raises(Refused):
        transaction.read("app.secrets.f")
    with Session(root) as session:
        ran = session.run('source()\nread("app.secrets.f")')
        assert "may not be read" in ran.text
        assert CANARY not in ran.text
        ran = session.run(f'grep("{PART}")')
        assert CANARY not in ran.text


def test_a_client_of_the_server_gets_none_of_it(root: Path) -> None:
    forbid(root, "")

    async def walk(client: Client) -> None:
        calls: list[tuple[str, dict[str, Any]]]
        calls = [(verb, {"target": target}) for verb in ("read", "outline", "references") for target in NAMES[:12]]
        calls += [
            ("grep", {"pattern": PART}),
            ("grep", {"pattern": PART, "scope": ":**"}),
            ("history", {"diff": True}),
        ]
        calls += [("edit", {"target": "app.secrets.f", "old": "return x", "new": "return 2", "dry_run": True})]
        open_answers = [str(await client.call_tool(*each)) for each in calls]
        assert sum(CANARY in each for each in open_answers) > 10
        forbid(root)
        for each in calls:
            found = str(await client.call_tool(*each))
            assert CANARY not in found, each
        for resource in (await client.list_resources()).resources:
            assert CANARY not in str(resource)
        for template in (await client.list_resource_templates()).resource_templates:
            for name in ("app.secrets", ":.env", "app.secrets.f", "app"):
                uri = re.sub(r"\{[^}]*\}", name, template.uri_template)
                try:
                    found = str(await client.read_resource(uri))
                except MCPError as error:
                    found = f"{error} {error.error}"
                assert CANARY not in found, uri

    with_client(over_pipes(root), walk)


def test_functions_for_models_get_none_of_it(root: Path) -> None:
    for verb in ("read", "grep", "find", "references"):
        for name in NAMES:
            given = {"pattern": name} if verb in ("grep", "find") else {"target": name}
            assert CANARY not in str(functions.dispatch(verb, given, root=root))
    functions.close()


def test_a_policy_that_comes_and_goes_counts_at_once(root: Path) -> None:
    service = Service(root, environment=os.environ, process_stays=True)
    for _ in range(2):
        forbid(root, "")
        assert CANARY in answer(service, "read", {"target": "app.secrets"})
        assert CANARY in answer(service, "grep", {"pattern": PART})
        forbid(root)
        assert CANARY not in answer(service, "read", {"target": "app.secrets"})
        assert CANARY not in answer(service, "grep", {"pattern": PART})
    service.close()


def test_callers_of_one_process_read_what_each_may(root: Path) -> None:
    forbid(root, '[tool.bae-source.policy]\ncallers."ci-*".read.deny = ["app.secrets"]\n')
    service = Service(root, environment=os.environ, process_stays=True)
    for _ in range(2):
        for who, may in (("ann", True), ("ci-1", False), ("CI-2", False), ("bob", True)):
            for verb, given in (("read", {"target": "app.secrets"}), ("grep", {"pattern": PART, "scope": "app"})):
                found = answer(service, verb, given, Context(who=who))
                assert (f"The {CANARY}" in found) == may, (who, verb)
    drafted = service.draft()
    with pytest.raises(Refused):
        drafted.run(request("read", {"target": "app.secrets"}), Context(who="ci-3"))
    service.close()


@pytest.mark.parametrize("link", ["soft", "hard", "folder", "data"])
def test_other_names_of_a_file_hide_as_much(link: str, root: Path) -> None:
    forbid(root, "")
    if link == "soft":
        (root / "app/open.py").symlink_to("secrets.py")
    elif link == "hard":
        os.link(root / "app/secrets.py", root / "app/open.py")
    elif link == "folder":
        (root / "other").symlink_to("app")
        (root / "open.txt").symlink_to(".env")
    else:
        os.link(root / ".env", root / "app/open.py")
        os.link(root / "app/secrets.py", root / "open.txt")
    service = Service(root, environment=os.environ, process_stays=True)
    names = (
        "app.open",
        "app.open.f",
        "other.secrets",
        "other/secrets.py:1",
        "app/open.py:1",
        ":open.txt",
        ":other/data.csv",
    )
    asks = [("read", {"target": each}) for each in names] + [("grep", {"pattern": PART})]
    asks += [("outline", {"target": "app"}), ("where", {"place": "app/open.py:1"}), ("find", {"pattern": "$x = $y"})]
    assert any(CANARY in answer(service, *each) for each in asks)
    forbid(root)
    for each in asks:
        assert CANARY not in answer(service, *each), each
    service.close()


@pytest.mark.parametrize("where", ["", "src", "src/app", "..", "src/app/inner"])
def test_no_root_escapes_the_policy_of_a_folder_around_or_within_it(where: str, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    for name in ("src/app/__init__.py", "src/app/inner/__init__.py"):
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text("")
    (repo / "src/app/inner/secrets.py").write_text(f'KEY = "{CANARY}"\n')
    (repo / "src/app/inner/.env").write_text(CANARY)
    (repo / "src/app/inner/open.py").write_text('"""Open."""\n')
    (repo / "pyproject.toml").write_text(
        '[tool.bae-source.policy]\nread.deny = ["app.inner.secrets", "app.inner:.env"]\n'
    )
    root = Path(os.path.normpath(repo / where))
    service = Service(root, environment={**os.environ, "HOME": str(tmp_path)}, process_stays=True)
    stem = "repo/src/app/inner" if where == ".." else "src/app/inner".removeprefix(where).lstrip("/")
    asks = [
        ("grep", {"pattern": PART}),
        ("read", {"target": f"{stem}/secrets.py:1".lstrip("/")}),
    ]
    for lead in ("repo.src.app.inner", "src.app.inner", "app.inner", "inner", ""):
        asks += [("read", {"target": f"{lead}.secrets".lstrip(".")}), ("read", {"target": f"{lead}:.env"})]
        asks += [("read", {"target": f"{lead}.open".lstrip(".")})]
    found = [answer(service, *each) for each in asks]
    assert not any(CANARY in each for each in found)
    assert any("may not be read" in each for each in found[1:])
    assert any("Open." in each for each in found)
    (repo / "pyproject.toml").write_text("")
    assert any(CANARY in answer(service, *each) for each in asks[:1])
    service.close()


def test_the_users_own_policy_hides_in_every_project_and_from_every_root(root: Path, tmp_path: Path) -> None:
    forbid(root, "")
    home = tmp_path / ".config/bae-source"
    home.mkdir(parents=True)
    (home / "settings.toml").write_text('[policy.read]\ndeny = ["app.secrets"]\n')
    for folder, name in ((root, "app.secrets"), (root / "app", "secrets")):
        called = run("read", name, "--root", str(folder), folder=root)
        assert called.status == 5, called.out
        assert "~/.config/bae-source/settings.toml [policy] read.deny = 'app.secrets'" in called.err_text


def test_what_is_not_allowed_is_hidden(root: Path) -> None:
    forbid(root, '[tool.bae-source.policy]\nread.allow = ["app.core", ":docs"]\n')
    service = Service(root, environment=os.environ)
    assert "def send" in answer(service, "read", {"target": "app.core"})
    for target in ("app.secrets", "app.sub", ":.env", ":pyproject.toml", "app:data.csv"):
        assert answer(service, "read", {"target": target}).startswith('["forbidden"'), target
    assert answer(service, "logs_read", {"log": "app.log"}).startswith('["forbidden"')
    assert answer(service, "config_read", {"section": "project"}).startswith('["forbidden"')


def test_settings_that_may_be_read_are_read_key_by_key(root: Path) -> None:
    service = Service(root, environment=os.environ)
    assert '"version\\": \\"1' in answer(service, "config_read", {"section": "project"}) or "version" in answer(
        service, "config_read", {"section": "project"}
    )
    assert answer(service, "config_read", {"section": "tool"}).startswith('["forbidden"')
    assert "tool.vault" in answer(service, "config_read", {})
    listed = service.run(request("deps_list", {}))
    assert not listed.complete
    assert "msgspec may not be read" in " ".join(each.message for each in listed.warnings)


def test_a_part_of_a_package_does_not_hide_the_package_for_a_module_of_that_name(root: Path) -> None:
    forbid(root, '[tool.bae-source.policy]\nread.deny = ["app.secrets.KEY", "**.nowhere"]\n')
    service = Service(root, environment=os.environ)
    assert answer(service, "read", {"target": "app.secrets.f"}).startswith('["forbidden"')
    for name in ("app", "app.core", "app.part", "app.sub"):
        assert not answer(service, "read", {"target": name, "full": True}).startswith("["), name


@pytest.mark.parametrize("first", ["grep", "read"])
def test_settings_in_a_folder_below_the_root_hide_what_is_in_it(first: str, root: Path) -> None:
    forbid(root, "")
    inner = root / "packages/a"
    (inner / "a").mkdir(parents=True)
    (inner / "a/core.py").write_text(f'KEY = "{CANARY}"\n')
    (inner / "notes.txt").write_text(CANARY)
    asks = {
        "grep": ("grep", {"pattern": PART, "scope": "packages"}),
        "read": ("read", {"target": "packages.a.a.core"}),
        "data": ("read", {"target": "packages.a:notes.txt"}),
    }
    service = Service(root, environment=os.environ, process_stays=True)
    for _ in range(2):
        (inner / "pyproject.toml").write_text("")
        assert all(CANARY in answer(service, *asks[name]) for name in (first, "read", "grep"))
        (inner / "pyproject.toml").write_text('[tool.bae-source.policy]\nread.deny = ["a.core", ":notes.txt"]\n')
        for name in (first, *asks):
            found = answer(service, *asks[name])
            assert CANARY not in found, name
            assert "packages/a/pyproject.toml [tool.bae-source.policy] read.deny" in found, name
    service.close()


def test_tests_that_fail_in_hidden_files_say_no_more_than_that(root: Path) -> None:
    service = Service(root, environment=os.environ)
    for given in ({}, {"tests": ("tests",)}):
        ran = answer(service, "tests_run", given)
        assert CANARY not in ran
        assert "tests.test_hidden.test_hidden: left out, since it mentions a file that may not be read" in ran
    assert CANARY not in answer(service, "tests_results", {"outcome": "failed"})
    change = {"target": "app.core.send", "old": "f(part.g())", "new": "f(2)"}
    made = answer(service, "edit", change, Context(verify=("tests",)))
    assert "tests.test_hidden.test_hidden" in made
    assert CANARY not in made


def test_a_commit_does_not_fail_for_what_its_caller_may_not_read(root: Path) -> None:
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    called = run("check_staged", "--json", folder=root)
    assert called.status == 0, called.out
    assert called.json["complete"] is False
    assert "app/secrets.py" in " ".join(each["message"] for each in called.json["warnings"])
    assert CANARY not in called.out.decode() + called.err_text


def test_a_log_is_hidden_by_its_name_as_a_file_and_by_the_rules_for_files(root: Path) -> None:
    service = Service(root, environment=os.environ)
    for rule, expected in (("logs app.log", "logs app.log"), (":var/log/app.log", ":var/log/app.log")):
        forbid(root, f'[tool.bae-source.policy]\nread.deny = ["{rule}"]\n')
        for each in (("logs_read", {"log": "app.log"}), ("read", {"target": ":var/log/app.log"})):
            found = answer(service, *each)
            assert found.startswith('["forbidden"'), each
            assert expected in found
    (root / "var/log/second.log").symlink_to("app.log")
    assert CANARY not in answer(service, "logs_read", {"log": "second.log"})


def test_an_undo_of_what_may_not_be_read_is_refused_and_nothing_changed(root: Path) -> None:
    forbid(root, "")
    service = Service(root, environment=os.environ)
    changed = {"target": "app.secrets.f", "old": "return x", "new": "return x  # 1"}
    made = service.run(request("edit", changed), Context(reload="off"))
    forbid(root)
    before = contents(root)
    for verb, given in (
        ("undo", {}),
        ("undo", {"operation_id": made.operation_id}),
        ("history", {"target": made.operation_id}),
    ):
        for context in (Context(dry_run=verb == "undo"), Context()):
            with pytest.raises(Refused) as caught:
                service.run(request(verb, given), context)
            assert caught.value.code == "forbidden"
    listed = service.run(request("history", {"diff": True}))
    assert not listed.complete
    assert CANARY not in str(listed)
    assert contents(root) == before
