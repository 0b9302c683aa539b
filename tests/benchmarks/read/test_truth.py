"""The adjudicated truth names every place where a subject's name stands, and an answer is scored by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import corpus
from benchmarks.read.accuracy import words
from benchmarks.read.subjects import SUBJECTS, Place, Subject
from benchmarks.read.truth import FOLDER, Score, Spot, Truth, load, score, spots

DJANGO = next(release for release in corpus.RELEASES if release.name == "django")


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_the_truth_is_about_the_pinned_release_and_gives_every_word_of_the_name_a_verdict(subject: Subject) -> None:
    root = corpus.fetch(DJANGO)
    truth = load(subject)
    assert truth.release == DJANGO.folder
    assert set(truth.verdicts) == spots(root, words(root, subject))
    assert truth.references


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_what_means_the_symbol_only_when_it_runs_has_a_reason(subject: Subject) -> None:
    lines = (FOLDER / f"{subject.name}.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    rows = [json.loads(line) for line in lines]
    assert [row for row in rows if row[3] == "dynamic" and not row[4:]] == []
    assert len(rows) == len(load(subject).verdicts)


def test_there_is_a_truth_for_each_subject_and_no_other() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == {subject.name for subject in SUBJECTS}


def test_found_missed_false_and_dynamic_are_distinguished() -> None:
    right, lost, late, wrong, unlisted = (Spot("m", line, 1) for line in range(5))
    truth = Truth(
        target="m.f",
        release="m-1",
        verdicts={right: "reference", lost: "reference", late: "dynamic", wrong: "not"},
    )
    assert score(truth, [right, late, wrong, unlisted]) == Score(found=1, missed=1, false=2, dynamic=1)
    assert score(truth, []) == Score(found=0, missed=2, false=0, dynamic=0)


def test_places_of_files_become_places_of_modules_and_what_is_no_module_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("def f(): ...\n")
    found = [Place("pkg/__init__.py", 1, 5), Place("pkg/core.py", 2, 3), Place("pkg/notes.txt", 1, 1)]
    assert spots(tmp_path, found) == {Spot("pkg", 1, 5), Spot("pkg.core", 2, 3)}


def test_a_verdict_that_is_none_is_refused(tmp_path: Path) -> None:
    subject = SUBJECTS[0]
    head = json.dumps({"target": subject.target, "release": "django-5.2.8"})
    (tmp_path / f"{subject.name}.jsonl").write_text(f'{head}\n["m", 1, 1, "maybe"]\n')
    with pytest.raises(AssertionError, match="maybe"):
        load(subject, tmp_path)


def test_a_subject_knows_where_it_is_defined_and_words_leave_that_out(tmp_path: Path) -> None:
    subject = Subject(target="m.A.run", path="m.py", anchor="def run(self")
    (tmp_path / "m.py").write_text("class A:\n    def run(self): ...\n\nA().run()  # run é run_2\n", encoding="utf-8")
    assert subject.definition(tmp_path) == Place("m.py", 2, 9)
    assert list(words(tmp_path, subject)) == [Place("m.py", 4, 5), Place("m.py", 4, 14)]
