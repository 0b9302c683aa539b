"""Run a program where no file can be locked: `python without_locks.py ERROR PROGRAM ARGUMENT…`.

A filter of system calls (seccomp), which the program and its children keep, has the kernel answer every locking
of a file with that error, as network file systems do.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

CALLS = {"x86_64": (0xC000003E, 73, 72), "aarch64": (0xC00000B7, 32, 25)}
"""The kernel's name of a machine, and its numbers of `flock` and `fcntl`."""
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def forbid_locks(number: int) -> None:
    """Have `flock`, and `fcntl` where it locks, fail with an error."""
    machine, flock, fcntl = CALLS[platform.machine()]
    instructions = (
        (_LOAD, 0, 0, 4),  # the machine
        (_EQUAL, 1, 0, machine),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, 0),  # the call
        (_EQUAL, 6, 0, flock),
        (_EQUAL, 1, 0, fcntl),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, 24),  # its second argument
        (_EQUAL, 2, 0, 6),  # F_SETLK
        (_EQUAL, 1, 0, 7),  # F_SETLKW
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | number),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in instructions))
    program = _Program(len(instructions), ctypes.cast(code, ctypes.c_void_p))
    library = ctypes.CDLL(None, use_errno=True)
    for call in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)):
        if library.prctl(*call):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    forbid_locks(getattr(errno, sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
