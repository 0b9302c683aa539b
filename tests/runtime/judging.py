"""Changes of a project that any verifier judges, as a transaction would have it: prepare, write, verify, take back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bae_source.errors import ResourceError, TransactionError
from bae_source.model.outcome import Check, Notice
from bae_source.reloading.child.import_check import Setting
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.transaction.commit.verifier import Verifier
from tests.runtime.support import Trial

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


def judge(trial: Trial, verifier: Verifier, new: Files) -> tuple[Notice | Check, ...]:
    """Make a change; whatever goes wrong puts the files back."""
    before = {path: _content(trial, path) for path in new}
    after = {path: None if text is None else text.encode() for path, text in new.items()}
    verifier.prepare([trial.module(path) for path in new if path.endswith(".py")], before, after)
    _put(trial, after)
    try:
        return verifier.verify()
    except BaseException:
        _put(trial, before)
        verifier.roll_back()
        raise


def refusal(trial: Trial, verifier: Verifier, new: Files) -> ResourceError:
    """Make a change that has to be refused; nothing is changed, and no path is in the answer."""
    was = files(trial.root)
    with pytest.raises(ResourceError) as caught:
        judge(trial, verifier, new)
    error = caught.value
    assert files(trial.root) == was
    for text in (error.message, *error.hints, *error.candidates, str(error.details)):
        assert str(trial.root) not in text, "no paths"
    if isinstance(error, TransactionError):
        assert error.message.endswith("; nothing was written.")
    return error


def files(root: Path) -> dict[str, bytes]:
    """Return what is the user's."""
    found = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def verified(found: Sequence[Notice | Check]) -> str:
    """Return what was verified, as it is told."""
    [check] = [each for each in found if isinstance(each, Check)]
    return f"{check.name} ({check.detail})" if check.detail else check.name


def messages(found: Sequence[Notice | Check]) -> list[str]:
    """Return what is told beside what was verified."""
    return [each.message for each in found if isinstance(each, Notice)]


def _content(trial: Trial, path: str) -> bytes | None:
    file = trial.root / path
    return file.read_bytes() if file.exists() else None


def _put(trial: Trial, contents: Mapping[str, bytes | None]) -> None:
    for path, content in contents.items():
        if content is None:
            (trial.root / path).unlink(missing_ok=True)
        else:
            trial.write(path, content.decode())
