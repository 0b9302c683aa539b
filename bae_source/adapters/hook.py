"""The pre-commit hook: names of files in, findings about what is staged out.

    python -m bae_source hook app/core.py app/client.py
    app.core:3: NAME_NOT_FOUND app.client has no sned.

Invariants:
- the hook stages nothing, and writes only where `--fix` asks for it, by a change that can be undone;
- nothing of the project is run, with `--fix` neither: to lose a name that is not there breaks no import;
- after a change the exit status is 1: it has to be looked at and staged.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bae_source.adapters.cli.streams import Streams
from bae_source.engine.registry import request
from bae_source.engine.service import Context, Service, find_root
from bae_source.errors import ResourceError
from bae_source.model.finding import UNFINISHED, Finding, on_one_line
from bae_source.model.outcome import Notice, Outcome
from bae_source.system.git_places import absolute_places

_WHY = "What the hook found about __all__"
_SHOWN = 10
_PYTHON = (".py", ".pyi", ".pyw")


def hook(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Check what is staged, and mend what can be on request.

    Parameters:
        given: `files` as the caller names them, `root`, and whether to `fix`.

    Raises:
        ResourceError: why it cannot be checked.
    """
    here = Path.cwd()
    root = Path(given["root"]) if "root" in given else find_root(here, streams.environment)
    named = given.get("files")
    below = {name: _below(root, here, name) for name in named or ()}
    files = [path for path in below.values() if path is not None]
    outside = _outside([name for name, path in below.items() if path is None])
    if named and not files:
        text = "(nothing was looked at: none of the files lies in the project)"
        return Outcome(status="answer", text=text, warnings=outside, complete=not outside)
    service = Service(root, environment=_with_places(streams.environment, here))
    try:
        outcome = service.run(request("check_staged", {"files": files}), Context())
        if outside:
            outcome = replace(outcome, warnings=(*outside, *outcome.warnings), complete=False)
        mendable = _mendable(outcome) if given.get("fix") else []
        return _mended(service, outcome, mendable) if mendable else outcome
    finally:
        service.close()


def _mendable(outcome: Outcome) -> list[Finding]:
    """Return the findings that can be mended; none while a transaction is unfinished, which any change would finish."""
    found = [each for each in outcome.found if isinstance(each, Finding)]
    return [] if any(each.code == UNFINISHED for each in found) else [each for each in found if each.mend]


def _mended(service: Service, outcome: Outcome, mendable: Sequence[Finding]) -> Outcome:
    """Mend what can be, and return the findings with what was done; on a refusal nothing has changed."""
    names: dict[str, list[str]] = {}
    for each in mendable:
        names.setdefault(each.address, []).append(each.mend)
    todo = [{"do": "exports_mend", "target": f"{name}@module", "names": found} for name, found in names.items()]
    try:
        done = service.run(request("apply", {"requests": todo, "message": _WHY}), Context(why=_WHY, reload="off"))
    except ResourceError as error:
        return replace(outcome, warnings=(*outcome.warnings, Notice("not_mended", f"Not mended: {error.message}")))
    if done.status == "pending":
        return replace(outcome, warnings=(*outcome.warnings, Notice("not_mended", done.text)), task_id=done.task_id)
    left = [each for each in outcome.found if each not in mendable]
    text = [*map(str, left), *(f"{each}  (mended)" for each in mendable), "Look at the change, and stage it."]
    return replace(
        done, text="\n".join(text), warnings=(*outcome.warnings, *done.warnings), found=tuple(left), exit_code=1
    )


def _outside(names: Sequence[str]) -> tuple[Notice, ...]:
    """Return the warning that files lie elsewhere, and are not looked at; what is plainly no Python does not count."""
    python = [name for name in names if "." not in Path(name).name[1:] or name.endswith(_PYTHON)]
    if not python:
        return ()
    more = f" and {len(python) - _SHOWN} more" if len(python) > _SHOWN else ""
    named = on_one_line(", ".join(python[:_SHOWN]))
    return (Notice("not_looked_at", f"Not looked at, for it lies outside of the project: {named}{more}."),)


def _below(root: Path, here: Path, name: str) -> str | None:
    """Return a file as a path below the root; None where it lies elsewhere.

    Links on the way to the file are followed, and the file itself is not, as git has it.
    """
    full = here / name
    folder = os.path.realpath(full.parent)
    top = os.path.realpath(root)
    try:
        inner = Path(folder, full.name).relative_to(top).as_posix()
    except ValueError:
        return None
    return None if inner == "." else inner


def _with_places(environment: Mapping[str, str], here: Path) -> dict[str, str]:
    """Return the environment with git's places made absolute, as git means them that is started here."""
    places = absolute_places(environment, here)
    if "GIT_DIR" in places:
        places.setdefault("GIT_WORK_TREE", str(here))  # git starts its hooks at the top of the working tree
    return {**environment, **places}
