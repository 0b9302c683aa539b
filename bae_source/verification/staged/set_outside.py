"""The question whether code outside of a module may give it a name, as `app.state.db = connect()` does.

    state.db, state.cache = …       with … as state.db:     for state.db in …:      `db` may be set
    setattr(state, "db", 1)         vars(state)["db"] = 1   "db"                    `db` may be set
    setattr(state, name, 1)         state.__dict__ |= new                           any name of `app.state` may be set

Invariants:
- in doubt a name may be set: where a file cannot be read, and for any string that is the name;
- only `self.db = …` sets no name of a module, and what `__all__` lists is not set by being listed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from bae_source.errors import ResourceError
from bae_source.project.git.staged import StagedWorkspace
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import InModule, Meaning, Symbol
from bae_source.syntax.names import uses as u
from bae_source.syntax.text.source import Source

_OWN = ("self", "cls", "mcs", "klass")
_SETTERS = ("setattr", "__setattr__", "vars", "__dict__")
"""Names of code that sets attributes by names that need not stand in the code."""

_NAME = r"(?<![\w.])([^\W\d][\w.]*)"
_CHANGED = r"\s*(?:\[[^\]\n]*\]\s*=(?!=)|\.(?:update|setdefault)\b|\|=)"
_BY_UNKNOWN_NAMES = tuple(
    map(
        re.compile,
        (
            rf"setattr(?:__)?\s*\(\s*{_NAME}\s*,(?!\s*[\"'])",
            rf"{_NAME}\.__setattr__\s*\((?!\s*[\"'])",
            rf"\bsetattr\s*,\s*{_NAME}",
            rf"\bvars\s*\(\s*{_NAME}\s*\){_CHANGED}",
            rf"{_NAME}\.__dict__{_CHANGED}",
        ),
    )
)
"""Calls that set attributes by names that do not stand there: `setattr(state, name, 1)`, `partial(setattr, state)` …"""

_LOADERS = ("import_module", "__import__", "modules")
_MADE_ANEW = ("raising", "create")
"""Keywords of `monkeypatch.setattr` and `mock.patch`, which otherwise set only what is there."""


class SetOutside:
    """Tells which names modules may be given from outside; git is called once for each name.

    Parameters:
        workspace: what is staged.
        names: tells what is meant by names in it.
    """

    def __init__(self, workspace: StagedWorkspace, names: Names) -> None:
        self.workspace = workspace
        self.names = names
        self._by_name: dict[str, bool] = {}
        self._by_any: dict[str, bool] = {}
        self._chains: dict[str, frozenset[str]] = {}

    def may_set(self, files: Sequence[str], name: str) -> bool:
        """Return whether one of some modules may be given a name by code that stands elsewhere.

        Parameters:
            files: of the modules; none where only code counts that has the name.
        """
        if name not in self._by_name:
            paths = self.workspace.python_with(_stored_or_spelt(name))
            self._by_name[name] = paths is None or any(self._sets(path, name) for path in paths)
        return self._by_name[name] or any(map(self._may_set_any, files))

    def _sets(self, path: str, name: str) -> bool:
        try:
            uses = self.names.uses(path)
        except ResourceError:
            return True
        mentions = uses.mentions.get(name, ())
        if any(each[3] == u.WRITE and each[4] != u.PLAIN and not _is_own(uses, each[4]) for each in mentions):
            return True
        listed = {each[:2] for each in mentions if each[3] == u.EXPORT}
        strings = [each for each in uses.strings.get(name, ()) if (each.line, each.column) not in listed]
        anew = any(each[3] == u.KEYWORD for word in _MADE_ANEW for each in uses.mentions.get(word, ()))
        return any(each.text == name or (anew and each.text.endswith(f".{name}")) for each in strings)

    def _may_set_any(self, file: str) -> bool:
        """Return whether a module may be given names that no code spells out."""
        if file not in self._by_any:
            self._by_any[file] = any(self._reaches(path, file) for path in self._setting_files)
        return self._by_any[file]

    @cached_property
    def _setting_files(self) -> dict[str, bytes]:
        """The files that may set attributes by computed names."""
        words = "|".join(_SETTERS)
        paths = self.workspace.python_with(f"(^|[^A-Za-z0-9_])({words})([^A-Za-z0-9_]|$)")
        asked = self.workspace.staged.entries if paths is None else paths
        return {path: self.workspace.bytes_of(path) for path in asked}

    def _reaches(self, path: str, file: str) -> bool:
        """Return whether a file sets attributes of a module by names that do not stand there."""
        try:
            if path not in self._chains:
                text = Source(self._setting_files[path]).text
                self._chains[path] = frozenset(name for each in _BY_UNKNOWN_NAMES for name in each.findall(text))
            chains = self._chains[path]
            return bool(chains) and (
                self._loads(path, file) or any(self._may_mean(path, chain, file) for chain in chains)
            )
        except ResourceError:
            return True

    def _loads(self, path: str, file: str) -> bool:
        """Return whether a file gets at a module by its name in a string."""
        module, uses = self.workspace.census.module(file), self.names.uses(path)
        if module is None or not any(word in uses.mentions for word in _LOADERS):
            return False
        strings = uses.strings.get(module.name.rpartition(".")[2], ())
        return any(each.text == module.name for each in strings)

    def _may_mean(self, path: str, chain: str, file: str) -> bool:
        """Return whether a name with attributes behind it may be a module."""
        first, *rest = chain.split(".")
        scopes = self.names.uses(path).scopes
        meanings: set[Meaning] = set()
        for number, scope in enumerate(scopes):
            if any(binding.how == u.IMPORTED for binding in scope.names.get(first, ())):
                meanings |= self.names.bound(Symbol(path, number, first))
        for name in rest:
            modules = [each.path for each in meanings if isinstance(each, InModule)]
            meanings = {meaning for each in modules for meaning in self.names.attribute(each, name)}
        return InModule(file) in meanings or None in meanings


def _stored_or_spelt(name: str) -> str:
    """Return the pattern of lines, as `grep -E` has it, that hold a name behind a dot or in quotes."""
    word = re.escape(name)
    return rf"""\.[[:space:]]*{word}([^A-Za-z0-9_]|$)|["'.]{word}["']"""


def _is_own(uses: u.Uses, receiver: int) -> bool:
    form = uses.expressions[receiver]
    return bool(form) and form[0] == u.NAME and form[1] in _OWN
