"""How a request is run, as far as that is no part of what is asked: the same for every request."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from bae_source.errors import RequestError
from bae_source.model.page import SMALLEST
from bae_source.model.plan import ReloadMode

_CONTEXT = (
    "dry_run is a bool; reload is auto, process, child or off; who, why and cursor are text; "
    f"budget is a number from {SMALLEST}."
)


class Context(Struct, frozen=True, kw_only=True):
    """How a request is run; what is asked stands in the request itself.

    Parameters:
        dry_run: whether a change is only planned and shown.
        reload: how a change is verified: `auto`, `process`, `child` or `off`.
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
    return found
