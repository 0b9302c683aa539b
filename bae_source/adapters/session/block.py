"""One block of code: compiled, run in a namespace, and what it came to, as an outcome.

The value of its last expression is its result; `await` may stand at the top level.

Invariants:
- whatever the code raises is an outcome, and that is within the budget as any value is;
- nothing that it does to Python's own names outlives the block;
- nothing is asked of the caller's objects outside the block: also their `repr` runs within its time.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import traceback
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from inspect import CO_COROUTINE
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from bae_source.adapters.session.bounded import bounded, bounded_error, exact, plain, selected
from bae_source.adapters.session.calls import outcome_of
from bae_source.adapters.session.displays import Display, Entry
from bae_source.adapters.session.places import close_tools, holders
from bae_source.engine.registry import REQUESTS
from bae_source.errors import ResourceError
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
_FILE = "<block "
_HOME = str(Path(__file__).parent.parent.parent)
CODE_FAILED = "code_failed"
"""The code of an outcome whose block raised an error that is not the engine's."""


class Came(Struct, frozen=True, kw_only=True):
    """What a block came to.

    Parameters:
        outcome: of the call whose value it has, or of its own.
        is_call: whether it is a call's.
        answer: the JSON that the call answers with, where that is no outcome's.
        value: the value of the last expression as Python shows it, if it is not a call's.
        traceback: of the error that ended it, the caller's own lines alone.
        entry: what a place shows whose entering it ends with.
    """

    outcome: Outcome
    is_call: bool = False
    answer: str = ""
    value: str = ""
    traceback: str = ""
    entry: Entry | None = None


class Blocks:
    """Runs blocks, one after another.

    Parameters:
        names: the namespace.
        budget: bytes of what a value or an error tells.
        is_allowed: says of an outcome whether a call was answered with it that had a budget of its own.
    """

    def __init__(
        self, names: MutableMapping[str, Any], budget: int, is_allowed: Callable[[Outcome], bool] = lambda _: False
    ) -> None:
        self._names = names
        self._budget = budget
        self._is_allowed = is_allowed
        self._runner: asyncio.Runner | None = None
        self._remembered: list[str] = []

    def run(self, number: int, code: str) -> Came:
        """Run a block.

        Raises:
            KeyboardInterrupt: it was interrupted where it could not be caught.
        """
        name = f"{_FILE}{number}>"
        try:
            body, last = compiled(code, name)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            return _unparsable(error, code)
        self._remember(name, code)
        try:
            return self._came(self._executed([code for code in (body, last) if code is not None]))
        except _ANYTHING as error:  # the caller's code: whatever it raises, the session goes on
            _restore_builtins(_BUILTINS)
            return self._told(error)

    def _executed(self, codes: list[CodeType]) -> Any:
        """Return the value of the last of some codes; where one of them awaits, all run in one event loop."""
        if any(code.co_flags & CO_COROUTINE for code in codes):
            import asyncio  # 40 ms, which only those pay who await

            if self._runner is None:
                self._runner = asyncio.Runner()
            return self._runner.run(self._awaited(codes))
        value = None
        for code in codes:
            value = eval(code, self._names)  # type: ignore[arg-type]  # it is a dict
        return value

    async def _awaited(self, codes: list[CodeType]) -> Any:
        value = None
        for code in codes:
            value = eval(code, self._names)  # type: ignore[arg-type]  # likewise
            if code.co_flags & CO_COROUTINE:
                value = await value
        return value

    def _came(self, value: Any) -> Came:
        if value is None:
            return Came(outcome=Outcome(status="answer"))
        if isinstance(value, Display):
            outcome = plain(Outcome(status="answer", text=str(value)))
            return Came(outcome=bounded(outcome, self._budget), is_call=True, entry=value.entry)
        if (found := outcome_of(value)) is not None:
            is_allowed = self._is_allowed(found)
            outcome = plain(found) if is_allowed else bounded(plain(found), self._budget)
            return Came(outcome=outcome, is_call=True, answer=selected(found))
        text = exact(repr(value))
        is_whole = size_of(text) <= self._budget
        if not is_whole:
            text = f"{cut_to(text, self._budget)}… ({len(text):,} characters in all)"
        return Came(outcome=Outcome(status="answer", text=text, complete=is_whole), value=text)

    def _told(self, error: BaseException) -> Came:
        """Tell of an error, whatever it does when it is asked what it is."""
        try:
            return self._raised(error)
        except KeyboardInterrupt:
            raise
        except _ANYTHING:  # its class or its fields are the caller's code too
            _restore_builtins(_BUILTINS)
            return untold()

    def _raised(self, error: BaseException) -> Came:
        if isinstance(error, ResourceError):
            return Came(outcome=bounded_error(error, self._budget), is_call=True, traceback=_traceback(error))
        if isinstance(error, KeyboardInterrupt):
            return interrupted(_traceback(error))
        line = _line(error)
        told = _message(error, min(_LONGEST_MESSAGE, max(self._budget // 4, _LEAST_MESSAGE)))
        name = exact(type(error).__name__)[:_LONGEST_NAME]
        message = f"{name}{f': {told}' if told else ''}{f' (line {line})' if line else ''}"
        return Came(
            outcome=_failed(CODE_FAILED, message, _hints(error), _candidates(error)), traceback=_traceback(error)
        )

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
    """Return what a block comes to that was interrupted."""
    return Came(
        outcome=_failed(INTERRUPTED, "The block was interrupted; the names are as it left them.", []), traceback=trace
    )


def untold() -> Came:
    """Return what a block comes to whose value or error cannot be told."""
    message = "The block came to something that fails when it is asked what it is."
    return Came(outcome=_failed(CODE_FAILED, message, []))


def compiled(code: str, name: str) -> tuple[CodeType | None, CodeType | None]:
    """Return the code of a block's statements, and of its last one if that is an expression."""
    tree = compile(code, name, "exec", _FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    body = compile(tree, name, "exec", _FLAGS, dont_inherit=True) if tree.body else None
    if not isinstance(last, ast.Expr):
        return body, None
    return body, compile(ast.Expression(last.value), name, "eval", _FLAGS, dont_inherit=True)


def _unparsable(error: BaseException, code: str) -> Came:
    place = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
    said = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
    lines = code.splitlines()
    hints = []
    if isinstance(error, SyntaxError) and error.lineno and error.lineno <= len(lines):
        hints.append(f"It stands at: {lines[error.lineno - 1].strip()[:200]}")
    return Came(outcome=_failed("syntax_invalid", f"The block is not valid Python: {said}{place}; nothing ran.", hints))


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
    return text if size_of(text) <= room else f"{cut_to(text, room)}… ({len(text):,} characters in all)"


def _hints(error: BaseException) -> list[str]:
    """Say what can be done about an error: where a tool is that the current place does not have, for one."""
    name = error.name if isinstance(error, NameError) else None
    if isinstance(name, str) and name in REQUESTS.verbs:
        return [
            f"{name} is a tool of {place}: {place}() enters it, {place}.{name}(…) calls it." for place in holders(name)
        ]
    if _candidates(error):
        return ["Call one of the candidates."]
    if isinstance(error, SystemExit):
        return ["Nothing has ended but the block; a session is ended by whoever opened it."]
    if isinstance(error, EOFError):
        return ["Code in a session has no standard input; give it what it needs as names."]
    return []


def _candidates(error: BaseException) -> list[str]:
    """Return the tools that a name which is not there may stand for."""
    name = error.name if isinstance(error, NameError) else None
    if type(name) is not str or name in REQUESTS.verbs:
        return []
    return [f"{place}.{verb}" for verb in close_tools(name, REQUESTS.verbs) for place in holders(verb)]


def _line(error: BaseException) -> int | None:
    """Return the line of the block that an error came from."""
    own = [at for frame, at in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename.startswith(_FILE)]
    return own[-1] if own else None


def _traceback(error: BaseException) -> str:
    """Return the traceback of an error without the lines that are ours."""
    try:
        told = traceback.TracebackException.from_exception(error, limit=-_MOST_FRAMES)
        each: traceback.TracebackException | None = told
        while each is not None:
            each.stack = traceback.StackSummary.from_list([one for one in each.stack if _HOME not in one.filename])
            each = each.__cause__ or each.__context__
        text = "".join(told.format())
    except _ANYTHING as raised:  # likewise
        return f"(its traceback raised {type(raised).__name__})"
    return text[-_LONGEST_TRACEBACK:]


def _restorer() -> tuple[Callable[[Mapping[str, Any]], None], dict[str, Any]]:
    """Return what puts Python's own names back without using one of them, and those names."""
    own = vars(builtins)
    return own.update, dict(own)


_restore_builtins, _BUILTINS = _restorer()


def restore_builtins() -> None:
    """Put Python's own names back where the code has changed or deleted them."""
    _restore_builtins(_BUILTINS)
