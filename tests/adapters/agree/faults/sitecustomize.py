"""A disk that fails, for processes of the conformance test: from the n-th `fsync` on, while a file says so.

Python loads a module of this name when it starts; the file that `AGREE_FAULT` names holds the number. Another of that
name is not loaded, so it has every pytest load no installed plugin, as all tests do.
"""

import errno
import os

_place = os.environ.get("AGREE_FAULT", "")
_sync = os.fsync
_seen: dict[int, int] = {}


def _fsync(descriptor: int) -> None:
    """Make a file durable, or fail as a broken disk does."""
    try:
        with open(_place) as file:  # noqa: PTH123
            number, first = os.fstat(file.fileno()).st_mtime_ns, int(file.read())
    except OSError:
        return _sync(descriptor)
    _seen[number] = _seen.get(number, 0) + 1
    if _seen[number] >= first:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return _sync(descriptor)


os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
if _place:
    os.fsync = _fsync  # type: ignore[assignment]
