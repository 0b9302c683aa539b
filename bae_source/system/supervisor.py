"""The process above a child: it ends the child and everything that the child starts, whatever becomes of us.

    ours -> supervisor, a program of its own -> child -> what the child starts

    python -c "…; supervisor.main()" CONTROL STATUS GRACE PASSED PROGRAM ARGUMENT…

After kill -9 nothing is left of our process that could end a child, and Linux's parent-death signal goes by the
thread that started it. So a process waits at a pipe (CONTROL) of which we alone hold the other end: a byte asks it to
interrupt the child, and the end of the pipe to end everything. A child is interrupted and has GRACE
seconds before it is killed, where it has any. When nothing is left alive, STATUS takes how the child ended.

Invariants:
- it runs none of the child's code, nor any of ours but this file, and keeps no descriptor open that is the child's;
- on Linux it is given whatever its descendants leave behind, also what has begun a session of its own (a "subreaper");
  elsewhere the child's own session is killed, and what has left that is out of reach;
- processes are ended while they are known to be its own descendants, so no number is taken for another process's.
"""

import _signal as signal  # type: ignore[import-not-found]  # what signal is, without the 4 ms that its names take
import os
import select
import sys
import time

_ADOPT = 36
"""PR_SET_CHILD_SUBREAPER, see prctl(2)."""
_SECONDS = 10.0


def main() -> None:
    """Run a command to its end below this process, both as its arguments say."""
    control, status, grace, passed, *command = sys.argv[1:]
    _supervise(int(control), int(status), float(grace), [int(each) for each in passed.split()], command)


def _supervise(control: int, status: int, grace: float, passed: list[int], command: list[str]) -> None:
    _adopt()
    wake, woken = os.pipe()
    child = os.fork()
    if not child:
        os.close(control)
        _become(command, status)
    try:
        _prepare(passed, woken)
        _tell(status, b"p%d\n" % child)
        ended = _watch(child, control, wake, grace)
        _end_all(child)
        _tell(status, b"s%d\n" % ended)
    finally:
        os._exit(0)


def _tell(status: int, line: bytes) -> None:
    """Write a line about the child to our process, if that still reads."""
    try:
        os.write(status, line)
    except OSError:
        return


def _adopt() -> None:
    """Be given what descendants leave behind, where the system does that."""
    if sys.platform != "linux":
        return
    try:
        import _ctypes as system  # what ctypes is, without the 2 ms that it takes
    except ImportError:  # a Python without it
        return
    own = system.dlopen(None, 0)  # type: ignore[arg-type]  # this program with its libraries
    system.call_function(system.dlsym(own, "prctl"), (_ADOPT, 1, 0, 0, 0))


def _become(command: list[str], status: int) -> None:
    """Be the child; where it cannot be started, say why."""
    try:
        os.setsid()
        os.set_inheritable(status, False)
        for name in ("SIGPIPE", "SIGXFSZ"):  # which Python ignores
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(status, b"e%d\n" % (error.errno or 0))
    finally:
        os._exit(127)


def _prepare(passed: list[int], woken: int) -> None:
    """Let go of what is the child's, and be woken when a process ends."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    for descriptor in passed:
        os.close(descriptor)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # a signal that is ignored would not wake `select`
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)


def _watch(child: int, control: int, wake: int, grace: float) -> int:
    """Wait until the child has ended, or shall end; return its wait status."""
    waiting = select.poll()
    waiting.register(control, select.POLLIN)
    waiting.register(wake, select.POLLIN)
    deadline: float | None = None
    while (ended := _reaped(child)) is None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            os.kill(child, signal.SIGKILL)  # it has not been waited for, so the number is still its own
            deadline = left = None
        for descriptor, _ in waiting.poll(None if left is None else left * 1000):
            asked = os.read(descriptor, 64)
            if descriptor == wake:
                continue
            if not asked:
                waiting.unregister(control)
                deadline = time.monotonic() + grace
            if asked or grace:
                os.kill(child, signal.SIGINT)
    return ended


def _reaped(child: int) -> int | None:
    """Take note of every process that has ended; return how the child did, if it did."""
    found = None
    try:
        while True:
            process, ended = os.waitpid(-1, os.WNOHANG)
            if not process:
                return found
            if process == child:
                found = ended
    except ChildProcessError:
        return found


def _end_all(child: int) -> None:
    """Kill what is left: the child's group, and, generation by generation, whatever has become ours."""
    _kill(os.killpg, child)
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        for process in _children():
            _kill(os.kill, process)
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.005)
        except ChildProcessError:
            return


def _kill(kill, number: int) -> None:  # type: ignore[no-untyped-def]  # what says which is not loaded here
    try:
        kill(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # none is left; macOS raises the second
        return


def _children() -> list[int]:
    """Return the children of this process, where the system tells them."""
    own = os.getpid()
    try:
        with open(f"/proc/{own}/task/{own}/children", encoding="ascii") as listed:  # noqa: PTH123 - pathlib takes 10 ms
            return [int(each) for each in listed.read().split()]
    except OSError:
        return []
