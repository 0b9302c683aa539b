"""The user's own settings, which no project can make: `bae-source/settings.toml` in the user's folder of settings.

    $XDG_CONFIG_HOME/bae-source/settings.toml        ~/.config/bae-source/settings.toml where that names no folder

Invariants:
- the file is believed only where it and its folder belong to this user and no other may write them; a link there is
  this user's then, and is followed;
- it is never made or written by us, and no more of it is read than of a project's settings, by the same reader.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.model.outcome import Notice
from bae_source.model.settings import UserSettings, problems
from bae_source.project.files.settings import LARGEST, parsed_toml, place_of_user_settings
from bae_source.state.binding import user
from bae_source.system.descriptors import CLOSED_IN_CHILDREN, WITHOUT_WAITING

NOT_BELIEVED = "settings_not_believed"
"""The code of the notice on a file that may be another's."""
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class UserFile(Struct, frozen=True, kw_only=True):
    """The settings in the user's own file.

    Parameters:
        name: how the file is named in messages.
        table: all of them; nothing where there is no file, or it is not believed.
        notices: why it is not believed.
    """

    name: str
    table: Mapping[str, Any]
    notices: tuple[Notice, ...] = ()

    def value(self, name: str) -> Any:
        """Return a setting as it stands there; None where it does not.

        Raises:
            RequestError: `invalid_arguments` where it is nothing for the setting.
        """
        if name not in self.table:
            return None
        for wrong in problems({name: self.table[name]}, UserSettings):
            raise RequestError("invalid_arguments", wrong.message, hints=[f"In {self.name}: {wrong.line}"])
        return self.table[name]


def user_file(environment: Mapping[str, str]) -> UserFile:
    """Return the settings in the user's own file.

    Parameters:
        environment: `XDG_CONFIG_HOME` and `HOME` say where it is.

    Raises:
        SourceError: `syntax_invalid` if it does not parse.
    """
    try:
        name, content, doubt = doubted_file(environment)
    except (OSError, ValueError) as error:
        name, content = place_of_user_settings(environment)[0], b""
        doubt = f"cannot be read ({getattr(error, 'strerror', None) or error})"
    if content is None:
        return UserFile(name=name, table={})
    if doubt:
        notice = Notice(NOT_BELIEVED, f"{name} {doubt}, so nothing in it counts.")
        return UserFile(name=name, table={}, notices=(notice,))
    return UserFile(name=name, table=parsed_toml(content, name))


def doubted_file(environment: Mapping[str, str]) -> tuple[str, bytes | None, str]:
    """Return the name of the user's own file of settings, its content, and why it is not believed.

    Returns:
        No content where there is no file, and no doubt where it is believed.

    Raises:
        OSError: it cannot be read.
        ValueError: its name is none.
    """
    name, path = place_of_user_settings(environment)
    if path is None:
        return name, None, ""
    try:
        return name, *_content(Path(path))
    except (FileNotFoundError, NotADirectoryError):
        return name, None, ""


def _content(path: Path) -> tuple[bytes, str]:
    """Return the content of a file, and the reason why it does not count.

    Raises:
        OSError: it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | CLOSED_IN_CHILDREN | WITHOUT_WAITING)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return b"", "is no regular file"
        pieces: list[bytes] = []
        while sum(map(len, pieces)) <= LARGEST and (piece := os.read(descriptor, LARGEST + 1)):
            pieces.append(piece)
        return b"".join(pieces), _doubt(status) or _doubt(path.parent.stat(), "lies in a folder that ")
    finally:
        os.close(descriptor)


def _doubt(status: os.stat_result, where: str = "") -> str:
    """Return why something may not be this user's alone; nothing where it is, or where the system has no owners."""
    if not hasattr(os, "geteuid"):
        return ""
    if status.st_uid != user():
        return f"{where}belongs to another user"
    return f"{where}others may write" if status.st_mode & _OTHERS else ""
