"""The process that holds a session's namespace and runs its blocks; started by `session.child.process`.

Invariants:
- it says its messages on a descriptor of its own, and whatever the code prints goes elsewhere;
- before each block standard output is there, and Python's own names, our modules and the search path are as they were;
- to be started imports nothing of the project, whose modules are only made importable (`finding`);
- it ends when the session does: when its pipe of orders is closed.
"""

from __future__ import annotations

import builtins
import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO, TypeVar

import msgspec

from bae_source.adapters.session.block import Blocks, Came, interrupted, restore_builtins, untold
from bae_source.adapters.session.calls import Tool
from bae_source.adapters.session.child.finding import find_modules_of
from bae_source.adapters.session.child.messages import (
    Complete,
    Completed,
    Done,
    Execute,
    Mouth,
    Order,
    Ready,
    Received,
    Shown,
    Start,
)
from bae_source.adapters.session.completing import completions
from bae_source.adapters.session.events import LeftOut, speakable
from bae_source.adapters.session.namespace import Namespace
from bae_source.adapters.session.profile import Profile
from bae_source.adapters.session.trail import START, labels
from bae_source.adapters.session.ways import Way
from bae_source.adapters.session.words import Word
from bae_source.engine.registry import REQUESTS
from bae_source.engine.service import Service
from bae_source.model.outcome import Outcome, to_json
from bae_source.system.own_path import OURS

T = TypeVar("T")
_PIECE = 1 << 16
OWN_MODULES = OURS | {"argcomplete", "rich"}
"""Beginnings of the names of our modules, and of those that they need."""
_NOTHING = "help(NAME) tells all of a tool or a place, nav() where there is what."
"""Answer of `help` to a call without an argument."""
_DEAF = 74
"""The exit status of a worker that cannot be spoken with any more."""


def serve(*given: str) -> None:
    """Run blocks until the pipe of orders is closed.

    Parameters:
        given: the descriptor that gives orders, the one that takes messages, and a `Start` as JSON.
    """
    orders, messages = map(int, given[:2])
    for descriptor in (orders, messages):
        os.set_inheritable(descriptor, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    start = msgspec.json.decode(given[2].encode(), type=Start)
    worker = Worker(start, Mouth(messages))
    status = 0
    try:
        worker.say_ready()
        received = Received(Order)
        while piece := os.read(orders, _PIECE):
            for order in received.take(piece):
                if _is_left(orders):
                    break  # before it is begun: the session has interrupted us already
                worker.obey(order)
    except Exception:  # noqa: BLE001  # the edge: the code broke what is ours, and the session learns that this has ended
        status = _DEAF
    os._exit(status)  # threads of the code's may go on for ever


def _is_left(orders: int) -> bool:
    """Return whether the pipe of orders is closed."""
    waiting = select.poll()
    waiting.register(orders, 0)
    return bool(waiting.poll(0))


class Worker:
    """A namespace, and what runs blocks in it."""

    def __init__(self, start: Start, mouth: Mouth) -> None:
        self._mouth = mouth
        self._output = _Output()
        module = ModuleType("__main__", "A session of bae_source.")
        sys.modules["__main__"] = module
        service = Service(Path.cwd(), environment=os.environ)
        found, finder = find_modules_of(service)
        self._notices = found.notices
        self._guard = _Guard()
        self._namespace = Namespace(
            service,
            mouth.say,
            vars(module),
            who=start.who,
            budget=start.budget,
            alone=finder.alone,
            profile=Profile(start.profile),
        )
        if start.steps:
            self._namespace.restore(start.steps)
        self._blocks = Blocks(vars(module), start.budget, _Saying(mouth), self._namespace.desk, found.installed)
        vars(builtins).update(
            help=_helping(self._namespace), exit=sys.exit, quit=sys.exit
        )  # what `site` gives, which -S leaves out

    def say_ready(self) -> None:
        """Report that the worker is ready for code."""
        self._mouth.say(Ready(notices=tuple(map(speakable, self._notices))))

    def obey(self, order: Order) -> None:
        """Carry out one order."""
        process = os.getpid()
        if isinstance(order, Complete):
            words, length = self._interruptibly(lambda: completions(self._namespace, order.text)) or ((), 0)
            self._mouth.say(Completed(number=order.number, words=tuple(map(speakable, words)), length=length))
            return
        self._output.renew()
        self._guard.keep()
        self._namespace.complete()
        came = self._interruptibly(lambda: self._run(order))
        if os.getpid() != process:
            os._exit(0)  # the code forked, and its child came as far as this
        self._guard.restore()
        try:
            self._mouth.say(self._done(order.number, came or interrupted()))
        except (TypeError, ValueError, OverflowError):  # a number that no message holds, for one
            self._mouth.say(self._done(order.number, untold()))

    def _run(self, order: Execute) -> Came:
        try:
            return self._blocks.run(order.number, order.code, whole=order.whole)
        finally:
            restore_builtins()
            self._output.flush()

    def _interruptibly(self, do: Callable[[], Any]) -> Any:
        """Do something that Ctrl-C ends; None if it did, and nothing in it has noticed."""
        try:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                return do()
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        except KeyboardInterrupt:
            return None
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _done(self, number: int, came: Came) -> Done:
        outcome, trail = came.outcome, self._namespace.trail
        return Done(
            number=number,
            outcome=to_json(outcome),
            answer=came.answer,
            address=outcome.address and speakable(outcome.address),
            exit_code=outcome.exit_code,
            value=(value := speakable(came.value)),
            value_length=came.value_length + len(value) - len(came.value),
            traceback=speakable(came.traceback),
            is_call=came.is_call,
            entry=came.entry,
            steps=tuple(step.name for step in trail),
            trail=labels(trail),
        )


class _Saying:
    """Says what is shown of a block before its end."""

    def __init__(self, mouth: Mouth) -> None:
        self._mouth = mouth

    def show(self, outcome: Outcome, answer: str) -> None:
        """Show the value of a call that is a statement."""
        address = outcome.address and speakable(outcome.address)
        self._mouth.say(Shown(outcome=to_json(outcome), address=address, exit_code=outcome.exit_code, answer=answer))

    def leave_out(self, call: str, size: int) -> None:
        """Report the call that gives an outcome for which there is no room."""
        self._mouth.say(LeftOut(call=speakable(call), size=size))


class _Output:
    """Standard output and error: one pipe, whatever the code did to it in the block before."""

    def __init__(self) -> None:
        self._kept = os.dup(1)
        self._streams: tuple[TextIO, ...] = ()

    def renew(self) -> None:
        """Have both go to the pipe again."""
        for descriptor in (1, 2):
            os.dup2(self._kept, descriptor)
        if not self._streams or any(stream.closed for stream in self._streams):
            self._streams = tuple(
                open(number, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
                for number in (1, 2)
            )
        sys.stdout, sys.stderr = self._streams

    def flush(self) -> None:
        """Write what the code's streams still hold."""
        for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None), *self._streams):
            with suppress(Exception):  # whatever the code put there in its place
                stream.flush()  # type: ignore[union-attr]  # or it is none


class _Guard:
    """The state that must be as before for the next block to run: our modules, how modules are found, and limits."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}
        self._ours = frozenset(OWN_MODULES | {name.partition(".")[0] for name in sys.modules} | sys.stdlib_module_names)
        self._path = list(sys.path)
        self._finders = list(sys.meta_path)
        self._hooks = list(sys.path_hooks)
        self._limit = sys.getrecursionlimit()

    def keep(self) -> None:
        """Take our modules that are loaded now for those that have to be there; what else is loaded is the code's."""
        self._modules = {
            name: module
            for name, module in sys.modules.items()
            if name.partition(".")[0] in self._ours and name != "__main__"
        }

    def restore(self) -> None:
        """Put back what is not there any more; what has come stays."""
        modules: dict[str, Any] = sys.modules
        for name, module in self._modules.items():
            if modules.get(name) is not module and not _is_gone(module):
                modules[name] = module
        for name in [name for name, module in modules.items() if module is None and name not in self._modules]:
            if name.partition(".")[0] in OWN_MODULES:
                del modules[name]
        _complete(sys.path, self._path)
        _complete(sys.meta_path, self._finders)
        _complete(sys.path_hooks, self._hooks)
        with suppress(RecursionError):
            sys.setrecursionlimit(self._limit)
        sys.settrace(None)


def _is_gone(module: ModuleType) -> bool:
    """Return whether a module of the engine was taken back with its file, as a change of the engine can."""
    place = getattr(module, "__file__", None)
    return module.__name__.startswith("bae_source.") and isinstance(place, str) and not os.path.exists(place)  # noqa: PTH110


def _complete(now: list[T], before: Sequence[T]) -> None:
    """Put back what is not in a list any more, and all of it in the order that it had."""
    if any(each not in now for each in before):
        now[:] = [*before, *(each for each in now if each not in before)]


def _helping(namespace: Namespace) -> Callable[..., None]:
    """Return the `help` of a session: for our objects it shows our text, for any other Python's."""

    def show(*asked: Any) -> None:
        text = _help_of(asked[0], namespace) if asked else _NOTHING
        if text is not None:
            print(text)
            return
        import pydoc  # heavy, and rarely asked for

        pydoc.doc(asked[0])

    return show


def _help_of(asked: Any, namespace: Namespace) -> str | None:
    """Return the help of an object; None if it is not ours."""
    if type(asked) is str and (refusal := namespace.desk.profile.refusal(asked)) is not None:
        is_relayed = bool(namespace.desk.profile.through.get(asked))
        about = Tool(asked, namespace.desk, START[0]).help if is_relayed else refusal.message
        return "\n".join([about, *refusal.hints])
    found = _named(asked, namespace) if type(asked) is str else asked
    if type(found) is Tool or type(found) is Word:
        return found.help
    return namespace.described(found.name) if type(found) is Way else None


def _named(name: str, namespace: Namespace) -> Any:
    """Return the word, place or tool of a name, wherever the session is."""
    if name in namespace.words:
        return namespace.words[name]
    return Tool(name, namespace.desk, START[0]) if name in REQUESTS.verbs else namespace.names.get(name)
