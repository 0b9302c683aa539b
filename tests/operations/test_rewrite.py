"""Code rewritten on real files, and changes that were refused and are made after all."""

from __future__ import annotations

import argparse
import ast
import asyncio.base_events
import collections
import dataclasses
import difflib
import inspect
import json.decoder
import random
import textwrap
import time
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused
from bae_source.model.reasons import Reason
from bae_source.syntax.patterns.holes import alike
from bae_source.syntax.patterns.pattern import matches_in, parse_pattern
from bae_source.syntax.templates.replacing import Replacer
from bae_source.syntax.templates.template import parse_template
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.source import Source as Text
from tests.queries.support import laid

pytestmark = pytest.mark.sampled

MODULES = (argparse, asyncio.base_events, collections, dataclasses, difflib, json.decoder, textwrap)
TWICE = (
    ("$A == $B", "$B == $A"),
    ("$A + $B", "$B + $A"),
    ("$A and $B", "$B and $A"),
    ("$A if $C else $B", "$B if $C else $A"),
    ("$A[$B]", "$B[$A]"),
    ("$F($A, $B)", "$F($B, $A)"),
    ("[$A, $B, $$$C]", "[$B, $A, $$$C]"),
    ("if $C: $A\nelse: $B", "if $C: $B\nelse: $A"),
    ("lambda $$$A: $B", "lambda $$$A: $B"),
)
"""Patterns and replacements that give the same code again once they are applied twice."""
ONCE = (
    ("$F($$$A)", "$F($$$A)"),
    ("$A.$B", "$A.$B"),
    ("if $C: $$$A", "if $C: $$$A"),
    ("for $I in $X: $$$A", "for $I in $X: $$$A"),
    ("def $F($$$A): $$$B", "def $F($$$A): $$$B"),
    ("class $C($$$A): $$$B", "class $C($$$A): $$$B"),
    ("return $X", "return $X"),
    ("not $X", "not $X"),
    ("try: $$$A\nexcept $E: $$$B", "try: $$$A\nexcept $E: $$$B"),
    ("($$$A,)", "($$$A,)"),
    ("{$$$A}", "{$$$A}"),
    ("$A % $B", "$A % $B"),
)
"""Patterns that are their own replacement."""
DOUBLED = (("$F($$$A)", "($F)($$$A)"), ("$A.$B", "($A).$B"), ("not $X", "not ($X)"), ("$A + $B", "(($A) + ($B))"))
"""Replacements that are read as the pattern is."""


def texts_for(pattern: str, *, whole: bool) -> list[str]:
    """Return the sources on which a pattern is tried: three of the modules, or all."""
    chosen = MODULES if whole else random.Random(pattern).sample(MODULES, 3)
    return [inspect.getsource(module) for module in chosen]


def rewritten(text: str, pattern: str, replacement: str) -> tuple[str, int]:
    """Return a text rewritten, and how many places outside of f-strings could not be."""
    parsed, source = parse_pattern(pattern), Text(text.encode())
    tree, matches = matches_in(parsed, source)
    replacer = Replacer(source, tree, matches, parsed, parse_template(replacement, parsed))
    made = splice(source.text, [(each.span, each.text or "") for each in replacer.outermost()])
    return made, sum(each.text is None and each.why != Reason.IN_F_STRING.of() for each in replacer.replaced())


def read(text: str) -> object:
    """Return what is equal for text that Python reads alike."""
    return alike(tuple(ast.parse(text).body))


@pytest.mark.parametrize(("pattern", "replacement"), ONCE)
def test_code_that_is_replaced_by_itself_stays_to_the_byte(pattern: str, replacement: str, whole: bool) -> None:
    for text in texts_for(pattern, whole=whole):
        assert rewritten(text, pattern, replacement) == (text, 0)


@pytest.mark.parametrize(("pattern", "replacement"), TWICE)
def test_what_is_exchanged_twice_is_read_as_before(pattern: str, replacement: str, whole: bool) -> None:
    for text in texts_for(pattern, whole=whole):
        once, unfit = rewritten(text, pattern, replacement)
        ast.parse(once)
        twice, _ = rewritten(once, pattern, replacement)
        if not unfit:
            assert read(twice) == read(text)


@pytest.mark.parametrize(("pattern", "replacement"), DOUBLED)
def test_brackets_that_mean_nothing_change_nothing_that_is_read(pattern: str, replacement: str, whole: bool) -> None:
    for text in texts_for(pattern, whole=whole):
        made, unfit = rewritten(text, pattern, replacement)
        assert (read(made), unfit) == (read(text), 0)


FILES = {
    "app/__init__.py": "",
    "app/net.py": "class Client:\n    def send(self, x): ...\n",
    "app/use.py": "from app.net import Client\n\n\n"
    "def f(client: Client, x, y):\n    client.send(1)\n    x.send(2)\n    y.send(3)\n",
}
ASKED = ("$C.send($X)", "$C.post($X)")
WHERE = ["$C is app.net.Client"]


def refused(source: Source) -> str:
    """Ask for a rewrite that is refused, and return the handle of its draft."""
    with pytest.raises(Refused) as caught:
        source.rewrite(*ASKED, where=WHERE, reload="off")
    handle: str = caught.value.details["draft"]
    return handle


@pytest.mark.parametrize(
    ("choice", "lines"),
    [
        ({"unsure": "leave"}, ["client.post(1)", "x.send(2)", "y.send(3)"]),
        ({"unsure": "change"}, ["client.post(1)", "x.post(2)", "y.post(3)"]),
        ({"unsure": "leave", "include": ["app.use:7"]}, ["client.post(1)", "x.send(2)", "y.post(3)"]),
    ],
)
def test_a_rewrite_that_was_refused_is_made_with_a_choice(
    tmp_path: Path, choice: dict[str, object], lines: list[str]
) -> None:
    source = laid(tmp_path, FILES)
    outcome = source.commit(refused(source), reload="off", **choice)
    assert outcome.status == "applied"
    assert [line.strip() for line in (tmp_path / "app/use.py").read_text().split("\n")[4:7]] == lines
    source.undo()
    assert {name: (tmp_path / name).read_text() for name in FILES} == FILES


def test_a_rewrite_that_was_refused_changed_nothing(tmp_path: Path) -> None:
    source = laid(tmp_path, FILES)
    refused(source)
    assert {name: (tmp_path / name).read_text() for name in FILES} == FILES


def test_a_draft_of_a_rewrite_is_stale_where_its_places_are_others(tmp_path: Path) -> None:
    source = laid(tmp_path, FILES)
    handle = refused(source)
    (tmp_path / "app/use.py").write_text(FILES["app/use.py"] + "    x.send(4)\n")
    with pytest.raises(Refused) as caught:
        source.commit(handle, unsure="leave", reload="off")
    assert caught.value.code == "stale"


def test_a_rewrite_in_a_transaction_sees_what_is_planned(tmp_path: Path) -> None:
    source = laid(tmp_path, FILES)
    with source.transaction("post it") as tx:
        tx.rename("app.net.Client.send", "post", unsure="leave")
        tx.rewrite("$C.post($X)", "$C.post($X, True)", where=WHERE)
    assert "    client.post(1, True)\n    x.send(2)\n" in (tmp_path / "app/use.py").read_text()


def test_thousands_of_places_in_one_statement_and_a_long_chain_take_seconds() -> None:
    display = "x = [\n" + "".join(f"    f({number}),\n" for number in range(1500)) + "]\n"
    chain = "x = " + " + ".join(f"a{number}" for number in range(200)) + "\n"
    began = time.monotonic()
    made, unfit = rewritten(display, "f($X)", "g($X, 1)")
    assert (made, unfit) == (display.replace("f(", "g(").replace("),", ", 1),"), 0)
    made, unfit = rewritten(chain, "$A + $B", "$B + $A")
    assert unfit == 0
    assert read(rewritten(made, "$A + $B", "$B + $A")[0]) == read(chain)
    assert time.monotonic() - began < 30


def test_matches_in_an_f_string_stay_and_are_named(tmp_path: Path) -> None:
    source = laid(tmp_path, {"m.py": "def f(x):\n    return f'{get(x)} {x}' + get(x)\n"})
    outcome = source.rewrite("get($X)", "put($X, 'a')", unsure="leave", reload="off")
    assert (tmp_path / "m.py").read_text() == "def f(x):\n    return f'{get(x)} {x}' + put(x, 'a')\n"
    assert outcome.report is not None
    assert [(each["module"], each["line"], each["certainty"]) for each in outcome.report["unsure"]] == [
        ("m", 2, "unsure")
    ]
