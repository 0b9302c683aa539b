"""Modules at the top of a project that get another name: what imports them goes on with a name that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source


@pytest.mark.parametrize(
    ("new", "before", "after"),
    [
        ("n", "import m\n\nm.send()\nprint(m)\n", "import n\n\nn.send()\nprint(n)\n"),
        ("n", "import m\n\nn = m.send()\n", "import n as m\n\nn = m.send()\n"),
        ("n", "import m as k\n\nk.send()\n", "import n as k\n\nk.send()\n"),
        ("n", "from m import send\n\nsend()\n", "from n import send\n\nsend()\n"),
        ("p.n", "import m\n\nm.send()\n", "import p.n as n\n\nn.send()\n"),
        ("p.m", "import m\n\nm.send()\n", "import p.m as m\n\nm.send()\n"),
    ],
    ids=["its own name", "a taken name", "an alias", "a definition of it", "into a package", "by the same name"],
)
def test_what_imports_a_module_at_the_top_goes_on_with_a_name_that_is_there(
    tmp_path: Path, new: str, before: str, after: str
) -> None:
    package = tmp_path / "p"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "p"\nversion = "1"\n')
    (tmp_path / "m.py").write_text("def send(): ...\n")
    (tmp_path / "user.py").write_text(before)
    Source(tmp_path).move("m", new, reload="off")
    assert (tmp_path / "user.py").read_text() == after
