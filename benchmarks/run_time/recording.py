"""A plugin for pytest that records which calls happen while tests run, and which classes there are in the end.

It is loaded by itself, by an interpreter that has the package and pytest and nothing of ours:
`RECORDED_ROOT` is the project's folder, `RECORDED_PACKAGES` are the packages to import whole, `RECORDED_TO` is the file
to write.

Invariants:
- calls are those of a function of the project by code of the project, with the place of the instruction that calls;
- what stands between them (a built-in such as `sorted`) is noted, since the caller does not name what it calls then;
- CPython shows the creation of no generator or coroutine: of these the first step is recorded, where it is made.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

_MAKING = ("__init__", "__new__", "__post_init__", "__attrs_post_init__")
_NO_FUNCTIONS = ("<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>")
_STEPS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_root = f"{os.path.realpath(os.environ['RECORDED_ROOT'])}{os.sep}"
_calls: dict[tuple[CodeType, int, CodeType, bool, type | None], None] = {}
_of_project: dict[str, bool] = {}
_thread = threading.local()


def _is_of_project(code: CodeType) -> bool:
    path = code.co_filename
    if path not in _of_project:
        _of_project[path] = _is_inside(path)
    return _of_project[path]


def _is_inside(path: str) -> bool:
    return Path(path).is_file() and os.path.realpath(path).startswith(_root) and "site-packages" not in path


def _note(frame: FrameType, event: str, _: object) -> None:
    """Note an event, as `sys.setprofile` gives them."""
    try:
        inside = _thread.inside
    except AttributeError:
        inside = _thread.inside = []
    if event == "c_call":
        inside.append(frame)
    elif event in ("c_return", "c_exception"):
        if inside:
            inside.pop()
    elif event == "call":
        code, caller = frame.f_code, frame.f_back
        if caller is None or not _is_of_project(code) or not _is_of_project(caller.f_code):
            return
        if not code.co_flags & inspect.CO_OPTIMIZED or code.co_name in _NO_FUNCTIONS:
            return
        if frame.f_lasti > _first_step(code):
            return
        made = _made(frame) if code.co_name in _MAKING else None
        _calls[caller.f_code, caller.f_lasti, code, bool(inside) and inside[-1] is caller, made] = None


def _first_step(code: CodeType) -> int:
    """Return up to which instruction the first event of a function is its beginning."""
    return 8 if code.co_flags & _STEPS else sys.maxsize


def _made(frame: FrameType) -> type | None:
    first = frame.f_locals.get(frame.f_code.co_varnames[0]) if frame.f_code.co_argcount else None
    return first if isinstance(first, type) else type(first)


def pytest_configure() -> None:
    """Begin to record."""
    threading.setprofile(_note)
    sys.setprofile(_note)


def pytest_unconfigure() -> None:
    """Write what was recorded."""
    sys.setprofile(None)
    threading.setprofile(None)
    calls = [_call(*each) for each in list(_calls)]
    classes = [_class(each) for each in _classes()]
    record = {"calls": [each for each in calls if each], "classes": classes}
    Path(os.environ["RECORDED_TO"]).write_text(json.dumps(record), encoding="utf-8")


def _call(caller: CodeType, at: int, callee: CodeType, inside: bool, made: type | None) -> dict[str, Any] | None:
    positions = list(caller.co_positions())
    place = positions[at // 2] if 0 <= at // 2 < len(positions) else (None,) * 4
    if None in place:
        return None
    return {
        "from": os.path.realpath(caller.co_filename),
        "within": caller.co_qualname,
        "place": place,
        "to": os.path.realpath(callee.co_filename),
        "line": callee.co_firstlineno,
        "name": callee.co_qualname,
        "inside": inside,
        "made": [*_place_of(made), made.__qualname__] if made else None,
        "steps": bool(callee.co_flags & _STEPS),
    }


def _classes() -> Iterator[type]:
    """Yield the classes of the project, after all modules of its packages are imported."""
    for name in filter(None, os.environ.get("RECORDED_PACKAGES", "").split(",")):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(getattr(package, "__path__", []), f"{name}."):
            if not module.name.endswith("__main__"):
                try:
                    importlib.import_module(module.name)
                except (Exception, SystemExit) as error:  # noqa: BLE001 - what cannot be imported here makes no class
                    print(f"{module.name} is not imported: {error!r}", file=sys.stderr)
    waiting, seen = [object], {object}
    while waiting:
        for each in type.__subclasses__(waiting.pop()):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
                if _place_of(each)[0]:
                    yield each


def _class(of: type) -> dict[str, Any]:
    methods = {name: value for name, value in vars(of).items() if isinstance(_function(value), FunctionType)}
    return {
        "class": [*_place_of(of), of.__qualname__],
        "above": [[*_place_of(each), each.__qualname__] for each in of.__mro__[1:] if _place_of(each)[0]],
        "methods": {name: _is_own(value, of) for name, value in methods.items()},
    }


def _is_own(value: object, of: type) -> bool:
    """Say whether a method is defined in the class, and not put into it."""
    function = _function(value)
    assert isinstance(function, FunctionType)
    return function.__code__.co_qualname == f"{of.__qualname__}.{function.__code__.co_name}"


def _function(value: object) -> object:
    value = getattr(value, "__func__", value)
    value = value.fget if isinstance(value, property) else value
    return inspect.unwrap(value) if callable(value) else value


def _place_of(of: type | None) -> tuple[str, str]:
    """Return the file and the module of a class of the project."""
    module = sys.modules.get(getattr(of, "__module__", "") or "")
    path = os.path.realpath(getattr(module, "__file__", None) or "")
    return (path, module.__name__) if module and path.startswith(_root) and "site-packages" not in path else ("", "")
