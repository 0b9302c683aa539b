"""Calls in one file that reach outside its code, and those that an import of it makes.

    from subprocess import run as go
    X = go(["id"])                   X: runs `subprocess.run`, and an import of the module makes the call
    def f(name):
        eval(name)                   f: runs `eval`
        return import_module(name)   f: runs `importlib.import_module`, which a literal in the place of `name` does not
        model.eval()                 nothing: whose method it is is not known

Invariant: names are resolved by the imports of one file alone; calls that reach a program by other ways are not found.
So this informs a person who reviews a change, and no decision rests on it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from bae_source.syntax.names import uses as u
from bae_source.syntax.text.source import Source

What = Literal["runs", "connects"]
Reaching = tuple[str, What, str]
"""The qualname of the definition, what it does, and the dotted name by which."""

_RUNS = re.compile(
    r"(?:builtins\.)?(?:eval|exec|compile|__import__)"
    r"|(?:os|posix|nt)\.(?:system|popen|startfile|fork|forkpty|(?:exec|spawn|posix_spawn)\w*)"
    r"|(?:subprocess|pty|ctypes|cffi|_posixsubprocess)\.[a-zA-Z]\w*(?:\.\w+)*"
    r"|(?:pickle|_pickle|cPickle|dill|cloudpickle|marshal|jsonpickle|joblib)\.(?:loads?|Unpickler|decode)|shelve\.open"
    r"|yaml\.(?:load|load_all|unsafe_load\w*|full_load\w*)"
    r"|runpy\.\w+|code\.(?:interact|Interactive\w+)|codeop\.\w+|imp\.load_\w+"
    r"|importlib\.(?:import_module|__import__|util\.(?:spec_from_file_location|module_from_spec))"
    r"|asyncio\.(?:subprocess\.)?create_subprocess_\w+|types\.(?:FunctionType|CodeType)|site\.addsitedir"
)
_CONNECTS = re.compile(
    r"socket\.[a-zA-Z]\w*|socketserver\.\w+|asyncio\.(?:open_connection|start_server|open_unix_connection)"
    r"|urllib\.request\.(?:urlopen|urlretrieve|build_opener)|http\.client\.HTTPS?Connection|http\.server\.\w+"
    r"|ftplib\.\w+|smtplib\.\w+|telnetlib\.\w+|imaplib\.\w+|poplib\.\w+|xmlrpc\.client\.\w+"
    r"|(?:requests|httpx)\.(?:get|post|put|patch|delete|head|request|stream|Session|Client|AsyncClient)"
)
_KNOWN: tuple[tuple[What, re.Pattern[str]], ...] = (("runs", _RUNS), ("connects", _CONNECTS))
_ROOTS = sorted({each for _, known in _KNOWN for each in re.findall(r"[A-Za-z_]{2,}", known.pattern)})
_WORDS = re.compile(rf"\b(?:{'|'.join(_ROOTS)})\b|[^\x00-\x7f]")
"""Words without one of which nothing is found; other letters may be read as these."""
_PASSIVE = re.compile(r"(?:.*\.)?(?:\w*(?:Error|Exception|Expired)|timeout|herror|gaierror|error|[A-Z][A-Z0-9_]+)")
"""Constants and errors, which do nothing by themselves."""
_BUILTINS = frozenset({"eval", "exec", "compile", "__import__"})
_NAMED_LITERALLY = frozenset({"importlib.import_module"})
"""Functions that run nothing unforeseen where their first argument is a literal."""
_LITERAL = re.compile(r"""\w+\s*\(\s*[rRuU]?(?:"[^"\\]*"|'[^'\\]*')\s*[,)]""")
_USES_IT = frozenset({u.READ, u.CALL, u.DECORATOR})
_RUN_BY_IMPORT = frozenset({u.MODULE_SCOPE, u.CLASS_SCOPE, u.INNER_SCOPE})


def reaching(source: Source, uses: u.Uses) -> Counter[Reaching]:
    """Return where a file runs programs or other code, or opens connections, and how many times."""
    found: Counter[Reaching] = Counter()
    for name, mentions in uses.mentions.items():
        for mention in mentions:
            if mention.kind not in _USES_IT:
                continue
            for dotted in _meant(uses, name, mention):
                what = _what(dotted)
                if what and not (dotted in _NAMED_LITERALLY and _has_literal(source, mention)):
                    found[uses.owners[mention.owner], what, dotted.removeprefix("builtins.")] += 1
                    break
    return found


def may_reach(text: str) -> bool:
    """Return whether a file may do so, by its words alone, so that others need not be parsed."""
    return _WORDS.search(text) is not None


def called_by_import(uses: u.Uses) -> Counter[str]:
    """Return how many calls an import of a file makes by the text of each definition, or of the module itself as ""."""
    found: Counter[str] = Counter()
    for mentions in uses.mentions.values():
        for mention in mentions:
            if mention.kind == u.CALL and _runs_by_import(uses, mention.scope):
                found[uses.owners[mention.owner]] += 1
    return found


def _runs_by_import(uses: u.Uses, number: int) -> bool:
    """Return whether an import of the file runs the code in a scope."""
    while number >= 0:
        scope = uses.scopes[number]
        if scope.kind not in _RUN_BY_IMPORT:
            return False
        number = scope.parent
    return True


def _what(dotted: str) -> What | None:
    if _PASSIVE.fullmatch(dotted):
        return None
    return next((what for what, pattern in _KNOWN if pattern.fullmatch(dotted)), None)


def _meant(uses: u.Uses, name: str, mention: u.Mention) -> Iterator[str]:
    """Yield what a mention may stand for, as a dotted name: `go` and `from subprocess import run as go`."""
    names = [name]
    receiver = mention.receiver
    while receiver != u.PLAIN:
        form = uses.expressions[receiver]
        if not form or form[0] not in (u.NAME, u.ATTRIBUTE):
            return
        if form[0] == u.NAME:
            names.append(u.plain_name(form))
            break
        names.append(str(form[2]))
        receiver = int(form[1])
    first, *rest = names[::-1]
    tail = "".join(f".{each}" for each in rest)
    imported = [each for each in uses.imports if each.name == first and not each.level]
    for each in imported:
        whole = each.module if not each.attribute else f"{each.module}.{each.attribute}"
        yield f"{whole}{tail}"
    if imported:
        return
    if first in _BUILTINS or first == "builtins":
        yield f"{first}{tail}"
    for number in uses.stars:
        yield f"{uses.imports[number].module}.{first}{tail}"


def _has_literal(source: Source, mention: u.Mention) -> bool:
    """Return whether the first argument of a call is a literal, so that all see what it is."""
    line, column = mention[:2]
    start = source.lines.start(line)
    text = source.text[start : start + 10_000]
    place = len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
    return _LITERAL.match(text, place) is not None
