"""The verifier that runs a command of the caller's: it must end with status 0 on what was written.

Invariants:
- it is no shell: the words are the program and its arguments, and `;`, `|` or `$` mean nothing;
- it runs in the project's folder, with nothing to read, a time limit, and a bound on what is kept of its output.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from bae_source.errors import RequestError, TransactionError
from bae_source.model.outcome import Check
from bae_source.model.plan import ModuleFile
from bae_source.reloading.child.addresses import Addresses
from bae_source.reloading.child.import_check import Contents, Setting
from bae_source.system.child import CannotStart, Finished, run, scrubbed
from bae_source.system.scratch import Scratch

_MOST_LINES = 20
_OWN_FOLDER = ("VIRTUAL_ENV", ".venv")


class Command:
    """Judges one transaction by a command.

    Parameters:
        setting: how the project's code is run.
        text: the command, quoted as for a shell.

    Raises:
        RequestError: `invalid_arguments` if there is no such program.
    """

    def __init__(self, setting: Setting, text: str) -> None:
        self._setting = setting
        self._root = Path(setting.root).resolve()
        self._text = text
        self._words = shlex.split(text)
        self._addresses = Addresses(setting.root, setting.source_roots, {})
        self._environment = _environment(setting)
        self._program = self._find(self._words[0])

    def prepare(self, modules: Sequence[ModuleFile], before: Contents, after: Contents) -> bool:  # noqa: ARG002
        """Remember what modules are called."""
        roots = [*self._setting.source_roots, *(module.source_root for module in modules)]
        self._addresses = Addresses(self._setting.root, roots, {module.path: module.name for module in modules})
        return False

    def judges(self) -> bool:
        """Say that it does."""
        return True

    def verify(self) -> tuple[Check, ...]:
        """Run it.

        Raises:
            TransactionError: `verify_failed` or `timed_out`.
        """
        with Scratch() as folder:
            environment = scrubbed(self._environment, Path(folder))
            try:
                finished = run(
                    [self._program, *self._words[1:]],
                    folder=self._root,
                    environment=environment,
                    time_limit=self._setting.time_limit,
                )
            except CannotStart as error:
                raise self._failed(f"cannot be started: {error}", "") from None
        if finished.timed_out:
            raise self._timed_out(finished)
        if finished.status:
            how = f"status {finished.status}" if finished.status > 0 else f"signal {-finished.status}"
            raise self._failed(f"ended with {how}", self._last_lines(finished))
        return (Check(name=f"command {self._text}", result="passed"),)

    def roll_back(self) -> None:
        """What the command did is not known, and not taken back."""

    def _find(self, word: str) -> str:
        found = shutil.which(word, path=self._environment.get("PATH", os.defpath))
        if os.sep in word:
            found = shutil.which(str(self._root / word))
        if found is None:
            raise RequestError(
                "invalid_arguments",
                f"verify names the command {word!r}, and there is no such program.",
                hints=["Give a program on the search path, or one of the project such as ./check."],
            )
        return found

    def _last_lines(self, finished: Finished) -> str:
        said = b"\n".join(part.strip() for part in (finished.output, finished.errors) if part.strip())
        lines = self._addresses.convert_from_root(said.decode("utf-8", "replace")).splitlines()
        return "\n".join(lines[-_MOST_LINES:])

    def _failed(self, what: str, output: str) -> TransactionError:
        last = [line.strip() for line in output.splitlines() if line.strip()][-1:]
        said = f": {last[0]}" if last else ""
        return TransactionError(
            "verify_failed",
            f"`{self._text}` {what} with the change{said}",
            unchanged=True,
            hints=[f"It said at last:\n{output}" if output else "It said nothing."],
            details={"command": self._words, "output": output},
        )

    def _timed_out(self, finished: Finished) -> TransactionError:
        output = self._last_lines(finished)
        said = [f"It said at last:\n{output}"] if output else []
        limit = f"{self._setting.time_limit:g} seconds"
        return TransactionError(
            "timed_out",
            f"`{self._text}` took longer than {limit} and was stopped",
            unchanged=True,
            hints=["[tool.bae-source] verify-seconds sets the limit.", *said],
            details={"command": self._words, "output": output},
        )


def _environment(setting: Setting) -> dict[str, str]:
    """Return the caller's environment with the programs of the project's own first, as if it were activated."""
    environment = dict(setting.environment)
    if setting.interpreter.origin in _OWN_FOLDER:
        before = environment.get("PATH", os.defpath)
        environment["PATH"] = os.pathsep.join((str(Path(setting.interpreter.path).parent), before))
    return environment
