"""What names mean through long chains and circles of imports."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from bae_source.project.references.meaning.meaning import NOTHING, UNKNOWN, Names
from bae_source.project.references.meaning.meanings import Symbol
from tests.project.support import workspace
from tests.queries.support import laid

LENGTH = 500
CHAINS: dict[str, Callable[[int], str]] = {
    "stars": lambda number: f"from a.m{number} import *\n",
    "names": lambda number: f"from a.m{number} import send\n",
    "both": lambda number: f"from a.m{number} import {'*' if number % 2 else 'send'}\n",
}


def chain(link: Callable[[int], str]) -> dict[str, str | bytes]:
    links = {f"a/m{number}.py": link(number - 1) for number in range(1, LENGTH)}
    return {"a/__init__.py": "", "a/m0.py": "def send(): ...\n", **links}


@pytest.mark.parametrize("kind", ["stars", "names"])
def test_references_are_found_through_a_chain_of_any_length(tmp_path: Path, kind: str) -> None:
    last = f"from a.m{LENGTH - 1} import send\n\nsend()\n"
    outcome = laid(tmp_path, {**chain(CHAINS[kind]), "u.py": last}).references("a.m0.send").outcome
    assert ("u", 3, "call", "sure") in [(each.module, each.line, each.kind, each.certainty) for each in outcome.found]
    assert outcome.complete


@pytest.mark.parametrize("kind", ["stars", "names", "both"])
def test_what_a_name_means_does_not_depend_on_what_was_asked_before(kind: str) -> None:
    space = workspace({path: text for path, text in chain(CHAINS[kind]).items() if isinstance(text, str)})
    meant = frozenset({Symbol("a/m0.py", 0, "send")})
    uses = cache(space.index.uses)
    for order in (range(LENGTH), range(LENGTH - 1, -1, -1), (250, LENGTH - 1, 3)):
        names = Names(space.census, uses)
        assert {names.attribute(f"a/m{number}.py", "send") for number in order} == {meant}


@pytest.mark.parametrize("length", [2, 30, 90, 300])
@pytest.mark.parametrize("kind", ["stars", "names"])
def test_a_circle_ends_and_is_not_taken_for_an_answer(length: int, kind: str) -> None:
    files = {f"a/m{number}.py": CHAINS[kind]((number + 1) % length) for number in range(length)}
    space = workspace({"a/__init__.py": "", **files})
    found = Names(space.census, space.index.uses).attribute("a/m0.py", "send")
    assert found in (NOTHING, UNKNOWN)
    files["a/m7.py" if length > 7 else "a/m1.py"] += "def send(): ...\n"
    space = workspace({"a/__init__.py": "", **files})
    uses = cache(space.index.uses)
    for number in {0, 1, length // 2, length - 1}:
        found = Names(space.census, uses).attribute(f"a/m{number}.py", "send")
        assert Symbol("a/m7.py" if length > 7 else "a/m1.py", 0, "send") in found


def test_stars_from_each_module_to_each_come_to_an_end(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"p/__init__.py": ""}
    for number in range(20):
        stars = "".join(f"from p.m{other} import *\n" for other in range(20) if other != number)
        files[f"p/m{number}.py"] = f"{stars}{'def target(): ...' if not number else ''}\ntarget()\n"
    found = laid(tmp_path, files).references("p.m0.target").outcome.found
    assert len({reference.module for reference in found if reference.kind == "call"}) == 20
