"""The programs that resolve requirements and change an environment: pip, and uv.

    a project with a uv.lock                       uv locks in a copy of the project, and installs what its lock says
    an environment that has pip                    pip resolves on trial, and installs what came of that
    one without pip, where there is uv             uv does it in the place of pip

Invariants:
- a program gets words, never a line for a shell, and requirements stand behind `--`;
- to resolve changes nothing: neither the project nor its environment;
- source distributions are built only where that is asked for, since it runs their code.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from bae_source.errors import Refused, TransactionError
from bae_source.model.plan import Release, Requirements
from bae_source.resources.deps.declared import normalised
from bae_source.resources.deps.environment import Site
from bae_source.system.child import CannotStart, Finished, run, scrubbed
from bae_source.system.programs import Surroundings, find_program

LOCK = "uv.lock"
_SECONDS = 600.0
_MOST_KEPT = 16_000_000
_LONGEST = 1500
"""Characters of a program's own reason in a message."""
_LINE = re.compile(r"^ ?([-+~]) (\S+?)==(\S+)", re.MULTILINE)
"""Line of uv that says what changes in an environment."""


class Resolution(Struct, frozen=True, kw_only=True):
    """The outcome of resolving.

    Parameters:
        releases: changes of the environment.
        lock: the new content of `uv.lock`; None where there is none.
    """

    releases: tuple[Release, ...]
    lock: bytes | None = None


class Installer(Protocol):
    """A program that resolves and installs."""

    def resolved(self, wanted: Requirements, declared: Sequence[str]) -> Resolution:
        """Return what meets requirements.

        Parameters:
            declared: what the project declares and shall be met beside them.

        Raises:
            TransactionError: `resolution_failed`, with the program's own reason.
        """

    def install(self, releases: Sequence[Release], *, build: bool) -> None:
        """Have the environment hold releases.

        Raises:
            TransactionError: `resolution_failed`; some may be there already.
        """


def installer_of(surroundings: Surroundings, site: Site, copy: Callable[[], Path]) -> Installer:
    """Return the program for a project.

    Parameters:
        copy: makes a copy of the project that holds the planned files.

    Raises:
        Refused: `forbidden`, if there is no program for it.
    """
    root = surroundings.root
    uv = find_program("uv", site.python, surroundings.environment.get("PATH", os.defpath)) or _own_uv()
    if is_locked(root) and uv:
        return _LockedByUv(uv, surroundings, site, copy)
    if is_locked(root):
        raise Refused(
            "forbidden",
            f"{LOCK} locks this project's dependencies, and there is no uv to lock them anew",
            unchanged=True,
            hints=["Install uv (pip install uv), and give it again."],
        )
    if site.has_pip:
        return _Pip(surroundings, site)
    if uv:
        return _Uv(uv, surroundings, site)
    raise Refused(
        "forbidden",
        "The project's environment has no pip, and there is no uv to install with",
        unchanged=True,
        hints=["Install uv, or pip in the environment (python -m ensurepip), or change the files alone (files_only)."],
    )


def is_locked(root: Path) -> bool:
    """Say whether uv locks a project's dependencies."""
    return (root / LOCK).is_file()


def _own_uv() -> str | None:
    """Return the uv that an extra of ours brings."""
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.is_file() else None


class _Pip:
    def __init__(self, surroundings: Surroundings, site: Site) -> None:
        self._surroundings = surroundings
        self._site = site

    def resolved(self, wanted: Requirements, declared: Sequence[str]) -> Resolution:
        words = ["install", "--dry-run", "--report", "-", *_QUIETLY, *_built(wanted, "--only-binary=:all:")]
        words += ["--upgrade", "--upgrade-strategy=only-if-needed"] if wanted.upgrade else []
        if not (wanted.add or wanted.upgrade):
            return Resolution(releases=(*_dropped(self._site, wanted, declared),))
        names = tuple(each for each in declared if normalised(_name(each)) in wanted.upgrade)
        # With --upgrade all that is named becomes newest, so what is to stay as it is stands there with its version.
        kept = _kept(self._site, declared, wanted) if wanted.upgrade else list(declared)
        report = json.loads(self._say([*words, "--", *wanted.add, *names, *kept]))
        return Resolution(releases=(*_reported(report, self._site), *_dropped(self._site, wanted, declared)))

    def install(self, releases: Sequence[Release], *, build: bool) -> None:
        if pins := _pins(releases):
            words = ["install", "--no-deps", *_QUIETLY, *([] if build else ["--only-binary=:all:"])]
            self._say([*words, "--", *pins])
        if gone := [each.name for each in releases if each.after is None]:
            self._say(["uninstall", "--yes", "--quiet", "--", *gone])

    def _say(self, words: Sequence[str]) -> bytes:
        return _output(_run([self._site.python, "-m", "pip", *words], self._surroundings))


class _Uv:
    def __init__(self, uv: str, surroundings: Surroundings, site: Site) -> None:
        self._uv = uv
        self._surroundings = surroundings
        self._site = site

    def resolved(self, wanted: Requirements, declared: Sequence[str]) -> Resolution:
        if not (wanted.add or wanted.upgrade):
            return Resolution(releases=(*_dropped(self._site, wanted, declared),))
        words = ["install", "--dry-run", *_built(wanted, "--no-build")]
        words += [f"--upgrade-package={name}" for name in wanted.upgrade]
        said = self._pip([*words, "--", *wanted.add, *declared])
        return Resolution(releases=(*_listed(said, self._site), *_dropped(self._site, wanted, declared)))

    def install(self, releases: Sequence[Release], *, build: bool) -> None:
        if pins := _pins(releases):
            self._pip(["install", "--no-deps", *([] if build else ["--no-build"]), "--", *pins])
        if gone := [each.name for each in releases if each.after is None]:
            self._pip(["uninstall", "--", *gone])

    def _pip(self, words: Sequence[str]) -> str:
        command, *rest = words
        finished = _run([self._uv, "pip", command, "--python", self._site.python, *rest], self._surroundings)
        _output(finished)
        return finished.errors.decode("utf-8", "replace")


class _LockedByUv(_Uv):
    def __init__(self, uv: str, surroundings: Surroundings, site: Site, copy: Callable[[], Path]) -> None:
        super().__init__(uv, surroundings, site)
        self._copy = copy

    def resolved(self, wanted: Requirements, declared: Sequence[str]) -> Resolution:  # noqa: ARG002 - pyproject has it
        folder = self._copy()
        build = _built(wanted, "--no-build")
        upgrade = [f"--upgrade-package={name}" for name in wanted.upgrade]
        self._in(folder, ["lock", *build, *upgrade])
        before = set(_locked(self._surroundings.root / LOCK))
        gone = before - set(_locked(folder / LOCK))
        lock = (folder / LOCK).read_bytes()
        if not wanted.install:
            return Resolution(releases=(), lock=lock)
        parts = [*(f"--extra={name}" for name in wanted.extras), *(f"--group={name}" for name in wanted.groups)]
        words = ["sync", "--frozen", "--inexact", "--dry-run", "--active", "--no-install-project", *parts, *build]
        said = self._in(folder, words)
        releases = {each.name: each for each in _listed(said, self._site)}
        there = self._site.versions()
        for name in gone & there.keys():
            releases.setdefault(name, Release(name=name, before=there[name], after=None))
        return Resolution(releases=tuple(releases.values()), lock=lock)

    def _in(self, folder: Path, words: Sequence[str]) -> str:
        home = str(Path(self._site.python).parent.parent)
        finished = _run([self._uv, *words], self._surroundings, folder=folder, more={"VIRTUAL_ENV": home})
        _output(finished)
        return finished.errors.decode("utf-8", "replace")


_QUIETLY = ("--quiet", "--disable-pip-version-check", "--no-input")


def _run(
    words: Sequence[str], surroundings: Surroundings, folder: Path | None = None, more: Mapping[str, str] | None = None
) -> Finished:
    environment = {**scrubbed(surroundings.environment), **(more or {})}
    try:
        return run(
            words,
            folder=folder or surroundings.root,
            environment=environment,
            time_limit=_SECONDS,
            limit=_MOST_KEPT,
        )
    except CannotStart as error:
        raise TransactionError("resolution_failed", f"The installer cannot be started: {error}.") from error


def _output(finished: Finished) -> bytes:
    """Return what a program wrote.

    Raises:
        TransactionError: `resolution_failed`, if it failed or took too long.
    """
    if finished.timed_out:
        raise TransactionError("resolution_failed", f"The installer took more than {_SECONDS:,.0f} s.")
    if finished.status:
        reason = finished.errors.decode("utf-8", "replace").strip() or f"it ended with {finished.status}"
        shown = reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}…"
        raise TransactionError("resolution_failed", f"The requirements cannot be met:\n{shown}", unchanged=True)
    return finished.output


def _built(wanted: Requirements, refusing: str) -> list[str]:
    return [] if wanted.build else [refusing]


def _name(requirement: str) -> str:
    return re.match(r"[\w.-]*", requirement, re.ASCII)[0]  # type: ignore[index]


def _kept(site: Site, declared: Sequence[str], wanted: Requirements) -> list[str]:
    """Return what is installed of the declared, each with its version, but for what is upgraded."""
    there = site.versions()
    names = dict.fromkeys(normalised(_name(each)) for each in declared)
    return [f"{name}=={there[name]}" for name in names if name in there and name not in wanted.upgrade]


def _pins(releases: Sequence[Release]) -> list[str]:
    return [f"{each.name}=={each.after}" for each in releases if each.after is not None]


def _reported(report: Mapping[str, Any], site: Site) -> Iterator[Release]:
    """Yield what pip's report on a trial says that it would install."""
    there = site.versions()
    for each in report["install"]:
        name = normalised(each["metadata"]["name"])
        if each.get("is_direct"):
            raise TransactionError(
                "resolution_failed", f"{name} would come from a file or an address, and not from an index."
            )
        yield Release(name=name, before=there.get(name), after=each["metadata"]["version"])


def _listed(said: str, site: Site) -> Iterator[Release]:
    """Yield what uv says that it would change."""
    there = site.versions()
    after: dict[str, str | None] = {}
    for sign, name, version in _LINE.findall(said):
        if sign == "-":
            after.setdefault(normalised(name), None)
        else:
            after[normalised(name)] = version
    yield from (Release(name=name, before=there.get(name), after=version) for name, version in after.items())


def _dropped(site: Site, wanted: Requirements, declared: Sequence[str]) -> Iterator[Release]:
    """Yield what goes with requirements that are dropped: they, and what only they needed, unless it is declared.

    p declares alpha and gamma, alpha needs beta and delta, gamma needs delta        drop alpha: alpha, beta go
    """
    if not wanted.drop:
        return
    there = site.versions()
    needs = site.needs()
    kept = {normalised(_name(each)) for each in declared} - set(wanted.drop)
    gone: set[str] = set()
    waiting = list(wanted.drop)
    while waiting:
        name = waiting.pop(0)
        needing = {other for other, needed in needs.items() if name in needed and other != name}
        if name in there and name not in gone | kept and needing <= gone:
            gone.add(name)
            waiting += sorted(needs.get(name, ()))
    yield from (Release(name=name, before=there[name], after=None) for name in sorted(gone))


def _locked(path: Path) -> Iterator[str]:
    """Yield the names of the packages that a lock holds."""
    import tomllib  # only where there is a lock

    yield from (normalised(each["name"]) for each in tomllib.loads(path.read_text("utf-8")).get("package", ()))
