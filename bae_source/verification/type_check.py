"""A judge that asks a type checker: the change must add no error to those that there are.

The checker is run without the change, and with it. Two errors are the same if they stand in the same symbol, have the
same code and say the same; so lines that move, and symbols that move or are renamed, are no news.

Invariants:
- an error that was there before is counted, and never blamed;
- a checker that could not do its work before the change cannot judge it: that is a notice, and no silent pass.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from bae_source.errors import TransactionError
from bae_source.model.outcome import Check, Notice
from bae_source.model.plan import ModuleFile
from bae_source.reloading.child.addresses import Addresses
from bae_source.reloading.child.import_check import Contents, Setting, addresses_of
from bae_source.system.child import CannotStart, Finished, run, scrubbed
from bae_source.system.hashing import sha256
from bae_source.system.scratch import Scratch
from bae_source.verification.judge import NotInCopy, Place
from bae_source.verification.type_checkers import Asked, Diagnostic, TypeChecker

_MOST_OUTPUT = 32_000_000
_MOST_SHOWN = 10
_LINE = re.compile(r"\bline \d+")


class Places(Protocol):
    """Knows in which symbol a line is."""

    def before(self, path: str, line: int) -> str:
        """Return the address of the symbol around a line of a file as it was."""

    def after(self, path: str, line: int) -> str:
        """Likewise, as it will be."""

    def was(self, address: str) -> bool:
        """Return whether there was such a symbol."""

    def will_be(self, address: str) -> bool:
        """Return whether there will be."""


class Located(Struct, frozen=True):
    """An error by where it stands: its address, its code, what it says, and the line."""

    address: str
    code: str
    message: str
    line: int

    @property
    def key(self) -> tuple[str, str, str]:
        """Its identity: two errors with the same one are the same error."""
        return self.address, self.code, _LINE.sub("line", self.message)

    def __str__(self) -> str:
        code = f"  [{self.code}]" if self.code else ""
        return f"{self.address}: line {self.line}: {self.message}{code}"


class _Checked(Struct, frozen=True):
    """Result of one run: the errors, and why it could not do its work, if it could not."""

    errors: tuple[Located, ...]
    trouble: str = ""


class TypeCheck:
    """Judges a planned change by a type checker.

    Parameters:
        checker: which one.
        program: where it is.
        modules: those that change.
        files: what to check, project-relative, where the checker must be given them; None where its settings name them.
        places: tells symbols by their lines.

    Attributes:
        name: what it verifies.
    """

    name = "types"

    def __init__(
        self,
        checker: TypeChecker,
        program: str,
        modules: Sequence[ModuleFile],
        *,
        files: Sequence[str] | None,
        places: Places,
    ) -> None:
        self._checker = checker
        self._program = program
        self._modules = tuple(modules)
        self._files = None if files is None else tuple(files)
        self._places = places
        self._setting: Setting
        self._addresses: Addresses
        self._cache: Path

    def judge(self, place: Place) -> tuple[Notice | Check, ...]:
        """Check the project without the change, and with it.

        Raises:
            TransactionError: `verify_failed` with the new errors, or `timed_out`.
            NotInCopy: it can check the project and not a copy of it.
        """
        with Scratch() as cache:
            self._cache = Path(cache)  # where nothing is kept of a copy
            before = self._before(place)
            self._begin(place.planned())
            after = self._check(self._places.after)
        if before.trouble:
            text = f"{self._checker.name} could not check the project before the change, so what is new is not known"
            notice = Notice("types_not_compared", f"{text}: {before.trouble}")
            return (notice, Check(name="types", result="not_run", detail=text))
        new = new_errors(before.errors, after.errors, self._places)
        if new or after.trouble:
            raise self._refused(new, after.trouble)
        old = len(after.errors)
        there = f", {old} {'error' if old == 1 else 'errors'} there before" if old else ""
        return (
            Check(name="types", result="passed", counts={"there_before": old}, detail=f"{self._checker.name}{there}"),
        )

    def _before(self, place: Place) -> _Checked:
        """Check the project without the change; where that cannot be done in a copy, see whether it can in the tree."""
        self._begin(place.present())
        found = self._check(self._places.before)
        if found.trouble and self._files:  # two files of one name are too much for mypy
            self._files = tuple(path for path in self._files if (self._root / path).is_file())
            found = self._check(self._places.before)
        tree = place.tree() if found.trouble else None
        if tree is not None:
            self._begin(tree)
            if not self._check(self._places.before).trouble:
                raise NotInCopy(f"{self._checker.name} checks the project and not a copy of it: {found.trouble}")
        return found

    def _begin(self, setting: Setting) -> None:
        """Run in a folder from now on."""
        self._setting = setting
        self._root = Path(setting.root).resolve()
        self._addresses = addresses_of(setting, self._modules)

    def _check(self, place: _Place) -> _Checked:
        """Run the checker.

        Parameters:
            place: tells symbols by the lines of the text that is checked.
        """
        files = tuple(path for path in self._files or () if (self._root / path).is_file())
        if self._files is not None and not files:
            return _Checked(())
        python = self._setting.interpreter.path
        with Scratch() as folder:
            asked = Asked(
                root=self._root,
                python=shutil.which(python, path=self._setting.environment.get("PATH")) or python,
                cache=self._cache if self._setting.caches is None else self._setting.caches / "types",
                files=files,
                fresh=_copies(Path(folder), self._contents()),
            )
            return self._run([self._program, *self._checker.arguments(asked)], place)

    def _contents(self) -> Contents:
        """Return the contents of the changed modules in the folder, by path."""
        files = {module.path: self._root / module.path for module in self._modules}
        return {path: file.read_bytes() if file.is_file() else None for path, file in files.items()}

    def _run(self, command: Sequence[str], place: _Place) -> _Checked:
        try:
            finished = run(
                command,
                folder=self._root,
                environment=scrubbed(self._setting.environment),
                time_limit=self._setting.time_limit,
                limit=_MOST_OUTPUT,
            )
        except CannotStart as error:
            raise self._unable(f"it does not start: {error}") from None
        if finished.timed_out:
            raise self._timed_out()
        output = finished.output.decode("utf-8", "replace")
        try:
            found = self._checker.read(output)
        except ValueError:
            return _Checked((), self._last_line(finished))
        errors = tuple(self._located(each, place) for each in found)
        if finished.status in (0, 1) and (errors or self._checker.explains(output, finished.status)):
            return _Checked(errors)
        return _Checked(errors, str(errors[0]) if errors else self._last_line(finished))

    def _located(self, each: Diagnostic, place: _Place) -> Located:
        path = os.path.relpath(os.path.join(self._root, each.path), self._root)  # noqa: PTH118
        message = self._addresses.convert(each.message)
        if path.startswith(".."):
            return Located(Path(each.path).stem, each.code, message, each.line)
        return Located(place(path.replace(os.sep, "/"), each.line), each.code, message, each.line)

    def _last_line(self, finished: Finished) -> str:
        output, status = finished.errors or finished.output, finished.status
        lines = self._addresses.convert_from_root(output.decode("utf-8", "replace")).strip().splitlines()
        how = f"status {status}" if status >= 0 else f"signal {-status}"
        return lines[-1] if lines else f"it ended with {how}"

    def _refused(self, new: Sequence[Located], trouble: str) -> TransactionError:
        rows = list(map(str, new)) or [trouble]
        more = [f"and {len(rows) - _MOST_SHOWN} more"] if len(rows) > _MOST_SHOWN else []
        count = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
        return TransactionError(
            "verify_failed",
            f"{self._checker.name} finds a new error with the change: {rows[0]}{count}",
            unchanged=True,
            hints=["\n  ".join(["New errors:", *rows[:_MOST_SHOWN], *more]), "Mend them within the same change."],
            candidates=list(dict.fromkeys(each.address for each in new)),
            details={
                "checker": self._checker.name,
                "new": [
                    {"address": each.address, "line": each.line, "code": each.code, "message": each.message}
                    for each in new
                ],
            },
        )

    def _timed_out(self) -> TransactionError:
        limit = f"{self._setting.time_limit:g} seconds"
        return TransactionError(
            "timed_out",
            f"{self._checker.name} took longer than {limit} and was stopped",
            unchanged=True,
            hints=["[tool.bae-source] verify-seconds sets the limit."],
        )

    def _unable(self, problem: str) -> TransactionError:
        return TransactionError(
            "verify_failed",
            f"{self._checker.name} cannot check the project: {self._addresses.convert(problem)}",
            unchanged=True,
            hints=["Install it for the project's Python, or name another by [tool.bae-source] types."],
        )


def new_errors(before: Iterable[Located], after: Iterable[Located], places: Places) -> list[Located]:
    """Return the errors that were not there before, each as often as it is there more often.

    An error of a symbol that is gone is the same as one of a symbol that has come: it was renamed or moved.
    """
    left = Counter(each.key for each in before)
    unknown: list[Located] = []
    for each in after:
        if left[each.key] > 0:
            left[each.key] -= 1
        else:
            unknown.append(each)
    gone = Counter(
        (code, message)
        for (address, code, message), count in left.items()
        for _ in range(count)
        if not places.will_be(address)
    )
    new = []
    for each in unknown:
        if not places.was(each.address) and gone[each.key[1:]] > 0:
            gone[each.key[1:]] -= 1
        else:
            new.append(each)
    return new


class _Place(Protocol):
    def __call__(self, path: str, line: int) -> str:
        """Return the address of the symbol around a line."""


def _copies(folder: Path, contents: Contents) -> dict[str, Path]:
    """Write copies of files whose times go by what they hold, for caches that go by times and sizes."""
    copies: dict[str, Path] = {}
    for number, (path, content) in enumerate(contents.items()):
        if content is not None and path.endswith((".py", ".pyi")):
            copies[path] = folder / f"{number}{Path(path).suffix}"
            copies[path].write_bytes(content)
            seconds = int(sha256(content)[:7], 16)
            os.utime(copies[path], (seconds, seconds))
    return copies
