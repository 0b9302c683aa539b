"""The outcome as data: the one shape of every answer, which `--json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from bae_source.errors import ResourceError

Status = Literal["applied", "unchanged", "planned", "pending", "answer", "error"]


Result = Literal["passed", "failed", "failed_before", "not_run"]


class Fields(Struct, frozen=True, kw_only=True):
    """A part of an answer whose JSON has all of its fields."""

    def as_data(self) -> dict[str, Any]:
        """Return it as the JSON of an outcome has it."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


class Notice(Struct, frozen=True):
    """Something the caller should know though the request succeeded, such as `decorators_dropped`.

    Parameters:
        about: what it says, for our own code; no part of an answer.
    """

    code: str
    message: str
    about: tuple[str, ...] = ()


class Check(Struct, frozen=True, kw_only=True):
    """Result of one way to verify a change.

    Parameters:
        name: `import`, `cycles`, `tests`, `types` or `command …`.
        result: `failed_before` where what fails, failed without the change, too.
        digest: of the planned content that was judged; "" where none was.
        counts: numbers of what was looked at, such as tests that passed.
        seconds: how long it took.
        detail: the same for people, or why it was not run.
    """

    name: str
    result: Result
    digest: str = ""
    counts: Mapping[str, int] = {}
    seconds: float = 0.0
    detail: str = ""


class Changed(Struct, frozen=True):
    """A symbol that was changed and its etag afterwards; None once it is deleted."""

    address: str
    etag: str | None


class Failure(Struct, frozen=True, kw_only=True):
    """An error as data."""

    code: str
    message: str
    hints: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()


class Outcome(Struct, frozen=True, kw_only=True):
    """The outcome of a request.

    Parameters:
        status: `applied`, `unchanged` (it was so already, and there is no operation), `planned` (dry run), `pending`
            (waits for a person), `answer`, or `error`; `error` if and only if `errors` is not empty.
        operation_id: the id by which `undo` and `history` know the change.
        text: what a person reads.
        diff: unified diff of the change, or a preview of what an error is about; bytes that are not UTF-8 stand as
            surrogate escapes.
        changed: the symbols that changed, with their new etags.
        checks: what was verified, and what it came to; no budget cuts them.
        warnings: what else the caller should know, though it failed as well.
        etag: digest of the one symbol that was read or edited.
        address: canonical address of the one symbol that was read or edited; not part of the JSON.
        complete: whether the answer is all there is.
        errors: why it failed.
        next_actions: calls that make sense now.
        exit_code: status of a command that came to this; not part of the JSON.
        found: what a search found, as values, one an entry; the JSON has those that are places (`model.reference`).
        counts: how many places there are by their certainty, or other things by their kind, whatever a budget leaves of
            `found`.
        report: of a refactoring, what it changes and what it leaves (`model.report`); None for anything else.
        draft: the handle of the plan that a refusal or a dry run keeps, for `commit` and `amend`; None where none is.
        task_id: the proposal that a change waits as, or that the request is about.
    """

    status: Status
    operation_id: str | None = None
    text: str = ""
    diff: str = ""
    changed: tuple[Changed, ...] = ()
    checks: tuple[Check, ...] = ()
    warnings: tuple[Notice, ...] = ()
    etag: str | None = None
    complete: bool = True
    errors: tuple[Failure, ...] = ()
    next_actions: tuple[str, ...] = ()
    address: str | None = None
    exit_code: int = 0
    found: tuple[Any, ...] = ()
    counts: Mapping[str, int] = {}
    report: Mapping[str, Any] | None = None
    draft: str | None = None
    task_id: str | None = None


UNRECORDED = "history_unavailable"
"""Code of the notice on a change that cannot be taken back, since nothing recorded it."""
NOT_SHOWN = "not_shown"
"""Code of the notice that a file is described, since it is no text or too large."""
FOUND = 1
"""The exit status of a command that found something wrong."""
WAITS = 10
"""The exit status of a change that waits for a person."""
SHORT_NAME = "short_name"
"""Code of the notice that a name is short for another; key of the short name in the details of an error."""
WARNED = "warnings"
"""Key, in an error's details, of the notices that go with it."""
CHECKS = "checks"
"""Key there of the checks that were made."""

REPORT = "report"
"""Key there of the report on the change that was refused."""
DRAFT = "draft"
"""Key there of the handle of its plan."""
ETAG = "etag"
"""Key there of the present etag of what the error is about."""
PREVIEW = "preview"
"""Key there of the text or diff that the error is about."""
DRAFT_HANDLE = "draft_"
"""The beginning of such a handle."""
DRAFT_LIFETIME = 30 * 60
"""Seconds after its last use until a draft ends by itself."""

_JSON_KEYS = (
    "status", "operation_id", "text", "diff", "changed", "checks", "warnings", "etag", "complete", "errors",
    "next_actions", "found", "counts", "report", "draft", "task_id",
)  # fmt: skip


def to_json(outcome: Outcome) -> str:
    """Return the outcome as one line of JSON; every key is always there, and the text is plain ASCII."""
    import json  # 3 ms, and most answers are printed as text

    return json.dumps(as_mapping(outcome))


def as_mapping(outcome: Outcome) -> dict[str, Any]:
    """Return the JSON of an outcome as plain values; every key is always there."""
    values = {key: _plain(getattr(outcome, key)) for key in _JSON_KEYS if key != "found"}
    return {key: values[key] if key in values else places(outcome) for key in _JSON_KEYS}


def places(outcome: Outcome) -> list[dict[str, Any]]:
    """Return the places, or other counted things, that were found as plain values; the rest is in the text alone."""
    if not outcome.counts:
        return []
    return [dict(each) if isinstance(each, Mapping) else each.as_data() for each in outcome.found]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: objects for structs, and lists for tuples."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if not isinstance(value, Struct):
        return value
    names = ("code", "message") if isinstance(value, Notice) else value.__struct_fields__
    return {name: _plain(getattr(value, name)) for name in names}


def verdict(checks: Iterable[Check]) -> str:
    """Return the checks that passed and those left out, in a line; "" where none was wanted."""
    by_result: dict[str, list[str]] = {}
    for check in checks:
        detail = f" ({check.detail})" if check.detail else ""
        by_result.setdefault(check.result, []).append(f"{check.name}{detail}")
    return " ".join(
        f"{_VERDICTS[result]}: {', '.join(by_result[result])}." for result in _VERDICTS if result in by_result
    )


def headed(outcome: Outcome, command: str = "{}") -> tuple[str, str, tuple[str, ...]]:
    """Return the head of a change's text, verdict and undo; then the rest.

    Parameters:
        command: how an action such as `undo op_7f3a` is written; the action goes where `{}` is.

    Returns:
        The first paragraph, which is a line but for findings, the rest of the text, and the other next actions.
    """
    first, _, rest = outcome.text.strip("\n").partition("\n\n")
    actions = list(outcome.next_actions)
    if outcome.status != "applied" or outcome.operation_id is None:
        return first, rest, tuple(actions)
    is_recorded = not any(notice.code == UNRECORDED for notice in outcome.warnings)
    back = (
        f"take it back: {command.replace('{}', actions.pop(0), 1)}" if actions and is_recorded else outcome.operation_id
    )
    return f"{first}  ({back})", rest, tuple(actions)


def with_checks(outcome: Outcome, checks: Sequence[Check], *, silent: bool = False) -> Outcome:
    """Return an outcome with more checks.

    Parameters:
        silent: whether its text does not tell of them, since the caller asked for none.
    """
    if not checks:
        return outcome
    text = outcome.text if silent else f"{outcome.text} {verdict(checks)}"
    return structs.replace(outcome, checks=(*outcome.checks, *checks), text=text)


_VERDICTS = {"failed": "Failed", "passed": "Verified", "failed_before": "Failed before, too", "not_run": "Not verified"}


def failed(error: ResourceError) -> Outcome:
    """Return the outcome that an error comes to."""
    failure = Failure(code=error.code, message=error.message, hints=error.hints, candidates=error.candidates)
    return Outcome(
        status="error",
        text=error.message,
        diff=str(error.details.get(PREVIEW, "")),
        checks=tuple(Check(**each) for each in error.details.get(CHECKS, ())),
        warnings=warned_by(error),
        etag=error.details.get(ETAG),
        complete=False,
        errors=(failure,),
        next_actions=error.hints,
        exit_code=error.exit_code,
        report=error.details.get(REPORT),
        draft=error.details.get(DRAFT),
    )


def telling(error: ResourceError, notices: Iterable[Notice]) -> ResourceError:
    """Return an error that tells as well what has nothing to do with it, as a success does by its warnings."""
    warnings = [{"code": each.code, "message": each.message} for each in (*notices, *warned_by(error))]
    details = {**error.details, WARNED: warnings} if warnings else error.details
    return error.altered(details=details)


def warned_by(error: ResourceError) -> tuple[Notice, ...]:
    """Return the notices of an error, beside its message."""
    return tuple(Notice(each["code"], each["message"]) for each in error.details.get(WARNED, ()))


class Text(str):
    """The answer of a reading call: the text itself, and what is known about it."""

    outcome: Outcome

    def __new__(cls, outcome: Outcome) -> Text:
        """Make a text that carries its outcome."""
        text = super().__new__(cls, outcome.text)
        text.outcome = outcome
        return text

    def __getnewargs__(self) -> tuple[Outcome]:  # type: ignore[override]
        """Copy and pickle a text as what it was made of."""
        return (self.outcome,)

    @property
    def etag(self) -> str | None:
        """Digest of the symbol that was read; hand it to `if_match`."""
        return self.outcome.etag

    @property
    def address(self) -> str | None:
        """Canonical address of what was read."""
        return self.outcome.address

    @property
    def complete(self) -> bool:
        """Return whether this is the whole text."""
        return self.outcome.complete
