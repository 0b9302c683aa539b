"""Which files name a class otherwise than by calling it, and what of that may reach a class header."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bae_source.project.facts.kept import Kept
from bae_source.project.files.port import Disk
from bae_source.project.naming.resolve import resolve
from bae_source.project.references.classes import lineage
from bae_source.project.references.classes.class_calls import Calls
from bae_source.project.references.classes.class_words import ClassWords
from bae_source.project.references.classes.lineage import subclasses
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.workspace import Workspace
from tests.project.usage.support import project

LATER = 10 * 10**9

FILES = {
    "core.py": "class Base: ...\nclass Other: ...\n",
    "set.py": "from core import Base\nAlias = Base\n",
    "called.py": "import core\ncore.Base()\nBased = 1\n",
    "wide.py": "import core\nＡlias = core.Ｂase\n",
}


def test_files_that_only_call_a_class_are_left_out_and_odd_letters_are_read_as_python_does() -> None:
    found = project(FILES)
    words = ClassWords(found.workspace, found.bases)
    naming = words.naming(found.workspace, ["Base"])
    assert naming is not None
    assert naming.paths == ("core.py", "set.py", "wide.py")
    assert words.odd == {"wide.py"}
    assert words.naming(found.workspace, ["nothing"]) is None


@pytest.mark.parametrize(
    ("code", "matters"),
    [
        ("X = Base\n", True),
        ("class A:\n    kind = Base\n", True),
        ("def f():\n    x = Base\n", False),
        ("def f():\n    return Base\n", False),
        ("def headed():\n    return Base\n", True),
        ("def f(self):\n    self.headed = Base\n", True),
        ("def f(self):\n    self.other = Base\n", False),
        ("def f(x):\n    x = make(Base)\n", True),
        ("def f(x):\n    x = isinstance(x, (int, Base))\n", False),
        ("def f(name):\n    x = Meta(name, (int, Base), {})\n", True),
    ],
)
def test_what_a_function_sets_matters_where_it_may_reach_a_header(code: str, matters: bool) -> None:
    makers = "def make(base):\n    class Made(base): ...\n    return Made\nclass B(headed()): ...\n"
    found = project({"core.py": "class Base: ...\n", "m.py": makers, "user.py": code})
    words = ClassWords(found.workspace, found.bases)
    content = code.encode()
    place = content.rindex(b"Base")
    assert words.may_matter("user.py", content, content.rfind(b"\n", 0, place) + 1, place) is matters


def test_what_was_found_once_is_not_looked_for_again_until_a_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "core.py").write_text("class Base: ...\nclass A(Base): ...\n")
    kept = Kept(clock=lambda: time.time_ns() + LATER)
    looked: list[Project] = []

    def begun(project: Project) -> Calls:
        looked.append(project)
        return Calls(project)

    def asked() -> list[str]:
        workspace = Workspace(Disk(tmp_path), kept=kept)
        found = project_of(workspace)
        return [
            each.address for each in subclasses(found, sought_of(found.names, resolve(workspace, "core.Base"))).found
        ]

    monkeypatch.setattr(lineage, "Calls", begun)
    assert ([asked() for _ in range(3)], len(looked)) == ([["core.A"]] * 3, 1)
    (tmp_path / "more.py").write_text("from core import Base\nclass B(Base): ...\n")
    assert (asked(), len(looked)) == (["core.A", "more.B"], 2)
