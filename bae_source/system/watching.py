"""The question whether this process is watched: by a debugger, a profiler, or a tool that measures which lines ran."""

import sys

_MONITORS = range(6)
"""The ids of tools in `sys.monitoring`."""


def is_watched() -> bool:
    """Return whether a tracer or profiler is on; since Python 3.12 one need not show in `sys.getprofile`."""
    if sys.gettrace() is not None or sys.getprofile() is not None:
        return True
    return sys.version_info >= (3, 12) and any(map(sys.monitoring.get_tool, _MONITORS))
