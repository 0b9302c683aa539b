"""Notify the user that a change waits, by the program that the user's own settings name.

    notify = ["notify-send", "A change waits for you"]      gets facts as JSON on its standard input, a line a change

Invariants:
- no project has a say in which program runs, and it is not taken from the project, wherever `PATH` leads;
- it has some seconds, and ends with us: a notification that failed is sent by the next request about proposals.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bae_source.errors import ResourceError
from bae_source.project.files.user_settings import user_file
from bae_source.system.child import CannotStart, run
from bae_source.system.programs import within_reach

TIME_LIMIT = 10.0
"""Seconds that the program may take."""


def notified(waiting: Sequence[Any], root: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Have the user notified, and return the names of the proposals of which that worked.

    Parameters:
        waiting: proposals without a notification so far.
    """
    if not waiting:
        return ()
    names = tuple(each.id for each in waiting)
    try:
        command = user_file(environment).value("notify")
    except ResourceError:
        return ()
    if not command:
        return names  # nothing is wanted, also later
    search_path = within_reach(environment.get("PATH", os.defpath), root)
    program = shutil.which(command[0], path=search_path)
    if program is None:
        return ()
    lines = "".join(f"{json.dumps(each)}\n" for each in _facts(waiting, root))
    own = {**environment, "PATH": search_path}
    try:
        done = run([program, *command[1:]], folder=root, environment=own, time_limit=TIME_LIMIT, given=lines.encode())
    except CannotStart:
        return ()
    return names if done.status == 0 and not done.timed_out else ()


def _facts(waiting: Sequence[Any], root: Path) -> Iterator[dict[str, Any]]:
    for each in waiting:
        yield {
            "task_id": each.id,
            "project": str(root),
            "who": each.who,
            "reason": each.reason,
            "goal": each.goal,
            "summary": each.summary,
            "risk": each.risk.level,
            "at": each.at,
        }
