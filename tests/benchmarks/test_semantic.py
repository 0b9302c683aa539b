"""Seeded renames and moves are the same for all engines, and each is judged by the package's own tests."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpus import Release
from benchmarks.semantic.__main__ import Row, goals_of, main, measured
from benchmarks.semantic.drawing import KINDS, Change, moves, names_of, renames
from benchmarks.semantic.engines import OURS, ROPE, NotMade, by_rope, ours
from benchmarks.semantic.extracts import EXTRACTS, extracts
from benchmarks.semantic.inlines import INLINES, inlines
from benchmarks.semantic.judging import Suite, is_announced
from benchmarks.semantic.signatures import SIGNATURES, signatures
from benchmarks.semantic.subjects import Subject
from tests.benchmarks.read.test_peers import installed
from tests.operations.trees import put

pytestmark = pytest.mark.sampled

SUBJECT = Subject(release=Release(name="p", version="1", sha256=""), source="src", package="src/p", tests="tests")
FILES = {
    "pyproject.toml": '[project]\nname = "p"\nversion = "1"\n',
    "src/p/__init__.py": "",
    "src/p/shapes.py": (
        "SIDES = 4\n\n\nclass Shape:\n    name = 'shape'\n\n    def __init__(self, side):\n        self.side = side\n\n"
        "    def area(self):\n        square = self.side ** 2\n        return square\n\n\n"
        "def made(side):\n    def inner():\n        hidden = Shape(side)\n        return hidden\n    return inner()\n"
    ),
    "src/p/other.py": "",
    "tests/test_shapes.py": (
        "from p import shapes\n\n\ndef test_area():\n    assert shapes.made(2).area() == 4\n\n\n"
        "def test_name():\n    assert getattr(shapes.Shape, ''.join(['na', 'me'])) == 'shape'\n\n\n"
        "def test_before():\n    assert False\n"
    ),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return put(tmp_path / "p-1", FILES)


def rename(root: Path, target: str) -> Change:
    every = (each for names in names_of(root, SUBJECT).values() for each in names)
    return Change(named=next(each for each in every if each.target == target), new="renamed")


def tried(root: Path, change: Change, monkeypatch: pytest.MonkeyPatch) -> Row:
    monkeypatch.setattr("benchmarks.semantic.__main__.fetch", lambda _: root)
    monkeypatch.setattr("benchmarks.semantic.__main__.renames", lambda *_: [change])
    [row] = measured(Suite(python=Path(sys.executable), subject=SUBJECT), {OURS: ours}, (1, 0, 0, 0, 0), 1)
    return row


def test_names_of_all_kinds_are_found_where_they_are_bound(root: Path) -> None:
    found = {(each.kind, each.target) for names in names_of(root, SUBJECT).values() for each in names}
    shapes = "p.shapes"
    assert found == {
        *(("module", name) for name in (shapes, "p.other")),
        ("variable", f"{shapes}.SIDES"),
        ("class", f"{shapes}.Shape"),
        ("attribute", f"{shapes}.Shape.name"),
        ("parameter", f"{shapes}.Shape.__init__.side"),
        ("instance attribute", f"{shapes}.Shape.side"),
        ("method", f"{shapes}.Shape.area"),
        ("local", f"{shapes}.Shape.area.square"),
        ("function", f"{shapes}.made"),
        ("parameter", f"{shapes}.made.side"),
        ("local", f"{shapes}.made.inner"),
    }
    lines = FILES["src/p/shapes.py"].split("\n")
    for each in (each for kind, names in names_of(root, SUBJECT).items() if kind != "module" for each in names):
        assert lines[each.line - 1][each.column - 1 :].startswith(each.name)


def test_a_seed_draws_the_same_changes_of_kinds_in_turn(root: Path) -> None:
    names = names_of(root, SUBJECT)
    drawn = renames(names, 9, 3, frozenset())
    assert drawn == renames(names, 9, 3, frozenset())
    assert [each.kind for each in drawn] == list(KINDS)
    assert "SIDES" not in {each.named.name for each in renames(names, 20, 3, {"SIDES"})}
    assert [(each.kind, each.to, each.to_path) for each in moves(names, 3, 3)] == [
        ("move function", "p.moved_0", "src/p/moved_0.py"),  # no other module of the package defines anything
        ("move class", "p.moved_1", "src/p/moved_1.py"),
        ("move variable", "p.moved_2", "src/p/moved_2.py"),
    ]


DRAWN = {
    "src/p/shapes.py": (
        "class A:\n    def __init__(self, a, b=1):\n        self.a = a, b\n\n"
        "    def pair(self, a, b) -> int:\n        return a, b\n\n"
        "    @staticmethod\n    def idle(a, b=1, c=2):\n        return a, c\n\n"
        "    def later(self, a=1, b=2):\n        return a, b\n\n"
        "    @property\n    def left(self):\n        return 1\n\n"
        "    def __eq__(self, other):\n        return True\n\n"
        "    def every(self, a):\n        return locals()\n\n"
        "    def above(self, a):\n        pass\n\n\n"
        "class B(A):\n    def above(self, a):\n        return a\n\n\n"
        "def twice():\n    pass\n\n\ndef twice():\n    pass\n\n\n"
        "def stars(a, *args, b, **options):\n    return a, args, b, options\n"
    )
}


def test_signatures_are_drawn_of_kinds_in_turn_and_make_sense(root: Path) -> None:
    (root / "src/p/shapes.py").write_text(DRAWN["src/p/shapes.py"])
    seen: dict[tuple[str, str], set[str]] = {}
    for seed in range(60):
        drawn = signatures(root, SUBJECT, 7, seed, {"every"})
        assert drawn == signatures(root, SUBJECT, 7, seed, {"every"})
        kinds = list(dict.fromkeys(each.kind for each in drawn))
        assert kinds == [kind for kind in SIGNATURES if kind in kinds]
        assert len({each.named.target for each in drawn}) == len(drawn)
        for each in drawn:
            seen.setdefault((each.kind, each.named.target.removeprefix("p.shapes.")), set()).add(
                " ".join((each.signature, *each.renamed, *each.value))
            )
    assert {name for _, name in seen} == {"A.__init__", "A.pair", "A.later", "A.idle", "A.above", "B.above", "stars"}
    removed = {name: found for (kind, name), found in seen.items() if kind == "signature remove"}
    assert removed == {"A.idle": {"(a, c=2)"}}, "what another function of that name reads stays"
    assert seen["signature reorder", "A.pair"] == {"(self, b, a) -> int"}
    assert seen["signature reorder", "A.later"] == {"(self, b=2, a=1)"}
    assert seen["signature by keyword", "A.pair"] == {"(self, a, *, b) -> int"}
    assert seen["signature by keyword", "A.later"] == {"(self, a=1, *, b=2)"}
    assert seen["signature add at the end", "A.pair"] == {"(self, a, b, added=None) -> int"}
    assert seen["signature add by keyword", "A.__init__"] == {"(self, a, b=1, *, added=None)"}
    assert seen["signature add without default", "A.__init__"] == {
        "(self, added, a, b=1) added=None",
        "(self, a, added, b=1) added=None",
    }
    assert seen["signature rename", "stars"] == {
        "(a_renamed, *args, b, **options) a=a_renamed",
        "(a, *args, b_renamed, **options) b=b_renamed",
    }
    assert not {("signature add at the end", "stars"), ("signature by keyword", "stars")} & seen.keys()


def test_a_signature_is_changed_with_its_calls(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [named] = [each for each in names_of(root, SUBJECT)["function"] if each.name == "made"]
    row = tried(root, Change(named=named, signature="(size)", renamed=("side=size",)), monkeypatch)
    assert (row.result, row.change) == ("applied", "p.shapes.made -> (size)")
    row = tried(root, Change(named=named, signature="()"), monkeypatch)
    assert row.result == "refused"


def test_a_rename_that_no_test_minds_is_applied(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = tried(root, rename(root, "p.shapes.made"), monkeypatch)
    assert (row.result, row.reason) == ("applied", "")


def test_a_test_that_fails_after_and_not_before_makes_a_break(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = tried(root, rename(root, "p.shapes.Shape.name"), monkeypatch)
    assert (row.result, row.broken) == ("BROKEN 1", ("FAILED tests/test_shapes.py::test_name",))
    assert "has no attribute 'name'" in row.reason


def test_a_refusal_is_no_break_and_gives_its_reason(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = rename(root, "p.shapes.Shape.area")
    row = tried(root, Change(named=change.named, new="side"), monkeypatch)
    assert (row.result, row.reason.partition(":")[0]) == ("refused", "name_collision")


FAILED = ("FAILED tests/test_old.py::test_old",)


def failure(line: str, source: str = "f()", test: str = "test_old") -> str:
    """Return what pytest prints of one."""
    return f"{'_' * 20} {test} {'_' * 20}\n{line}: in f\n    {source}\nE   AssertionError\n"


@pytest.mark.parametrize(
    ("line", "announced"), [("src/p/web.py:7", True), ("src/p/web.py:71", False), ("src/p/a.py:7", False)]
)
def test_a_break_is_announced_by_a_place_that_the_failure_names(line: str, announced: bool, root: Path) -> None:
    place: dict[str, Any] = {"module": "p.web", "line": 7}
    printed = failure(line)
    assert is_announced({"unsure": [place]}, printed, FAILED, root) is announced
    assert not is_announced(
        {"mentions": [{"module": ":guide.md", "line": 7}], "changed": [place]}, printed, FAILED, root
    )
    of_another = failure(line, test="test_other") + failure("src/p/b.py:9")
    assert not is_announced({"unsure": [place]}, of_another, FAILED, root)
    both = (*FAILED, "FAILED tests/test_old.py::TestNames::test_more[a]")
    assert not is_announced({"unsure": [place]}, of_another + failure(line, test="TestNames.test_more[a]"), both, root)
    assert is_announced({"unsure": [place]}, printed, ("pytest ended with 4",), root) is announced
    collected = failure(line, test="ERROR collecting tests/test_old.py")
    assert is_announced({"unsure": [place]}, collected, ("ERROR tests/test_old.py",), root) is announced


@pytest.mark.parametrize(
    ("line", "source", "test", "announced"),
    [
        (1, "pickle.loads(OLD)", "test_old", True),
        (1, "pickle.loads(OLDER)", "test_old", False),
        (1, "pickle.loads(NEW)", "test_old", False),
        (5, "assert repr(x) == name", "test_old[a]", True),
        (5, "assert repr(x) == name", "test_old", False),
        (5, "assert repr(x) == name", "test_other[a]", False),
        (7, "assert repr(x) == name", "test_old[a]", False),  # in the test, but neither given nor failing
        (8, "assert repr(x) == name", "test_old[a]", False),
        (8, "assert repr(x) == shown", "test_old[a]", True),
    ],
)
def test_a_break_is_announced_by_a_string_that_the_failing_line_has_by_name(
    line: int, source: str, test: str, announced: bool, root: Path
) -> None:
    text = (
        "OLD = b'p.Old'\nNEW = 1\n\n\n@pytest.mark.parametrize('name', ['<Old>'])\ndef test_old(name):\n"
        "    print('<Old>')\n    shown: str = '<Old>'\n    assert repr(x) == name\n"
    )
    (root / "tests" / "test_old.py").write_text(text)
    place = {"module": "tests.test_old", "line": line, "kind": "string"}
    printed = failure("tests/test_old.py:9", source, test)
    failed = (f"FAILED tests/test_old.py::{test}",)
    assert is_announced({"mentions": [place]}, printed, failed, root) is announced
    assert not is_announced({"mentions": [{**place, "kind": "comment"}]}, printed, failed, root)


def test_rope_is_asked_at_the_place_of_the_name_and_its_plan_is_written(root: Path, tmp_path: Path) -> None:
    plan = (
        "import json, sys\nroot, path, line, column, new, *source = sys.argv[2:]\n"
        "assert source == ['--source', 'src']\n"
        "print(json.dumps([path, ' '.join([line, column, new])]))\n"
        "print(json.dumps(['src/p/other.py', None, 'o.py']))\n"
    )
    made = by_rope(installed(tmp_path / "peers", "python", plan))
    assert made(root, SUBJECT, rename(root, "p.shapes.made")) == {}
    assert (root / "src/p/shapes.py").read_text() == "15 5 renamed"
    assert (root / "o.py").exists()
    assert not (root / "src/p/other.py").exists()


def test_a_change_that_rope_does_not_make_gives_its_last_line(root: Path, tmp_path: Path) -> None:
    made = by_rope(installed(tmp_path / "peers", "python", "raise ValueError('no such name')"))
    with pytest.raises(NotMade, match=r"^ValueError: no such name$"):
        made(root, SUBJECT, rename(root, "p.shapes.made"))
    assert {path: (root / path).read_text() for path in FILES} == FILES


def test_goals_are_shares_of_what_was_asked() -> None:
    rows = [Row(engine=ROPE, subject="p", kind="method", change="x", is_made=number > 2) for number in range(10)]
    rows += [Row(engine=OURS, subject="p", kind="class", change="x", broken=("t",))]
    met = {goal.what: goal.met for goal in goals_of(rows)}
    assert met == {
        "broken of all changes": False,
        "broken without a line of the report at that place": False,
        "renames refused: module level": True,
        "renames refused: members": False,
    }


def test_extracts_are_drawn_of_kinds_in_turn_and_can_be_made(root: Path) -> None:
    drawn = extracts(root, SUBJECT, 4, 1)
    assert [each.kind for each in drawn] == list(EXTRACTS)
    assert drawn == extracts(root, SUBJECT, 4, 1)
    source = (root / "src/p/shapes.py").read_text()
    statements = next(each for each in drawn if each.kind == "extract statements")
    ours(root, SUBJECT, statements)
    assert "def extracted_0(" in (root / "src/p/shapes.py").read_text()
    assert "def extracted_0(" not in source


def test_inlines_are_drawn_of_kinds_in_turn_and_have_a_place_to_go_to(root: Path) -> None:
    code = (
        "LIMIT = 3\nUNREAD = 4\n\n\ndef clean(text, mark='#', *, most=LIMIT):\n    found = text.strip(mark)\n"
        "    both, other = most, most\n    return found[:most], both, other\n\n\n"
        "class A:\n    SIZE = 2\n\n    def go(self):\n        return clean('a'), self.SIZE, self.go\n\n"
        "    @property\n    def left(self):\n        return self.left\n"
    )
    (root / "src/p/shapes.py").write_text(code)
    drawn = inlines(root, SUBJECT, 20, 1, {"go"})
    assert drawn == inlines(root, SUBJECT, 20, 1, {"go"})
    shapes = "p.shapes"
    assert {(each.kind, each.named.target) for each in drawn} == {
        ("inline constant", f"{shapes}.LIMIT"),
        ("inline constant", f"{shapes}.A.SIZE"),
        ("inline function", f"{shapes}.clean"),
        ("inline local", f"{shapes}.clean.found"),
        ("inline parameter", f"{shapes}.clean.mark"),
        ("inline parameter", f"{shapes}.clean.most"),
    }
    assert [each.kind for each in drawn[:3]] == ["inline local", "inline function", "inline constant"]


def test_a_seeded_handful_of_real_changes_breaks_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """pluggy's own tests need nothing but pytest, so they run where these do."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    rows = tmp_path / "rows.json"
    options = ["--only", "pluggy", "--engine", OURS, "--count", "3", "--moves", "1"]
    options += ["--signatures", "2", "--extracts", "2", "--inlines", "5"]
    main([*options, "--python", sys.executable, "--json", str(rows)])
    found = [Row(**each) for each in json.loads(rows.read_text())]
    assert len(found) == 13
    assert [row for row in found if row.broken] == []
    assert sum(row.is_made for row in found if row.kind not in (*EXTRACTS, *INLINES)) >= 5
    for kinds in (EXTRACTS, INLINES):
        assert any(row.is_made for row in found if row.kind in kinds)
    assert "pluggy" in capsys.readouterr().out
