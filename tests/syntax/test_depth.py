"""The monsters of tests/generated.py, in a child with little memory and time: never a crash, their neighbours found."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bae_source.syntax.outline.tree import parse
from bae_source.syntax.text.source import Source
from tests import generated

pytestmark = pytest.mark.sampled

REPOSITORY = Path(__file__).parent.parent.parent
MEMORY = 1_500 * 1024 * 1024
SECONDS = 30

_CHILD = """
import json, resource, sys, time
from bae_source.errors import ResourceError
from bae_source.syntax.outline.cst_walk import CannotParse, NotLossless, outline_by_libcst
from bae_source.syntax.text.depth import shallow
from bae_source.syntax.text.lexer import lex
from bae_source.syntax.text.source import Source
from bae_source.syntax.outline.tree import parse

content = sys.stdin.buffer.read()
source = Source(content)
answer = {"lines": len(lex(source.text).kinds) if sys.argv[1] == "lex" else None}
try:
    if sys.argv[1] == "libcst":
        outline = outline_by_libcst(shallow(source.text), source.lines)
    else:
        outline = parse(source).outline
except ResourceError as error:
    answer["code"] = error.code
except (CannotParse, NotLossless):
    answer["code"] = "cannot parse"
else:
    answer["names"] = [name for d in outline.definitions for name in d.names]
    answer["texts"] = [d.span.cut(source.text) for d in outline.definitions if d.names[0] in ("before", "after")]
print(json.dumps(answer))
"""

MONSTERS: dict[str, tuple[Callable[[], bytes], list[str] | None]] = {
    "a chain of 4,000 terms": (partial(generated.long_chain, 4_000), ["chain"]),
    "199 brackets": (partial(generated.deep_brackets, 199), ["nested"]),
    "5,000 brackets": (partial(generated.deep_brackets, 5_000), None),
    "100,000 brackets": (partial(generated.deep_brackets, 100_000), None),
    "4,000 unary signs": (partial(generated.deep_unary, 4_000), ["negative"]),
    "700 branches": (partial(generated.deep_elif, 700), ["choose"]),
    "4,000 attributes": (partial(generated.attribute_chain, 4_000), ["walk"]),
    "4,000 calls": (partial(generated.call_chain, 4_000), ["build"]),
    "3,000 conditional expressions": (partial(generated.nested_ternaries, 3_000), ["pick"]),
    "30 brackets in a pattern": (partial(generated.match_brackets, 30), []),
    "190 brackets in a pattern": (partial(generated.match_brackets, 190), []),
    "95 nested functions": (partial(generated.deep_suites, 95), [f"level_{n}" for n in range(95)]),
    "101 nested functions": (partial(generated.deep_suites, 101), None),
    "800 nested functions": (partial(generated.deep_suites, 800), None),
    "a line of 500,000 characters": (partial(generated.long_line, 500_000), ["text", "other", "last"]),
}


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _asked(content: bytes, how: str) -> dict[str, object]:
    """Read a source in a child; it must answer, whatever the answer is."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, how],
        input=content,
        cwd=REPOSITORY,
        capture_output=True,
        timeout=4 * SECONDS,
        preexec_fn=_limited,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr.decode()[-2_000:])
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("name", MONSTERS)
def test_the_neighbours_of_a_monster_are_found_and_it_is_itself(name: str) -> None:
    make, inside = MONSTERS[name]
    answer = _asked(make(), "lex")
    if inside is None:  # no Python reads it
        assert answer["code"] in ("syntax_invalid", "not_lossless")
        return
    assert answer["names"] == ["before", *inside, "after"]
    assert answer["texts"] == ["def before():\n    return 1\n", "def after():\n    return 2\n"]


@pytest.mark.parametrize("name", [name for name, (_, inside) in MONSTERS.items() if inside is not None])
def test_libcst_is_never_given_what_would_crash_it(name: str) -> None:
    make, inside = MONSTERS[name]
    assert inside is not None
    answer = _asked(make(), "libcst")
    assert answer.get("code") == "cannot parse" or answer["names"] == ["before", *inside, "after"]


#: Newer syntax makes the running interpreter refuse, so that libcst has to read what stands beside it.
NEWER = b"\ntry:\n    pass\nexcept A, B:\n    pass\n\n\ntext = t'{x['a']}'\n"


@pytest.mark.parametrize("name", [name for name, (_, inside) in MONSTERS.items() if inside][1::2])
def test_a_monster_in_a_file_that_only_libcst_reads_is_no_crash(name: str) -> None:
    make, inside = MONSTERS[name]
    answer = _asked(make() + NEWER, "lex")
    assert inside is not None
    if "code" in answer:
        assert answer["code"] in ("syntax_invalid", "not_lossless")
    else:
        assert answer["names"] == ["before", *inside, "after", "text"]


def test_ten_thousand_lines_have_all_their_definitions() -> None:
    tree = parse(Source(generated.ten_thousand_lines()))
    classes = [d for d in tree.outline.definitions if d.names[0].startswith("Class")]
    assert len(classes) == sum(line.startswith("class ") for line in tree.text.splitlines())
    assert sum(d.names[0] == "method" for d in tree.outline.definitions) == len(classes)
    assert all(d.span.cut(tree.text).startswith(f"class {d.names[0]}:\n") for d in classes)
