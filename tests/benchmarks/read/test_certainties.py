"""The part that counts how sure answers are: the same members for every version, and all places of each."""

from __future__ import annotations

from pathlib import Path

from benchmarks.read.certainties import counted, members

CORE = """class Client:
    size = 1
    kind: int = 2

    def __init__(self): ...

    def send(self):
        return self.size


def send(thing):
    return thing.send(), "send"
"""


def laid(folder: Path) -> Path:
    (folder / "src" / "app").mkdir(parents=True)
    (folder / "src" / "app" / "__init__.py").write_text("class Top:\n    def go(self): ...\n")
    (folder / "src" / "app" / "core.py").write_text(CORE)
    return folder


def test_members_are_what_the_suites_of_classes_bind(tmp_path: Path) -> None:
    found = list(members(laid(tmp_path) / "src" / "app"))
    assert found == ["app.Top.go", "app.core.Client.size", "app.core.Client.kind", "app.core.Client.send"]


def test_places_are_counted_by_certainty(tmp_path: Path) -> None:
    assert counted(laid(tmp_path), "src/app") == {"sure": 1, "unsure": 1, "mention": 1}
