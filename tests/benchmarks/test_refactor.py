"""Plans of every form come down to the same places, and these are scored by what has to change."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import corpus
from benchmarks.read.processes import Cost, Failed
from benchmarks.read.subjects import Place, Subject
from benchmarks.refactor import engines
from benchmarks.refactor.__main__ import fared, goals_of
from benchmarks.refactor.edits import of_diff, of_texts, of_workspace_edit
from benchmarks.refactor.engines import OURS, ROPE
from benchmarks.refactor.subjects import RENAMINGS, Renaming, where
from tests.benchmarks.read.test_language_server import SERVER
from tests.benchmarks.read.test_peers import installed

pytestmark = pytest.mark.sampled

DJANGO = next(release for release in corpus.RELEASES if release.name == "django")
BEFORE = "from a import f, g\r\n𝒳 = 'f'; f(f)\nf\n"
AFTER = "from a import h, g\r\n𝒳 = 'f'; h(h)\nh\n"
PLACES = {Place("m.py", 1, 15), Place("m.py", 2, 10), Place("m.py", 2, 12), Place("m.py", 3, 1)}
DIFF = (
    "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -1,3 +1,3 @@\n-from a import f, g\r\n-𝒳 = 'f'; f(f)\n-f\n"
    "+from a import h, g\r\n+𝒳 = 'f'; h(h)\n+h\n"
)
FUNCTION = Renaming(
    kind="function", target="m.f", path="m.py", new="h", subject=Subject(target="m.f", path="m.py", anchor="def f(")
)
MODULE = Renaming(kind="module", target="m", path="m.py", new="n", importer="user.py")
PROJECT = {
    "pyproject.toml": '[project]\nname = "p"\nversion = "1"\n',
    "m.py": "def f():\n    '''Calls f.'''\n",
    "user.py": "from m import f\n\nf()  # f\nprint('f')\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for path, text in PROJECT.items():
        (root / path).write_text(text)
    return root


def test_texts_and_diffs_come_down_to_the_words_that_change() -> None:
    assert set(of_texts("m.py", BEFORE, AFTER)) == set(of_diff(DIFF)) == PLACES
    assert list(of_texts("m.py", BEFORE, BEFORE.replace("\r\n", "\n"))) == []


def test_places_after_a_line_that_comes_or_goes_stay_where_they_were() -> None:
    assert set(of_texts("m.py", BEFORE, AFTER.replace("g\r\n", "g\r\nnew\n"))) >= PLACES - {Place("m.py", 1, 15)}
    assert list(of_texts("m.py", "a\nf\n", "a\nb\nf\n")) == [Place("m.py", 2, 1)]


def test_lines_of_a_diff_that_look_like_its_heads_are_lines_all_the_same() -> None:
    diff = "--- a/m.sql\n+++ b/m.sql\n@@ -4,3 +4,3 @@\n  \n--- f\n+-- h\n f\n@@ -9 +9 @@\n-f\n\\ No newline\n+h\n"
    assert list(of_diff(diff)) == [Place("m.sql", 5, 4), Place("m.sql", 9, 1)]


def test_a_file_that_gets_another_name_is_a_place() -> None:
    head = "diff --git a/m.py b/n.py\nsimilarity index 100%\nrename from m.py\nrename to n.py\n"
    assert list(of_diff(head)) == [Place("m.py", 0, 0)]


@pytest.mark.parametrize("form", ["changes", "documentChanges"])
def test_the_edits_of_a_server_count_in_utf_16(tmp_path: Path, form: str) -> None:
    (tmp_path / "m.py").write_bytes(BEFORE.encode())
    uri = (tmp_path / "m.py").as_uri()
    spots = [(0, 14), (1, 10), (1, 12), (2, 0)]
    edits = [
        {"newText": "h", "range": {"start": {"line": row, "character": at}, "end": {"line": row, "character": at + 1}}}
        for row, at in spots
    ]
    documents = [{"textDocument": {"uri": uri}, "edits": edits}]
    assert set(of_workspace_edit(tmp_path, {form: {uri: edits} if form == "changes" else documents})) == PLACES


@pytest.mark.parametrize(("renaming", "count"), list(zip(RENAMINGS, (269, 376, 280, 77), strict=True)))
def test_every_place_that_has_to_change_is_known(renaming: Renaming, count: int) -> None:
    root = corpus.fetch(DJANGO)
    right = renaming.right(root)
    assert len(right) == count
    assert renaming.place(root) in right
    assert {where(root, place) for place in sorted(right)} == {"code"}  # file by file, so that each is read once


def test_places_are_counted_by_what_they_stand_in(project: Path) -> None:
    right = frozenset({Place("m.py", 1, 5), Place("user.py", 1, 15), Place("user.py", 3, 1)})
    comment, string, text = Place("user.py", 3, 8), Place("user.py", 4, 8), Place("pyproject.toml", 1, 2)
    docstring, wrong = Place("m.py", 2, 14), Place("user.py", 1, 6)
    found = fared(project, right, frozenset({Place("m.py", 1, 5), comment, docstring, string, text, wrong}))
    assert found.right == {Place("m.py", 1, 5)}
    assert found.missed == right - found.right
    assert (found.wrong, found.strings, found.text) == ({wrong}, {string}, {text})
    assert found.prose == {comment, docstring}


def test_ours_changes_what_has_to_and_writes_nothing(project: Path, tmp_path: Path) -> None:
    planned = engines.ours(engines.Peers(folder=tmp_path), FUNCTION, project, 60)
    assert planned.places == {Place("m.py", 1, 5), Place("user.py", 1, 15), Place("user.py", 3, 1)}
    moved = engines.ours(engines.Peers(folder=tmp_path), MODULE, project, 60)
    assert moved.places == MODULE.right(project) == {Place("m.py", 0, 0), Place("user.py", 1, 6)}
    assert {path: (project / path).read_text() for path in PROJECT} == PROJECT


def test_a_server_that_has_no_plan_is_named_so(project: Path, tmp_path: Path) -> None:
    nothing = SERVER.replace("textDocument/references", "textDocument/rename")
    peers = installed(tmp_path / "peers", "ty", nothing.replace("MODE", "send({'id': message['id'], 'result': None})"))
    with pytest.raises(Failed, match="plans no such rename"):
        engines.ty(peers, FUNCTION, project, 20)


def test_a_script_gives_planned_texts_and_files_that_move(project: Path, tmp_path: Path) -> None:
    echo = "import json, sys\nassert sys.argv[3] == 'm.py' and sys.argv[6:] == ['n', '--module'], sys.argv\n"
    echo += "print(json.dumps(['user.py', open('user.py').read().replace('m import', 'n import')]))\n"
    echo += "print(json.dumps(['m.py', None, 'n.py']))\n"
    planned = engines.rope(installed(tmp_path / "peers", "python", echo), MODULE, project, 20)
    assert planned.places == {Place("m.py", 0, 0), Place("user.py", 1, 6)}


def test_a_place_that_a_peer_rightly_changes_and_ours_does_not_misses_the_goal(project: Path) -> None:
    right = frozenset({Place("m.py", 1, 5), Place("user.py", 1, 15)})
    results = {OURS: fared(project, right, right - {Place("m.py", 1, 5)}), ROPE: fared(project, right, right)}
    costs = {OURS: Cost(wall=1, cpu=1, peak=50), ROPE: Cost(wall=9, cpu=11, peak=100)}
    goals = {
        goal.what: goal.met for goal in goals_of(FUNCTION, costs, results, {"rename": 2, "references": 1, "parses": 1})
    }
    assert goals == {
        "function: cold over cold rope, CPU": True,
        "function: cold over cold rope, wall": False,
        "function: memory over rope's": True,
        "function: warm over references and two parses, CPU": True,
        "function: missed of what a peer rightly changes": False,
        "function: missed, and not named as unsure": False,
        "function: wrong places": True,
    }
    measured = goals_of(
        FUNCTION, costs, results, {"rename": 2, "references": 1, "parses": 1}, frozenset({Place("m.py", 1, 5)})
    )
    assert {goal.what: goal.met for goal in measured}["function: missed, and not named as unsure"]
