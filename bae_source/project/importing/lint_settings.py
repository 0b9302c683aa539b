"""Files in which the settings of the project's linters let imports stay that nothing reads, or that they leave out.

    [tool.ruff.lint.per-file-ignores]      in pyproject.toml, or without `tool.ruff` in ruff.toml
    "compat.py" = ["F401"]
    [tool.ruff]                            likewise, and flake8's `exclude`
    extend-exclude = ["vendored"]
    [flake8]                               in setup.cfg, tox.ini or .flake8
    per-file-ignores = */api.py:F401

Invariants:
- in doubt an import stays: the settings of every folder around a file count;
- settings that cannot be read say nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bae_source.errors import ResourceError
from bae_source.project.files.port import Files
from bae_source.project.files.settings import sections, settings_of, table, toml_of

_UNUSED = "F401"
_RUFF = ("ruff.toml", ".ruff.toml")
_FLAKE8 = ("setup.cfg", "tox.ini", ".flake8")
_WORD = re.compile(r":|[^\s,:]+")
_CODE = re.compile(r"[A-Z]+\d*")
_BRACES = re.compile(r"\{([^{}]*)\}")


class LintSettings:
    """The places at which the settings let imports stay.

    Parameters:
        files: of the project.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[str, list[str]] = {}

    def lets_stay(self, path: str) -> bool:
        """Return whether the settings let imports that nothing reads stay in a file."""
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            inner = path.removeprefix(f"{folder}/")
            if any(_fits(pattern, inner) for pattern in self._patterns(folder)):
                return True
        return False

    def _patterns(self, folder: str) -> list[str]:
        """Return the patterns that the settings in a folder have for such files."""
        if folder not in self._known:
            self._known[folder] = [*self._of_ruff(folder), *self._of_flake8(folder)]
        return self._known[folder]

    def _of_ruff(self, folder: str) -> Iterator[str]:
        found: list[Mapping[str, Any]] = []
        try:
            only = [("ruff", "per-file-ignores"), ("ruff", "exclude")]
            found.append(table(settings_of(self._files, folder, only=only), "tool", "ruff"))
            found += (toml_of(self._files, f"{folder}/{name}".lstrip("/")) for name in _RUFF)
        except ResourceError:
            pass
        for settings in found:
            for each in (settings, table(settings, "lint")):
                for listed in (each.get("exclude"), each.get("extend-exclude")):
                    yield from (one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()
                for name in ("per-file-ignores", "extend-per-file-ignores"):
                    for pattern, codes in table(each, name).items():
                        if isinstance(codes, list) and any(_is_meant(code) for code in codes):
                            yield pattern

    def _of_flake8(self, folder: str) -> Iterator[str]:
        for name in _FLAKE8:
            try:
                options = sections(self._files, f"{folder}/{name}".lstrip("/")).get("flake8", {})
            except ResourceError:
                continue
            yield from _let_through(options.get("per-file-ignores", ""))
            for option in ("exclude", "extend-exclude"):
                yield from (word for word in re.split(r"[\s,]+", options.get(option, "")) if word)


def _let_through(entries: str) -> Iterator[str]:
    """Yield the patterns of flake8's `path,path:code,code path:code` that let unused imports stay."""
    paths: list[str] = []
    behind = False
    for word in _WORD.findall(entries):
        if word == ":":
            behind = True
        elif behind and _CODE.fullmatch(word):
            yield from paths if _is_meant(word) else ()
        else:
            paths, behind = ([word], False) if behind else ([*paths, word], False)


def _is_meant(code: object) -> bool:
    return isinstance(code, str) and bool(code) and (_UNUSED.startswith(code) or code == "ALL")


def _fits(pattern: str, path: str) -> bool:
    """Return whether a pattern, which may begin with `!`, is of a path or of the end of one."""
    if pattern.startswith("!"):
        return not _fits(pattern[1:], path)
    from pathspec import GitIgnoreSpec  # which few projects need

    lines = [each.removeprefix("./") for each in _alternatives(pattern)]
    return GitIgnoreSpec.from_lines(lines).match_file(path)


def _alternatives(pattern: str) -> list[str]:
    """Return what a pattern with alternatives in braces stands for."""
    match = _BRACES.search(pattern)
    if match is None:
        return [pattern]
    ways = (f"{pattern[: match.start()]}{each}{pattern[match.end() :]}" for each in match[1].split(","))
    return [found for way in ways for found in _alternatives(way)]
