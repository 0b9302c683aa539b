"""Start the command line: `python -m bae_source VERB …`, and the console script `bae-source`.

Invariants:
- whatever interrupts the process, also while it is still loading, ends it without a traceback;
- what was registered for the end of the process is done, and what was written is flushed, before it ends;
- no module of the project is taken for one of ours or of a library: run as a program, this looks in no folder that was
  put first on the path for it. `python -m` has left it out already; `python FILE` and a profiler's `-m` have not.
"""

import sys

if (
    __name__ == "__main__"
    and not sys.flags.safe_path
    and getattr(sys.modules.get("bae_source"), "_folder_left_out", None) is None
):
    del sys.path[0]  # before anything else is imported

import _signal as signal  # type: ignore[import-not-found]  # what signal is, without the 1 ms that its names take
import gc
import os
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

INTERRUPTED = 130
_OBJECTS = 500_000
"""How many more objects than before a process of our own may hold until it looks for cycles among them: what it held
for one answer ends with it, and to look through that took a tenth of the time, but garbage stays bounded."""


def main(*, process_is_ours: bool = False) -> int:
    """Run the command line on this process's arguments and return its exit status.

    Parameters:
        process_is_ours: whether the process was started for this and nothing else.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup has it ignored
            signal.signal(number, _interrupt)
    try:
        return _loaded(process_is_ours)()
    except KeyboardInterrupt:
        return INTERRUPTED


def start() -> NoReturn:
    """Run the command line and end this process, without taking apart first what it holds: that takes 20 ms.

    No thread of ours has work left by then, and connections have been closed by those who opened them. A debugger or
    profiler that watches gets its usual end.
    """
    import atexit  # only a process that is ours is ended so

    _stop_clock()
    status = main(process_is_ours=True)
    with suppress(KeyboardInterrupt):  # whatever is being ended is then not waited for
        from bae_source.system.watching import is_watched  # Ctrl-C while it loads must not show a traceback

        if is_watched():
            sys.exit(status)
        atexit._run_exitfuncs()  # noqa: SLF001  # there is no other way to have them run before `_exit`
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # gone or closed; what matters was flushed when written
            stream.flush()
    os._exit(status)


def _loaded(process_is_ours: bool) -> Callable[[], int]:
    """Load the command line; nothing of it will ever be garbage, so the collector need not look at it."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        _load_values(process_is_ours)
        from bae_source.adapters.cli import cli  # heavy: Ctrl-C while it loads must not show a traceback

        gc.freeze()
        if process_is_ours:
            gc.set_threshold(_OBJECTS)
    finally:
        if collecting:
            gc.enable()
    door = cli.through_own_process if process_is_ours else cli.through_service
    return lambda: cli.main(door=door)


def _load_values(process_is_ours: bool) -> None:
    """Load what values are made of without what it takes for things that we do not ask of it: that costs 30 ms.

    msgspec takes typing_extensions before typing where it is there. It loads what makes schemas, reads TOML and YAML,
    and knows decimal numbers and UUIDs, which no value of ours is; and it tries out what a forward reference takes,
    for which Python makes all classes of syntax trees. Before Python 3.13, pathlib loads what paths are on Windows, and
    all of urllib to quote what becomes a URI. Before 3.12, datetime is made in Python, and then once more in C. Who
    shares a process may want all of that.
    """
    if not process_is_ours:
        _load("msgspec", {"typing_extensions": None})
        return
    if sys.version_info < (3, 12):
        import _datetime  # type: ignore[import-not-found]  # what datetime comes to

        sys.modules.setdefault("datetime", _datetime)
    if sys.version_info < (3, 13):
        quoting = SimpleNamespace(quote_from_bytes=_later("urllib.parse", "quote_from_bytes"))
        _load("pathlib", {"urllib.parse": quoting, "ntpath": _Later("ntpath")})
    schemas = {name: _later("msgspec._json_schema", name) for name in ("schema", "schema_components")}
    others: dict[str, object] = {name: _Later(name) for name in ("msgspec.inspect", "msgspec.toml", "msgspec.yaml")}
    others["decimal"] = SimpleNamespace(Decimal=_Nothing)
    others["uuid"] = SimpleNamespace(UUID=_Nothing, SafeUUID=SimpleNamespace(unknown=None))
    others["msgspec._json_schema"] = SimpleNamespace(**schemas)
    typing.ForwardRef, whole = _Nothing, typing.ForwardRef  # type: ignore[misc, assignment]
    try:
        _load("msgspec", {"typing_extensions": None, **others})
    finally:
        typing.ForwardRef = whole  # type: ignore[misc]


class _Nothing:
    """What msgspec takes for the type of values that there are not."""

    def __init__(self, *_: object, **__: object) -> None:
        pass


class _Later(ModuleType):
    """A module that is loaded when something in it is asked for."""

    def __getattr__(self, name: str) -> object:
        return _found(self.__name__, name)


def _later(module: str, name: str) -> Callable[..., object]:
    """Return what is called as a function of a module that is loaded then."""
    return lambda *given, **named: _found(module, name)(*given, **named)


def _found(module: str, name: str) -> Any:
    from importlib import import_module  # hardly anybody asks

    return getattr(import_module(module), name)


def _load(name: str, instead: Mapping[str, object]) -> None:
    """Load a library while others that it asks for are missing, or something else stands there in their place."""
    replaced = {each: it for each, it in instead.items() if each not in sys.modules}
    if name in sys.modules or not replaced:
        return
    sys.modules.update(replaced)  # type: ignore[arg-type]
    try:
        __import__(name)
    finally:
        for each in replaced:
            del sys.modules[each]


def _stop_clock() -> None:
    """Let a clock that Python cannot tell stand still: from the year 2262 on, libraries that ask it would not load."""
    import time

    try:
        time.time()
    except OverflowError:
        last = 2**63 - 1
        time.time_ns, time.time = lambda: last, lambda: last / 1e9


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """End as Ctrl-C does: what was begun is taken back, and no child is left behind."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    start()
