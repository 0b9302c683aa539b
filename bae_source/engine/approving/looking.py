"""A quick look whether there may be a policy, without loading what understands one.

Invariants:
- what says no is right: no file that governs can hold a policy then; what says yes may be wrong;
- a file that cannot be looked at may hold one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from bae_source.project.files.port import bytes_of
from bae_source.project.files.settings import may_hold, place_of_user_settings
from bae_source.state.folders import folders_upwards

NAME = "pyproject.toml"
KEYS = (("bae-source", "policy"),)
"""The keys of a policy, as `settings.may_hold` takes them."""


def may_be_around(root: Path, environment: Mapping[str, str]) -> bool:
    """Return whether the user, a root, or a folder around it may have a policy.

    Parameters:
        environment: says where the user's own settings are.
    """
    users = place_of_user_settings(environment)[1]
    if users is not None and os.path.lexists(users):
        return True
    return any(may_be_in(str(folder)) for folder in folders_upwards(root))


def may_be_in(folder: str) -> bool:
    """Return whether a folder's own pyproject.toml may hold a policy."""
    try:
        return may_hold(bytes_of(f"{folder}/{NAME}")[0], KEYS)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
    except (OSError, ValueError):
        return True


def between(path: str) -> Iterator[str]:
    """Yield the folders between the root and a file, the outermost first."""
    end = path.find("/")
    while end > 0:
        yield path[:end]
        end = path.find("/", end + 1)


def shown(folder: Path, root: Path) -> str:
    """Return the name of a folder in messages of a project: from its root, with a slash behind it."""
    found = os.path.relpath(folder, root).replace(os.sep, "/")
    return "" if found == "." else f"{found}/"
