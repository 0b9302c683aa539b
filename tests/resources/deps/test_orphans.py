"""Distributions that came with others: they go with them, unless they were asked for, or code imports them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from tests.resources.deps.installable import PYPROJECT, install, packages, versions, wheel

pytestmark = pytest.mark.sampled


@pytest.fixture
def others(tmp_path: Path, links: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is part of the index."""
    folder = tmp_path / "others"
    folder.mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", f"{links} {folder}")
    return folder


def requested(root: Path) -> set[str]:
    """Return the distributions whose records say that they were installed by themselves (PEP 376)."""
    return {each.parent.name.partition("-")[0] for each in packages(root).glob("*.dist-info/REQUESTED")} - {
        "pip",
        "setuptools",
    }


def test_what_came_with_another_is_marked_so_and_goes_with_it(root: Path) -> None:
    src = Source(root)
    src.deps.add("alpha")
    assert (versions(root), requested(root)) == ({"alpha": "2.0", "beta": "2.0"}, {"alpha"})
    src.deps.remove("alpha")
    assert versions(root) == {}
    src.undo()
    assert (versions(root), requested(root)) == ({"alpha": "2.0", "beta": "2.0"}, {"alpha"})


def test_what_came_with_another_and_changes_with_it_is_still_marked_so(root: Path, others: Path) -> None:
    wheel(others, "gamma", "2.0", requires=["beta>=2"])
    src = Source(root)
    (root / "pyproject.toml").write_text(PYPROJECT.replace("alpha>=1", "gamma<2"))
    src.deps.add("gamma")
    src.deps.upgrade("gamma>=2")
    assert (versions(root), requested(root)) == ({"beta": "2.0", "gamma": "2.0"}, {"gamma"})
    src.deps.remove("gamma")
    assert versions(root) == {}


def test_what_was_installed_by_itself_stays_and_stays_marked_when_it_changes(root: Path) -> None:
    install(root, "beta==1.0")
    (root / "pyproject.toml").write_text(PYPROJECT.replace('alpha>=1",', 'alpha>=1", "beta",'))
    src = Source(root)
    src.deps.upgrade("beta")
    src.deps.remove("beta", files_only=True)
    src.deps.add("alpha")
    src.deps.remove("alpha")
    assert (versions(root), requested(root)) == ({"beta": "2.0"}, {"beta"})


def test_what_code_imports_stays_unless_the_same_change_takes_the_import_out(root: Path) -> None:
    src = Source(root)
    src.deps.add("alpha")
    (root / "app" / "use.py").write_text("import beta\n")
    assert "Takes out alpha 2.0." in src.deps.remove("alpha").text
    assert versions(root) == {"beta": "2.0"}
    src.undo()
    write = {"do": "write", "target": "app.use", "source": "beta = None\n", "overwrite": True}
    src.apply([write, {"do": "deps remove", "dependencies": ["alpha"]}])
    assert versions(root) == {}


def test_an_import_keeps_its_own_part_of_a_namespace_alone(root: Path, others: Path) -> None:
    for part in ("one", "two"):
        wheel(others, f"space-{part}", "1.0", files={f"space/{part}/__init__.py": ""})
    wheel(others, "carrier", "1.0", requires=["space-one", "space-two"])
    (root / "app" / "use.py").write_text("from space import one\n")
    src = Source(root)
    (root / "pyproject.toml").write_text(PYPROJECT.replace("alpha>=1", "carrier"))
    src.deps.add("carrier")
    src.deps.remove("carrier")
    assert versions(root) == {"space_one": "1.0"}
