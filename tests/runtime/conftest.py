"""Fixtures of the tests that load code: a project whose modules this process forgets afterwards."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.support import Trial


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trial]:
    """A project on `sys.path`, with bytecode written as usual; what it loads is forgotten."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    trial = Trial(tmp_path / "project")
    trial.write("app/__init__.py", "")
    monkeypatch.syspath_prepend(str(trial.root))
    loaded = set(sys.modules)
    importlib.invalidate_caches()
    yield trial
    for name in set(sys.modules) - loaded:
        del sys.modules[name]


@pytest.fixture
def quiet_heap() -> Iterator[None]:
    """Keep what there is already out of the collector's sight: the tests' own process is large, and a patch looks at
    every object."""
    gc.freeze()
    yield
    gc.unfreeze()
