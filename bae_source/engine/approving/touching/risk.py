"""Risk of a planned change, for the person who decides, in clauses with the gravest first.

    high      a public name goes, or is no longer in `__all__`; a public function takes other arguments; a class has
              other bases; a dependency changes; other programs run a file or go by a setting (CI, hooks, conftest, …);
              a test is taken out, skipped, or asserts less; a module no longer parses; what goes is still used; code
              runs programs or other code, or opens connections, and did not; 200 files or more
    medium    a public function does something else, takes further arguments, or has other defaults or annotations;
              other statements of a module, which run whenever it is imported, and whatever else calls something then; a
              private name goes; a setting; a data file that is no text, goes, or loses most of its lines; places that
              are not sure; what could not be looked into; 20 files or more; 500 lines or more that go
    low       comments, docstrings and white space; the body of a private function; imports; what is new, data files
              among tests and docs as well; tests that assert as much as before; texts

Invariant: nothing here forbids or lets through; a policy does, and may ask for the level (`approve-risk`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from bae_source.approval.policy import Subject
from bae_source.approval.proposals import Risk
from bae_source.engine.approving.touching.changed_settings import PYPROJECT
from bae_source.engine.approving.touching.effects import Effect, bare, code_of, effects_of
from bae_source.engine.approving.touching.paths import is_called, is_of_tests_or_docs
from bae_source.engine.approving.touching.pieces import Difference
from bae_source.engine.approving.touching.touched import PYTHONS, Module, Touched, exchanges, touched_by
from bae_source.errors import SourceError
from bae_source.model.changeset import FileChange
from bae_source.model.plan import Plan
from bae_source.model.text import counted, listed
from bae_source.project.workspace import Workspace
from bae_source.syntax.names.reading import uses_of
from bae_source.syntax.names.running import called_by_import, may_reach, reaching
from bae_source.syntax.names.uses import Uses
from bae_source.syntax.outline.definitions import Kind
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.altered import by_path

_LEVELS = ("low", "medium", "high")
_LOW, _MEDIUM, _HIGH = range(3)
_MOST = 12
"""Reasons at most."""
_SHOWN = 3
_MANY_FILES, _VERY_MANY_FILES = 20, 200
_MANY_LINES = 500
_LARGEST = 5_000_000
"""Bytes of a file whose lines are compared."""
_TEXTS = (".md", ".rst", ".txt", ".adoc")
"""Suffixes of files for people."""
_ASSERTIONS = re.compile(r"\bassert\b|\bassert[A-Z_]\w*|\b(?:raises|warns|deprecated_call)\b")
_SKIPS = re.compile(r"\b(?:skip\w*|xfail|expectedFailure)\b")
_TEST = re.compile("[tT]est")
_OF_DEFINITIONS = frozenset({"gone", "unexported", "signature", "wider", "defaults", "annotations", "inside"})
"""Effects that matter by whether the name is public."""
_INSIDE = frozenset({"inside", "statements", "imports", "layout"})
"""Effects that an exchange of names in a file may have."""
_REACHING = frozenset({"runs", "connects"})
_STILL_USED = frozenset({"still_used", "still_imported", "perhaps_used", "name_undefined"})
"""Warnings of a plan by which something else breaks."""


class _Clause(Struct, frozen=True, kw_only=True):
    """A clause about some names, and how grave it is.

    Parameters:
        level: index of a level.
        one, several: the clause with `{}` for the names: for one of them, and for several.
        before: its rank among the others of its level.
    """

    level: int
    before: int = 0
    one: str
    several: str

    def of(self, names: Iterable[str]) -> str:
        """Return the clause about names."""
        every = list(dict.fromkeys(names))
        return (self.one if len(every) == 1 else self.several).format(listed(every, _SHOWN))


def _clause(level: int, one: str, several: str | None = None) -> _Clause:
    return _Clause(level=level, one=one, several=several or one)


_CLAUSES = {
    "public gone": _clause(_HIGH, "{}, which is public, goes", "{}, which are public, go"),
    "public signature": _clause(
        _HIGH,
        "{}, which is public, gets another header: arguments, bases or decorators",
        "{}, which are public, get other headers: arguments, bases or decorators",
    ),
    "public unexported": _clause(_HIGH, "{} is no longer in __all__", "{} are no longer in __all__"),
    "broken": _clause(_HIGH, "{} does not parse", "{} do not parse"),
    "still used": _clause(_HIGH, "{}"),
    "dependency": _clause(_HIGH, "the dependency {} changes", "the dependencies {} change"),
    "runs": _clause(_HIGH, "runs programs or code: {}"),
    "connects": _clause(_HIGH, "opens connections: {}"),
    "test gone": _clause(_HIGH, "{}, a test, is taken out", "{}, tests, are taken out"),
    "test weaker": _clause(_HIGH, "{}, a test, asserts less", "{}, tests, assert less"),
    "test skipped": _clause(
        _HIGH, "{}, a test, is skipped or expected to fail", "{}, tests, are skipped or expected to fail"
    ),
    "very many": _clause(_HIGH, "{} change"),
    "public wider": _clause(
        _MEDIUM, "{}, which is public, takes further arguments", "{}, which are public, take further arguments"
    ),
    "public defaults": _clause(
        _MEDIUM, "{}, which is public, has other defaults", "{}, which are public, have other defaults"
    ),
    "public annotations": _clause(
        _MEDIUM, "{}, which is public, has other annotations", "{}, which are public, have other annotations"
    ),
    "public inside": _clause(
        _MEDIUM, "{}, which is public, does something else", "{}, which are public, do something else"
    ),
    "statements": _clause(
        _MEDIUM,
        "statements of {} change, which run whenever it is imported",
        "statements of {} change, which run whenever they are imported",
    ),
    "called by import": _clause(
        _MEDIUM,
        "{} calls something whenever its module is imported",
        "{} call something whenever their modules are imported",
    ),
    "gone": _clause(_MEDIUM, "{}, which is private, goes", "{}, which are private, go"),
    "unsure": _clause(
        _MEDIUM, "{} may mean it as well and stays as it is", "{} may mean it as well and stay as they are"
    ),
    "probable": _clause(_MEDIUM, "{} changes though it is not sure", "{} change though they are not sure"),
    "unread": _clause(_MEDIUM, "not all of the project could be looked into"),
    "setting": _clause(_MEDIUM, "the setting {} changes", "the settings {} change"),
    "data gone": _clause(_MEDIUM, "the file {} goes", "the files {} go"),
    "data emptied": _clause(
        _MEDIUM, "the file {} loses most of what it has", "the files {} lose most of what they have"
    ),
    "data": _clause(_MEDIUM, "the data file {} changes", "the data files {} change"),
    "data comes": _clause(_MEDIUM, "the data file {} is new", "the data files {} are new"),
    "many": _clause(_MEDIUM, "{} change"),
    "many lines": _clause(_MEDIUM, "{} go"),
    "inside": _clause(_LOW, "{}, which is private, changes", "{}, which are private, change"),
    "imports": _clause(_LOW, "imports of {} change"),
    "new": _clause(_LOW, "{} is new", "{} are new"),
    "text": _clause(_LOW, "comments or docstrings of {} change"),
    "layout": _clause(_LOW, "white space alone changes in {}"),
    "test": _clause(_LOW, "{}, a test, changes", "{}, tests, change"),
    "test new": _clause(_LOW, "{}, a test, is new", "{}, tests, are new"),
    "exchanged": _clause(_LOW, "names are exchanged in {}"),
    "prose": _clause(_LOW, "the text {} changes", "the texts {} change"),
    "data new": _clause(_LOW, "the data file {} of tests or docs is new", "the data files {} of tests or docs are new"),
}
"""Clauses by what they are about, the gravest first."""
_KINDS = {_CLAUSES["text"]: "comments", _CLAUSES["prose"]: "texts", _CLAUSES["test new"]: "tests"}
"""Kinds of changes by the only clause that is about them."""


def risk_of(plan: Plan, subjects: Sequence[Subject], before: Workspace, after: Workspace) -> Risk:
    """Return the risk of a planned change.

    Parameters:
        subjects: as `subjects_of` has them.
        before, after: the project without the change, and with it.
    """
    assessment = _Assessment(touched_by(plan, before, after))
    assessment.of_subjects(subjects)
    for file in plan.changes.files:
        assessment.of_file(file)
    assessment.of_plan()
    return assessment.risk(subjects)


class _Assessment:
    """Gathers the reasons for the risk of one plan."""

    def __init__(self, touched: Touched) -> None:
        self._touched = touched
        self._plan = touched.plan
        self._clauses: dict[_Clause, list[str]] = defaultdict(list)
        self._counts: Counter[str] = Counter()
        self._running = _Running()

    def risk(self, subjects: Sequence[Subject]) -> Risk:
        """Return the risk, with its gravest reasons."""
        order = {clause: number for number, clause in enumerate(_CLAUSES.values())}
        clauses = sorted(self._clauses, key=lambda each: (-each.level, -each.before, order.get(each, 0)))
        found = {
            "files": len(self._plan.changes.files),
            "lines_added": self._counts["added"],
            "lines_removed": self._counts["removed"],
            "symbols": sum(each.kind in ("code", "tests") for each in subjects),
            "public": self._counts["public"],
            "deleted": self._counts["deleted"],
            "tests": self._counts["tests"],
            "dependencies": len({each.name for each in subjects if each.kind == "deps"}),
            "unsure": self._counts["unsure"],
        }
        level = max((each.level for each in clauses), default=_LOW)
        reasons = tuple(clause.of(self._clauses[clause]) for clause in clauses[:_MOST])
        kinds = {_KINDS.get(each, "") for each in clauses}
        kind = kinds.pop() if len(kinds) == 1 else ""
        return Risk(level=_LEVELS[level], reasons=reasons, counts=found, kind=kind)

    def of_subjects(self, subjects: Sequence[Subject]) -> None:
        """Take the effects on other programs: settings and dependencies."""
        for each in subjects:
            if each.never or each.runs:
                text = f"{{}} may not change: {each.never}" if each.never else f"{{}}: {each.runs}"
                clause = _Clause(level=_HIGH, before=2 if each.never else 1, one=text, several=text)
                self._clauses[clause].append(each.name)
            elif each.kind in ("deps", "config"):
                self._note("dependency" if each.kind == "deps" else "setting", each.name)

    def of_file(self, file: FileChange) -> None:
        """Take the differences in a file."""
        removed, added = _lines(*self._touched.contents(file))
        self._counts += Counter(removed=removed, added=added)
        self._counts["deleted"] += file.after is None
        kind, name = next(self._touched.called(file.path, file))
        if kind == "data":
            self._of_data(file, name)
            return
        module = self._touched.module(file)
        is_exchanged = self._plan.report is not None and bool(file.edits) and all(map(exchanges, file.edits))
        if is_exchanged and not module.differences:
            self._note("exchanged", name)
        for effect in effects_of(module, name, is_package=file.path.endswith("/__init__.py")):
            address = f"{name}.{effect.name}" if effect.name else name
            if is_exchanged and effect.what in _INSIDE:
                self._note("exchanged", name)
            elif kind == "tests":
                self._of_test(effect, address, module)
            else:
                self._of_code(effect, address)
        if not is_exchanged:
            self._running.of_module(module, name, is_test=kind == "tests")

    def of_plan(self) -> None:
        """Take the plan's own facts: unsure places, warnings, and its size."""
        for what, name in self._running.found():
            self._note(what, name)
        report = self._plan.report
        if report is not None:
            self._counts["unsure"] += len(report.unsure) + len(report.probable)
            for what, places in (("unsure", report.unsure), ("probable", report.probable)):
                for each in places:
                    self._note(what, f"{each.address}:{each.line}")
            if not report.complete:
                self._note("unread", "")
        for warning in self._plan.warnings:
            if warning.code in _STILL_USED:
                self._note("still used", warning.message.partition("; ")[0].rstrip("."))
        files, lines = len(self._plan.changes.files), self._counts["removed"]
        if files >= _MANY_FILES:
            self._note("many" if files < _VERY_MANY_FILES else "very many", counted(files, "file"))
        if lines >= _MANY_LINES:
            self._note("many lines", counted(lines, "line"))

    def _note(self, what: str, name: str) -> None:
        self._clauses[_CLAUSES[what]].append(name)

    def _of_data(self, file: FileChange, name: str) -> None:
        if is_called(file.path, PYPROJECT):
            return  # whose settings are listed one by one
        before, after = self._touched.contents(file)
        is_prose = file.path.lower().endswith(_TEXTS)
        if file.after is None and not any(each.origin == file.path for each in self._plan.changes.files):
            self._note("data gone", name)
        elif file.after is not None and _is_emptied(before, after):
            self._note("data emptied", name)
        elif file.before is None and file.after is not None and not is_prose:
            is_plain = not file.executable and is_of_tests_or_docs(file.path)
            self._note("data new" if is_plain else "data comes", name)
        else:
            self._note("prose" if is_prose else "data", name)

    def _of_code(self, effect: Effect, address: str) -> None:
        what, public = effect.what, effect.is_public
        self._counts["public"] += public and what in _OF_DEFINITIONS
        self._counts["deleted"] += what == "gone" and bool(effect.name)
        if what not in _OF_DEFINITIONS:
            self._note(what, address)
        elif public:
            self._note(f"public {what}", address)
        else:
            self._note("gone" if what == "gone" else "inside", address)

    def _of_test(self, effect: Effect, address: str, module: Module) -> None:
        """Take the effect on a test; helpers, classes and modules of tests count as tests."""
        self._counts["tests"] += 1
        self._counts["deleted"] += effect.what == "gone" and bool(effect.name)
        if effect.what == "broken":
            self._note("broken", address)
        elif effect.what == "new":
            self._note("test new", address)
        elif effect.what == "gone":
            is_lost = _is_test(effect.name) and not self._is_moved(effect, module)
            self._note("test gone" if is_lost else "test", address)
        else:
            self._note(_weakened(effect), address)

    def _is_moved(self, effect: Effect, module: Module) -> bool:
        """Return whether a test, or all tests of a module that goes, are somewhere else after the change."""
        if effect.name:
            return _last(effect.name) in self._tests_that_come
        assert module.before is not None
        names = {_last(".".join(path)) for path in by_path(module.before.outline)}
        tests = {name for name in names if _TEST.match(name)}
        return bool(tests) and tests <= self._tests_that_come

    @cached_property
    def _tests_that_come(self) -> frozenset[str]:
        """The bare names of the tests that the change puts anywhere."""
        found = set()
        for file in self._plan.changes.files:
            if file.path.endswith(PYTHONS) and self._touched.kind(file.path) == "tests":
                found |= {_last(each.name) for each in self._touched.module(file).differences if each.before is None}
        return frozenset(found)


class _Running:
    """Finds what runs programs or other code, or calls something on an import, and did not before the change.

    A definition that goes to another place with what it calls calls nothing new there.
    """

    def __init__(self) -> None:
        self._calls: Counter[tuple[str, str, str]] = Counter()
        self._places: dict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)

    def of_module(self, module: Module, name: str, *, is_test: bool) -> None:
        """Take the calls in a module after the change, and before it.

        Parameters:
            name: the module's.
            is_test: whether it is run by tests alone, so that its own calls need no mention.
        """
        acts = not is_test and any(map(_may_call, module.differences))
        for tree, sign in ((module.before, -1), (module.after, 1)):
            uses = _uses(tree) if tree is not None and (acts or may_reach(tree.text)) else None
            if tree is None or uses is None:
                continue
            if not uses.whole:
                self._add("unread", "", "", sign)
            for (owner, what, dotted), count in reaching(tree.source, uses).items():
                self._add(what, f"{name}.{owner}".rstrip("."), dotted, sign * count)
            for owner, count in called_by_import(uses).items() if acts else ():
                place = f"{name}.{owner}" if owner else name
                self._add("called by import", place, "" if owner else name, sign * count)

    def found(self) -> Iterator[tuple[str, str]]:
        """Yield the clauses that there are, each with a name that it is about."""
        for (what, last, dotted), count in self._calls.items():
            for place in self._places[what, last, dotted] if count > 0 else ():
                yield what, f"{dotted}, in {place}" if what in _REACHING else place

    def _add(self, what: str, place: str, dotted: str, count: int) -> None:
        key = what, _last(place), dotted
        self._calls[key] += count
        if count > 0:
            self._places[key][place] = None


def _may_call(each: Difference) -> bool:
    """Return whether an import of the module may run what differs in a definition: it is no function."""
    pieces = [piece for piece in (each.before, each.after) if piece is not None]
    return any(piece.definition is None or piece.definition.kind is not Kind.FUNCTION for piece in pieces)


def _uses(tree: Tree) -> Uses | None:
    try:
        return uses_of(tree.source)
    except SourceError:
        return None  # which is reported as a file that does not parse


def _is_emptied(before: bytes | None, after: bytes | None) -> bool:
    """Return whether less than half of a file's lines are left, blank ones aside."""
    old, new = (sum(1 for line in (content or b"").splitlines() if line.strip()) for content in (before, after))
    return 2 * new < old


def _last(name: str) -> str:
    return bare(name).rpartition(".")[2]


def _is_test(name: str) -> bool:
    """Return whether a name is that of a test, of a class of them, or of a module of tests."""
    return not name or any(map(_TEST.match, name.split(".")))


def _weakened(effect: Effect) -> str:
    """Return the word for a changed test: skipped, weaker, or neither."""
    if effect.what in ("text", "layout") or effect.difference is None:
        return effect.what if effect.what in ("text", "layout") else "test"
    codes = [code_of(piece) for piece in (effect.difference.before, effect.difference.after) if piece is not None]
    asserted, skipped = ([len(each.findall(code)) for code in codes] for each in (_ASSERTIONS, _SKIPS))
    if skipped[0] < skipped[-1]:
        return "test skipped"
    return "test weaker" if asserted[0] > asserted[-1] else "test"


def _lines(before: bytes | None, after: bytes | None) -> tuple[int, int]:
    """Return the numbers of lines that go and come in a file; a moved file has none."""
    if max(len(before or b""), len(after or b"")) > _LARGEST:
        lines = [(content or b"").count(b"\n") for content in (before, after)]
        return max(0, lines[0] - lines[1]), max(0, lines[1] - lines[0])
    old, new = (Counter((content or b"").splitlines()) for content in (before, after))
    return (old - new).total(), (new - old).total()
