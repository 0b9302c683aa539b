"""What of a language server's word gets into an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from bae_source.model.navigation import Navigated, Question, Target
from bae_source.model.selection import MAX_BYTES, Selected
from bae_source.project.naming.navigation import navigated
from bae_source.queries.hover import Hover
from tests.project.support import workspace

FILES = {
    "m.py": "from n import B\n\n\ndef f(b: B, c):\n    '''Do.'''\n    return b.go, c.x\n",
    "n.py": (
        "LIMIT = 1\n\n\nclass B:\n    go = 1\n\n    def é(self): ...; x = '😀'\n\n\n"
        "def twice(): ...\n\n\n_ = 1\n\n\ndef twice(): ...\n"
    ),
    "bad.py": "def (\n",
}


class Word:
    """A server that says what it is told to say."""

    def __init__(self, *answers: Navigated) -> None:
        self.answers = answers
        self.asked: list[tuple[str, float]] = []
        self.questions: list[Question | None] = []

    def named(self, name: str) -> Word:
        self.name = name
        return self

    def ask(
        self, questions: Sequence[Question | None], stamps: Mapping[str, object], *, seconds: float
    ) -> Sequence[Navigated]:
        self.asked.append((self.name, seconds))
        self.questions = list(questions)
        return self.answers


def hover(word: Word, *uris: str, files: Mapping[str, str] = FILES) -> Selected:
    space = workspace(files)
    outcome = Hover(uris=uris or ("sym://python/type/m/f",)).answer(space)
    return navigated(space, outcome, word.named, wanted=None, seconds=None)


def refs(*targets: Target) -> list[str]:
    outcome = hover(Word(Navigated(targets=targets)))
    return [ref.uri.removeprefix("sym://python/") for ref in outcome.selections[0].refs]


def at(path: str, line: int, units: int) -> Target:
    return Target(path=path, line=line, units=units)


@pytest.mark.parametrize(
    ("target", "uri"),
    [
        (at("n.py", 4, 6), None),  # found statically already
        (at("n.py", 1, 0), "mod/n"),
        (at("m.py", 4, 4), "type/m/f"),
    ],
)
def test_a_place_where_a_class_or_function_is_named_becomes_a_ref(target: Target, uri: str | None) -> None:
    assert refs(target) == ["type/n/B", *([uri] if uri else [])]


@pytest.mark.parametrize(
    "target",
    [
        at("n.py", 4, 5),  # beside the name
        at("n.py", 2, 0),  # nothing there
        at("n.py", 5, 4),  # an attribute has no selector
        at("n.py", 7, 8),  # a name that no selector can say
        at("n.py", 10, 4),  # one of two that no selector tells apart
        at("n.py", 999, 0),
        at("n.py", 0, 0),
        at("n.py", -1, -1),
        at("n.py", 4, 10**9),
        at("bad.py", 1, 4),
        at("absent.py", 1, 0),
        at("../m.py", 1, 0),
        at("pyproject.toml", 1, 0),
    ],
)
def test_a_place_where_the_project_has_no_such_thing_is_passed_over(target: Target) -> None:
    assert refs(target) == ["type/n/B"]


@pytest.mark.parametrize(
    ("expected", "shown"),
    [
        ("def f(b: B, c) -> tuple[int, str]", "def f(b: B, c) -> tuple[int, str]"),
        ("```python\n(function) def f(\n    b: B,\n    c\n) -> int\n```\n---\nDo.", "(function) def f(b: B, c) -> int"),
        ("def f(\n    b: B,\n    c,\n) -> Unknown", None),
        ("def f(b: B, c): ...", None),
        ("", None),
        ("\n\n", None),
        ("see file:///home/x/y.py", None),
        ("C:/x", None),
        ("x" * 501, None),
    ],
)
def test_the_first_paragraph_is_shown_if_it_says_more_than_the_signature(expected: str, shown: str | None) -> None:
    [selection] = hover(Word(Navigated(hover=expected))).selections
    assert selection.data is not None
    assert selection.data.content == "def f(b: B, c)\n\nDo." + (f"\n\nty: {shown}" if shown else "")


def test_a_problem_empties_the_refs_of_its_own_answer_only() -> None:
    word = Word(Navigated(problem="ty is ill"), Navigated())
    first, second = hover(word, "sym://python/type/m/f", "sym://python/mod/n").selections
    assert (first.status, first.refs, first.next_actions[1:]) == (
        "ok",
        (),
        ("No refs without a language server: ty is ill.",),
    )
    assert len(second.next_actions) == 1


def test_errors_are_not_asked_about_and_keep_their_exit_status() -> None:
    word = Word(Navigated(), Navigated(hover="more"))
    outcome = hover(word, "sym://python/mod/none", "sym://python/type/m/f")
    assert [question is None for question in word.questions] == [True, False]
    assert (outcome.status, outcome.exit_code, len(outcome.errors)) == ("error", 3, 1)
    assert outcome.text.count("\n") == 2
    assert "ty: more" in outcome.text


def test_what_the_server_says_never_makes_an_answer_too_long() -> None:
    files = {"m.py": f"def f(): '''{'x' * (MAX_BYTES - 700)}'''\n"}
    outcome = hover(Word(Navigated(hover="y" * 480)), files=files)
    assert outcome.status == "answer"
    assert "yyy" not in outcome.text


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", ("ty", 2.0)),
        ('[tool.bae-source]\nlanguage-server = "pyrefly"\nlanguage-server-seconds = 7\n', ("pyrefly", 7.0)),
        ('[tool.bae-source]\nlanguage-server = 3\nlanguage-server-seconds = "x"\n', ("ty", 2.0)),
        ("[tool]\nbae-source = 3\n", ("ty", 2.0)),
        ("tool = 3\n", ("ty", 2.0)),
        ("[tool.other\n", ("ty", 2.0)),
    ],
)
def test_the_settings_name_the_server_and_its_time(settings: str, expected: tuple[str, float]) -> None:
    word = Word(Navigated())
    hover(word, files={**FILES, "pyproject.toml": settings})
    assert word.asked == [expected]


def test_the_question_shows_where_the_name_and_the_open_names_stand() -> None:
    word = Word(Navigated())
    hover(word)
    [question] = word.questions
    assert question is not None
    lines = question.text.split("\n")
    assert question.name is not None
    assert lines[question.name.line - 1][question.name.column - 1 :].startswith("f(b: B")
    assert [lines[place.line - 1][place.column - 1 :] for place in question.names] == ["go, c.x", "x"]
