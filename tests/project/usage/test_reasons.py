"""The table of reasons: no other module writes one, each of them is given somewhere, and the reference lists them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.adapters.cli import reference
from bae_source.errors import Refused
from bae_source.model.reasons import Reason, has_word
from bae_source.project import references
from tests.queries.support import laid
from tests.reference_cases import read
from tests.test_references import CASES, build

FOLDER = Path(references.__file__).parent
_SENTENCE = re.compile(r"\w \w+ \w")
_NO_PLACES = ("answering", "from_outside", "instance_attributes", "narrowing", "still_used")
"""Modules that give notices and describe parameters; they make no place that could have a reason."""
_TOLD_OTHERWISE = ("Notice", "RequestError", "SourceError", "LookupFailed", "compile")
"""Calls that are given sentences which are no reasons."""

_HOLE = re.compile(r"\{\w+\}")
PATTERNS = {each.name: re.compile(".+".join(map(re.escape, _HOLE.split(each.sentence)))) for each in Reason}
_OF_PARAMETERS = {
    "KEYWORDS_BY_STARS": "def g(**more):\n    send(**more)\n",
    "HANDED_TO_A_CALL": "from other import run\n\nrun(send, timeout=3)\n",
    "PERHAPS_ANOTHER_CALL": "def g(thing):\n    thing.go(timeout=3)\n",
    "KEYWORD_OF_ANYTHING": "def g(func):\n    func(timeout=3)\n",
}
_OF_RENAMES = ("PASSED_BY_NAME", "ASKS_FOR_FIXTURE", *_OF_PARAMETERS)
_OF_REWRITES = {
    "IN_F_STRING": ('print(f"{send(1)}")', "send($X)", 'send($X, "a")'),
    "REPLACEMENT_UNREAD": ("send.port = 2", "send.port", "send.port()"),
    "OUT_OF_PLACE": ("def f(): send(1)", "send($X)", "await send($X)"),
    "ANY_NUMBER": ("def f(x): send(*x)", "send($X)", "send($X, 1)"),
    "SHARED_LINE": ("send(1); print()", "send($X)", "print()\nsend($X)"),
    "CLAUSE": ("if 1: ...\nelif send: ...", "if send: ...", "send()"),
    "PART_OF_EXPRESSION": ("x = send(1)", "send($X)", "assert $X"),
    "UNTOLD": ("def send(x) -> int: return x", "def $F($X): return $Y", "$F = lambda $X: $Y"),
    "UNDECIDED": ("def f(x): send(x)", "send($X)", "send($X, 1)"),
}
"""Code, pattern and replacement for each reason that only rewrites have."""
_OF_SIGNATURES = {
    "ARGUMENTS_DO_NOT_FIT": ("def send(a): ...\nsend(1, 2)", "(b, a)"),
    "ARGUMENTS_BY_STAR": ("def send(a, b): ...\ndef g(x): send(*x)", "(b, a)"),
    "ARGUMENTS_BY_STARS": ("def send(a): ...\ndef g(x): send(**x)", "(a, /)"),
    "COMPLETED_LATER": ("from functools import partial\ndef send(a, b): ...\nx = partial(send, 1)", "(b, a)"),
    "TOO_MANY_ARGUMENTS": ("def send(a, *b): ...\nsend(1, 2)", "(a)"),
    "KEYWORD_NOT_TAKEN": ("def send(a, **b): ...\nsend(1, c=2)", "(a)"),
    "OUT_OF_ORDER": ("def send(a, b, /): ...\nsend(int(), str())", "(b, a, /)"),
    "BEHIND_A_GAP": ("def send(a=int, b=1): ...\nsend(b=2)", "(a=int, b=1, /)"),
    "EFFECT_LOST": ("def send(a, b=1): ...\nsend(1, print())", "(a)"),
    "CALLED_OTHERWISE": (
        "class A:\n    def send(self, a, b): ...\nrun = A.send.__get__(A())\nrun(1, 2)",
        "(self, b, a)",
    ),
    "BELOW_HAS_ITS_OWN": (
        "class A:\n    def __init__(self, a): ...\n    def send(self): return type(self)(1)\n"
        "class B(A):\n    def __init__(self, b): super().__init__(a=2)",
        "(self, *, a)",
    ),
    "MAY_FIT": (
        "from typing import Protocol\nclass A(Protocol):\n    def send(self, a, b): ...\n"
        "class B:\n    def send(self, a, b): ...\nclass C:\n    def other(self): ...",
        "(self, b, a)",
    ),
    "HANDED_ON_BY": ("def keep(f):\n    KEPT.append(f)\n    return f\n@keep\ndef send(a, b): ...", "(b, a)"),
    "CALLED_TOGETHER": (
        "class A:\n    def __new__(cls, a, b): return super().__new__(cls)\n    def __init__(self, a, b): ...\n"
        "    send = 1",
        "(self, b, a)",
    ),
    "CALLED_BY_PYTHON": ("class A:\n    def __call__(self, a, b): ...\n    send = 1", "(self, b, a)"),
    "HANDED_ON": ("def send(a, b): ...\nmap(send, [])", "(b, a)"),
    "DECORATES": ("def send(a, b=1): ...\n@send\ndef f(): ...", "(b, a)"),
    "RAISED": ("class E(Exception):\n    def send(self): ...\n    def __init__(self, a=1): ...\nraise E", "(self, a)"),
    "BOUND_TO_ANOTHER": ("class A:\n    def send(self, a): ...\nclass B(A):\n    send = print", "(self, *, a)"),
    "NO_PLACE": ("class A:\n    def send(self, a): ...\nclass B(A):\n    def send(self, a=1): ...", "(self, a, b)"),
}
"""Code and signature for each reason that only changes of signatures have."""
_MAIL = "class Mail:\n    def send(self):\n        return self\n\n\n"
_OF_MOVES = {
    "NOT_CALLED": {"app.py": f"{_MAIL}def run(mail: Mail):\n    return map(mail.send, [1])\n"},
    "INSTANCE_OR_CLASS": {"app.py": f"{_MAIL}class Late(Mail):\n    def late(self):\n        return super().send()\n"},
    "INSTANCE_MADE": {"app.py": f"{_MAIL}def run():\n    return Mail().send()\n".replace("self\n", "1\n")},
    "NOT_REWRITTEN": {"app.py": f"{_MAIL}def run(mails):\n    return Mail.send(*mails)\n"},
    "ASSIGNED_HERE": {"app.py": f"{_MAIL}def run(mail: Mail):\n    mail.send = 1\n"},
    "NAMED_AS_ATTRIBUTE": {"app.py": f"{_MAIL}from unittest.mock import patch\npatch('app.Mail.send')\n"},
    "REPLACED_THERE": {
        "app.py": "def send(): ...\ndef run(): send()\n",
        "test_app.py": "from unittest.mock import patch\npatch('app.send')\n",
    },
    "REACHED_OTHERWISE": {"app.py": "def send(): ...\n", "use.py": "import app\n\n(app).send()\n"},
    "TABLE_OF_PACKAGE": {
        "app/__init__.py": "import importlib\n_LAZY = {'send': 'core'}\ndef __getattr__(name):\n"
        "    return getattr(importlib.import_module('.' + _LAZY[name], __name__), name)\n",
        "app/core.py": "def send(): ...\n",
        "lib/__init__.py": "",
    },
}
"""Files for each reason that only moves have: a method becomes a function, a function or a module goes elsewhere."""
_OF_EXTRACTS = {
    "COUNTS_CALLS": ("def f(x): x.warn('old', stacklevel=2)", "x.warn('old', stacklevel=2)", None),
    "LOST_IN_WITH": ("def f(x):\n with x:\n  y = 1; x.go()\n  z = y\n return y", "y = 1; x.go()", None),
    "EVALUATED_EARLIER": ("def f(x): x(x.go(), x.stop())", "x.stop()", "variable"),
    "EVALUATED_ONCE": ("def f(): return print(1)", "print(1)", "constant"),
}
"""Code, the piece of it, and the kind for each reason that only extractions have."""
_OF_INLINES = {
    "BOUND_ANEW": ("def f(y):\n    x = y\n    y = 2\n    return x, y", "app.f.x"),
    "EVALUATED_LATER": ("def f(y):\n    x = y.size\n    return lambda: x", "app.f.x"),
    "EVALUATED_AGAIN": ("def f():\n    x = []\n    return lambda: x", "app.f.x"),
    "EVALUATED_PERHAPS": ("def f(y):\n    x = y()\n    return y and x", "app.f.x"),
    "STATE_MAY_CHANGE": ("def f(y):\n    x = y.size\n    y.clear()\n    return x", "app.f.x"),
    "RUNS_BEHIND": ("def f(y):\n    x = y()\n    return y.a, x", "app.f.x"),
    "CAUGHT_HERE": ("def f(y):\n    x = y[0]\n    try:\n        print(x)\n    finally:\n        y()", "app.f.x"),
    "NOT_REACHED": ("def f(y):\n    if y:\n        x = 1\n    return x", "app.f.x"),
    "CAPTURED": ("Y = 1\nX = Y\n\n\ndef f(Y):\n    return X", "app.X"),
    "NO_PLAIN_READ": ('X = int\n\n\ndef f(a: "X"): ...', "app.X"),
    "SHOWS_ITSELF": ('def f(y):\n    x = y\n    return f"{x=}"', "app.f.x"),
    "BACKSLASH_IN_F_STRING": ('def f(y):\n    x = "\\n".join(y)\n    return f"{x}"', "app.f.x"),
    "EXPORTED": ('__all__ = ["X"]\n\nX = 1\nprint(X)', "app.X"),
    "NAMED_BY_STRING": ('X = 1\nprint(X, "app.X")', "app.X"),
    "READS_FRAME": ("def f(y):\n    x = y\n    return x, locals()", "app.f.x"),
    "RECEIVER_RUNS": ("class A:\n    X = 1\n\n\nprint(A().X)", "app.A.X"),
    "USED_AS_VALUE": ("def f(x):\n    return x\n\n\nprint(map(f, []))", "app.f"),
    "PRIVATE_ELSEWHERE": ("class A:\n    def f(self):\n        return self.__x\n\n\na = A()\na.f()", "app.A.f"),
    "NO_IMPORT": ("from core import f\n\nprint(f())", "core.f"),
    "HAS_STATEMENTS": ("def f(x):\n    y = x\n    return y\n\n\nprint(f(1))", "app.f"),
    "RETURNS_EARLY": ("def f(x):\n    if x:\n        return 1\n    return 2\n\n\nx = f(1)", "app.f"),
    "NOT_AWAITED": ("async def f(x):\n    return x\n\n\nx = f(1)", "app.f"),
    "NO_ROOM": ("def f(x):\n    return x + x\n\n\ny = print and f(print())", "app.f"),
    "GIVEN_BY_STAR": ("def f(x):\n    return x\n\n\ny = f(*[1])", "app.f"),
    "IN_CLASS": ("def f(x):\n    y = x\n    return y\n\n\nclass A:\n    x = f(1)", "app.f"),
    "DEFAULT_KEPT": ("def f(x=[]):\n    return x\n\n\ny = f()", "app.f"),
    "GIVES_ANOTHER": ("def f(x=1):\n    return x\n\n\ny = f(2)", "app.f.x"),
}
"""Code and what is inlined for each reason that only inlinings have."""

ELSEWHERE = (
    "TOO_MANY_BELOW",
    "DOCSTRING",
    "COMMENT",
    "TEXT",
    "STRING",
    "BYTES",
    "GENERATED",
    *_OF_RENAMES,
    *_OF_REWRITES,
    *_OF_SIGNATURES,
    *_OF_MOVES,
    "CODEMOD_FAILED",
    *_OF_EXTRACTS,
    *_OF_INLINES,
)
"""Reasons that no case of references has: they need many files, or another question, and have tests below."""


def test_no_module_writes_a_reason_of_its_own() -> None:
    modules = [each for each in FOLDER.rglob("*.py") if each.stem not in _NO_PLACES]
    found = {each.name: sentences(each.read_text(encoding="utf-8")) for each in modules}
    assert {name: written for name, written in found.items() if written} == {}


@pytest.mark.parametrize(
    "code",
    [
        'Verdict("unsure", "it may be another")',
        'why = f"{name} may be another"\nMentioned(path, mention, "unsure", why)',
        '_WHY = "it may be another"',
        'replace(each, why="it may be " + "another")',
        'Verdict("unsure", Reason.SEVERAL.of(what="this one") or "it may be another")',
    ],
)
def test_a_reason_that_is_written_elsewhere_is_found(code: str) -> None:
    assert sentences(code)


@pytest.mark.parametrize(
    "code",
    [
        '"""A docstring that says something."""',
        'def f():\n    """Likewise, here."""',
        'Reason.SEVERAL.of(what="what is called")',
        'raise RequestError("invalid_arguments", f"{name} is no module.", hints=["Ask about another."])',
        'PIECE = b"in bytes it is"',
    ],
)
def test_what_is_no_reason_is_not_taken_for_one(code: str) -> None:
    assert not sentences(code)


def sentences(code: str) -> list[str]:
    """Return what reads like a reason and is written in code, but for what fills a hole of one."""
    tree = ast.parse(code)
    text = ("".join(_pieces(each)) for each in _strings(tree))
    return [each for each in text if _SENTENCE.search(each)]


def _strings(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a docstring
        if isinstance(child, ast.Call):
            called = child.func.id if isinstance(child.func, ast.Name) else getattr(child.func, "attr", "")
            if called in _TOLD_OTHERWISE or (called == "of" and not child.args):
                continue
        if isinstance(child, (ast.JoinedStr, ast.Constant)):
            yield child
        else:
            yield from _strings(child)


def _pieces(node: ast.AST) -> Iterator[str]:
    return (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))


def reason_of(sentence: str) -> str:
    """Return the name of the one reason that has a sentence."""
    [name] = [name for name, pattern in PATTERNS.items() if pattern.fullmatch(sentence)]
    return name


def test_every_reason_is_given_by_a_case_or_by_a_test_that_is_named(tmp_path: Path) -> None:
    met: set[str] = set()
    for number, path in enumerate(CASES):
        case, root = read(path), tmp_path / str(number)
        build(case, root)
        source = Source(root)
        asks = [ask for ask in case.asks if ask.error is None and ask.verb != "unused"]  # which has a table of its own
        for outcome in (getattr(source, ask.verb)(ask.target).outcome for ask in asks):
            for each in outcome.found:
                if each.certainty != "sure":
                    met.add(reason := reason_of(each.why))
                    assert Reason[reason].certainty == each.certainty
    assert {each.name for each in Reason} - met == set(ELSEWHERE)


def test_one_of_too_many_classes_below_is_a_reason(tmp_path: Path) -> None:
    core = "".join(f"class {name}:\n    def go(self): ...\n\n\n" for name in "AB")
    core += "class Base:\n    handler = B()\n\n    def run(self):\n        self.handler.go()\n"
    below = {f"app/m{n}.py": "from app.core import Base\nclass C(Base):\n    handler = 1\n" for n in range(70)}
    source = laid(tmp_path, {"app/__init__.py": "", "app/core.py": core, **below})
    assert [reason_of(each.why) for each in source.references("app.core.A.go").outcome.found] == ["TOO_MANY_BELOW"]


def test_prose_that_speaks_of_something_has_its_reason(tmp_path: Path) -> None:
    files = {
        "app.py": 'def send(): ...\n\n\ndef f():\n    """Call `send`."""\n    # then send()\n    return "send()"\n',
        "README.md": "Use `send`.\n",
    }
    found = laid(tmp_path, files).references("app.send", mentions=True).outcome.found
    assert {reason_of(each.why) for each in found} == {"DOCSTRING", "COMMENT", "STRING", "TEXT"}


def test_bytes_that_hold_a_name_have_their_reason(tmp_path: Path) -> None:
    files = {"app/__init__.py": "", "app/core.py": "", "use.py": 'OLD = b"capp.core\\nClient\\n."\nNEW = "capp.core"\n'}
    found = laid(tmp_path, files).references("app.core", mentions=True).outcome.found
    assert [(each.line, reason_of(each.why)) for each in found] == [(1, "BYTES")]


@pytest.mark.parametrize("name", _OF_RENAMES)
def test_what_only_a_rename_doubts_has_its_reason(tmp_path: Path, name: str) -> None:
    code = "def send(timeout): ...\n\n\nclass A:\n    def go(self, timeout): ...\n\n\n"
    files = {
        "app.py": code + _OF_PARAMETERS.get(name, "import other\n\n\n@other.option\ndef main(count): ...\n"),
        "test_app.py": "def test_one(db):\n    assert db\n",
        "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef db(): ...\n",
    }
    others = {"PASSED_BY_NAME": "app.main.count", "ASKS_FOR_FIXTURE": "test_app.test_one.db"}
    others["PERHAPS_ANOTHER_CALL"] = "app.A.go.timeout"
    source = laid(tmp_path, files)
    with pytest.raises(Refused) as caught:
        source.rename(others.get(name, "app.send.timeout"), "another")
    assert {reason_of(each["reason"]) for each in caught.value.details["report"]["unsure"]} == {name}
    assert (tmp_path / "app.py").read_text() == files["app.py"]


@pytest.mark.parametrize("name", _OF_REWRITES)
def test_what_cannot_be_rewritten_has_its_reason(tmp_path: Path, name: str) -> None:
    code, pattern, replacement = _OF_REWRITES[name]
    source = laid(tmp_path, {"app.py": f"class C: ...\n\n\n{code}\n"})
    where = ["$X is app.C"] if name == "UNDECIDED" else []
    with pytest.raises(Refused) as caught:
        source.rewrite(pattern, replacement, where=where)
    assert [reason_of(each["reason"]) for each in caught.value.details["report"]["unsure"]] == [name]
    assert (tmp_path / "app.py").read_text() == f"class C: ...\n\n\n{code}\n"


@pytest.mark.parametrize("name", _OF_SIGNATURES)
def test_a_call_that_cannot_follow_a_signature_has_its_reason(tmp_path: Path, name: str) -> None:
    code, signature = _OF_SIGNATURES[name]
    source = laid(tmp_path, {"app.py": f"{code}\n"})
    target = {
        "RAISED": "app.E.__init__",
        "CALLED_TOGETHER": "app.A.__init__",
        "BELOW_HAS_ITS_OWN": "app.A.__init__",
        "CALLED_BY_PYTHON": "app.A.__call__",
    }
    target.update(dict.fromkeys(("BOUND_TO_ANOTHER", "NO_PLACE", "CALLED_OTHERWISE", "MAY_FIT"), "app.A.send"))
    with pytest.raises(Refused) as caught:
        source.change_signature(target.get(name, "app.send"), signature)
    assert [reason_of(each["reason"]) for each in caught.value.details["report"]["unsure"]] == [name]
    assert (tmp_path / "app.py").read_text() == f"{code}\n"


def test_a_file_on_which_a_codemod_fails_has_its_reason(tmp_path: Path) -> None:
    codemod = (
        "from libcst.codemod import Codemod\n\n\nclass Fail(Codemod):\n    def transform_module_impl(self, tree):\n"
    )
    files = {"mods.py": f"{codemod}        raise ValueError(tree)\n", "app.py": "n = 1\n"}
    with pytest.raises(Refused) as caught:
        laid(tmp_path, files).codemod("mods:Fail", "app")
    assert [reason_of(each["reason"]) for each in caught.value.details["report"]["unsure"]] == ["CODEMOD_FAILED"]
    assert (tmp_path / "app.py").read_text() == "n = 1\n"


@pytest.mark.parametrize("name", _OF_MOVES)
def test_a_place_that_a_move_cannot_lead_along_has_its_reason(tmp_path: Path, name: str) -> None:
    files = _OF_MOVES[name] | {"new.py": ""}
    source = laid(tmp_path, files)
    is_method, is_module = "class Mail" in files.get("app.py", ""), "app/core.py" in files
    target, to = (
        ("app.Mail.send", "app") if is_method else ("app.core", "lib.core") if is_module else ("app.send", "new")
    )
    try:
        report = source.move(target, to, dry_run=True).report
    except Refused as refused:
        report = refused.details["report"]
    assert report is not None
    assert name in {reason_of(each["reason"]) for each in (*report["unsure"], *report["mentions"])}
    assert {path: (tmp_path / path).read_text() for path in files} == files


@pytest.mark.parametrize("name", _OF_EXTRACTS)
def test_code_that_may_not_be_the_same_elsewhere_has_its_reason(tmp_path: Path, name: str) -> None:
    code, piece, kind = _OF_EXTRACTS[name]
    source = laid(tmp_path, {"app.py": f"{code}\n"})
    with pytest.raises(Refused) as caught:
        source.extract("app.f", code=piece, as_name="new", kind=kind)
    assert [reason_of(each["reason"]) for each in caught.value.details["report"]["unsure"]] == [name]
    assert (tmp_path / "app.py").read_text() == f"{code}\n"


@pytest.mark.parametrize("name", _OF_INLINES)
def test_what_cannot_be_inlined_has_its_reason(tmp_path: Path, name: str) -> None:
    code, target = _OF_INLINES[name]
    core = "N = 0\n\n\ndef more():\n    global N\n    N = 1\n\n\ndef f():\n    return N\n"
    source = laid(tmp_path, {"app.py": f"{code}\n", "core.py": core})
    with pytest.raises(Refused) as caught:
        source.inline(target)
    assert {reason_of(each["reason"]) for each in caught.value.details["report"]["unsure"]} == {name}
    assert (tmp_path / "app.py").read_text() == f"{code}\n"
    assert (tmp_path / "core.py").read_text() == core


def test_places_in_generated_files_that_were_left_have_their_reason(tmp_path: Path) -> None:
    files = {"made.py": "# @generated\nfrom app import send\n", "app.py": "def send(): ...\n"}
    report = laid(tmp_path, files).rename("app.send", "post", skip_generated=True, dry_run=True).report
    assert report is not None
    assert [(each["module"], reason_of(each["reason"])) for each in report["unsure"]] == [("made", "GENERATED")]


def test_the_reference_lists_every_reason() -> None:
    page = reference.page()
    assert all(f"| {each.certainty} | {_HOLE.sub('…', each.sentence)} |" in page for each in Reason)


def test_a_draft_offers_to_change_a_place_unless_no_word_of_it_could_change() -> None:
    changeable = {each.name for each in Reason if has_word(_HOLE.sub("this", each.sentence))}
    assert {"STATE_MAY_CHANGE", "EVALUATED_LATER", "CAUGHT_HERE", "SEVERAL", "UNKNOWN_RECEIVER"} <= changeable
    assert not {"KEYWORDS_BY_STARS", "NO_IMPORT", "CAPTURED", "IN_F_STRING", "HANDED_ON_BY"} & changeable
