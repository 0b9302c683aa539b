"""A program for the project's interpreter: runs a codemod on files, with a line of answer for each.

    python -c "…; program.main()" ANSWER < REQUEST      ANSWER a descriptor for lines of JSON

REQUEST is what `marshal` makes of a mapping. The codemod is loaded once, and copies of this process run it.

    {"kind": "stopped", "code": "symbol_not_found", "text": "…", "names": […]}       nothing was run
    {"kind": "begun", "text": "ConvertFormatStringCommand"}
    {"kind": "changed", "index": 3, "digest": "…", "edits": [[120, 4, "new bytes"]], "warnings": […], "printed": "…"}
    {"kind": "failed", "index": 4, "text": "ValueError: no (app.mods:12)"}
    {"kind": "ended"}

Invariants:
- only the standard library and libcst, in the syntax of Python 3.9: the interpreter is not ours;
- a copy that ends or hangs costs the one file that it was on, which is named; what others had begun is done again;
- nothing below the project's folder is written, but by programs and extensions that a codemod starts.
"""

from __future__ import annotations

import importlib.util
import json
import marshal
import mmap
import os
import signal
import sys
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
_CHUNK_BYTES = 60_000
_CHUNK_FILES = 16
_SLACK = 10.0
"""Seconds that a chunk may take beyond the limits of its files, before all copies are ended."""
_ENDED_BY_US = (0, -signal.SIGTERM)
"""Exit codes of copies that the pool ended, since another one had broken it."""


def beside(name: str) -> Any:
    """Return a module that lies beside this one, whatever the project's modules are called."""
    full = "_bae_source_" + name
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, os.path.join(_HERE, name + ".py"))  # noqa: PTH118
        assert spec is not None
        assert spec.loader is not None
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


def main() -> None:
    """Do what the request says."""
    answer = int(sys.argv[1])
    os.set_inheritable(answer, False)

    def say(**line: Any) -> None:
        text = (json.dumps(line) + "\n").encode()
        while text:
            text = text[os.write(answer, text) :]

    request = marshal.loads(_all_input())
    loading = beside("loading")
    try:
        loaded = loading.load(request)
        say(kind="begun", text=loaded.name)
        _Pool(loaded, request, answer, say).run()
    except loading.Stopped as stopped:
        say(kind="stopped", code=stopped.code, text=stopped.text, names=stopped.names)
    say(kind="ended")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads that the codemod's module started must not hold us up


def _all_input() -> bytes:
    """Read the request, and leave nothing that a codemod could read."""
    with os.fdopen(os.dup(0), "rb") as stream:
        found = stream.read()
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    return found


class _Pool:
    """Copies of this process that run a codemod.

    Parameters:
        loaded: the codemod.
        request: as it was read.
        answer: the descriptor of the answer, which copies close.
        say: writes a line of it.
    """

    def __init__(self, loaded: Any, request: dict[str, Any], answer: int, say: Any) -> None:
        self._say = say
        self._seconds = float(request["seconds"])
        self._processes = int(request["processes"])
        self._files = request["files"]
        self._answer = answer
        self._states = mmap.mmap(-1, 4 * max(1, len(self._files)))
        self._done: set[int] = set()
        beside("fast").install()
        transforming = beside("transforming")
        self._traces = transforming.anonymous_file()
        transforming.WORK = transforming.Work(loaded, request, self._states, self._traces)
        self._transform = transforming.transform_all

    def run(self) -> None:
        """Run it on every file; what ends a copy is named, and the others are done by new ones."""
        waiting = _chunks(self._files)
        while waiting:
            is_clear = self._round(waiting)
            waiting = [left for chunk in waiting if (left := [each for each in chunk if each not in self._done])]
            if not is_clear:  # nobody can tell which file it was, so each is done by a copy of its own
                for index in [each for chunk in waiting for each in chunk]:
                    self._round([[index]])
                    if index not in self._done:
                        self._fail(index, "it ended the process that ran it, or did not end in time")
                return

    def _round(self, chunks: list[list[int]]) -> bool:
        """Run it on chunks of files until a copy ends; return whether it is known for which file, if one did."""
        from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
        from multiprocessing import get_context

        self._states[:] = bytes(len(self._states))
        pool = ProcessPoolExecutor(
            max_workers=max(1, min(self._processes, len(chunks))),
            mp_context=get_context("fork"),
            initializer=beside("transforming").begin,
            initargs=(self._answer,),
        )
        futures = {pool.submit(self._transform, chunk): chunk for chunk in chunks}
        processes = dict(pool._processes)  # noqa: SLF001 - by whose exit codes alone it is known which one ended
        left, is_broken, are_stuck = set(futures), False, False
        while left and not is_broken and not are_stuck:
            longest = max(len(futures[each]) for each in left)
            finished, left = wait(left, self._seconds * longest + _SLACK, FIRST_COMPLETED)
            are_stuck = not finished
            for future in finished:
                is_broken = self._take(future) or is_broken
        if are_stuck:  # a codemod has switched off the signal by which its time ends
            for process in processes.values():
                process.kill()
        pool.shutdown(wait=True)
        for future in futures:  # some may have come in before the end was seen
            self._take(future)
        return not are_stuck and (not is_broken or self._blame(processes))

    def _take(self, future: Any) -> bool:
        """Return what a chunk came to; return whether the pool is broken instead."""
        if not future.done() or future.cancelled():
            return False
        if future.exception() is not None:
            return True
        for line in future.result():
            if line["index"] not in self._done:
                self._done.add(line["index"])
                self._say(**line)
        return False

    def _blame(self, processes: dict[int, Any]) -> bool:
        """Name the files that ended a copy; return whether there are any."""
        ended = {pid: each.exitcode for pid, each in processes.items() if each.exitcode not in _ENDED_BY_US}
        is_blamed = False
        for index in range(len(self._files)):
            pid = int.from_bytes(self._states[4 * index : 4 * index + 4], "little")
            if pid in ended and index not in self._done:
                is_blamed = True
                self._fail(index, self._end(ended[pid]))
        return is_blamed

    def _end(self, code: int) -> str:
        """Return how a copy ended, as a clause."""
        if code == -signal.SIGALRM:
            place = beside("transforming").place_in_trace(self._traces)
            return f"it took longer than {self._seconds:g} seconds{place}"
        if code < 0:
            return f"it ended the process that ran it, by {signal.Signals(-code).name}"
        return f"it ended the process that ran it, with status {code}"

    def _fail(self, index: int, text: str) -> None:
        self._done.add(index)
        self._say(kind="failed", index=index, text=text)


def _chunks(files: list[list[Any]]) -> list[list[int]]:
    """Cut files into chunks of about equal size, the largest first, so that the last ones end together."""
    chunks: list[list[int]] = []
    size = 0
    for index in sorted(range(len(files)), key=lambda index: -files[index][2]):
        if not chunks or size + files[index][2] > _CHUNK_BYTES or len(chunks[-1]) >= _CHUNK_FILES:
            chunks.append([])
            size = 0
        chunks[-1].append(index)
        size += files[index][2]
    return chunks
