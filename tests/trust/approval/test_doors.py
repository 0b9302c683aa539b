"""The doors that models and programs have: none of them decides, and none leads past the policy."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from bae_source import Session, Source, functions
from bae_source.adapters.access import access
from bae_source.approval.proposals import State
from bae_source.errors import ResourceError
from tests.adapters.mcp.support import in_full
from tests.adapters.serve.support import place as serving
from tests.adapters.serve.support import server
from tests.adapters.support import command
from tests.trust.approval.conftest import Laid
from tests.trust.approval.support import DENY, PYPROJECT, REVIEW, Place, answered

RULES = f"{REVIEW}\n{DENY}"
FILE = ":pyproject.toml"
LOOSEN: dict[str, tuple[str, dict[str, Any], str]] = {
    "edit of the policy": ("edit", {"target": FILE, "old": "change.deny", "new": "change.allow"}, "forbidden"),
    "write of the policy": ("write", {"target": FILE, "source": PYPROJECT, "overwrite": True}, "forbidden"),
    "delete of the policy": ("delete", {"target": FILE}, "forbidden"),
    "config_set": ("config_set", {"key": "tool.bae-source.policy.preset", "value": '"open"'}, "forbidden"),
    "config_remove": ("config_remove", {"key": "tool.bae-source"}, "forbidden"),
    "replace": ("replace", {"text": "change.deny", "replacement": "change.allow"}, "forbidden"),
    "apply": ("apply", {"requests": [{"do": "delete", "target": FILE}]}, "forbidden"),
    "edit of what is kept": ("edit", {"target": "app.secrets.KEY", "new_source": "KEY = 1"}, "forbidden"),
    "rename of what is kept": ("rename", {"target": "app.secrets.KEY", "new_name": "OTHER"}, "forbidden"),
    "deps_add of what is kept": ("deps_add", {"requirements": ["evil"], "files_only": True}, "forbidden"),
    "write in git's folder": ("write", {"target": ":.git/hooks/x", "source": "x"}, "forbidden"),
    "write outside": ("write", {"target": ":../x", "source": "x"}, "invalid_name"),
    "forget": ("forget", {}, "forbidden"),
    "prune": ("prune", {"keep": 0}, "forbidden"),
    "a change of another": ("edit", {"target": "app.core.LIMIT", "new_source": "LIMIT = 4"}, "pending"),
    "a change as another caller": ("edit", {"target": "app.core.LIMIT", "new_source": "LIMIT = 5", "who": "ana"},
        "invalid_arguments"),
    "a change with a root": ("edit", {"target": "core.LIMIT", "new_source": "LIMIT = 5", "root": "app"},
        "invalid_arguments"),
    "approve": ("approve", {"task": "{task}"}, "unknown_operation"),
    "reject": ("reject", {"task": "{task}", "reason": "x"}, "unknown_operation"),
    "expire": ("expire", {"task": "{task}"}, "unknown_operation"),
    "review": ("review", {}, "unknown_operation"),
    "adopt": ("adopt", {}, "unknown_operation"),
    "meta": ("meta", {}, "unknown_operation"),
}  # fmt: skip
DECIDES = ("approve", "reject", "expire", "review", "adopt", "meta")


class Door:
    """A place with something that waits, and what calls came to there.

    Parameters:
        place: under the rules of this table.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.waits = place.proposed()
        self.before = place.files()

    def arguments(self, name: str) -> tuple[str, dict[str, Any]]:
        """Return a call of the table."""
        verb, given, _ = LOOSEN[name]
        return verb, {
            key: value.format(task=self.waits.id) if value == "{task}" else value for key, value in given.items()
        }

    def holds(self) -> None:
        """See that nothing was made, and that what waits waits as it did."""
        assert self.place.files() == self.before
        assert self.place.plans.get(self.waits.id) == self.waits
        assert "change_begun" not in self.place.events()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, pattern: Path) -> Door:
    """One place for the doors that cost a process; nothing that is tried there changes it."""
    return Door(Place(tmp_path_factory.mktemp("doors"), pattern, RULES))


@pytest.fixture(scope="module")
def by_client(shared: Door) -> dict[str, str]:
    """Codes of all calls through a server and the official client, each also by way of `call` and `change`."""
    words = command("mcp", "--root", str(shared.place.root))
    found: dict[str, str] = {}

    async def code_of(client: Client, tool: str, given: dict[str, Any]) -> str:
        try:
            result = await client.call_tool(tool, given)
        except MCPError as error:
            return "unknown_operation" if "ool" in str(error) else f"protocol: {error}"
        content: Any = result.structured_content
        if content is None:
            [text] = [each.text for each in result.content if isinstance(each, TextContent)]
            content = json.loads(text)
        return answered(content).code

    async def walk() -> None:
        from mcp import StdioServerParameters

        for profile in ("full", "core"):
            options = in_full([]) if profile == "full" else ["--profile", "core"]
            parameters = StdioServerParameters(
                command=words[0], args=[*words[1:], *options], env=shared.place.environment
            )
            async with Client(parameters) as client:
                for name in LOOSEN:
                    verb, given = shared.arguments(name)
                    if profile == "full":
                        found[name] = await code_of(client, verb, given)
                    else:
                        asked = {"verb": verb, "arguments": given}
                        found[f"{name}, by change"] = await code_of(client, "change", asked)

    asyncio.run(walk())
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("name", LOOSEN)
def test_no_tool_of_a_server_leads_past_it(name: str, shared: Door, by_client: dict[str, str]) -> None:
    assert by_client[name] == LOOSEN[name][2], by_client[name]
    shared.holds()


@pytest.mark.parametrize("name", LOOSEN)
def test_nor_does_one_that_stands_for_others(name: str, shared: Door, by_client: dict[str, str]) -> None:
    assert by_client[f"{name}, by change"] in (LOOSEN[name][2], "invalid_arguments", "unknown_operation")
    shared.holds()


@pytest.mark.parametrize("name", LOOSEN)
def test_no_function_for_a_model_leads_past_it(name: str, shared: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in shared.place.environment.items():
        monkeypatch.setenv(key, value)
    verb, given = shared.arguments(name)
    found = functions.dispatch(verb, given, root=shared.place.root, who="model")
    functions.close(shared.place.root)
    assert answered(found).code == LOOSEN[name][2]
    shared.holds()


ACCESS: dict[str, tuple[str, str, bool]] = {
    "the policy": ("pyproject.toml", PYPROJECT, False),
    "git's folder": (".git/hooks/pre-commit", "x", False),
    "outside": ("../outside/victim.py", "x = 1\n", False),
    "an absolute path": ("/etc/passwd", "x", False),
    "what is kept": ("app/secrets.py", "KEY = 1\n", False),
    "what is kept, by its name": ("app.secrets", "KEY = 1\n", False),
    "what is kept, around a corner": ("app/../app/secrets.py", "KEY = 1\n", False),
    "our state": (".bae-source/id", "x", False),
    "another file": ("app/core.py", "LIMIT = 9\n", True),
}


@pytest.mark.parametrize("name", ACCESS)
def test_the_functions_of_access_propose_at_most(name: str, shared: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in shared.place.environment.items():
        monkeypatch.setenv(key, value)
    path, content, waits = ACCESS[name]
    found = access(shared.place.root, who="model").handlers["schedule_code_modification"](path, content, "why not")
    functions.close(shared.place.root)
    assert found["success"] is waits, found
    assert found.get("status") == ("awaiting_approval" if waits else None)
    shared.holds()


@pytest.fixture(scope="module")
def session(shared: Door) -> Iterator[Session]:
    with Session(shared.place.root, who="model", environment=shared.place.environment, seconds=30) as opened:
        yield opened


@pytest.mark.parametrize(
    "name", [each for each in LOOSEN if each not in DECIDES and "caller" not in each and "root" not in each]
)
def test_no_tool_of_a_session_leads_past_it(name: str, shared: Door, session: Session) -> None:
    verb, given = shared.arguments(name)
    pairs = ", ".join(f"{key}={value!r}" for key, value in given.items())
    family, _, rest = verb.partition("_")
    place = "home" if verb in ("forget", "prune") else f"source.{family}" if rest else "source"
    outcome = session.run(f"home()\n{place}.{rest or verb}({pairs})").outcome
    assert outcome is not None
    assert (outcome.errors[0].code if outcome.errors else outcome.status) == LOOSEN[name][2]
    shared.holds()


@pytest.mark.parametrize("name", ["approve", "reject", "expire", "review"])
def test_a_session_has_no_word_that_decides(name: str, shared: Door, session: Session) -> None:
    for place in ("", "home.", "source.", "source.meta."):
        outcome = session.run(f"home()\n{place}{name}({shared.waits.id!r})").outcome
        assert outcome is not None
        assert outcome.errors
    shared.holds()


@pytest.mark.parametrize(
    "name", [each for each in LOOSEN if each not in DECIDES and "caller" not in each and "root" not in each]
)
def test_no_method_in_python_leads_past_it(name: str, shared: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in shared.place.environment.items():
        monkeypatch.setenv(key, value)
    verb, given = shared.arguments(name)
    source = Source(shared.place.root, who="model")
    assert not {*DECIDES[:-1]} & {*dir(source)}
    method: Any = getattr(source, verb, None) or getattr(
        getattr(source, verb.partition("_")[0]), verb.partition("_")[2]
    )
    try:
        code = method(**given).status
    except ResourceError as error:
        code = error.code
    assert code == LOOSEN[name][2]
    shared.holds()


@pytest.mark.parametrize("line", [
    "edit :pyproject.toml --old change.deny --new change.allow",
    "edit app.secrets.KEY --code 'KEY = 1'",
    "config remove tool.bae-source",
    "write :.git/hooks/x --code x",
    "delete :pyproject.toml",
])  # fmt: skip
def test_no_line_of_do_leads_past_it(line: str, laid: Laid) -> None:
    door = Door(laid(RULES))
    answer = door.place.call("do", given=f"edit :notes.txt --old notes --new n\n{line}\n")
    assert answer.data["errors"], answer
    door.holds()


@pytest.mark.parametrize("later", [RULES, 'preset = "read-only"'])
def test_a_draft_is_judged_when_it_is_made(later: str, laid: Laid) -> None:
    """It was planned while nothing was forbidden."""
    place = laid("")
    draft = place.call("do", "--dry-run", given="edit app.secrets.KEY --code 'KEY = 1'\n").data["draft"]
    with Source(place.root).transaction("x") as planned:
        planned.edit("app.secrets.KEY", "KEY = 1")
        place.write("pyproject.toml", f"{PYPROJECT}[tool.bae-source.policy]\n{later}\n")
        before = place.files()
        with pytest.raises(ResourceError) as caught:
            planned.commit()
    assert caught.value.code == "forbidden"
    assert place.call("commit", draft).code == "forbidden"
    assert place.files() == before


def test_a_server_for_shells_carries_out_no_change_and_no_decision(laid: Laid) -> None:
    door = Door(laid(RULES))
    with serving() as at, server(at):
        own = {key: door.place.environment[key] for key in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME")}
        for words in (
            ("edit", "app.core.LIMIT", "--code", "LIMIT = 4"),
            ("edit", "app.secrets.KEY", "--code", "KEY = 1"),
            ("approve", door.waits.id),
            ("forget",),
        ):
            before = at.answers()
            called = at.run(*words, folder=door.place.root, **own)
            assert called.status != 0
            assert at.answers() == before
    door.holds()
    assert door.place.plans.get(door.waits.id).state is State.AWAITING
    assert os.environ.get("BAE_SOURCE_SERVE") == "off"
