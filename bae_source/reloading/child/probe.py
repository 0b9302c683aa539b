"""What runs in the project's interpreter: import or compile modules, and say for each how it went.

    python -P probe.py REQUEST ANSWER      REQUEST a JSON file, ANSWER a descriptor for lines of JSON

Sources stand in the request as latin-1 text, a character for each byte.

Invariants:
- only the standard library, in the syntax of Python 3.7: the project's interpreter is not ours;
- code of the project is compiled from its source, never taken from a bytecode cache, and nothing is written;
- whatever an import raises, `SystemExit` too, is an answer; the process ends without waiting for threads.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import json
import linecache
import os
import sys
from typing import Any

_MAX_FRAMES = 40
_MAX_TEXT = 4000
_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
_OURS = os.path.dirname(_HERE) + os.sep  # noqa: PTH120
"""The folder of all that loads modules, here or in the process that asks."""


def describe(error: BaseException) -> dict[str, Any]:
    """Return an exception as data: its type, its message, and its frames from the outermost to the innermost."""
    frames: list[dict[str, Any]] = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not _ours(code.co_filename):
            frames.append(
                {
                    "file": code.co_filename,
                    "module": str(step.tb_frame.f_globals.get("__name__", "?")),
                    "line": step.tb_lineno,
                    "function": code.co_name,
                    "text": linecache.getline(code.co_filename, step.tb_lineno).strip(),
                }
            )
        step = step.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        text = (error.text or "").strip()
        frames.append({"file": error.filename, "module": "?", "line": error.lineno or 1, "function": "", "text": text})
    return {"type": type(error).__name__, "message": _message(error), "frames": frames[-_MAX_FRAMES:]}


def _ours(filename: str) -> bool:
    frozen = filename.startswith("<frozen importlib") or filename == importlib.__file__
    return frozen or filename.startswith(_OURS)


def _message(error: BaseException) -> str:
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # noqa: BLE001 - a foreign __str__ may raise anything
        return "(its message cannot be shown)"
    path = getattr(error, "path", None)
    if isinstance(error, ImportError) and path:
        text = text.replace(" (%s)" % path, "")  # noqa: UP031
    return str(text)[:_MAX_TEXT]


def main(request_file: str, answer: int) -> None:
    """Do what the request says, a line of answer for each step."""
    with open(request_file, encoding="utf-8") as stream:  # noqa: PTH123
        request = json.load(stream)
    process = os.getpid()

    def say(**line: Any) -> None:
        if os.getpid() != process:
            os._exit(0)  # a fork that came back from an import: the answer is its parent's
        text = (json.dumps(line) + "\n").encode()
        try:
            os.write(answer, text)
        except OSError:  # an import closed all descriptors, as a daemon does
            with open(request["spare"], "ab") as spare:  # noqa: PTH123
                spare.write(text)

    say(ready=list(sys.version_info[:3]))
    _prepare(request)
    for job in request["jobs"]:
        try:
            _do(job)
        except BaseException as error:  # noqa: BLE001 - an import may call exit()
            say(key=job["key"], error=describe(error))
        else:
            say(key=job["key"], error=None)
    say(finished=True)
    os._exit(0)  # threads that an import started must not hold us up


def _prepare(request: dict[str, Any]) -> None:
    sys.path[:] = request["roots"] + [path for path in sys.path if path != _HERE and path not in request["roots"]]
    sys.argv[:] = [""]
    sys.dont_write_bytecode = True  # caches of installed packages are read: nobody edits those within a second
    os.environ["PYTHONPYCACHEPREFIX"] = request["bytecode"]  # for what an import may start itself
    bypass_caches(request["project"])
    if request["overlay"]:
        sys.meta_path.insert(0, _Overlay(request["overlay"]))


def _do(job: dict[str, Any]) -> None:
    if job["import"]:
        importlib.import_module(job["name"])
        return
    if job["source"] is not None:
        source = job["source"].encode("latin-1")
    else:
        with open(job["path"], "rb") as stream:  # noqa: PTH123
            source = stream.read()
    compile(source, job["path"], "exec", dont_inherit=True)


def bypass_caches(project: str) -> None:
    """Compile the project's files from source whenever they are imported."""
    loader = importlib.machinery.SourceFileLoader
    cached = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        if path.startswith(project + os.sep) and "site-packages" not in path:
            return self.source_to_code(self.get_data(path), path)
        return cached(self, fullname)

    loader.get_code = get_code  # type: ignore[method-assign]


class _Overlay:
    """Serve modules as they were before an edit, from memory; those that did not exist are not found."""

    def __init__(self, overlay: dict[str, Any]) -> None:
        self._overlay = overlay

    def find_spec(self, fullname: str, *_: Any) -> Any:
        """Find a module that the overlay speaks of."""
        if fullname not in self._overlay:
            return None
        module = self._overlay[fullname]
        if module["source"] is None:
            raise ModuleNotFoundError("No module named %r" % fullname, name=fullname)  # noqa: UP031
        loader = _FromMemory(fullname, module["path"], module["source"].encode("latin-1"))
        folders = [os.path.dirname(module["path"])] if module["package"] else None  # noqa: PTH120
        return importlib.util.spec_from_file_location(
            fullname, module["path"], loader=loader, submodule_search_locations=folders
        )


class _FromMemory(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, source: bytes) -> None:
        super().__init__(fullname, path)
        self._source = source

    def get_data(self, path: Any) -> bytes:
        return self._source if path == self.path else super().get_data(path)

    def get_code(self, _: str) -> Any:
        return self.source_to_code(self._source, self.path)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
