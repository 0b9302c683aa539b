"""`exports_mend`: what cannot be in `__all__` goes out of it, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, Refused

INIT = "from .a import f\r\n\r\n__all__ = [\r\n    'f',  # kept\r\n    'gone',\r\n    'f',\r\n]\r\n"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/__init__.py").write_bytes(INIT.encode())
    (tmp_path / "app/a.py").write_text("def f(): ...\n")
    return Source(tmp_path)


def init(source: Source) -> str:
    return (source.root / "app/__init__.py").read_bytes().decode()


def test_what_is_not_there_or_there_twice_goes(source: Source) -> None:
    outcome = source.exports_mend("app", reload="off")
    assert outcome.text.startswith("app no longer names f, gone wrongly in __all__.")
    assert init(source) == "from .a import f\r\n\r\n__all__ = [\r\n    'f',  # kept\r\n]\r\n"
    assert source.exports_check("app") == "(no findings)"
    source.undo(reload="off")
    assert init(source) == INIT


def test_only_the_names_that_are_given_go(source: Source) -> None:
    source.exports_mend("app", ["gone"], reload="off")
    assert init(source) == INIT.replace("    'gone',\r\n", "")


def test_what_is_in_order_stays_as_it_is(source: Source) -> None:
    for _ in range(2):
        source.exports_mend("app", reload="off")
    before = init(source)
    assert not source.exports_mend("app", reload="off").diff
    assert init(source) == before


@pytest.mark.parametrize(("target", "error"), [("app.a.f", Refused), ("app.nope", LookupFailed)])
def test_what_is_no_module_is_refused_and_nothing_changes(
    source: Source, target: str, error: type[Refused | LookupFailed]
) -> None:
    with pytest.raises(error):
        source.exports_mend(target)
    assert init(source) == INIT


def test_a_name_that_a_function_binds_by_global_or_that_is_made_stays(source: Source) -> None:
    text = "__all__ = ['x']\n\n\ndef f():\n    global x\n    x = 1\n"
    (source.root / "app/a.py").write_text(text)
    assert source.exports_check("app.a") == "(no findings)"
    (source.root / "app/a.py").write_text("__all__ = ['x']\nglobals().update(x=1)\n")
    assert source.exports_check("app.a") == "(no findings)"


def test_names_that_are_appended_go_with_their_lines(source: Source) -> None:
    text = "__all__ = ['f']\n__all__ += ['gone', 'g']\n__all__.append('f')\n\n\ndef f(): ...\ndef g(): ...\n"
    (source.root / "app/a.py").write_text(text)
    source.exports_mend("app.a", reload="off")
    mended = "__all__ = ['f']\n__all__ += ['g']\n\n\ndef f(): ...\ndef g(): ...\n"
    assert (source.root / "app/a.py").read_text() == mended
