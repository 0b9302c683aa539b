"""A planned change, judged before it is written: by import, and by what `verify` names.

    judging.judge()          in a child that has the planned text, and in a copy of the project; nothing is written
    judging.judge_written(…) in the project itself, where it cannot be judged in a copy: made first, undone if it fails

Invariants:
- judges run in the order in which they are named, and where one of them refuses, the next are not asked;
- a judge other than the import gives its verdict once for a request: while others change the same file, what is
  planned anew is imported anew, and each check has the digest of the text that it judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from bae_source.errors import TransactionError
from bae_source.model.outcome import CHECKS, Check, Notice, Result
from bae_source.reloading.child.import_check import COMPILED
from bae_source.reloading.reload import Reload
from bae_source.verification.judge import Copied, InProject, Judge, NotInCopy, Place
from bae_source.verification.remembered import Remembered
from bae_source.verification.shadow import NoShadow

_UNCHECKED: Mapping[str, Result] = {"not_import_checked": "not_run", "import_failed_before": "failed_before"}
COUNTS = "counts"
"""The key, in an error's details, of the numbers of what was looked at."""
_LONGEST = 200
"""Characters of the message of a failed check; the error has all of it."""
Found = tuple[Notice | Check, ...]


class Wanted(Struct, kw_only=True):
    """The wishes of one request, and what is known of it so far.

    Parameters:
        imports: what the import is called among the checks; "" where it is not listed.
        judges: the others, in their order.
        verdicts: what they came to in an earlier attempt of the same request, by name.
        remembered: which of them cannot judge in a copy.
    """

    imports: str
    judges: Sequence[Judge]
    verdicts: dict[str, Found]
    remembered: Remembered


class Judging:
    """Judges one planned change.

    Parameters:
        reload: loads it.
        wanted: by what it is judged.
        place: a copy of the project.
        digest: of the planned content.
        timer: seconds from any beginning.

    Attributes:
        left: the judges that cannot judge in a copy, and have not judged yet.
    """

    def __init__(
        self,
        reload: Reload,
        wanted: Wanted,
        place: Copied,
        *,
        digest: str,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.left: list[Judge] = []
        self._reload = reload
        self._wanted = wanted
        self._place = place
        self._digest = digest
        self._timer = timer
        self._checks: list[Check] = []

    def judge(self) -> Found:
        """Judge the planned text.

        Raises:
            TransactionError: what the first judge that refuses raises; its details have the checks, that one among
                them.
        """
        found = self.import_again()
        for judge in self._wanted.judges:
            earlier = self._wanted.verdicts.get(judge.name)
            found += self._in_place(judge) if earlier is None else self._noted(earlier)
        return found

    def import_again(self) -> Found:
        """Have a child import what is planned.

        Raises:
            TransactionError: it does not import.
        """
        if not self._reload.tries():
            return ()
        self._checks = [each for each in self._checks if each.name != "import"]  # of an earlier import
        name = self._wanted.imports
        found = self._timed(name or "import", lambda: self._loaded(name))
        return self._noted(found)

    def judge_written(self, place: InProject) -> Found:
        """Have the judges that are left judge the project itself, with the change and without it.

        Raises:
            TransactionError: one of them refuses; the change is undone, or was never made.
        """
        found: Found = ()
        for judge in self.left:
            try:
                found += self._by(judge, place)
            except BaseException:  # Ctrl-C, and a judge that cannot judge any more, too
                place.present()
                raise
        place.planned()
        return found

    def not_judged(self, why: str) -> tuple[Check, ...]:
        """Return the checks of the judges that are left where nothing is to be made."""
        return tuple(Check(name=judge.name, result="not_run", detail=why) for judge in self.left)

    def _in_place(self, judge: Judge) -> Found:
        """Judge in the copy, unless it is known, or found out now, that this project cannot be judged there."""
        if self._wanted.remembered.has(judge.name):
            self.left.append(judge)
            return ()
        try:
            return self._by(judge, self._place)
        except NotInCopy as error:
            self._wanted.remembered.note(judge.name, str(error))
            why = f"{error}; from now on it is judged in the project itself"
        except NoShadow as error:
            why = f"{error}; it is judged in the project itself"
        self.left.append(judge)
        text = (
            f"{judge.name} cannot be judged in a copy of the project, since {why}: made first, and undone if it fails."
        )
        return (Notice("judged_in_project", text),)

    def _by(self, judge: Judge, place: Place) -> Found:
        found = self._timed(judge.name, lambda: judge.judge(place))
        self._wanted.verdicts[judge.name] = found
        return self._noted(found)

    def _loaded(self, name: str) -> Found:
        notices = self._reload.try_imports()
        return (*notices, _import_check(name, notices, some=self._reload.imports_some())) if name else notices

    def _timed(self, name: str, do: Callable[[], Found]) -> Found:
        """Have a judge judge, and say in its checks how long it took, and what was judged."""
        begun = self._timer()
        try:
            found = do()
        except TransactionError as error:
            message = error.message.partition("\n")[0][:_LONGEST]
            failed = Check(
                name=name,
                result="failed",
                digest=self._digest,
                counts=error.details.get(COUNTS, {}),
                seconds=self._since(begun),
                detail=message,
            )
            raise error.altered(details={**error.details, CHECKS: self._all_with(failed)}) from error.__cause__
        seconds = self._since(begun)
        return tuple(
            replace(each, seconds=seconds, digest="" if each.result == "not_run" else self._digest)
            if isinstance(each, Check)
            else each
            for each in found
        )

    def _all_with(self, failed: Check) -> list[dict[str, Any]]:
        """Return the checks so far with one that failed, and those behind it."""
        judged = {each.name for each in self._checks}
        names = [judge.name for judge in self._wanted.judges if judge.name not in judged]
        behind = names[names.index(failed.name) + 1 :] if failed.name in names else names
        not_run = [Check(name=name, result="not_run", detail="not reached") for name in behind]
        return [asdict(each) for each in (*self._checks, failed, *not_run)]

    def _noted(self, found: Found) -> Found:
        self._checks += (each for each in found if isinstance(each, Check))
        return found

    def _since(self, begun: float) -> float:
        return round(self._timer() - begun, 3)


def _import_check(name: str, notices: Sequence[Notice], *, some: bool) -> Check:
    """Return the result of importing the changed modules.

    Parameters:
        some: whether any of them was imported, and not only compiled.
    """
    unchecked = [each for each in notices if each.code in _UNCHECKED]
    results = {_UNCHECKED[each.code] for each in unchecked}
    if not unchecked or (some and results == {"not_run"} and all(_is_compiled(each) for each in unchecked)):
        return Check(name=name, result="passed")
    return Check(name=name, result=_UNCHECKED[unchecked[0].code], detail=unchecked[0].message.rstrip("."))


def _is_compiled(notice: Notice) -> bool:
    """Return whether a notice is about modules, such as tests, that are only compiled."""
    return notice.about[:1] == (COMPILED,)
