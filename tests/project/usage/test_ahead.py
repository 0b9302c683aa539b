"""Files that are going to be needed are told beforehand, and the answer is the same without."""

from __future__ import annotations

import pytest

from bae_source.project.naming.resolve import resolve
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search import search
from bae_source.project.references.search.ahead import receivers_from
from bae_source.project.references.search.references import references_to
from bae_source.syntax.names import uses as u
from tests.project.support import workspace

FILES = {
    "core.py": "class C:\n    def send(self): ...\n",
    "made.py": "from core import C\nc = C()\ndef make() -> C: ...\n",
    "other.py": "class D:\n    def send(self): ...\nd = D()\n",
    "unused.py": "x = 1\n",
    "user.py": "import unused\nfrom made import c, make as m\nfrom other import d\nc.send()\nm().send()\nd.send()\n",
    "broken.py": "def send(:\n",
}


def test_modules_that_receivers_are_imported_from_are_listed() -> None:
    project = project_of(workspace(FILES))
    assert sorted(receivers_from(project, ["user.py", "core.py", "broken.py"], ["send"])) == ["made.py", "other.py"]
    assert receivers_from(project, ["user.py"], ["receive"]) == []


def test_only_mentions_of_the_kinds_that_count_are_gone_by() -> None:
    user = "from made import c\nimport core, other\nc.D()\nclass E(other.D): ...\nfrom core import D\n"
    project = project_of(workspace({**FILES, "user.py": user}))
    assert receivers_from(project, ["user.py"], ["D"], [u.BASE]) == ["other.py"]
    assert receivers_from(project, ["user.py"], ["D"], [u.IMPORT]) == []
    assert sorted(receivers_from(project, ["user.py"], ["D"])) == ["made.py", "other.py"]


def test_the_answer_does_not_depend_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> list[tuple[int, str]]:
        space = workspace(FILES)
        found = references_to(project_of(space), resolve(space, "core.C.send")).found
        return [(each.line, each.certainty) for each in found if each.module == "user"]

    ahead = asked()
    monkeypatch.setattr(search, "receivers_from", lambda *_: [])
    assert asked() == ahead == [(4, "sure"), (5, "sure")]
