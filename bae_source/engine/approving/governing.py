"""The policies that govern a request: the user's own, and those of the folders around and within its root.

    ~/.config/bae-source/settings.toml     [policy]                      wherever the user works
    /repo/pyproject.toml                   [tool.bae-source.policy]      for all below /repo
    /repo/packages/a/pyproject.toml        [tool.bae-source.policy]      for all below /repo/packages/a

A caller chooses the root, so `--root /repo/src` and `--root /` are governed as `--root /repo` is: folders above the
root count as far as they are this user's, and so does each folder between the root and a file that a request is about.
What a table says, it says in names as its own folder has them (`names`). The user's rules are about the names that a
file has from the root, and from each folder around or within it that looks like a project, up to the top of the
repository.

Invariants:
- all files are looked at anew by each request, so that a process that stays sees a change at once;
- where none of them has a policy, that costs an attempt to open each, and nothing is parsed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from bae_source.approval.policy import Policy, Table
from bae_source.engine.approving.looking import between, shown
from bae_source.engine.approving.names import Names
from bae_source.engine.approving.tables import Standing, Tables
from bae_source.errors import Refused
from bae_source.state.folders import folders_upwards

_TOP = ".git"
_SIGNS = ("pyproject.toml", "setup.py", "setup.cfg", _TOP)


class Governed(Struct, frozen=True, kw_only=True):
    """A folder whose names a policy is about.

    Parameters:
        folder: absolute, links followed.
        policy: the rules that are about its names.
        names: of the files below it.
        inner: the folder from the root, with a slash behind it, where it lies below; "" elsewhere.
        outer: the root from the folder, likewise, where it lies above.
        fingerprint: differs where the rules do.
    """

    folder: Path
    policy: Policy
    names: Names
    inner: str = ""
    outer: str = ""
    fingerprint: object = None

    def path(self, path: str) -> str | None:
        """Return a path relative to the root as relative to the folder; None where it lies elsewhere."""
        return self.outer + path[len(self.inner) :] if path.startswith(self.inner) else None


class Governing:
    """Finds the policies for the requests on one root.

    Parameters:
        root: links followed.
        environment: the caller's environment variables, which say where the user's own settings are.
    """

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root = root
        self._tables = Tables(environment)

    @property
    def policy_of_root(self) -> Policy:
        """The rules that are about the names of the root.

        Raises:
            Refused: `forbidden` where they cannot be read.
        """
        return _rules(self._tables.of_user(), self._tables.of_folder(self.root))

    def policies(self, paths: Iterable[str] = ()) -> list[Governed]:
        """Return the folders whose names a policy is about, for a request about some files.

        Parameters:
            paths: relative to the root, with forward slashes.

        Returns:
            Nothing where there is no policy.

        Raises:
            Refused: `forbidden` where a policy cannot be read.
        """
        users = self._tables.of_user()
        found = [*self.around(users)]
        for folder in dict.fromkeys(folder for path in paths for folder in between(path)):
            found += self.within(folder, users)
        trouble = next((each for each in found if isinstance(each, Refused)), None)
        if trouble is not None:
            raise trouble.altered(reason=trouble.reason.removesuffix("."), unchanged=True)
        return [each for each in found if isinstance(each, Governed)]

    def described(self, folders: Iterable[str]) -> tuple[list[str], list[Refused]]:
        """Return the tables that govern something, each in a line, and why others are unknown.

        Parameters:
            folders: those below the root that may have one.
        """
        users = self._tables.of_user()
        found = [*self.around(users), *(each for folder in folders for each in self.within(folder, users))]
        lines = [drawn(table) for each in found if isinstance(each, Governed) for table in each.policy.tables]
        return [*dict.fromkeys(lines)], [each for each in found if isinstance(each, Refused)]

    def around(self, users: Standing | None = None) -> Iterator[Governed | Refused]:
        """Yield the policies of the root and all below it: by folder, with why one cannot be read."""
        users = self._tables.of_user() if users is None else users
        if users.trouble is not None:
            yield users.trouble
        is_inside = True
        for folder in folders_upwards(self.root):
            own = self._tables.of_folder(folder, shown(folder, self.root))
            counts = users.table is not None and (folder == self.root or (is_inside and _is_project(folder)))
            outer = f"{os.path.relpath(self.root, folder)}/".removeprefix("./").replace(os.sep, "/")
            yield from self._governed(folder, own, users if counts else Standing(), outer=outer)
            is_inside = is_inside and not os.path.lexists(folder / _TOP)

    def within(self, folder: str, users: Standing | None = None) -> Iterator[Governed | Refused]:
        """Yield the policies of a folder below the root, and of all below it, beside those around it.

        Parameters:
            folder: relative to the root.
        """
        users = self._tables.of_user() if users is None else users
        place = self.root / folder
        own = self._tables.of_folder(place, f"{folder}/")
        counts = users.table is not None and _is_project(place)
        yield from self._governed(place, own, users if counts else Standing(), inner=f"{folder}/")

    def _governed(
        self, folder: Path, own: Standing, users: Standing, *, inner: str = "", outer: str = ""
    ) -> Iterator[Governed | Refused]:
        if own.trouble is not None:
            yield own.trouble
        tables = [each.table for each in (users, own) if each.table is not None]
        if tables:
            yield Governed(
                folder=folder,
                policy=Policy(tables),
                names=Names(folder),
                inner=inner,
                outer=outer,
                fingerprint=(str(folder), users.fingerprint, own.fingerprint),
            )


def drawn(table: Table) -> str:
    """Return a table as a line: the number of patterns of each kind, and of callers."""
    rules = table.rules
    facts: list[str] = [rules.preset]
    for name, patterns in (("change", rules.change), ("read", rules.read)):
        counts = {each: len(getattr(patterns, each)) for each in patterns.__struct_fields__}
        facts += [f"{name}.{each} {count}" for each, count in counts.items() if count]
    facts += [f"approve-risk {rules.approve_risk}"] if rules.approve_risk else []
    facts += [f"callers {', '.join(rules.callers)}"] if rules.callers else []
    return f"{table.title}: {', '.join(facts)}"


def _rules(*found: Standing) -> Policy:
    for each in found:
        if each.trouble is not None:
            raise each.trouble
    return Policy([each.table for each in found if each.table is not None])


def _is_project(folder: Path) -> bool:
    return any(os.path.lexists(folder / sign) for sign in _SIGNS)
