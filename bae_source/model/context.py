"""How a request is run, as far as that is no part of what is asked: the same for every request."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from bae_source.errors import RequestError
from bae_source.model.page import SMALLEST
from bae_source.model.plan import ReloadMode

VERIFY = ("import", "cycles", "tests", "types")
"""What a change can be verified by, by name; `command …` stands for one of the caller's."""
COMMAND = "command "

_CONTEXT = (
    "dry_run and cascade are bools; verify is a list of names; "
    "reload is auto, patch, process, child or off; who, why and cursor are text; "
    f"budget is a number from {SMALLEST}."
)


class Context(Struct, frozen=True, kw_only=True):
    """How a request is run; what is asked stands in the request itself.

    Parameters:
        dry_run: whether a change is only planned and shown.
        reload: how a change is verified: `auto`, `patch`, `process`, `child` or `off`.
        verify: what else a change is judged by: `import` (which `reload` says how to do, and does anyway), `cycles`,
            `tests`, `types`, and `command …`, a program with its arguments. Cycles are looked for in a dry run, too.
        cascade: whether loaded modules that import the changed ones are loaded again as well.
        who: the caller, for the history and for `undo`; None for the user's name.
        why: the caller's reason, for the history.
        language_server: who is asked beside our own look-up: `ty`, `basedpyright`, `pyrefly` or `off`; None for what
            the project's settings say.
        language_server_seconds: how long it may take for one request; None for what the settings say, or two.
        budget: how many bytes the text of an answer may have; None for any number. `ast …` has limits of its own.
        cursor: which page of an answer is wanted: `0` for the first one, for others what the page before says.
    """

    dry_run: bool = False
    reload: ReloadMode = "auto"
    verify: tuple[str, ...] = ()
    cascade: bool = False
    who: str | None = None
    why: str | None = None
    language_server: str | None = None
    language_server_seconds: float | None = None
    budget: Annotated[int, Meta(ge=SMALLEST)] | None = None
    cursor: Annotated[str, Meta(max_length=40)] | None = None


def checked(context: Context) -> Context:
    """Return the context, once every field of it is what it should be.

    Raises:
        RequestError: `invalid_arguments`.
    """
    try:
        found = msgspec.convert({name: getattr(context, name) for name in context.__struct_fields__}, Context)
        "".join(text for text in (found.who, found.why) if text).encode("utf-8")
    except msgspec.ValidationError as error:
        raise RequestError("invalid_arguments", f"The context is wrong: {error}.", hints=[_CONTEXT]) from None
    except UnicodeEncodeError:
        raise RequestError("invalid_arguments", "who or why cannot be encoded.", hints=["Give UTF-8 text."]) from None
    _check_verify(found)
    return found


def _check_verify(context: Context) -> None:
    unknown = [name for name in context.verify if name not in VERIFY and not name.startswith(COMMAND)]
    hint = f"verify takes {', '.join(VERIFY)}, and `{COMMAND}…` with a program and its arguments."
    if unknown:
        raise RequestError("invalid_arguments", f"verify has no {', '.join(map(repr, unknown))}.", hints=[hint])
    if "import" in context.verify and context.reload == "off":
        raise RequestError(
            "invalid_arguments",
            'verify asks for import, and reload="off" for none.',
            hints=["Leave one of them out."],
        )
    for name in context.verify:
        if name.startswith(COMMAND):
            _check_command(name.removeprefix(COMMAND), hint)


def _check_command(text: str, hint: str) -> None:
    import shlex  # only where there is a command

    try:
        words = shlex.split(text)
        "".join(words).encode()
    except ValueError as error:
        raise RequestError("invalid_arguments", f"verify has a malformed command: {error}.", hints=[hint]) from None
    if not words or not words[0] or "\0" in text:
        raise RequestError("invalid_arguments", "verify has a command that is empty.", hints=[hint])
