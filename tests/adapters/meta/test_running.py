"""Running engines: what a session and a program have of a change that they make, and when they must restart."""

from __future__ import annotations

import json

import pytest

from tests.adapters.meta.support import NEW_REQUEST, Installed

pytestmark = pytest.mark.sampled

SESSION = """
import json, sys
from bae_source import Session

with Session({project!r}) as session:
    def run(code):
        ran = session.run(code)
        print(json.dumps([ran.outcome.status, ran.outcome.text, [each.code for each in ran.outcome.warnings]]))

    run("source.meta()")
    run('read("bae_source.errors.Refused@signature")')
    run({change!r})
    run("source()")
    run("hello()")
    run("source.meta.undo()")
    run("'hello' in globals()")
    run("source.hello()")
    run("import bae_source.queries.hello")
    run('read("app.VALUE")')
"""

PROGRAM = """
from bae_source import Source

source = Source({project!r})
field = "    of_engine: bool = False"
made = source.meta.edit("bae_source.model.context.Context", old=field, new=field + "\\n    more: int = 1")
print([each.code for each in made.warnings])
print(source.read("app.VALUE").strip())
print([each.code for each in source.meta.undo().warnings])
try:
    source.meta.meta
except Exception as error:
    print(error.code)
"""


def test_a_session_is_given_a_new_request_and_loses_it_again(installed: Installed) -> None:
    change = f"source.meta.apply({NEW_REQUEST!r})"
    done = installed.python("-c", SESSION.format(project=str(installed.project), change=change))
    entered, read, changed, _, hello, undone, name, attribute, module, value = map(json.loads, done.stdout.splitlines())
    assert entered[0] == "answer", done
    assert read[1].startswith("class Refused")
    assert changed[0] == "applied", changed
    assert "engine_changed" in changed[2]
    assert hello == ["answer", "Hello from the new verb", []]
    assert undone[0] == "applied"
    assert "engine_changed" in undone[2]
    assert "False" in name[1]
    assert (attribute[0], module[0]) == ("error", "error")
    assert value[1].strip() == "VALUE = 1"


def test_a_program_that_cannot_take_a_change_gets_advice_to_start_again_and_works_on(installed: Installed) -> None:
    done = installed.python("-c", PROGRAM.format(project=str(installed.project)))
    made, read, undone, again = done.stdout.splitlines()
    assert "restart_needed" in made, done
    assert read == "VALUE = 1"
    assert "restart_needed" in undone
    assert again == "invalid_arguments"
