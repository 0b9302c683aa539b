"""Definitions that nothing in the project names, and that are reached all the same: by Python, pytest, a base class.

def test_send(): …                    in a test module: pytest calls it, so it is not listed as unused
class Mine(Base): def go(self): …     not listed: what calls `go` of Base calls it
__all__ = ["send"]                    `send` is listed as unsure: what imports the package may use it
class Mine(vendor.Base): …            its members are unsure: the calls of the base are not known
def send(): …                         probable, where the project is a package that others install

Invariants:
- a reason is given for all that is not sure, and the strongest one wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.model.reasons import Reach, Reason
from bae_source.model.reference import Certainty, Reference
from bae_source.project.references.calls.fixtures import MAKERS
from bae_source.project.references.calls.from_outside import is_passive, may_call, reasons
from bae_source.project.references.calls.keywords import decorators_of, may_be_field
from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.search.sole import Below, files_of, is_standard, packages_outside, words_in
from bae_source.project.references.search.strings import in_settings
from bae_source.project.references.types.enumerations import ENUMERATIONS
from bae_source.project.references.types.values import BUILTINS, STANDARD, Class, Value
from bae_source.syntax.names import uses as u

_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests|conftest)\.py\Z")
_TEST_PART = re.compile(r"tests?|test_.*|.*_tests?|conftest")
_BY_PYTEST = frozenset(
    {"setup_module", "teardown_module", "setup_function", "teardown_function", "setup_class", "teardown_class",
     "setup_method", "teardown_method", "setup", "teardown", "pytestmark", "pytest_plugins", "collect_ignore",
     "collect_ignore_glob"}
)  # fmt: skip
_HOOK = "pytest_"
_PACKAGE = "__init__.py"
_SETUP = "setup.py"
_SUBCLASSES = "__subclasses__"
_NOT_IN_TRACES = "__unittest"
"""A variable by which unittest knows the modules whose lines it does not show."""
_ALL_NAMES = re.compile(rb"\b(?:globals|vars|locals|dir)\s*\(\s*\)|\bsys\.modules\[__name__\]")
_TESTED = re.compile(rb"\bis(?:instance|subclass)\s*\(|^\s*except\b")
_DISTRIBUTED = re.compile(rb"^\[(?:build-system|tool\.poetry|tool\.flit|metadata)\b", re.M)
_FOR_TOOLS = re.compile(r"_[a-z]\w*[a-z0-9]_")
"""Names that tools ask objects for, as IPython does for `_repr_html_`."""
_ASKING_ITSELF = re.compile(rb"\bgetattr\(\s*(?:self|cls)\s*,\s*+(?![fFrRbB]?[\"'])")
_MAIN = re.compile(rb"\b__name__\s*==\s*[\"']__main__")
_ASKED = re.compile(r"\b(?:usefixtures|getfixturevalue)\b")


class Definition(Struct, frozen=True, kw_only=True):
    """A definition that may be unused.

    Parameters:
        module: where it stands.
        address: its dotted name behind the module's; which of several where it must be said.
        path: the same as plain names.
        kind: `class`, `function`, `method`, `assignment` or `type alias`.
        line: of its keyword.
        around: the kind of what it stands in.
        decorators: what decorates it.
        spans: first and last line of each statement that it consists of.
    """

    module: ModuleFile
    address: str
    path: tuple[str, ...]
    kind: str
    line: int
    around: str
    decorators: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def word(self) -> str:
        """Its own name."""
        return self.path[-1]

    @property
    def is_public(self) -> bool:
        """Return whether code elsewhere may name it; of a member its own name decides, as instances are handed out."""
        names = (self.word,) if self.around == "class" else (*self.module.name.split("."), *self.path)
        return self.around != "function" and not any(name.startswith("_") for name in names)

    @property
    def is_fixture(self) -> bool:
        """Return whether it appears to be a fixture of pytest."""
        return any(each.rpartition(".")[2] in MAKERS for each in self.decorators)

    def is_around(self, other: Definition) -> bool:
        """Return whether another definition lies in it."""
        return len(self.path) < len(other.path) and other.path[: len(self.path)] == self.path and self.holds(other.line)

    def holds(self, line: int) -> bool:
        """Return whether a line lies in it."""
        return any(first <= line <= last for first, last in self.spans)


class Reached:
    """The definitions that are reached without being named.

    Parameters:
        project: where to look.
        modules: those whose definitions are asked about.
        words: the names of these definitions.
        below: finds every class below a class, or None where there are too many.
    """

    def __init__(self, project: Project, modules: Iterable[ModuleFile], words: Collection[str], below: Below) -> None:
        self.project = project
        self.below = below
        self.orders = project.inference.orders
        self.words = {_SUBCLASSES, *map(_stem, modules)}
        """Words in the files that have to be read, beside the requested names."""
        self._imported: set[str] = set()
        self._starred: set[str] = set()
        self._let_out: dict[Symbol, str] = {}
        self._let_out_at: set[tuple[str, int]] = set()
        self._asks_subclasses = False
        self._asked = words
        self._own = {module.path for module in modules}
        self._handed: set[str] = set()
        self._packages: set[str] = set()
        self._outside: dict[str, frozenset[str] | None] = {}

    def look_into(self, paths: Iterable[str], files: Callable[[str], Collection[str]]) -> None:
        """Learn which modules are imported, or handed on, and which names packages import to let them out.

        Parameters:
            files: tells which files hold a word.
        """
        self._files = files
        self._asks_subclasses = bool(files(_SUBCLASSES))
        for path in paths:
            try:
                uses = self.project.uses(path)
            except ResourceError:
                continue
            self._packages.update(packages_outside(self.project, path, uses))
            for number, imported in enumerate(uses.imports):
                self._note(path, number, imported)
        for path in list(self._imported):
            parts = path.split("/")[:-1]
            self._imported.update("/".join([*parts[:end], _PACKAGE]) for end in range(len(parts) + 1))

    def _note(self, path: str, number: int, imported: u.Imported) -> None:
        found = modules = self.project.names.files(path, imported.module, imported.level)
        if imported.attribute == "*":
            self._starred.update(found if path.endswith(_PACKAGE) else ())
        elif imported.attribute:
            inner = f"{imported.module}.{imported.attribute}".lstrip(".")
            modules = self.project.names.files(path, inner, imported.level)
            if self.lets_out(path, number):
                for meaning in self.project.names.imported(path, number):
                    if isinstance(meaning, Symbol):
                        self._let_out.setdefault(meaning, self.project.address(path, 0))
        self._imported.update((*found, *modules))
        own = self._own.intersection(modules).difference(self._handed)
        if own and self._is_handed_on(path, imported.name):
            self._handed.update(own)

    def _is_handed_on(self, path: str, name: str) -> bool:
        """Return whether a file reads a name without asking what it stands for about an attribute, or calling it."""
        for line, column, _, kind, receiver, _ in self.project.uses(path).mentions.get(name, ()):
            if kind == u.READ and receiver == u.PLAIN:
                text = self.project.lines(path).cut(line).encode()
                is_tested = _TESTED.search(text)
                behind = text[column + len(name.encode()) :].lstrip()
                if behind.startswith(b".__dict__") or not (behind.startswith((b".", b"(")) or is_tested):
                    return True
        return False

    def lets_out(self, path: str, number: int) -> bool:
        """Return whether an import is there for others to import from: in a package, or its name is in `__all__`."""
        uses = self.project.uses(path)
        imported = uses.imports[number]
        is_so = path.endswith(_PACKAGE) or imported.name in (uses.exported or ())
        if is_so:
            self._let_out_at.add((self.project.address(path, 0), imported.line))
        return is_so

    def is_let_out(self, place: Reference) -> bool:
        """Return whether a reference is such an import, or stands in `__all__`."""
        return place.kind == "export" or (place.kind == "import" and (place.module, place.line) in self._let_out_at)

    def is_a_call(self, place: Reference) -> bool:
        """Return whether a string surely stands for a use: a name that is put together, or a fixture asked for."""
        return place.why == Reason.PUT_TOGETHER.of() or _ASKED.search(place.text) is not None

    def is_called(self, each: Definition, sought: Sought) -> bool:
        """Return whether Python, pytest, or a class above uses a definition by its name."""
        return self._is_collected(each, sought) or any(
            self._is_called_by_class(owner, each, sought.name) for owner in sought.classes
        )

    def _is_collected(self, each: Definition, sought: Sought) -> bool:
        path = each.module.path
        if each.word == _NOT_IN_TRACES:
            return True
        if each.word.startswith(_HOOK) and each.kind in ("function", "method"):
            return True
        if each.word in _BY_PYTEST:
            return _is_of_tests(path)
        if _is_of_tests(path):
            if each.kind in ("function", "method") and each.word.startswith("test") and each.around != "function":
                return True
            if any(self._has_tests(owner) for owner in self._classes(each, sought)):
                return True
        if each.kind == "method" and each.word.startswith("test"):
            return any(map(self._is_collected_below, sought.classes))
        if each.is_fixture:
            first, last = each.spans[0][0], each.line
            return "autouse" in "".join(map(self.project.lines(each.module.path).cut, range(first, last)))
        return any(map(_is_case, self._bases_of(each, sought)))

    def _is_collected_below(self, owner: Class) -> bool:
        """Return whether a class, or one below it, stands in a test module, or is a case of unittest."""
        family = (owner, *(self.below(owner) or ()))
        return any(_is_of_tests(each.path) or any(map(_is_case, self.orders.of(each).outside)) for each in family)

    def _has_tests(self, owner: Class) -> bool:
        """Return whether a class, or one above it, has tests: pytest can be set to collect classes of any name."""
        scopes = (self.project.uses(node.path).scopes[node.scope] for node in self.orders.of(owner).classes)
        return any(name.startswith("test") for scope in scopes for name in scope.names)

    def _bases_of(self, each: Definition, sought: Sought) -> Iterator[str]:
        """Yield the names of the classes outside the project that a class is below."""
        for owner in self._classes(each, sought):
            yield from self.orders.of(owner).outside

    def _classes(self, each: Definition, sought: Sought) -> Iterator[Class]:
        if each.kind == "class":
            for symbol in sought.meanings:
                if isinstance(symbol, Symbol):
                    scope = self.project.uses(symbol.path).scopes[symbol.scope]
                    for how, number, *_ in scope.names.get(symbol.name, ()):
                        if how == u.CLASS:
                            yield Class(symbol.path, number)

    def _is_called_by_class(self, owner: Class, each: Definition, name: str) -> bool:
        """Return whether uses of the same member of a class above count here, or the class's members are all in use."""
        order = self.orders.of(owner)
        if self.orders.is_protocol(owner) or (each.kind == "assignment" and order.outside & ENUMERATIONS):
            return True
        for node in order.nodes[1:]:
            if isinstance(node, Outside):
                if node.name.partition(".")[0] in STANDARD and may_call(node.name, each.word):
                    return True
            else:
                scope = self.project.uses(node.path).scopes[node.scope]
                if name in scope.names or name in scope.attributes:
                    return True
        return False

    def how(self, each: Definition, sought: Sought, others: int) -> tuple[Certainty, str]:
        """Return how sure it is that nothing reaches a definition which nothing names, and why it is not.

        Parameters:
            others: how many attributes of its name are those of something else.
        """
        if reason := next(self._unsure(each, sought), ""):
            return "unsure", reason
        reason = next(self._probable(each, sought, others), "")
        return "probable" if reason else "sure", reason

    def _probable(self, each: Definition, sought: Sought, others: int) -> Iterator[str]:
        """Yield why code may use a definition though hardly anything speaks for it."""
        path = each.module.path
        if each.is_public and self._is_distributed and path != _SETUP and not _is_of_tests(path):
            yield Reach.PUBLIC.of()
        if not sought.classes or each.word.startswith("__"):
            return  # only the class itself uses a private name
        if any(self._is_overridden(owner, sought.name) for owner in sought.classes):
            yield Reach.OVERRIDDEN.of()
        if others:
            yield Reach.NAME_USED.of()
        if (each.is_public and is_standard(each.word)) or _FOR_TOOLS.fullmatch(each.word):
            yield Reach.NAME_OF_PYTHON.of()
        if any(words is None or each.word in words for words in map(self._words_of, self._packages)):
            yield Reach.NAME_OF_PACKAGE.of()
        if each.kind == "assignment" and any(
            self._is_handed_on(path, each.path[-2]) for path in self._files(each.path[-2])
        ):
            yield Reach.CLASS_HANDED_ON.of()
        if any(self._asks_itself(owner) for owner in sought.classes):
            yield Reach.CLASS_ASKS_ITSELF.of()

    def _words_of(self, package: str) -> frozenset[str] | None:
        """Return those of the names asked about that an installed package has; None where it cannot be read."""
        if package not in self._outside:
            self._outside[package] = words_in(files_of(self.project.workspace.kept.packages, package), self._asked)
        return self._outside[package]

    def _is_overridden(self, owner: Class, name: str) -> bool:
        below = self.below(owner) or ()
        return any(name in self.project.uses(each.path).scopes[each.scope].names for each in below)

    def _asks_itself(self, owner: Class) -> bool:
        paths = {each.path for each in self.orders.of(owner).classes}
        contents = (self.project.workspace.content(path) or b"" for path in paths)
        return any(map(_ASKING_ITSELF.search, contents))

    def _unsure(self, each: Definition, sought: Sought) -> Iterator[str]:
        """Yield why code that is not known may use a definition."""
        path, workspace, inference = each.module.path, self.project.workspace, self.project.inference
        for place in in_settings(workspace, sought, {sought.name}, inference):
            yield Reach.NAMED_BY_TEXT.of(module=place.module)
        if len(each.path) == 1:
            yield from self._exports(each, sought)
        if not each.is_fixture:
            yield from reasons(self.project, sought)
        for owner in sorted(sought.classes, key=str):
            if may_be_field(inference, owner, sought.name):
                yield Reach.FIELD.of()
            if self._is_hooked(owner):
                yield Reach.CLASS_MADE.of()
            yield from self._below(owner, each.word)
        for owner in self._classes(each, sought):
            yield from self._finding(owner)
        if len(each.path) == 1 and self._is_loaded_by_others(each.module):
            yield Reach.MODULE_LOADED.of()
        if len(each.path) == 1 and _ALL_NAMES.search(workspace.content(path) or b""):
            yield Reach.MODULE_ASKS_ITSELF.of()
        if len(each.path) == 1 and path in self._handed:
            yield Reach.MODULE_HANDED_ON.of()

    def _below(self, owner: Class, word: str) -> Iterator[str]:
        """Yield what of the classes below its own may use a member."""
        below = self.below(owner)
        if below is None:
            yield Reach.MANY_BELOW.of()
        for lower in below or ():
            if self._is_hooked(lower):
                yield Reach.MADE_BELOW.of()
            for base in sorted(self.orders.of(lower).outside):
                if may_call(base, word):
                    yield Reach.BASE_BELOW.of(base=base)

    def _is_hooked(self, owner: Class) -> bool:
        """Return whether code of others runs when a class is made and may use it or its members."""
        if not self.orders.is_hooked(owner):
            return False
        inference = self.project.inference
        for node in self.orders.of(owner).classes:
            scope = self.project.uses(node.path).scopes[node.scope]
            values = set(decorators_of(inference, node))
            values |= inference.values(node.path, scope.metaclass) if scope.metaclass else set()
            if "__init_subclass__" in scope.names or not all(map(_is_pythons_own, values)):
                return True
        return False

    def _exports(self, each: Definition, sought: Sought) -> Iterator[str]:
        uses = self.project.uses(each.module.path)
        if each.word in (uses.exported or ()):
            yield Reach.LISTED.of()
        for symbol in sought.meanings:
            if isinstance(symbol, Symbol) and symbol in self._let_out:
                yield Reach.LET_OUT.of(importer=self._let_out[symbol])
        is_private = each.word.startswith("_") or (uses.exports_known and uses.exported is not None)
        if each.module.path in self._starred and not is_private:
            yield Reach.LET_OUT_WHOLE.of()

    def _finding(self, owner: Class) -> Iterator[str]:
        """Yield the ways in which a class without mentions may be found."""
        order = self.orders.of(owner)
        for name in sorted(order.outside):
            if name.partition(".")[0] not in STANDARD and not is_passive(name):
                yield Reach.BASE_FINDS.of(base=name)
        if not order.whole:
            yield Reach.UNKNOWN_BASE_FINDS.of()
        if self._is_hooked(owner):
            yield Reach.KEPT_WHEN_MADE.of()
        if self._asks_subclasses and len(order.classes) > 1:
            yield Reach.SUBCLASSES_ASKED.of()

    def _is_loaded_by_others(self, module: ModuleFile) -> bool:
        """Return whether a module is one that no code imports, and that is no script and no test."""
        path = module.path
        if path in self._imported or path.endswith("__main__.py") or _TEST_FILE.search(path):
            return False
        content = self.project.workspace.content(path) or b""
        return not content.startswith(b"#!") and not _MAIN.search(content)

    @property
    def _is_distributed(self) -> bool:
        """Return whether the project is built into a package that others install."""
        workspace = self.project.workspace
        settings = (workspace.content(name) or b"" for name in ("pyproject.toml", "setup.cfg"))
        return workspace.content(_SETUP) is not None or any(map(_DISTRIBUTED.search, settings))


def _stem(module: ModuleFile) -> str:
    *_, folder, name = f"/{module.path}".split("/")
    return folder if name == _PACKAGE else name.partition(".")[0]


def _is_of_tests(path: str) -> bool:
    return bool(_TEST_FILE.search(path)) or any(map(_TEST_PART.fullmatch, path.split("/")[:-1]))


def _is_pythons_own(value: Value) -> bool:
    return isinstance(value, Outside) and is_passive(value.name)


def _is_case(base: str) -> bool:
    return not base.startswith(BUILTINS) and base.rpartition(".")[2].endswith("TestCase")
