"""One block of code: compiled, run in a namespace, and its result, as an outcome.

    read("app.core.f")          a call that is a statement: the value of a tool is shown
    len(read("app.core.g"))     any other value is, only if it is the last one
    source.app()                a transition is its event, and what the place shows comes by nav() or help(source.app)

The value of its last expression is its result; `await` may stand at the top level. A call in a loop, a function or an
argument is no statement of the block: its event says what it returned.

Invariants:
- whatever the code raises is an outcome, and that is within the budget as any value is;
- nothing that it does to Python's own names outlives the block;
- no code of the caller's objects runs outside the block: also their `repr` runs within its time.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import linecache
import traceback
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from inspect import CO_COROUTINE
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from bae_source.adapters.session.bounded import Room, bounded_error, cut_note, exact, selected
from bae_source.adapters.session.calls import Desk, outcome_of, request_of
from bae_source.adapters.session.displays import Display, Entry
from bae_source.adapters.session.events import breadcrumb
from bae_source.engine.registry import REQUESTS
from bae_source.errors import ResourceError
from bae_source.model.call import call_of
from bae_source.model.outcome import Failure, Outcome
from bae_source.model.page import cut_to, size_of

if TYPE_CHECKING:
    import asyncio
    from types import CodeType

INTERRUPTED = "interrupted"
_ANYTHING = BaseException
_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_REMEMBERED = 50
_LONGEST_REMEMBERED = 200_000
_LONGEST_MESSAGE = 2_000
_LEAST_MESSAGE = 200
_LONGEST_NAME = 200
_LONGEST_TRACEBACK = 20_000
_MOST_FRAMES = 30
_LONGEST_CALL = 200
_WAYS = "VIRTUAL_ENV, .venv or [tool.bae-source] python"
_FILE = "<block "
_HOME = str(Path(__file__).parent.parent.parent)
CODE_FAILED = "code_failed"
"""The code of an outcome whose block raised an error that is not the engine's."""


class Came(Struct, frozen=True, kw_only=True):
    """The result of running a block.

    Parameters:
        outcome: of the call whose value it has, or of its own.
        is_call: whether it is a call's.
        answer: the JSON that the call answers with, where that is no outcome's.
        value: the value of the last expression as Python shows it, if it is not a call's; its beginning, if it is long.
        value_length: how many characters it has in all.
        traceback: of the error that ended it, the caller's own lines alone.
        entry: what a place shows whose entering it ends with.
    """

    outcome: Outcome
    is_call: bool = False
    answer: str = ""
    value: str = ""
    value_length: int = 0
    traceback: str = ""
    entry: Entry | None = None


class Part(Struct, frozen=True, kw_only=True):
    """A part of a block that is run at once: statements, or one expression.

    Parameters:
        code: of it.
        call: the expression, if it is a call.
        is_last: whether it is the expression that the block ends with.
    """

    code: CodeType
    call: ast.expr | None = None
    is_last: bool = False


class Showing(Protocol):
    """Takes the values of calls that are statements, as they come."""

    def show(self, outcome: Outcome, answer: str) -> None:
        """Show one."""

    def leave_out(self, call: str, size: int) -> None:
        """Show the call that gives an outcome for which there is no room."""


class Blocks:
    """Runs blocks, one after another.

    Parameters:
        names: the namespace.
        budget: bytes of what values or an error tell.
        showing: takes what is shown before the last value.
        desk: what every tool of the session shares.
        installed: where installed packages come from, in one sentence.
    """

    def __init__(
        self,
        names: MutableMapping[str, Any],
        budget: int,
        showing: Showing,
        desk: Desk,
        installed: str = "",
    ) -> None:
        self._names = names
        self._budget = budget
        self._showing = showing
        self._is_allowed = desk.is_allowed
        self._profile = desk.profile
        self._installed = installed
        self._room = Room(budget, has_last=True, through=self._profile.through)
        self._runner: asyncio.Runner | None = None
        self._remembered: list[str] = []

    def run(self, number: int, code: str, *, whole: bool = False) -> Came:
        """Run a block.

        Parameters:
            whole: whether its value is wanted whole, whatever the budget.

        Raises:
            KeyboardInterrupt: it was interrupted where it could not be caught.
        """
        name = f"{_FILE}{number}>"
        try:
            parts = compiled(code, name)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            return _unparsable(error, code)
        self._remember(name, code)
        last = parts[-1] if parts and parts[-1].is_last else None
        room = None if whole else self._budget
        self._room = Room(room, has_last=last is not None, through=self._profile.through)
        try:
            value = self._executed(parts)
            return self._came(value, last) if last is not None else self._came(None, None)
        except _ANYTHING as error:  # the caller's code: whatever it raises, the session goes on
            _restore_builtins(_BUILTINS)
            return self._of_error(error)

    def _executed(self, parts: Sequence[Part]) -> Any:
        """Return the value of the last part of a block; where one of them awaits, all run in one event loop."""
        if any(part.code.co_flags & CO_COROUTINE for part in parts):
            import asyncio  # 40 ms, which only those pay who await

            if self._runner is None:
                self._runner = asyncio.Runner()
            return self._runner.run(self._awaited(parts))
        value = None
        for part in parts:
            value = eval(part.code, self._names)  # type: ignore[arg-type]  # it is a dict
            self._passed(value, part)
        return value

    async def _awaited(self, parts: Sequence[Part]) -> Any:
        value = None
        for part in parts:
            value = eval(part.code, self._names)  # type: ignore[arg-type]  # likewise
            if part.code.co_flags & CO_COROUTINE:
                value = await value
            self._passed(value, part)
        return value

    def _passed(self, value: Any, part: Part) -> None:
        """Show the value of a call that is a statement, and not the last one; say so where there is no room."""
        found = None if part.call is None or part.is_last else outcome_of(value)
        if found is None or part.call is None:
            return
        asked = request_of(value)
        outcome = self._room.take(found) if self._is_allowed(found) else self._room.of_statement(found, asked)
        if outcome is not None:
            self._showing.show(outcome, selected(found))
        else:
            call = (
                call_of(asked).written("session", self._profile.through)
                if asked is not None
                else _shortened(ast.unparse(part.call))
            )
            self._showing.leave_out(exact(call), size_of(found.text))

    def _came(self, value: Any, last: Part | None) -> Came:
        if value is None or last is None:
            return Came(outcome=Outcome(status="answer"))
        if isinstance(value, Display):
            if last.call is not None:  # which is a transition, and reported
                return Came(outcome=Outcome(status="answer", text=breadcrumb(value.trail)))
            display = Outcome(status="answer", text=str(value))
            return Came(outcome=self._room.of_last(display, None), is_call=True, entry=value.entry)
        if (found := outcome_of(value)) is not None:
            is_allowed = self._is_allowed(found)
            outcome = self._room.take(found) if is_allowed else self._room.of_last(found, request_of(value))
            return Came(outcome=outcome, is_call=True, answer=selected(found))
        text = exact(repr(value))
        shown = cut_to(text, self._budget)
        outcome = Outcome(status="answer", text=cut_note(shown, len(text)), complete=len(shown) == len(text))
        return Came(outcome=outcome, value=shown, value_length=len(text))

    def _of_error(self, error: BaseException) -> Came:
        """Return the result of an error, whose own code may fail while it is described."""
        try:
            return self._raised(error)
        except KeyboardInterrupt:
            raise
        except _ANYTHING:  # its class or its fields are the caller's code too
            _restore_builtins(_BUILTINS)
            return untold()

    def _raised(self, error: BaseException) -> Came:
        missing = _missing(error)
        refusal = error if isinstance(error, ResourceError) else self._profile.refusal(missing)
        if refusal is not None:
            return Came(outcome=bounded_error(refusal, self._budget), is_call=True, traceback=_traceback(error))
        if isinstance(error, KeyboardInterrupt):
            return interrupted(_traceback(error))
        line = _line(error)
        detail = _message(error, min(_LONGEST_MESSAGE, max(self._budget // 4, _LEAST_MESSAGE)))
        name = exact(type(error).__name__)[:_LONGEST_NAME]
        message = f"{name}{f': {detail}' if detail else ''}{f' (line {line})' if line else ''}"
        candidates = self._profile.close(missing) if missing and missing not in REQUESTS.verbs else []
        hints = ["Call one of the candidates."] if candidates else self._hints(error, missing)
        return Came(outcome=_failed(CODE_FAILED, message, hints, candidates), traceback=_traceback(error))

    def _hints(self, error: BaseException, missing: str) -> list[str]:
        """Return the hints for an error, as where a tool is that the current place does not have."""
        if places := self._profile.places(missing):
            return [
                f"{missing} is a tool of {place}: {place}() enters it, {call}(…) calls it." for place, call in places
            ]
        if isinstance(error, ModuleNotFoundError) and self._installed:
            return [f"{self._installed}; {_WAYS} names another environment."]
        if isinstance(error, SystemExit):
            return ["Nothing has ended but the block; the caller that opened a session ends it."]
        if isinstance(error, EOFError):
            return ["Code in a session has no standard input; give it what it needs as names."]
        return []

    def _remember(self, name: str, code: str) -> None:
        """Keep the lines of a block, for the tracebacks of functions that it defines."""
        if len(code) > _LONGEST_REMEMBERED:
            return
        if not isinstance(vars(linecache).get("cache"), dict):
            linecache.cache = {}  # the code broke it
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        self._remembered.append(name)
        if len(self._remembered) > _REMEMBERED:
            linecache.cache.pop(self._remembered.pop(0), None)


def interrupted(trace: str = "") -> Came:
    """Return the outcome of a block that was interrupted."""
    return Came(
        outcome=_failed(INTERRUPTED, "The block was interrupted; the names are as it left them.", []), traceback=trace
    )


def untold() -> Came:
    """Return the outcome of a block whose value or error cannot be shown."""
    message = "The block's value or error cannot be shown: its own code fails while it is described."
    return Came(outcome=_failed(CODE_FAILED, message, []))


def compiled(code: str, name: str) -> list[Part]:
    """Return the parts of a block: calls that are statements, the last expression, and what stands between them.

    x = 1               one part
    y = 2
    read("app")         another one, which is a call
    x + y               and the last one
    """
    tree = compile(code, name, "exec", _FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    flags = _FLAGS | _futures(tree)
    parts: list[Part] = []
    between: list[ast.stmt] = []

    def end_statements() -> None:
        if between:
            body = ast.Module(between[:], [])
            parts.append(Part(code=compile(body, name, "exec", flags, dont_inherit=True)))
            between.clear()

    for statement in tree.body:
        is_last = statement is tree.body[-1]
        if not isinstance(statement, ast.Expr) or not (is_last or _is_call(statement.value)):
            between.append(statement)
            continue
        end_statements()
        expression = compile(ast.Expression(statement.value), name, "eval", flags, dont_inherit=True)
        call = statement.value if _is_call(statement.value) else None
        parts.append(Part(code=expression, call=call, is_last=is_last))
    end_statements()
    return parts


def _is_call(value: ast.expr) -> bool:
    return isinstance(value.value if isinstance(value, ast.Await) else value, ast.Call)


def _shortened(call: str) -> str:
    """Return a call on one line, cut where it is long."""
    line = " ".join(call.split())
    return line if len(line) <= _LONGEST_CALL else f"{line[: _LONGEST_CALL - 1]}…"


def _futures(tree: ast.Module) -> int:
    """Return the flags of what a block imports from `__future__`, which holds for all its parts."""
    found = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
    features = (getattr(__future__, name.name, None) for each in found for name in each.names)
    flags = 0
    for feature in features:
        flags |= getattr(feature, "compiler_flag", 0)
    return flags


def _unparsable(error: BaseException, code: str) -> Came:
    place = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
    reason = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
    lines = code.splitlines()
    hints = []
    if isinstance(error, SyntaxError) and error.lineno and error.lineno <= len(lines):
        hints.append(f"It stands at: {lines[error.lineno - 1].strip()[:200]}")
    message = f"The block is not valid Python: {reason}{place}; nothing ran."
    return Came(outcome=_failed("syntax_invalid", message, hints))


def _failed(code: str, message: str, hints: list[str], candidates: Sequence[str] = ()) -> Outcome:
    failure = Failure(code=code, message=message, hints=tuple(hints), candidates=tuple(candidates))
    return Outcome(
        status="error", text=message, complete=False, errors=(failure,), next_actions=tuple(hints), exit_code=1
    )


def _message(error: BaseException, room: int) -> str:
    try:
        text = exact(str(error))
    except _ANYTHING as raised:  # an error's own text can fail as well
        return f"(its text raised {type(raised).__name__})"
    return cut_note(cut_to(text, room), len(text))


def _missing(error: BaseException) -> str:
    """Return the name that an error found to be none; empty for any other error."""
    name = error.name if isinstance(error, NameError) else None
    return name if type(name) is str else ""


def _line(error: BaseException) -> int | None:
    """Return the line of the block that an error came from."""
    own = [at for frame, at in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename.startswith(_FILE)]
    return own[-1] if own else None


def _traceback(error: BaseException) -> str:
    """Return the traceback of an error without the lines that are ours."""
    try:
        whole = traceback.TracebackException.from_exception(error, limit=-_MOST_FRAMES)
        each: traceback.TracebackException | None = whole
        while each is not None:
            each.stack = traceback.StackSummary.from_list([one for one in each.stack if _HOME not in one.filename])
            each = each.__cause__ or each.__context__
        text = "".join(whole.format())
    except _ANYTHING as raised:  # likewise
        return f"(its traceback raised {type(raised).__name__})"
    return text[-_LONGEST_TRACEBACK:]


def _restorer() -> tuple[Callable[[Mapping[str, Any]], None], dict[str, Any]]:
    """Return a function that puts Python's own names back without using one of them, and those names."""
    own = vars(builtins)
    return own.update, dict(own)


_restore_builtins, _BUILTINS = _restorer()


def restore_builtins() -> None:
    """Put Python's own names back where the code has changed or deleted them."""
    _restore_builtins(_BUILTINS)
