"""Fixtures of the tests that load code: a project whose modules this process forgets afterwards."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import bae_source
from bae_source.reloading.in_process import holding
from tests.runtime.support import Trial

_OTHERS = ("tests.", "benchmarks.")
_OURS = "tests.runtime"


@pytest.fixture(autouse=True)
def quiet_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep what all the other tests are out of sight, which would take most of the time.

    A patch looks at every object, and who holds what is old is sought in all modules that are not installed: here our
    own are such, which are installed wherever they are not changed.
    """
    ours = str(Path(bae_source.__file__).parent) + os.sep
    monkeypatch.setattr(holding, "INSTALLED", (*holding.INSTALLED, ours))
    others = [name for name in sys.modules if name.startswith(_OTHERS) and not name.startswith(_OURS)]
    hidden = {name: sys.modules.pop(name) for name in others}
    gc.freeze()  # for good: what of it dies is little
    yield
    sys.modules.update(hidden)


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_process: None) -> Iterator[Trial]:
    """A project on `sys.path`, with bytecode written as usual; what is loaded of it is forgotten, and nothing else: a
    module of ours that is loaded late would be there twice from then on, each with types of its own."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    trial = Trial(tmp_path / "project")
    trial.write("app/__init__.py", "")
    monkeypatch.syspath_prepend(str(trial.root))
    loaded = set(sys.modules)
    importlib.invalidate_caches()
    yield trial
    for name in set(sys.modules) - loaded:
        if not _is_from_elsewhere(sys.modules[name], tmp_path):
            del sys.modules[name]


def _is_from_elsewhere(module: object, folder: Path) -> bool:
    """Say whether a module comes from a file outside of a folder, or from the interpreter itself."""
    spec = vars(module).get("__spec__") if type(module) is ModuleType else None  # others may mind being touched
    origin = spec.origin if spec is not None else None
    return origin is not None and not Path(origin).is_relative_to(folder)
