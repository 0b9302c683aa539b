"""Answers of `deps list` about real projects, against the metadata that their own build backends write.

Each project is installed with its extras into an environment of its own. Then no dependency that its metadata names may
be missing from the list, none may be listed that the metadata does not name, and every import that is called undeclared
is judged by hand: `JUDGED` says why each is right. One that is not there fails the run.

`python -m benchmarks.deps_list` prints a table, and each import with its judgement.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from filelock import FileLock
from msgspec import Struct
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bae_source.engine.registry import request
from bae_source.engine.service import Service
from benchmarks.corpus import CACHE, RELEASES, Release, Unavailable, fetch
from benchmarks.read.processes import run

_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_COMPLETE = ".complete"
_NOT_RUN = "setup.py is not run"


class Subject(Struct, frozen=True, kw_only=True):
    """A project, and the extras that it is installed with.

    Parameters:
        kind: how it declares what it needs.
    """

    release: Release
    kind: str
    extras: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The project's name."""
        return self.release.name


def _pinned(name: str) -> Release:
    return next(each for each in RELEASES if each.name == name)


def _release(name: str, version: str, sha256: str) -> Release:
    return Release(name=name, version=version, sha256=sha256)


SUBJECTS = (
    Subject(release=_pinned("flask"), kind="flit, groups (PEP 735), src", extras=("async", "dotenv")),
    Subject(release=_pinned("httpx"), kind="hatch, extras", extras=("brotli", "cli", "http2", "socks", "zstd")),
    Subject(release=_pinned("black"), kind="hatch, extras, src", extras=("colorama", "d", "jupyter", "uvloop")),
    Subject(release=_pinned("rich"), kind="poetry, extras", extras=("jupyter",)),
    Subject(
        release=_release("cleo", "2.1.0", "0b2c880b5d13660a7ea651001fb4acb527696c01f15c9ee650f377aa543fd523"),
        kind="poetry, groups, src",
    ),
    Subject(
        release=_release(
            "google_api_core", "2.44.0", "5ab9a396965c1227d7dea4581e562b7018aa2bca96d2de0be5eb70dc9c8ab3a1"
        ),
        kind="setuptools, namespace package",
        extras=("grpc", "async_rest"),
    ),
    Subject(
        release=_release("mkdocs", "1.6.1", "7b432f01d928c084353ab39c57282f29f92136665bdd6abf7c1ec8d822ef86f2"),
        kind="hatch with environments",
        extras=("i18n",),
    ),
    Subject(
        release=_release("folium", "0.20.0", "a0d78b9d5a36ba7589ca9aedbd433e84e9fcab79cd6ac213adbcff922e454cb9"),
        kind="setup.py alone, requirements.txt",
    ),
    Subject(
        release=_release("ansible_core", "2.19.14", "1e7612788eaa6b3c87a3670ce86c64b830eba0ae2b3fcb25a772f276704163b4"),
        kind="setuptools dynamic, requirements.txt",
    ),
    Subject(
        release=_release("pyscaffold", "4.6", "4085b8de9200b9f319df6f8ea7997288f159a8e4b284b062d9b2a4d6a9c1234c"),
        kind="setup.cfg, extras, src",
        extras=("all",),
    ),
    Subject(
        release=_release("unearth", "0.19.0", "d85a7b164833c1dc8532a590043cbd7159f6ad2b91fc3e74f2a16ff25ed098c8"),
        kind="pdm, src",
        extras=("keyring", "legacy"),
    ),
)

_DEV = "needed for its tests, and the release does not say so: its file of requirements is not in it"
_DEFERRED = "imported in a function, and declared by nothing"
_OF_TESTS = "needed for its tests; the files of requirements of its own test runner say so, which nothing declares"

JUDGED: Mapping[str, Mapping[str, str]] = {
    "httpx": {
        "trio": "imported where trio runs already, and declared by nothing",
        **dict.fromkeys(("pytest", "chardet", "trustme", "cryptography", "uvicorn"), _DEV),
        "sniffio": "imported by a helper of its tests; anyio brought it until its release 4.12",
    },
    "ansible_core": {
        "debugpy": _DEFERRED,
        "docutils": "needed for building its manual pages, and declared by nothing",
        "lxml": "imported by a plugin that is a case of a test",
        **dict.fromkeys(
            ("botocore", "pexpect", "voluptuous", "astroid", "antsibull_docs_parser", "_pytest", "py", "pytest_mock"),
            _OF_TESTS,
        ),
        "pytest": _OF_TESTS,
        "typing_extensions": _OF_TESTS,
    },
    "folium": {
        "jenkspy": "imported in a function of the code, and a requirement of development alone",
        "selenium": "imported in a function of the code, and a requirement of development alone",
    },
    "unearth": {"urllib3": "imported by its code, and declared by nothing: requests brings it"},
}
"""Imports that are called undeclared, or declared for development alone, by project: why that is right."""


class Result(Struct, frozen=True, kw_only=True):
    """The answer about a project.

    Parameters:
        declared: how many dependencies the metadata names, each for an extra counted by itself.
        missing: those that the list has not.
        invented: those of the list that the metadata has not, though they are always needed or for an extra.
        imports: those that are called undeclared, or declared for development alone, as JSON has them.
        perhaps: packages that may be undeclared, since not all that is declared is installed or known.
        warnings: what the list says is not known.
    """

    declared: int
    missing: tuple[str, ...]
    invented: tuple[str, ...]
    imports: tuple[dict[str, Any], ...]
    perhaps: tuple[str, ...]
    warnings: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, print, and fail where anything is wrong or was never judged."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deps_list", description=main.__doc__)
    parser.add_argument("projects", nargs="*", help="which projects; all if left out")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where projects are kept (default: %(default)s)")
    given = parser.parse_args(arguments)
    wrong = 0
    print(f"{'project':<18}{'declared by':<40}{'metadata':>9}{'missing':>9}{'invented':>9}{'undeclared':>11}")
    for subject in SUBJECTS:
        if given.projects and subject.name not in given.projects:
            continue
        try:
            result = result_of(installed(subject, given.cache), subject)
        except Unavailable as error:
            sys.exit(str(error))
        packages = {each["imported"] for each in result.imports}
        print(
            f"{subject.name:<18}{subject.kind:<40}{result.declared:>9}{len(result.missing):>9}"
            f"{len(result.invented):>9}{len(packages):>11}",
            flush=True,
        )
        wrong += sum(_printed(subject, result))
    sys.exit(f"{wrong} of this is wrong, or was never judged." if wrong else None)


def _printed(subject: Subject, result: Result) -> Iterator[bool]:
    """Print what needs an explanation, and yield 1 for each that has none."""
    is_known = any(_NOT_RUN in text for text in result.warnings)
    for text in result.missing:
        print(f"    missing: {text}{', and the list says that it does not know all' if is_known else ''}")
        yield not is_known
    for text in result.invented:
        print(f"    invented: {text}")
        yield True
    judged = JUDGED.get(subject.name, {})
    packages: dict[str, list[dict[str, Any]]] = {}
    for each in result.imports:
        packages.setdefault(each["imported"], []).append(each)
    for package, places in packages.items():
        first = f"{places[0]['module']}:{places[0]['line']}"
        reason = judged.get(package, "NOT JUDGED")
        print(f"    {package}: {places[0]['status']}, in {len(places)} places, first {first}: {reason}")
        yield package not in judged
    if result.perhaps:
        print(f"    perhaps undeclared, which the list does not decide: {', '.join(result.perhaps)}")
    for text in result.warnings:
        print(f"    not known: {text[:200]}")


def installed(subject: Subject, cache: Path = CACHE) -> Path:
    """Return a copy of a project with a `.venv` into which it is installed with its extras.

    Raises:
        Unavailable: its release cannot be had.
        Failed: it cannot be installed.
    """
    root = cache / "deps" / subject.release.folder
    root.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(root.parent / f".{subject.release.folder}.lock"):
        if not (root / ".venv" / _COMPLETE).exists():
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(fetch(subject.release, cache), root)
            venv.create(root / ".venv", with_pip=True)
            extras = f"[{','.join(subject.extras)}]" if subject.extras else ""
            python = str(root / ".venv" / "bin" / "python")
            run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f".{extras}"], cwd=root)
            (root / ".venv" / _COMPLETE).touch()
    return root


def result_of(root: Path, subject: Subject) -> Result:
    """Return what is said of a project, compared with its metadata."""
    outcome = Service(root).run(request("deps_list", {}))
    data = [each.as_data() for each in outcome.found]
    found = {
        (each["name"], group)
        for each in data
        if each["kind"] == "dependency" and each["part"] in ("always", "extra") and each["requirement_kind"] != "own"
        for group in (map(canonicalize_name, each["groups"]) if each["groups"] else ("",))
    }
    own = canonicalize_name(subject.name)
    wanted = {pair for pair in _metadata(root, own) if pair[0] != own}
    return Result(
        declared=len(wanted),
        missing=tuple(sorted(_named(*pair) for pair in wanted - found)),
        invented=tuple(sorted(_named(*pair) for pair in found - wanted)),
        imports=tuple(each for each in data if each["kind"] == "import" and each["status"] in _JUDGED_STATUS),
        perhaps=tuple(sorted({each["imported"] for each in data if each.get("status") == "open"})),
        warnings=tuple(each.message for each in outcome.warnings),
    )


_JUDGED_STATUS = ("undeclared", "misplaced")


def _metadata(root: Path, own: str) -> Iterator[tuple[str, str]]:
    """Yield name and extra of each requirement in the metadata that the build backend wrote."""
    for path in root.glob(".venv/lib/python*/site-packages/*.dist-info/METADATA"):
        headers = HeaderParser().parsestr(path.read_text(encoding="utf-8"))
        if canonicalize_name(headers["Name"]) != own:
            continue
        for line in headers.get_all("Requires-Dist") or ():
            wanted = Requirement(line)
            extras = _EXTRA.findall(str(wanted.marker or "")) or [""]
            yield from ((canonicalize_name(wanted.name), canonicalize_name(extra) if extra else "") for extra in extras)


def _named(name: str, extra: str) -> str:
    return f"{name} (extra {extra})" if extra else name


if __name__ == "__main__":
    main()
