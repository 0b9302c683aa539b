"""The tables of a policy, as they stand in files: in the user's own settings, and in pyproject.toml of any folder.

    ~/.config/bae-source/settings.toml      [policy]
    /repo/pyproject.toml                    [tool.bae-source.policy]

Invariants:
- a file is read anew each time, and parsed again only where its bytes differ;
- a file that may hold a policy and cannot be understood is an error that names it, never a policy that allows more;
- a file whose bytes cannot hold a policy has none, be it broken or not; whose it is matters to the user's own alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bae_source.approval.policy import Table, wrong_patterns
from bae_source.engine.approving.looking import KEYS, NAME
from bae_source.errors import Refused, ResourceError
from bae_source.model.settings import TABLE, PolicyTable, Settings, UserSettings, problems
from bae_source.project.files.port import bytes_of
from bae_source.project.files.settings import LARGEST, may_hold, parsed_toml
from bae_source.project.files.user_settings import doubted_file

_POLICY = "policy"


class Standing(Struct, frozen=True, kw_only=True):
    """A file that may hold a policy, as it is now.

    Parameters:
        table: the rules in it; None where there are none.
        trouble: why these are unknown; None where they are known.
        fingerprint: differs where the rules may.
    """

    table: Table | None = None
    trouble: Refused | None = None
    fingerprint: object = None

    @property
    def is_empty(self) -> bool:
        """Return whether nothing follows from it."""
        return self.table is None and self.trouble is None


_NOTHING = Standing()


class Tables:
    """Reads the files that may hold a policy.

    Parameters:
        environment: the caller's environment variables, which say where the user's own settings are.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._known: dict[object, tuple[bytes, Standing]] = {}

    def of_user(self) -> Standing:
        """Return the policy in the user's own settings."""
        try:
            name, content, doubt = doubted_file(self._environment)
        except OSError as error:
            reason = error.strerror or "the disk refuses"
            return _trouble(f"{error.filename} cannot be read ({reason})", "Let it be read, or remove it.")
        if content is None or not may_hold(content, [(_POLICY,)]):
            return _NOTHING
        if doubt:
            return _trouble(f"{name} {doubt}", "Let it and its folder be yours alone: chmod go-w, or chown.")
        return self._standing(None, content, name, f"{name} [{_POLICY}]", None)

    def of_folder(self, folder: Path, title: str = "") -> Standing:
        """Return the policy in the pyproject.toml of a folder.

        Parameters:
            title: how the folder is named in messages, with a slash behind it; "" for the project's root.
        """
        file = f"{title}{NAME}"
        try:
            content = bytes_of(f"{folder}/{NAME}")[0]
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return _NOTHING
        except OSError as error:
            reason = error.strerror or "the disk refuses"
            return _trouble(f"{file} cannot be read ({reason})", "Let it be read.")
        if not may_hold(content, KEYS):
            return _NOTHING

        name = f"{file} {TABLE[:-1]}.{_POLICY}]" if title else f"{TABLE[:-1]}.{_POLICY}]"
        return self._standing(str(folder), content, file, name, _ours)

    def _standing(
        self, key: object, content: bytes, file: str, title: str, ours: Callable[[Mapping[str, Any]], object] | None
    ) -> Standing:
        known = self._known.get(key)
        if known is None or known[0] != content:
            self._known[key] = known = content, _understood(content, file, title, ours)
        return known[1]


def _understood(content: bytes, file: str, title: str, ours: Callable[[Mapping[str, Any]], object] | None) -> Standing:
    kind = UserSettings if ours is None else Settings
    try:
        parsed = parsed_toml(content, file, largest=LARGEST)
        table = parsed if ours is None else ours(parsed)
    except ResourceError as error:
        return _trouble(error.message.removesuffix("."), f"Mend {file} first.")
    if not isinstance(table, Mapping):
        return _trouble(f"{title.rpartition(f'.{_POLICY}')[0]}] is no table", f"Mend {file} first.")
    strange = next((f"there is no table {name!r}" for name in table if _is_strange(name, table[name])), None)
    wrong = next(
        (each.message.removesuffix(".") for each in problems({_POLICY: table.get(_POLICY, {})}, kind)), strange
    )
    if wrong is None:
        rules = msgspec.convert(table.get(_POLICY, {}), PolicyTable, strict=True)
        wrong = next((each.removesuffix(".") for each in wrong_patterns(rules)), None)
    if wrong is not None:
        return _trouble(f"in {file}, {wrong}", f"Mend {title} first.")
    if rules == PolicyTable():
        return _NOTHING
    return Standing(table=Table(title=title, rules=rules), fingerprint=(title, content))


def _ours(found: Mapping[str, Any]) -> object:
    tool = found.get("tool")
    return tool.get("bae-source", {}) if isinstance(tool, dict) else {}


def _is_strange(name: str, value: object) -> bool:
    """Return whether a table stands where a policy alone can: it may be one whose name is misspelt."""
    return name != _POLICY and isinstance(value, dict)


def _trouble(what: str, hint: str) -> Standing:
    reason = f"It cannot be told what the policy allows: {what}"
    return Standing(trouble=Refused("forbidden", f"{reason}.", hints=[hint], details={"rule": ""}), fingerprint=what)
