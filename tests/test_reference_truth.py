"""References in a large real project, against a truth that was decided place by place (`benchmarks/truth`)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bae_source import Source
from benchmarks import corpus
from benchmarks.read.subjects import SUBJECTS, Subject
from benchmarks.read.truth import Spot, load

pytestmark = pytest.mark.sampled


@pytest.fixture(scope="module")
def django(tmp_path_factory: pytest.TempPathFactory) -> Source:
    release = next(each for each in corpus.RELEASES if each.name == "django")
    root = tmp_path_factory.mktemp("django") / "project"
    shutil.copytree(corpus.fetch(release), root, ignore=_all_but_code, symlinks=True)
    return Source(root)


def _all_but_code(folder: str, names: list[str]) -> set[str]:
    """What the answer does not depend on, and takes long to copy."""
    kept = (".py", ".toml", ".cfg")
    return {name for name in names if not (Path(folder) / name).is_dir() and not name.endswith(kept)}


@pytest.mark.xdist_group("django")
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_no_reference_is_missed_and_none_is_surely_false(django: Source, subject: Subject) -> None:
    truth = load(subject)
    answer = django.references(subject.target).outcome
    found = {Spot(each.module, each.line, each.column): each.certainty for each in answer.found}
    assert len(found) == len(answer.found)
    meant = truth.references | truth.dynamic
    assert meant - found.keys() == set()
    sure = {spot for spot, certainty in found.items() if certainty == "sure"}
    assert sure - truth.references == set()
    assert answer.complete
