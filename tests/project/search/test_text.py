"""How an expression is judged before it is used, and that matching is the same wherever it is done."""

from __future__ import annotations

import io
import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bae_source.errors import RequestError
from bae_source.project.search import matching
from bae_source.project.search.child import hits_elsewhere
from bae_source.project.search.expression import Expression, expression_of
from bae_source.project.search.matching import Stopped, hits_in
from bae_source.project.search.scope import scope_of
from bae_source.project.search.text import search_text
from bae_source.system.frames import frame
from tests.project.support import workspace


def expression(pattern: str, *, ignore_case: bool = False, word: bool = False, multi_line: bool = False) -> Expression:
    return expression_of(pattern, ignore_case=ignore_case, word=word, multi_line=multi_line)


@pytest.mark.parametrize(
    ("pattern", "piece"),
    [
        ("mark_safe", b"mark_safe"),
        (r"\bmark_safe\(", b"mark_safe("),
        (r"mark_\w+\(", b"mark_"),
        ("ab*cde", b"cde"),
        ("ab+cde", b"cde"),
        ("abc+d", b"abc"),
        ("abc?", b"ab"),
        ("ab{0}", b"a"),
        ("x{2}yz", b"yz"),
        ("a{,}bc", b"bc"),
        ("(abcdef)?gh", b"gh"),
        ("[abcdef]gh", b"gh"),
        ("[]abc]de", b"de"),
        ("[^]abc]de", b"de"),
        ("(ab|cd)", b""),
        ("(?i)ab", b""),
        (r"\x41bcd", b""),
        (r"\N{BULLET}bcd", b""),
        (r"\141bcd", b""),
        (r"\.\*ab", b".*ab"),
        ("é ab", b""),
        ("^ab$", b"ab"),
        ("a.b.cc", b"cc"),
        ("abc*?de", b"ab"),
    ],
)
def test_a_piece_stands_in_every_match(pattern: str, piece: bytes) -> None:
    assert expression(pattern).pieces == ((piece,) if piece else ())


def test_a_file_is_only_left_out_if_it_cannot_match() -> None:
    assert expression("send").may_match(b"x.send()", python=True)
    assert not expression("send").may_match(b"x.get()", python=True)
    assert expression("send").may_match(b"# coding: utf-7\nx", python=True)
    assert not expression("send").may_match(b"Content-Transfer-Encoding", python=False)
    assert expression("Send", ignore_case=True).may_match(b"SEND", python=True)
    assert expression("kin", ignore_case=True).may_match("\u212ain".encode(), python=True)


@pytest.mark.parametrize(
    ("pattern", "endless"),
    [("mark_safe", False), ("a|b", False), ("a?b", False), ("a+", True), ("a*", True), ("a{2,}", True),
     (r"\*\+\{", False), ("a?" * 9 + "a" * 9, True), ("|".join("abcdefghijk"), True), ("[*]", True)],
)  # fmt: skip
def test_what_may_take_long_is_done_where_it_can_be_stopped(pattern: str, endless: bool) -> None:
    assert expression(pattern).endless is endless


@pytest.mark.parametrize(
    ("pattern", "by_line"),
    [("def send", False), (r"^def \w+", False), (r"\d$", False), ("[a-z_]", False), (r"\s", True), ("[^a]", True),
     (r"\n", True), (r"a\Z", True), ("(?=a)", True), ("(?s).", True), ("[\t-z]", True), (r"\W", True), (r"\B", True)],
)  # fmt: skip
def test_each_line_is_searched_by_itself_where_a_match_could_leave_it(pattern: str, by_line: bool) -> None:
    assert expression(pattern).by_line is by_line


_ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        ".",
        r"\w",
        r"\d",
        r"\s",
        r"\S",
        r"\W",
        "[ab]",
        "[^a]",
        "^",
        "$",
        r"\b",
        r"\B",
        r"\A",
        r"\Z",
        " ",
        "é",
    ]
)
_PATTERNS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{1,2}", "*?", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        inner.map(lambda each: f"(?={each})"),
        inner.map(lambda each: f"({each})"),
    ),
    max_leaves=5,
)
_TEXTS = st.text(st.sampled_from("ab 1é_\n"), max_size=30)


@settings(max_examples=400, deadline=None)
@given(_PATTERNS, _TEXTS, st.booleans(), st.booleans())
def test_the_lines_found_are_those_that_match_by_themselves(
    pattern: str, text: str, ignore_case: bool, word: bool
) -> None:
    sought = expression(pattern, ignore_case=ignore_case, word=word)
    lines = text.split("\n")
    lines = lines if lines[-1] else lines[:-1]
    expected = [number for number, line in enumerate(lines, 1) if sought.compiled.search(line)]
    assert [hit[0] for hit in hits_in(sought.compiled, text, by_line=sought.by_line, spanning=False)] == expected
    if expected:
        assert sought.may_match(text.encode(), python=True)


def test_hits_over_several_lines_do_not_overlap() -> None:
    compiled = re.compile(r"a\nb?", re.MULTILINE)
    assert hits_in(compiled, "a\nb\na\nx a\n", by_line=False, spanning=True) == [
        (1, 1, 0, 3),
        (3, 1, 4, 6),
        (4, 3, 8, 10),
    ]


def test_another_process_finds_the_same() -> None:
    texts = ["def a():\n  b\n", "", "x\n" * 1000, "def é(\n\n", "\udcff def q"] * 20
    for pattern in (r"def \w+", r"^\s*$", r"x+"):
        sought = expression(pattern)
        elsewhere = list(hits_elsewhere(texts, str, sought, time.monotonic() + 60))
        here = [(text, hits_in(sought.compiled, text, by_line=sought.by_line, spanning=False)) for text in texts]
        assert elsewhere == here


def test_many_hits_and_large_texts_do_not_block_the_pipes() -> None:
    texts = ["ab\n" * 200_000] * 3
    found = list(hits_elsewhere(texts, str, expression("a+"), time.monotonic() + 120))
    assert [len(hits) for _, hits in found] == [200_000] * 3


def test_what_was_answered_before_the_time_was_up_is_kept() -> None:
    texts = ["a", "aab", "a" * 60 + "!", "b"]
    answers = hits_elsewhere(texts, str, expression("(a+)+b"), time.monotonic() + 2)
    # All texts fit into what is sent ahead, so the first answers come before the third text is begun.
    assert [next(answers)[0], next(answers)[0]] == ["a", "aab"]
    with pytest.raises(Stopped) as caught:
        next(answers)
    assert caught.value.text == "a" * 60 + "!"
    assert not caught.value.in_time


def test_a_process_that_is_left_early_is_ended() -> None:
    answers = hits_elsewhere(["a"] * 100, str, expression("a+"), time.monotonic() + 60)
    next(answers)
    answers.close()  # type: ignore[attr-defined]  # a generator


def test_a_process_that_ends_for_another_reason_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import os\nos.abort()\n")
    monkeypatch.setattr(matching, "__file__", str(broken))
    space = workspace({"m.py": "aaa\n", "n.py": "aaa\n"})
    found = search_text(space, scope_of(space, None), expression("a+"), seconds=600)
    assert (found.files, found.complete) == ((), False)
    assert found.notices[0].message.startswith("The search was stopped before its time was up in m; ")


def test_a_process_that_cannot_be_started_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    space = workspace({"m.py": "aaa\n"})
    with pytest.raises(Exception, match="No process could be started") as caught:
        search_text(space, scope_of(space, None), expression("a+"), seconds=1)
    assert caught.value.code == "busy"  # type: ignore[attr-defined]


def test_the_time_counts_where_nothing_can_take_long_too() -> None:
    space = workspace({f"m{number}.py": "needle\n" for number in range(5)})
    found = search_text(space, scope_of(space, None), expression("needle"), seconds=-1)
    assert (found.files, found.complete) == ((), False)
    assert [notice.code for notice in found.notices] == ["timed_out"]


def test_the_worker_answers_text_by_text(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"expression": "a", "flags": 0, "how": {"by_line": True, "spanning": False}, "limit": 1000.0}
    source = io.BytesIO(b"".join(map(frame, (json.dumps(asked).encode(), b"xa\n", b""))))
    sink = io.BytesIO()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(source))
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(sink))
    monkeypatch.setattr("signal.setitimer", lambda which, seconds: (which, seconds))
    matching.main()
    assert sink.getvalue() == frame(b"[[1, 2, 1, 2]]") + frame(b"[]")


def test_a_pattern_that_warns_today_is_no_noise(recwarn: pytest.WarningsRecorder) -> None:
    assert expression("[[a]").compiled.search("a")
    assert not recwarn.list


def test_what_is_wrong_has_its_position() -> None:
    with pytest.raises(RequestError) as caught:
        expression("ab(")
    assert caught.value.details == {"position": 2}
    assert caught.value.hints == (r"To find the text itself, search for ab\(",)
