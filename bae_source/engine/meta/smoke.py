"""The judge of every change of the engine: the planned package does its main work in a child, see `smoke_check`.

Invariants:
- the check itself is that of the running engine, and no change of the engine reaches it;
- where it cannot be run, the change is refused: nothing is written first and judged later.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from bae_source.engine.meta import smoke_check
from bae_source.errors import TransactionError
from bae_source.model.outcome import Check
from bae_source.reloading.child.import_check import Setting
from bae_source.system.child import CannotStart, Finished, run, scrubbed
from bae_source.system.scratch import Scratch
from bae_source.verification.judge import Place
from bae_source.verification.shadow import NoShadow

SECONDS = 60.0
"""Its time limit; it takes one or two."""
_MOST_LINES = 8


class Smoke:
    """Judges a planned engine by having it work.

    Attributes:
        name: what it is called among the checks.
    """

    name = "smoke"

    def judge(self, place: Place) -> tuple[Check, ...]:
        """Run the check on the planned package.

        Raises:
            TransactionError: `verify_failed` or `timed_out`.
        """
        try:
            setting = place.planned()
        except NoShadow as error:
            raise _failed(f"cannot be run, since {error}") from error
        with Scratch() as folder:
            try:
                finished = run(
                    [setting.interpreter.path, "-P", str(smoke_check.__file__), folder],
                    folder=setting.root,
                    environment=_environment(setting, folder),
                    time_limit=SECONDS,
                )
            except CannotStart as error:
                raise _failed(f"cannot be started: {error}") from None
        if finished.timed_out:
            raise _timed_out(finished)
        if finished.status or _step(finished) != smoke_check.DONE:
            raise _failed(f"failed with the change, at the step {_step(finished)!r}", finished)
        return (Check(name=self.name, result="passed"),)


def _environment(setting: Setting, folder: str) -> dict[str, str]:
    """Return an environment in which the planned package is found, and all state is that of a user who has none yet."""
    own = Path(str(msgspec.__file__)).parent.parent  # where what we need lies, behind what is planned
    found = [str(setting.root), *filter(None, [setting.environment.get("PYTHONPATH")]), str(own)]
    kept = {name: value for name, value in setting.environment.items() if not name.startswith(("BAE_SOURCE", "XDG_"))}
    alone = {"HOME": folder, "VIRTUAL_ENV": "", "BAE_SOURCE_SERVE": "off", "BAE_SOURCE_TELEMETRY": "off"}
    environment = scrubbed({**kept, **alone, "PYTHONPATH": os.pathsep.join(found)})
    del environment["PYTHONDONTWRITEBYTECODE"]  # what is compiled of the copy goes with its sources (`shadow`)
    return environment


def _step(finished: Finished) -> str:
    lines = finished.output.decode("utf-8", "replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "start Python")


def _timed_out(finished: Finished) -> TransactionError:
    return TransactionError(
        "timed_out",
        f"The smoke check took longer than {SECONDS:g} seconds with the change, at the step {_step(finished)!r}",
        unchanged=True,
        hints=["Look for what waits or never ends in the change; the running engine goes on as it is."],
    )


def _failed(what: str, finished: Finished | None = None) -> TransactionError:
    lines = [] if finished is None else finished.errors.decode("utf-8", "replace").strip().splitlines()
    output = "\n".join(lines[-_MOST_LINES:])
    reason = f": {lines[-1].strip()}" if lines else ""
    hints = ["The running engine goes on as it is. Correct the change, and make it again."]
    return TransactionError(
        "verify_failed",
        f"The smoke check {what}{reason}",
        unchanged=True,
        hints=[*hints, *([f"It printed at last:\n{output}"] if output else [])],
        details={"output": output},
    )
