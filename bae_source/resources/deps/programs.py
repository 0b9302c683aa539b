"""The programs that resolve requirements and change an environment: pip, and uv.

    a project with a uv.lock                       uv locks in a copy of the project, and installs what its lock says
    an environment that has pip                    pip resolves on trial, and installs what came of that
    one without pip, where there is uv             uv does it in the place of pip

Invariants:
- a program gets words, never a line for a shell, and requirements stand behind `--`;
- to resolve changes nothing: neither the project nor its environment;
- source distributions are built only on request, since it runs their code.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from packaging.requirements import Requirement

from bae_source.errors import Refused, TransactionError
from bae_source.model.plan import Release, Requirements, distribution_of
from bae_source.resources.deps.declared import normalised
from bae_source.resources.deps.environment import Site, plain_version
from bae_source.system.child import CannotStart, Finished, run, scrubbed
from bae_source.system.programs import Surroundings, find_program
from bae_source.system.scratch import Scratch

LOCK = "uv.lock"
_SECONDS = 600.0
_MOST_KEPT = 16_000_000
_LONGEST = 1500
"""Characters of a program's own reason in a message."""
_LINE = re.compile(r"^ ?([-+~]) (\S+?)==(\S+)(.*)$", re.MULTILINE)
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

    def resolved(self, wanted: Requirements, declared: Sequence[str], earlier: Sequence[str]) -> Resolution:
        """Return the releases that meet requirements.

        Parameters:
            declared: what the project declares and shall be met beside them.
            earlier: what it declared before.

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
    search_path = surroundings.environment.get("PATH", os.defpath)
    # That of the caller first: the one in the environment may change with it, and each writes locks in its own way.
    uv = shutil.which("uv", path=search_path) or find_program("uv", site.python, search_path) or own_uv()
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
    """Return whether uv locks a project's dependencies."""
    return (root / LOCK).is_file()


def own_uv() -> str | None:
    """Return the uv that an extra of ours brings."""
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.is_file() else None


class _Pip:
    def __init__(self, surroundings: Surroundings, site: Site) -> None:
        self._surroundings = surroundings
        self._site = site

    def resolved(self, wanted: Requirements, declared: Sequence[str], earlier: Sequence[str]) -> Resolution:
        gone = _dropped(self._site, wanted, declared, earlier)
        if not (wanted.add or wanted.upgrade):
            return Resolution(releases=gone)
        with Scratch() as folder:
            report, limits = Path(folder, "report.json"), Path(folder, "constraints.txt")
            words = ["install", "--dry-run", "--report", str(report), *_UNASKED, *_built(wanted, _NO_BUILD)]
            if wanted.upgrade:
                # All that is named becomes newest, so what else is declared limits what comes, and is not named.
                limits.write_text("".join(f"{each}\n" for each in _limits(declared)))
                words += ["--upgrade", "--upgrade-strategy=only-if-needed", "--constraint", str(limits)]
                declared = [each for each in declared if distribution_of(each) in wanted.upgrade]
            self._say(_UNMET, [*words, "--", *wanted.add, *declared], build=wanted.build)
            found = json.loads(report.read_bytes())
        return Resolution(releases=(*_reported(found, self._site), *gone))

    def install(self, releases: Sequence[Release], *, build: bool) -> None:
        if pins := _pins(releases):
            words = ["install", "--no-deps", "--quiet", *_UNASKED, *([] if build else [_NO_BUILD])]
            self._say(_CANNOT_INSTALL, [*words, "--", *pins], build=build)
        if gone := [each.name for each in releases if each.after is None]:
            self._say(_CANNOT_INSTALL, ["uninstall", "--yes", "--quiet", "--", *gone], build=False)

    def _say(self, trouble: str, words: Sequence[str], *, build: bool) -> None:
        # Isolated: else what lies in the project, or on PYTHONPATH, is imported in the place of pip's own modules.
        pip = ["-m", "pip"] if build else ["-c", _WITHOUT_BUILDS.read_text("utf-8")]
        _checked(_run([self._site.python, "-I", *pip, *words], self._surroundings), trouble)


class _Uv:
    def __init__(self, uv: str, surroundings: Surroundings, site: Site) -> None:
        self._uv = uv
        self._surroundings = surroundings
        self._site = site

    def resolved(self, wanted: Requirements, declared: Sequence[str], earlier: Sequence[str]) -> Resolution:
        gone = _dropped(self._site, wanted, declared, earlier)
        if not (wanted.add or wanted.upgrade):
            return Resolution(releases=gone)
        words = ["install", "--dry-run", *_built(wanted, "--no-build")]
        words += [f"--upgrade-package={name}" for name in wanted.upgrade]
        listed = self._pip(_UNMET, [*words, "--", *wanted.add, *declared])
        return Resolution(releases=(*_listed(listed, self._site), *gone))

    def install(self, releases: Sequence[Release], *, build: bool) -> None:
        if pins := _pins(releases):
            words = ["install", "--no-deps", *([] if build else ["--no-build"])]
            try:
                self._pip(_CANNOT_INSTALL, [*words, "--", *pins])
            except TransactionError:
                # Settings of the project, such as `exclude-newer`, may forbid a release that was there before.
                self._pip(_CANNOT_INSTALL, [*words, "--no-config", "--", *pins])
        if gone := [each.name for each in releases if each.after is None]:
            self._pip(_CANNOT_INSTALL, ["uninstall", "--", *gone])

    def _pip(self, trouble: str, words: Sequence[str]) -> str:
        command, *rest = words
        return self._say(trouble, ["pip", command, "--python", self._site.python, *rest], self._surroundings.root)

    def _say(self, trouble: str, words: Sequence[str], folder: Path) -> str:
        """Run uv, and return what it wrote for people."""
        home = {"VIRTUAL_ENV": str(self._site.home)}
        finished = _run([self._uv, *words], self._surroundings, folder=folder, more=home)
        return _checked(finished, trouble).errors.decode("utf-8", "replace")


class _LockedByUv(_Uv):
    def __init__(self, uv: str, surroundings: Surroundings, site: Site, copy: Callable[[], Path]) -> None:
        super().__init__(uv, surroundings, site)
        self._copy = copy

    def resolved(
        self,
        wanted: Requirements,
        declared: Sequence[str],
        earlier: Sequence[str],  # noqa: ARG002 - the lock has it
    ) -> Resolution:
        folder = self._copy()
        build = _built(wanted, "--no-build")
        self._say(_UNMET, ["lock", *build, *(f"--upgrade-package={name}" for name in wanted.upgrade)], folder)
        lock = (folder / LOCK).read_bytes()
        if not wanted.install:
            return Resolution(releases=(), lock=lock)
        gone = set(_locked(self._surroundings.root / LOCK)) - set(_locked(folder / LOCK))
        parts = [*(f"--extra={name}" for name in wanted.extras), *(f"--group={name}" for name in wanted.groups)]
        words = ["sync", "--frozen", "--inexact", "--dry-run", "--active", "--no-install-workspace", *parts]
        releases = {each.name: each for each in _listed(self._say(_UNMET, words, folder), self._site)}
        there = self._site.versions()
        for name in sorted(_spared(self._site, gone & there.keys(), declared)):
            releases.setdefault(name, Release(name=name, before=there[name], after=None))
        return Resolution(releases=tuple(releases.values()), lock=lock)


_MOST_VERSIONS = 8
_NO_BUILD = "--only-binary=:all:"
_UNASKED = ("--disable-pip-version-check", "--no-input")
_WITHOUT_BUILDS = Path(__file__).with_name("without_builds.py")
_CAUSES = "The conflict is caused by:"
"""The line of pip above the reasons of a conflict, which end at an empty line."""
_NOISE = re.compile(r"^WARNING: .*\n?", re.MULTILINE)
_VERSIONS = re.compile(r"\(from versions: ([^()]*)\)")
_UNMET = "The requirements cannot be met"
_CANNOT_INSTALL = "What was resolved cannot be installed"
_TOOLS = frozenset({"pip", "setuptools", "wheel", "uv"})
"""Distributions that an environment has without being needed."""


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
        reason = f"The installer cannot be started: {error}"
        raise TransactionError("resolution_failed", reason, unchanged=True) from error


def _checked(finished: Finished, trouble: str) -> Finished:
    """Return the result of a program that ended well.

    Raises:
        TransactionError: `resolution_failed`, if it failed or took too long.
    """
    if finished.timed_out:
        raise TransactionError("resolution_failed", f"The installer took more than {_SECONDS:,.0f} s", unchanged=True)
    if finished.status:
        reason = finished.errors.decode("utf-8", "replace").strip() or f"the installer ended with {finished.status}"
        _, cause, more = finished.output.decode("utf-8", "replace").partition(_CAUSES)
        reason = "".join((cause, more.partition("\n\n")[0], "\n", reason)) if cause else reason
        reason = _VERSIONS.sub(_last_versions, _NOISE.sub("", reason)).strip()
        shown = reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}…"
        hint = "Name releases that fit; where one has no wheel, build (--build) lets it be built, which runs its code."
        raise TransactionError("resolution_failed", f"{trouble}:\n{shown}", unchanged=True, hints=[hint])
    return finished


def _last_versions(found: re.Match[str]) -> str:
    """Return the newest of the versions that pip lists, the oldest first."""
    versions = found[1].split(", ")
    return f"(from versions: {'…, ' if len(versions) > _MOST_VERSIONS else ''}{', '.join(versions[-_MOST_VERSIONS:])})"


def _built(wanted: Requirements, refusing: str) -> list[str]:
    return [] if wanted.build else [refusing]


def _limits(declared: Sequence[str]) -> Iterator[str]:
    """Yield the versions of what is declared, as pip's file of constraints takes them."""
    for each in map(Requirement, declared):
        marker = f"; {each.marker}" if each.marker is not None else ""
        yield f"{normalised(each.name)}{each.specifier}{marker}"


def _pins(releases: Sequence[Release]) -> list[str]:
    return [f"{each.name}=={each.after}" for each in releases if each.after is not None]


def _reported(report: Mapping[str, Any], site: Site) -> Iterator[Release]:
    """Yield the releases that pip would install, by its report on a trial."""
    there = site.versions()
    for each in report["install"]:
        name = normalised(each["metadata"]["name"])
        if each.get("is_direct"):
            raise _direct(name)
        yield Release(name=name, before=there.get(name), after=plain_version(each["metadata"]["version"]))


def _listed(text: str, site: Site) -> Iterator[Release]:
    """Yield the changes that uv would make, by its output."""
    there = site.versions()
    after: dict[str, str | None] = {}
    for sign, name, version, rest in _LINE.findall(text):
        if sign == "-":
            after.setdefault(normalised(name), None)
        elif rest.strip():  # (from file:///…)
            raise _direct(name)
        else:
            after[normalised(name)] = plain_version(version)
    yield from (Release(name=name, before=there.get(name), after=version) for name, version in after.items())


def _direct(name: str) -> TransactionError:
    return TransactionError(
        "resolution_failed",
        f"{name} would come from a file or an address, and only what comes from an index is installed here",
        unchanged=True,
        hints=["Change the files alone (files_only), and install it by pip or uv."],
    )


def _dropped(site: Site, wanted: Requirements, declared: Sequence[str], earlier: Sequence[str]) -> tuple[Release, ...]:
    """Return the distributions that go with dropped requirements: those, and what only they needed, unless declared.

    p declares alpha and gamma, alpha needs beta and delta, gamma needs delta        drop alpha: alpha, beta go

    What was installed by itself (`REQUESTED`, PEP 376) stays, and so does all of it where something else is installed
    at the same time, which may need it.
    """
    if not wanted.drop:
        return ()
    there, needs = site.versions(), site.needs((*declared, *earlier))
    kept = {*map(distribution_of, declared)} - set(wanted.drop)
    gone = set(wanted.drop) - kept
    if not (wanted.add or wanted.upgrade):
        waiting = sorted(gone)
        while waiting:
            new = needs.get(waiting.pop(), set()) - gone - kept - _TOOLS
            new -= {*site.direct(new), *site.requested(new)}
            gone |= new
            waiting += new
    names = sorted(_spared(site, gone & there.keys(), declared))
    return tuple(Release(name=name, before=there[name], after=None) for name in names)


def _spared(site: Site, names: Collection[str], declared: Sequence[str]) -> set[str]:
    """Return those of some distributions that no other installed one needs."""
    needs, gone = site.needs(declared), set(names)
    while needed := gone & {one for other, several in needs.items() if other not in gone for one in several}:
        gone -= needed
    return gone


def _locked(path: Path) -> Iterator[str]:
    """Yield the names of the packages that a lock holds."""
    yield from (normalised(each["name"]) for each in tomllib.loads(path.read_text("utf-8")).get("package", ()))
