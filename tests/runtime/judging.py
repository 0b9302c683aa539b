"""Changes of a project that any judge judges, in a copy of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from bae_source.errors import ResourceError, TransactionError
from bae_source.model.outcome import Check, Notice
from bae_source.reloading.child.import_check import Setting
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.verification.judge import Copied, Judge
from tests.runtime.support import Trial
from tests.state_folders import state_folders

_OURS = {"__pycache__", ".bae-source", ".git"}
Files = Mapping[str, str | None]


def setting_of(trial: Trial, *, seconds: float = 60.0, python: str | None = None) -> Setting:
    interpreter = trial.interpreter if python is None else Interpreter(path=python, origin="[tool.bae-source] python")
    return Setting(
        root=trial.root,
        source_roots=(trial.source_root,),
        interpreter=interpreter,
        environment=trial.environment,
        time_limit=seconds,
    )


def judge(trial: Trial, judge: Judge, new: Files, **setting: Any) -> tuple[Notice | Check, ...]:
    """Judge a change in a copy of the project; the project itself is not touched."""
    was = files(trial.root)
    changed = {path: None if text is None else text.encode() for path, text in new.items()}
    with Copied(state_folders(trial.root), structs.replace(setting_of(trial), **setting), changed) as place:
        try:
            return judge.judge(place)
        finally:
            assert files(trial.root) == was


def refusal(trial: Trial, judge_: Judge, new: Files, **setting: Any) -> ResourceError:
    """Make a change that has to be refused; nothing is changed, and no path is in the answer."""
    was = files(trial.root)
    with pytest.raises(ResourceError) as caught:
        judge(trial, judge_, new, **setting)
    error = caught.value
    assert files(trial.root) == was
    for text in (error.message, *error.hints, *error.candidates, str(error.details)):
        assert str(trial.root) not in text, "no paths"
    if isinstance(error, TransactionError):
        assert error.message.endswith("; nothing was written.")
    return error


def files(root: Path) -> dict[str, bytes]:
    """Return what is the user's."""
    found = (path for path in root.rglob("*") if path.is_file() and _OURS.isdisjoint(path.parts))
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def verified(found: Sequence[Notice | Check]) -> str:
    """Return what was verified, as it is told."""
    [check] = [each for each in found if isinstance(each, Check)]
    return f"{check.name} ({check.detail})" if check.detail else check.name


def messages(found: Sequence[Notice | Check]) -> list[str]:
    """Return what is told beside what was verified."""
    return [each.message for each in found if isinstance(each, Notice)]
