"""Our own references hold against the truth on real code: none is missed, and none that is sure is false."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks import corpus
from benchmarks.read import ours
from benchmarks.read.accuracy import accuracy
from benchmarks.read.peers import PEERS, Peers
from benchmarks.read.subjects import SUBJECTS, Subject
from benchmarks.read.truth import load, score


@pytest.fixture(scope="module")
def django(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = next(release for release in corpus.RELEASES if release.name == "django")
    root = tmp_path_factory.mktemp("accuracy") / release.folder
    return shutil.copytree(corpus.fetch(release), root, ignore=shutil.ignore_patterns(".bae-source"))


@pytest.mark.parametrize("subject", SUBJECTS[1:2], ids=lambda subject: subject.name)
def test_no_reference_is_missed_and_none_that_is_sure_is_false(django: Path, subject: Subject) -> None:
    """That is counted right; it holds for all subjects by `tests/test_reference_truth.py`."""
    truth = load(subject)
    found = ours.found(django, subject.target)
    either = score(truth, found["sure"] | found["probable"] | found["unsure"])
    assert (either.missed, either.dynamic) == (0, len(truth.dynamic))
    assert score(truth, found["sure"]).false == 0


def test_the_table_has_every_engine_that_is_asked_and_the_goals(
    tmp_path: Path, django: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing_installed = Peers(folder=tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        accuracy(django, nothing_installed, skip=set(PEERS) - {"ty"}, limit=5, subjects=SUBJECTS[1:2])
    assert accuracy(django, nothing_installed, skip=set(PEERS), limit=5, subjects=SUBJECTS[1:2])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows.count(["every", "word", "375", "0", "20"]) == 1
    assert rows.count(["ours,", "sure", "375", "0", "0"]) == 1
    assert [row[-1] for row in rows if row and row[-1] in {"met", "MISSED"}] == ["met"] * 3
