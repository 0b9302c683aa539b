"""The imports of a project that lead out of it, and of its standard library: where each stands, and what it is for.

    import yaml                                 app/core.py            of the code
    try: import ujson                           except ImportError     optional: what is missing is reckoned with
    if TYPE_CHECKING: from rich import Console                         for types alone, as is all of a stub
    import pytest                               tests/test_core.py     of tests
    import nox                                  noxfile.py             beside: documents, examples, what tools run

Invariants:
- what an import means is read off files, and nothing is imported to find out;
- what may be a module of the project's own is never called one of another's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Literal

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.facts.mentions import unseen_in
from bae_source.project.files.census import STUB
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.types.values import STANDARD
from bae_source.project.workspace import Workspace
from bae_source.resources.tests.settings import PytestSettings, pytest_settings
from bae_source.syntax.importing.guards import guarded_imports, typing_imports
from bae_source.syntax.names.uses import Uses
from bae_source.syntax.text.source import SingleLines, parsable

Where = Literal["code", "tests", "beside"]
Purpose = Literal["", "optional", "types"]

_TESTS = re.compile(r"(?:^|/)tests?/|(?:^|/)conftest\.py$")
_BESIDE = re.compile(
    r"(?:\.[^/]+|_?docs?(?:[_-][^/]+)?|documentation|examples?|samples?|demos?|fixtures?|bench(?:es|marks?)?|asv_bench"
    r"|scripts?|tools?|bin|ci|devtools|build_scripts|notebooks?)/"
    r"|(?:setup|noxfile|tasks|fabfile|dodo|hatch_build|hubconf|manage|conf|release|update\w*|bench\w*)\.pyi?$"
)
_CASES = re.compile(r"(?:^|/)tests?/(?:.*/)?(?:test_?)?(?:data|fixtures?|cases|samples?|snippets|resources|examples?)/")
"""Below tests, folders of code that tests read and nothing runs."""
_FORMER = frozenset(
    {"asynchat", "asyncore", "imp", "distutils", "smtpd", "cgi", "cgitb", "crypt", "imghdr", "nntplib", "pipes",
     "telnetlib", "xdrlib", "uu", "lib2to3", "binhex", "formatter", "parser", "symbol", "macpath", "tomllib",
     "annotationlib", "compression", "zoneinfo", "graphlib", "_typeshed",
     "__builtin__", "BaseHTTPServer", "ConfigParser", "cPickle", "cStringIO", "Cookie", "HTMLParser", "Queue",
     "SimpleHTTPServer", "SocketServer", "StringIO", "Tkinter", "UserDict", "UserList", "anydbm", "commands",
     "cookielib", "exceptions", "htmlentitydefs", "httplib", "md5", "robotparser", "sets", "sha", "thread", "urllib2",
     "urlparse", "xmlrpclib"}
)  # fmt: skip
"""Modules that the standard library of some Python has, or had, or that type checkers bring."""
_IMPORTS = re.compile(rb"(?m)^[ \t]*(?:import|from)[ \t]+\w")


class OuterImport(Struct, frozen=True, kw_only=True):
    """One name of an import statement that leads out of the project.

    Parameters:
        path: of the file.
        line: on which the statement begins.
        module: as the statement names it.
        dotted: the same, with what is taken from it.
        purpose: `optional`, or for `types` alone; "" for neither.
        where: whether the file is of the code, of tests, or beside both.
        may_be_own: whether a file of the project has that name, though not where Python would look for it.
    """

    path: str
    line: int
    module: str
    dotted: str
    purpose: Purpose = ""
    where: Where = "code"
    may_be_own: bool = False


class Imports(Struct, frozen=True, kw_only=True):
    """The imports of a project from outside.

    Parameters:
        imports: by file and line.
        strings: files that have a wanted word in a string, by that word.
        unread: why others are not known, by path.
    """

    imports: tuple[OuterImport, ...]
    strings: dict[str, tuple[str, ...]]
    unread: dict[str, str]


def imports_outside(workspace: Workspace, words: Collection[str] = ()) -> Imports:
    """Return the imports of a project that lead out of it.

    Parameters:
        words: which are looked for in strings: a plugin's module may be named by one.
    """
    reader = _Reader(workspace)
    found: list[OuterImport] = []
    strings: dict[str, list[str]] = {}
    unread: dict[str, str] = {}
    index = workspace.index
    with index.expecting():
        index.make_ready()
        for path, uses in index.uses_of(workspace.census.sources, broken=True):
            if isinstance(uses, ResourceError):
                unread[path] = uses.clause
                continue
            if not uses.whole:
                unread[path] = "not all of it parses"
            found += reader.of_file(path, uses)
            for word in words:
                if any(each.text.partition(":")[0].startswith(word) for each in uses.strings.get(word, ())):
                    strings.setdefault(word, []).append(path)
    for path, error in unseen_in(workspace, lambda content: _IMPORTS.search(content) is not None):
        unread[path] = error.clause_about("it")
    found.sort(key=lambda each: (each.path, each.line, each.dotted))
    return Imports(imports=tuple(found), strings={word: tuple(each) for word, each in strings.items()}, unread=unread)


class _Reader:
    """Tells the imports of files, one after the other."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._names = Names(workspace.census, workspace.index.uses)
        self._settings = _settings(workspace)
        self._own_words = {
            part for path in workspace.census.sources for part in path.rpartition(".")[0].split("/") if part
        }
        self._own: dict[tuple[str, str], bool] = {}

    def of_file(self, path: str, uses: Uses) -> Iterator[OuterImport]:
        """Yield the imports of a file from outside."""
        outer = {
            (each.line, dotted): each.module
            for each in uses.imports
            if not each.level and not each.begins and each.module
            for dotted in [_dotted(each.module, each.attribute)]
            if self._leads_out(path, dotted)
        }
        if not outer:
            return
        purposes = self._purposes(path, sorted({line for line, _ in outer}))
        where = self._where(path)
        for (line, dotted), module in outer.items():
            yield OuterImport(
                path=path,
                line=line,
                module=module,
                dotted=dotted,
                purpose=purposes.get(line, ""),
                where=where,
                may_be_own=module.partition(".")[0] in self._own_words,
            )

    def _leads_out(self, path: str, dotted: str) -> bool:
        top = dotted.partition(".")[0]
        return top not in STANDARD and top not in _FORMER and not self._is_own(path, dotted)

    def _is_own(self, path: str, dotted: str) -> bool:
        """Return whether the beginning of a dotted name is a module of the project, or lies beside the file."""
        parts = dotted.split(".")
        key = (path.rpartition("/")[0], dotted)
        if key not in self._own:
            names = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
            self._own[key] = any(self._names.files(path, name, 0) or self._is_beside(path, name) for name in names)
        return self._own[key]

    def _is_beside(self, path: str, name: str) -> bool:
        """Return whether a module lies in the folder of the file, where Python looks if it runs the file."""
        return bool(self._workspace.census.beside(path.rpartition("/")[0], name))

    def _purposes(self, path: str, lines: list[int]) -> dict[int, Purpose]:
        """Return the purpose of imports; one that begins its line is unconditional, so few files are parsed."""
        if path.endswith(STUB):
            return dict.fromkeys(lines, "types")
        try:
            content = self._workspace.glance(path) or b""
            single = SingleLines(content)
            indented = [line for line in lines if not single.cut(line).startswith(("import", "from"))]
            text = parsable(content).text if indented else ""
        except ResourceError:
            return {}
        found: dict[int, Purpose] = {}
        if indented:
            found.update(dict.fromkeys(guarded_imports(text).intersection(indented), "optional"))
            found.update(dict.fromkeys(typing_imports(text).intersection(indented), "types"))
        return found

    def _where(self, path: str) -> Where:
        if _CASES.search(path):
            return "beside"
        if _TESTS.search(path) or self._settings.holds_tests(path):
            return "tests"
        return "beside" if _BESIDE.match(path) else "code"


def _settings(workspace: Workspace) -> PytestSettings:
    try:
        return pytest_settings(workspace.files)
    except ResourceError:  # what the listing itself needs, it reads by itself
        return PytestSettings()


def _dotted(module: str, attribute: str) -> str:
    return module if attribute in ("", "*") else f"{module}.{attribute}"
