"""A judge that runs a command of the caller's: it must end with status 0 on what is planned.

Invariants:
- it is no shell: the words are the program and its arguments, and `;`, `|` or `$` mean nothing;
- it runs in the folder that holds what is planned, with nothing to read, a time limit, and a bound on what is kept of
  its output;
- where it fails in a copy without the change, too, it is run in the project as it is: a command that passes there
  cannot judge in a copy.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from bae_source.errors import RequestError, TransactionError
from bae_source.model.context import COMMAND
from bae_source.model.outcome import Check
from bae_source.model.plan import ModuleFile
from bae_source.reloading.child.import_check import Setting, addresses_of
from bae_source.system.child import CannotStart, Finished, run, scrubbed
from bae_source.system.scratch import Scratch
from bae_source.verification.judge import NotInCopy, Place
from bae_source.verification.shadow import COMPILED

_MOST_LINES = 20
_OWN_FOLDER = ("VIRTUAL_ENV", ".venv")


class Command:
    """Judges a planned change by a command.

    Parameters:
        text: the command, quoted as for a shell.
        setting: how the project's code is run.
        modules: those that change.

    Attributes:
        name: what it verifies.

    Raises:
        RequestError: `invalid_arguments` if there is no such program.
    """

    def __init__(self, text: str, setting: Setting, modules: Sequence[ModuleFile]) -> None:
        self.name = f"{COMMAND}{text}"
        self._text = text
        self._words = shlex.split(text)
        self._modules = tuple(modules)
        self._program(setting)

    def judge(self, place: Place) -> tuple[Check, ...]:
        """Run it.

        Raises:
            TransactionError: `verify_failed` or `timed_out`.
            NotInCopy: it fails in the copy without the change, too, and passes in the project.
        """
        setting = place.planned()
        finished = self._run(setting)
        if not finished.status and not finished.timed_out:
            return (Check(name=self.name, result="passed"),)
        tree = place.tree()
        if tree is not None and not self._passes(place.present()) and self._passes(tree):
            raise NotInCopy(f"`{self._text}` passes in the project and fails in a copy of it")
        if finished.timed_out:
            raise self._timed_out(finished, setting)
        how = f"status {finished.status}" if finished.status > 0 else f"signal {-finished.status}"
        raise self._failed(f"ended with {how}", self._last_lines(finished, setting))

    def _passes(self, setting: Setting) -> bool:
        finished = self._run(setting)
        return not finished.status and not finished.timed_out

    def _run(self, setting: Setting) -> Finished:
        with Scratch() as folder:
            compiled = Path(folder) if setting.caches is None else setting.caches / COMPILED
            environment = scrubbed(_environment(setting), compiled)
            try:
                return run(
                    [self._program(setting), *self._words[1:]],
                    folder=setting.root,
                    environment=environment,
                    time_limit=setting.time_limit,
                )
            except CannotStart as error:
                raise self._failed(f"cannot be started: {error}", "") from None

    def _program(self, setting: Setting) -> str:
        word = self._words[0]
        found = shutil.which(word, path=_environment(setting).get("PATH", os.defpath))
        if os.sep in word:  # in the project itself where the copy has none, as of an environment
            places = filter(None, (setting.root, setting.tree))
            found = next(filter(None, (shutil.which(str(Path(place) / word)) for place in places)), None)
        if found is None:
            raise RequestError(
                "invalid_arguments",
                f"verify names the command {word!r}, and there is no such program.",
                hints=["Give a program on the search path, or one of the project such as ./check."],
            )
        return found

    def _last_lines(self, finished: Finished, setting: Setting) -> str:
        addresses = addresses_of(setting, self._modules)
        output = b"\n".join(part.strip() for part in (finished.output, finished.errors) if part.strip())
        lines = addresses.convert_from_root(output.decode("utf-8", "replace")).splitlines()
        return "\n".join(lines[-_MOST_LINES:])

    def _failed(self, what: str, output: str) -> TransactionError:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        last = f": {lines[-1]}" if lines else ""
        return TransactionError(
            "verify_failed",
            f"`{self._text}` {what} with the change{last}",
            unchanged=True,
            hints=[f"It said at last:\n{output}" if output else "It said nothing."],
            details={"command": self._words, "output": output},
        )

    def _timed_out(self, finished: Finished, setting: Setting) -> TransactionError:
        output = self._last_lines(finished, setting)
        last = [f"It said at last:\n{output}"] if output else []
        limit = f"{setting.time_limit:g} seconds"
        return TransactionError(
            "timed_out",
            f"`{self._text}` took longer than {limit} and was stopped",
            unchanged=True,
            hints=["[tool.bae-source] verify-seconds sets the limit.", *last],
            details={"command": self._words, "output": output},
        )


def _environment(setting: Setting) -> dict[str, str]:
    """Return the caller's environment with the programs of the project's own first, as if it were activated."""
    environment = dict(setting.environment)
    if setting.interpreter.origin in _OWN_FOLDER:
        before = environment.get("PATH", os.defpath)
        environment["PATH"] = os.pathsep.join((str(Path(setting.interpreter.path).parent), before))
    return environment
