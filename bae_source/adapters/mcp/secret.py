"""The secret without which a server over HTTP answers nothing: every account of the machine reaches its port.

    random      made at the start, and printed as part of the address
    a file      that its owner alone may read; or the environment: then it is printed nowhere

Invariants:
- no message, log or command line has it, nor what runs the project's code; a random one is printed, in the address;
- it is compared in a time that does not tell how much of it was right.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Mapping

from msgspec import Struct

from bae_source.errors import RequestError

VARIABLE = "BAE_SOURCE_MCP_SECRET"
OPTION = "--secret-file"
_BYTES = 32
_MAX_BYTES = 1_000
_FORM = re.compile(r"[A-Za-z0-9._~-]{22,200}")
"""The form of a secret: valid in an address and in a header, and too long to be guessed."""
_MAKE = "Make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


class Secret(Struct, frozen=True, kw_only=True):
    """A secret.

    Parameters:
        origin: where it was taken from, as a person would say it; empty for one that was made here.
    """

    text: str
    origin: str = ""

    def __repr__(self) -> str:
        return "Secret()"

    def is_this(self, given: str) -> bool:
        """Return whether a text is the secret."""
        return secrets.compare_digest(given.encode("utf-8", "replace"), self.text.encode())


def secret_from(file: str | None, environment: Mapping[str, str]) -> Secret:
    """Return the secret of a file, else of the environment, else a random one.

    Raises:
        RequestError: `invalid_arguments` if the file cannot be read, or others may read it, or it holds no secret.
    """
    if file is not None:
        return Secret(text=_checked(_content(file), f"The file of {OPTION}"), origin=f"the file of {OPTION}")
    if VARIABLE in environment:
        return Secret(text=_checked(environment[VARIABLE], VARIABLE), origin=VARIABLE)
    return Secret(text=secrets.token_urlsafe(_BYTES))


def _checked(text: str, where: str) -> str:
    text = text.strip()
    if _FORM.fullmatch(text):
        return text
    raise RequestError(
        "invalid_arguments",
        f"{where} holds no secret that can be used: it has 22 to 200 letters, digits, '.', '_', '~' or '-'.",
        hints=[_MAKE],
    )


def _content(file: str) -> str:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unusable(f"cannot be read: {getattr(error, 'strerror', None) or error}", "Check its name.") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _unusable("is no regular file", "Name one that holds nothing but the secret.")
        if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise _unusable("can be used by other accounts", "Make it yours alone: chmod 600, and a new secret in it.")
        if status.st_uid not in (os.geteuid(), 0):
            raise _unusable("belongs to another account", "Name one of your own.")
        return os.read(descriptor, _MAX_BYTES).decode("ascii", "replace")
    finally:
        os.close(descriptor)


def _unusable(why: str, hint: str) -> RequestError:
    return RequestError("invalid_arguments", f"The file of {OPTION} {why}.", hints=[hint])
