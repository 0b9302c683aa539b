"""A rename does not look twice at what cannot have changed, and finds all the same what is there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import SourceError
from bae_source.model.changeset import ChangeSet
from bae_source.model.outcome import Check, Notice
from bae_source.model.span import Span
from bae_source.project.references.search import prose
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning import plan
from bae_source.syntax.outline import ast_walk
from bae_source.syntax.outline.definitions import Outline
from bae_source.syntax.rewrite.postcondition import names_alone
from bae_source.syntax.text.lexer import Lexed, lex
from bae_source.syntax.text.source import Lines
from bae_source.verification import cycles
from bae_source.verification.cycles import check_cycles

SETTINGS = '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.8"\n'


def project(root: Path, **files: str) -> Source:
    (root / "pyproject.toml").write_text(SETTINGS)
    for name, text in files.items():
        (root / f"{name}.py").write_bytes(text.encode())
    return Source(root)


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts whose syntax is compared with what the oldest Python knows."""
    seen: list[str] = []
    known = plan.too_new_for

    def noted(text: str, version: tuple[int, int]) -> SourceError | None:
        seen.append(text)
        return known(text, version)

    monkeypatch.setattr(plan, "too_new_for", noted)
    return seen


@pytest.fixture
def lexed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts that are taken apart to find what stands in comments and docstrings."""
    seen: list[str] = []

    def noted(text: str) -> Lexed:
        seen.append(text)
        return lex(text)

    monkeypatch.setattr(prose, "lex", noted)
    return seen


@pytest.fixture
def circles(monkeypatch: pytest.MonkeyPatch) -> list[ChangeSet]:
    """Return the changes whose imports are searched for circles."""
    seen: list[ChangeSet] = []

    def noted(before: Workspace, changes: ChangeSet) -> tuple[Notice | Check, ...]:
        seen.append(changes)
        return check_cycles(before, changes)

    monkeypatch.setattr(cycles, "check_cycles", noted)
    return seen


def test_a_module_that_stays_in_its_package_is_in_no_new_circle(tmp_path: Path, circles: list[ChangeSet]) -> None:
    source = project(tmp_path, m="x = 1\n", user="import m\nfrom m import x\n\nm.x\n")
    outcome = source.rename("m", "n", dry_run=True)
    assert "+from n import x" in (outcome.diff or "")
    assert not circles


@pytest.mark.parametrize(
    "files",
    [
        {"user": "import m\n", "other": "import n\n"},
        {"user": "try:\n    import m as k\nexcept ImportError:\n    n = 1\n"},
        {"user": "import m.part\n", "m/__init__": "", "m/part": "import m\n"},
    ],
    ids=["imported already", "named elsewhere", "imports itself"],
)
def test_a_circle_is_searched_for_where_imports_may_lead_elsewhere(
    tmp_path: Path, circles: list[ChangeSet], files: dict[str, str]
) -> None:
    (tmp_path / "m").mkdir()
    source = project(tmp_path, **({"m": "x = 1\n"} if "m/part" not in files else {}), **files)
    source.rename("m", "n", dry_run=True)
    assert circles


@pytest.fixture
def outlined(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts of which the definitions are found."""
    seen: list[str] = []
    known = ast_walk.outline_of_ast

    def noted(tree: ast.Module, text: str, lines: Lines) -> Outline:
        seen.append(text)
        return known(tree, text, lines)

    monkeypatch.setattr(ast_walk, "outline_of_ast", noted)
    return seen


def test_definitions_are_not_found_where_names_alone_change(tmp_path: Path, outlined: list[str]) -> None:
    source = project(tmp_path, m="def send(): ...\n", user="from m import send\n\nsend()\n")
    outcome = source.rename("m.send", "post", dry_run=True)
    assert "+from m import post" in (outcome.diff or "")
    assert "from m import send\n\nsend()\n" not in outlined
    assert "from m import post\n\npost()\n" not in outlined


def test_definitions_are_compared_where_more_than_a_name_changes(tmp_path: Path, outlined: list[str]) -> None:
    user = "try:\n    from m import send\nexcept ImportError:\n    send = None\n"
    source = project(tmp_path, m="def send(): ...\n", user=user)
    source.rename("m.send", "post", reload="off")
    assert "import post as send" in (tmp_path / "user.py").read_text()
    assert user in outlined


@pytest.mark.parametrize(
    ("text", "span", "new", "expected"),
    [
        ("send()", Span(0, 4), "post", True),
        ("from .a.send import x", Span(5, 12), ".b.post", True),
        ("x = send", Span(4, 8), "a.send", False),
        ("sender()", Span(0, 4), "post", False),
        ("resend()", Span(2, 6), "post", False),
        ("send()", Span(0, 4), "post as send", False),
        ("send()", Span(0, 4), "class", False),
        ("send()", Span(0, 6), "post", False),
    ],
)
def test_only_a_whole_name_for_another_leaves_all_else_in_place(
    text: str, span: Span, new: str, *, expected: bool
) -> None:
    assert names_alone(text, [(span, new)]) is expected


def test_a_name_for_a_name_brings_no_newer_syntax(tmp_path: Path, versions: list[str]) -> None:
    source = project(tmp_path, m="def send(): ...\n", user="from m import send\n\nsend()\n")
    source.rename("m.send", "match", reload="off")
    assert (tmp_path / "user.py").read_text() == "from m import match\n\nmatch()\n"
    assert not versions


def test_nor_does_a_dotted_name_for_another(tmp_path: Path, versions: list[str]) -> None:
    source = project(tmp_path, m="def send(): ...\n", user="import m\n\nm.send()\n")
    source.rename("m", "n", reload="off")
    assert (tmp_path / "user.py").read_text() == "import n\n\nn.send()\n"
    assert not versions


def test_new_source_is_compared_with_the_oldest_python(tmp_path: Path, versions: list[str]) -> None:
    source = project(tmp_path, m="def send(x):\n    return x\n")
    with pytest.raises(SourceError, match=r"newer Python than 3\.8"):
        source.edit("m.send", "def send(x):\n    match x:\n        case 1:\n            return 2\n", reload="off")
    assert versions


def test_files_whose_every_mention_is_code_are_not_searched_for_comments(tmp_path: Path, lexed: list[str]) -> None:
    user = "from m import send_it\n\nsend_it(send_it)\n"
    source = project(tmp_path, m="def send_it(): ...\n", user=user, other="x = 1  # calls send_it()\n")
    outcome = source.rename("m.send_it", "post", dry_run=True)
    assert outcome.report is not None
    assert user not in lexed
    assert [(each["module"], each["line"], each["column"]) for each in outcome.report["mentions"]] == [("other", 1, 16)]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("from m import send_it\n\nsend_it()  # as send_it() does\n", (3, 17)),
        ("from m import send_it\n\n'''Calls send_it().'''\nsend_it()\n", (3, 10)),
        ("from m import send_it\r\n\r\nsend_it()  # as send_it() does\r\n", (3, 17)),
        ("from m import send_it\n\né = send_it()  # as send_it() does\n", (3, 21)),
    ],
    ids=["comment", "docstring", "other line ends", "other characters"],
)
def test_a_comment_beside_code_is_found(tmp_path: Path, text: str, place: tuple[int, int]) -> None:
    source = project(tmp_path, m="def send_it(): ...\n", user=text)
    outcome = source.rename("m.send_it", "post", dry_run=True)
    assert outcome.report is not None
    assert [(each["line"], each["column"]) for each in outcome.report["mentions"]] == [place]


def test_a_type_comment_that_changes_is_no_mention(tmp_path: Path) -> None:
    source = project(tmp_path, m="class Send_it: ...\n", user="from m import Send_it\n\nx = None  # type: Send_it\n")
    outcome = source.rename("m.Send_it", "Post", reload="off")
    assert outcome.report is not None
    assert (tmp_path / "user.py").read_text() == "from m import Post\n\nx = None  # type: Post\n"
    assert not outcome.report["mentions"]


@pytest.mark.parametrize("written", ["send", "ſend"])
def test_an_alias_or_definition_in_a_file_with_other_characters_changes(tmp_path: Path, written: str) -> None:
    source = project(
        tmp_path, m=f"é = 'é'\n\n\ndef {written}(): ...\n", user=f"from m import send as {written}\n\nsend()\n"
    )
    source.rename("m.send", "post", reload="off")
    assert (tmp_path / "m.py").read_text() == "é = 'é'\n\n\ndef post(): ...\n"
    assert (tmp_path / "user.py").read_text() == "from m import post as post\n\npost()\n"
