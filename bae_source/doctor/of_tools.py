"""The doctor's look at what is installed: what we need, what our extras bring, and the programs that we ask."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable

from bae_source.doctor.health import Part, Trouble
from bae_source.doctor.scene import Scene
from bae_source.language_server.language_server import COMMANDS
from bae_source.reloading.child.installed import Required, installed, own_requirements, version_of

_TESTS = "pytest"


def packages(scene: Scene) -> Part:  # noqa: ARG001  # one of several looks
    """Look at what we need, and at what our extras bring."""
    found = own_requirements()
    if found is None:
        return Part(name="packages", lines=("unknown, since this is no installed package",))
    lines = [", ".join(_told(each) for each in found if not each.extra)]
    for extra in dict.fromkeys(each.extra for each in found if each.extra):
        inside = [each for each in found if each.extra == extra]
        missing = "" if all(each.fits for each in inside) else f'  (pip install "bae-source[{extra}]")'
        lines.append(f"[{extra}] {', '.join(map(_told, inside))}{missing}")
    return Part(name="packages", lines=tuple(lines), troubles=tuple(_missing(found)))


def programs(scene: Scene) -> Part:
    """Look at the programs that are asked where they are there: git, language servers, and pytest for the project."""
    asked = "not found" if scene.git is None else version_of(scene.git, root=scene.root, environment=scene.environment)
    folders = os.pathsep.join([os.path.dirname(sys.executable), scene.search_path])  # noqa: PTH120  # as `which` wants it
    servers = [name for name, command in COMMANDS.items() if shutil.which(command[0], path=folders)]
    release, known = installed(_TESTS, scene.program) if scene.program else (None, False)
    tests = release or ("not installed" if known else "unknown without running it")
    return Part(
        name="programs",
        lines=(
            f"git: {asked.removeprefix('git version ')}",
            f"language servers: {', '.join(servers) or 'none'}",
            f"{_TESTS}, for the project's interpreter: {tests}",
        ),
    )


def _told(required: Required) -> str:
    if required.found is None:
        return f"{required.name} not installed"
    return f"{required.name} {required.found}" + ("" if required.fits else f" (wanted {required.wanted})")


def _missing(found: Iterable[Required]) -> Iterable[Trouble]:
    """Find what we cannot do without; an extra that is missing is a choice."""
    for each in found:
        if each.extra or each.fits:
            continue
        what = "is not installed" if each.found is None else f"is {each.found}, and {each.wanted} is wanted"
        message = f"{each.name}, which bae_source needs, {what}."
        yield Trouble(code="package_missing", message=message, mend=f'pip install "{each.name}{each.wanted}"')
