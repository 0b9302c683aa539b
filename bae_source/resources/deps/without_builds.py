"""Pip that starts no program, so that it builds nothing: the text of this module is what its interpreter runs.

`--only-binary` keeps it from source distributions of an index. But a wheel may need something by its address, and pip
builds that even on trial, or fetches it by git or another program.

It is run by whichever Python a project has, with nothing of ours beside it.
"""

import runpy
import sys

_STARTING = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty")
_ASKED = "keyring"
"""The program that pip may ask for a password of an index."""


def _refuse(event, arguments):  # type: ignore[no-untyped-def]
    if event in _STARTING and str(arguments[0] if arguments else "").replace("\\", "/").rpartition("/")[2] != _ASKED:
        raise PermissionError(
            "only wheels of an index are installed here, and this needs a program to build or fetch it"
        )


if __name__ == "__main__":
    sys.addaudithook(_refuse)
    sys.argv[0] = "pip"
    runpy.run_module("pip", run_name="__main__", alter_sys=True)
