"""What other code binds anew is looked at once for all that has the name, and told for those that it concerns."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.project.references.meaning.bound_elsewhere import BoundElsewhere

CLASSES = 12
FILES = 10


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "core.py").write_text(
        "".join(f"class K{each}:\n    def send(self): ...\n" for each in range(CLASSES)) + "def send(): ...\n"
    )
    calls = "".join(f"    K{each}().send()\n" for each in range(CLASSES))
    (tmp_path / "main.py").write_text(f"import core\nfrom core import *\ndef go():\n{calls}    core.send()\n")
    for each in range(FILES):
        (tmp_path / f"b{each}.py").write_text(
            f"import core\nfrom core import K0, K1\ndef fake{each}(): ...\ndef f(thing, x: K1):\n"
            f"    thing.send = fake{each}\n    x.send = fake{each}\n"
            f"    K0.send = fake{each}\n    core.send = fake{each}\n"
        )
    return tmp_path


def test_each_file_is_looked_at_once_for_a_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    bindings = BoundElsewhere.bindings

    def counted(self: BoundElsewhere, path: str, name: str) -> object:
        asked.append((path, name))
        return bindings(self, path, name)

    monkeypatch.setattr(BoundElsewhere, "bindings", counted)
    Source(root).callees("main.go")
    assert sorted(asked) == sorted({(f"b{each}.py", "send") for each in range(FILES)})


def test_those_that_it_concerns_may_call_it_and_the_others_are_sure(root: Path) -> None:
    found = [
        f"{each.address} — {each.module}:{each.line}: {each.text}    [{each.why}]"
        for each in Source(root).callees("main.go").outcome.found
    ]
    sure = [line for line in found if "K" in line and "fake" not in line and "is bound by other" not in line]
    for each in range(CLASSES):
        [own] = [line for line in found if line.strip().startswith(f"core.K{each}.send")]
        others = [line for line in found if f" K{each}().send()" in line and ".fake" in line]
        assert len(others) == (FILES if each < 2 else 0), own
        assert (own in sure) == (each >= 2)
    assert len([line for line in found if " core.send()" in line and ".fake" in line]) == FILES
