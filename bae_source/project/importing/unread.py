"""Imports whose names nothing reads: surely, or unless something that no code shows reads them.

    import json              nothing here reads `json`, no other module takes it from here: sure
    import app.signals       nothing reads `app`, but app.signals registers its handlers when it is imported: unsure
    from .impl import A      in `pkg/__init__.py`, for others to import: none
    from .db import db       in a test module: a fixture, or one that pytest may give: unsure

Invariants:
- a name is listed only if no code of its own file reads it, none of another file takes it from the module, and no
  `__all__` lists it;
- the text around an import counts (`syntax/importing/purposes`); in doubt it is unsure;
- nothing is executed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from bae_source.errors import ResourceError, SourceError
from bae_source.model.plan import ModuleFile
from bae_source.model.reasons import Purpose, Reason
from bae_source.model.reference import Certainty, Reference
from bae_source.project.files.data_listing import data_files
from bae_source.project.files.layout import import_name
from bae_source.project.files.unseen import name_at
from bae_source.project.importing.acting import Acting
from bae_source.project.importing.lint_settings import LintSettings
from bae_source.project.references.calls.fixtures import CONFTEST
from bae_source.project.references.meaning.meanings import InModule, Symbol
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.search.references import References, searched
from bae_source.project.workspace import Workspace
from bae_source.syntax.importing.purposes import ImportedName, imported_names, with_purposes
from bae_source.syntax.names import uses as u
from bae_source.syntax.names.doctests import taken_by_doctests
from bae_source.syntax.text.source import parsable

_INIT = "__init__"
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_tests?|tests?|conftest)\.py\Z")
_COLLECTED = re.compile(r"_*test|.*Test|pytest_|setUpModule|tearDownModule|load_tests|set_?up|tear_?down", re.DOTALL)
"""Names that pytest and unittest ask a module for."""
_TEST_DATA = re.compile(
    r"(?:^|/)tests?(?:/[^/]+)*/(?:\w*data|fixtures|cases|samples|snapshots|golden|resources)(?:/[^/]+)*/(?!test_)[^/]+\Z"
    r"|(?:^|/)test-?_?data/"
)
_READ_BY_PROGRAMS = re.compile(
    r"(?:^|/)(?:conf|settings(?:_\w+)?|\w+_settings|settings/\w+|fabfile|noxfile|tasks|dodo|locustfile|gunicorn\w*)\.py\Z"
)
_LARGEST_TEXT = 2_000_000


class Unread(Struct, frozen=True, kw_only=True):
    """One import whose name nothing reads.

    Parameters:
        path: the file that it stands in.
        imported: the name and its statement.
        why: why it may be needed all the same; empty where it surely is not.
    """

    path: str
    imported: ImportedName
    why: str = ""

    @property
    def certainty(self) -> Certainty:
        """Certainty with which nothing needs it."""
        return "unsure" if self.why else "sure"


class UnreadImports(Struct, frozen=True, kw_only=True):
    """Imports that nothing reads, and files that could not be read, each with the reason."""

    imports: tuple[Unread, ...]
    unreadable: tuple[tuple[str, ResourceError], ...]


def unread_imports(workspace: Workspace, modules: Sequence[ModuleFile]) -> UnreadImports:
    """Find the imports of some modules that nothing reads."""
    return _Finder(workspace).run(modules)


def unread_here(project: Project, path: str) -> list[ImportedName]:
    """Return the names that a file imports and does not read, whatever others do with them.

    Raises:
        ResourceError: the file could not be analysed.
    """
    uses = project.uses(path)
    binding, outside = _bound_by_imports(uses)
    unread = {
        (name, scope)
        for name, scopes in binding.items()
        for scope in (scopes if name not in outside else ())
        if _is_unread(project, path, name, scope)
    }
    if not unread:
        return []
    for error in project.unanalysed(path).values():
        raise error
    names = imported_names(parsable(project.workspace.content(path) or b"").text)
    return [
        each
        for each in names
        if (scopes := _scopes(uses, each, binding.get(each.name, ())))
        and unread.issuperset((each.name, n) for n in scopes)
    ]


def reads_of(project: Project, path: str, each: ImportedName) -> list[u.Mention]:
    """Return where the code of a file reads or deletes a name that it imports, or lists it in `__all__`."""
    uses = project.uses(path)
    scopes = _scopes(uses, each, _bound_by_imports(uses)[0].get(each.name, ()))
    bindings = (binding for scope in uses.scopes for binding in scope.names.get(each.name, ()))
    added = {line for how, _, is_added_to, line in bindings if how == u.OTHER and is_added_to}
    return [
        mention
        for mention in uses.mentions.get(each.name, ())
        if (mention.kind != u.WRITE or mention.line in added)
        and any(_reads(project, path, each.name, mention, scope) for scope in scopes)
    ]


def reads_of_module(project: Project, path: str, each: ImportedName) -> list[u.Mention]:
    """Return where the code of a file takes what `import a.b` loads from the package: the `b` of `a.b.send()`."""
    uses = project.uses(path)
    *around, last = each.module.split(".")
    return [
        mention
        for mention in uses.mentions.get(last, ())
        if mention.kind != u.IMPORT and mention.receiver > u.OPAQUE and _chain(uses, mention.receiver) == around
    ]


def _chain(uses: u.Uses, number: int) -> list[str]:
    """Return the components of an expression that is a name with attributes; nothing for any other."""
    form = uses.expressions[number]
    if form[0] == u.NAME:
        return [u.plain_name(form)]
    outer = _chain(uses, int(form[1])) if form[0] == u.ATTRIBUTE else []
    return [*outer, str(form[2])] if outer else []


def _bound_by_imports(uses: u.Uses) -> tuple[dict[str, list[int]], set[str]]:
    """Return the scopes in which imports bind each name, and the names that functions bind in scopes around them."""
    binding: dict[str, list[int]] = {}
    outside: set[str] = set()
    for number, scope in enumerate(uses.scopes):
        for name, bindings in scope.names.items():
            how = {each[0] for each in bindings}
            if u.IMPORTED in how:
                binding.setdefault(name, []).append(number)
            if u.GLOBAL in how or u.NONLOCAL in how:
                outside.add(name)
    return binding, outside


def _scopes(uses: u.Uses, each: ImportedName, among: Iterable[int]) -> list[int]:
    """Return those of some scopes in which the statement of a name binds it."""
    return [
        number
        for number in among
        if any(how == u.IMPORTED and line == each.line for how, _, _, line in uses.scopes[number].names[each.name])
    ]


def _is_unread(project: Project, path: str, name: str, scope: int) -> bool:
    """Return whether only imports bind a name in a scope, and no code reads it."""
    uses = project.uses(path)
    here = uses.scopes[scope]
    if here.kind == u.CLASS_SCOPE or any(how != u.IMPORTED for how, *_ in here.names[name]):
        return False
    return not any(_reads(project, path, name, mention, scope) for mention in uses.mentions.get(name, ()))


def _reads(project: Project, path: str, name: str, mention: u.Mention, scope: int) -> bool:
    """Return whether a mention may be of a binding in a scope."""
    line, column, inner, kind, receiver, _ = mention
    if kind in (u.EXPORT, u.MENTION):
        return kind == u.MENTION or not scope
    if receiver != u.PLAIN or kind == u.IMPORT:
        return False
    found = project.names.scope_of(path, inner, name)
    if found is None or found == scope:
        return found is not None
    if not scope and kind == u.ANNOTATION:
        return True  # type checkers may take the outer name
    around = project.uses(path).scopes[found]
    return around.kind == u.CLASS_SCOPE and bool(u.how_read(around, name, line, column))


class _Finder:
    """A search for the imports that nothing reads, and the reasons why each may be needed all the same."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.project = project_of(workspace)
        self.unreadable: dict[str, ResourceError] = {}
        self._settings = LintSettings(workspace.files)

    def run(self, modules: Sequence[ModuleFile]) -> UnreadImports:
        """Return the findings."""
        paths = [each.path for each in modules]
        self.project.load(paths)
        unread = {module: found for module in modules if (found := self._here(module))}
        going = {
            module.path: {(each.line, each.name) for each in names if each.purpose is None}
            for module, names in unread.items()
        }
        acting = Acting(self.project, going)
        at_top = {
            Symbol(module.path, 0, each.name): (module, each)
            for module, names in unread.items()
            for each in names
            if each.top
        }
        elsewhere = _Elsewhere(self.workspace, at_top)
        named = self._named_in_texts(at_top.values())
        doubted = [
            Unread(path=module.path, imported=each, why=why or named.get((module.path, each), ""))
            for module, names in unread.items()
            for each in names
            if (why := self._why(module, each, elsewhere, acting)) is not None
        ]
        return UnreadImports(imports=tuple(doubted), unreadable=tuple(sorted(self.unreadable.items())))

    def why(self, module: ModuleFile, each: ImportedName, elsewhere: _Elsewhere) -> str:
        """Return why one import, which no code reads, may be needed; nothing where it surely is not, or surely is."""
        each = with_purposes(self.workspace.source(module).text, [each])[0]
        acting = Acting(self.project, {module.path: {(each.line, each.name)}})
        found = self._why(module, each, elsewhere, acting)
        named = self._named_in_texts([(module, each)]) if each.top and not found else {}
        return found or named.get((module.path, each), "")

    def asking(self, module: ModuleFile, each: ImportedName) -> Iterator[str]:
        """Yield the places of tests that ask for a fixture which an import gives them."""
        fixtures, path, name = self.project.fixtures, module.path, each.name
        given = {one for one in self._meant(path, each) if isinstance(one, Symbol) and one in self._fixtures(one.path)}
        folder, _, file = path.rpartition("/")
        paths = self.workspace.index.naming([name]).paths if given and file == CONFTEST else (path,) if given else ()
        for other in paths:
            if other != path and folder and not other.startswith(f"{folder}/"):
                continue
            for found in (*fixtures.requested_in(other, name, given, name), *fixtures.strings(other, name, given)):
                if found.certainty != "unsure":
                    yield f"{self.project.address(other, 0)}:{found.mention.line}"

    def _here(self, module: ModuleFile) -> list[ImportedName]:
        """Return the imports that a module does not read itself, without those plainly meant to stay."""
        try:
            found = unread_here(self.project, module.path)
        except ResourceError as error:
            self.unreadable[module.path] = error
            return []
        except (SyntaxError, RecursionError, MemoryError):
            self.unreadable[module.path] = SourceError(
                "not_lossless",
                "is too new or too deep for the Python that runs here",
                subject=module.name,
                hints=["Run bae_source with a Python that knows the syntax."],
            )
            return []
        if found and self._settings.lets_stay(module.path):
            return []
        is_init = module.path.rpartition("/")[2].startswith(f"{_INIT}.")
        left = [each for each in found if each.purpose is None and not (is_init and each.top)]
        if not left:
            return []
        text = parsable(self.workspace.content(module.path) or b"").text
        return [each for each in with_purposes(text, left) if each.purpose is None or each.purpose.sentence]

    def _why(self, module: ModuleFile, each: ImportedName, elsewhere: _Elsewhere, acting: Acting) -> str | None:
        """Return why an import may be needed; nothing where it surely is not, None where it surely is."""
        if each.purpose is not None:
            return each.purpose.of()
        path = module.path
        if _TEST_DATA.search(path) and not path.endswith("conftest.py"):
            return Purpose.DATA.of()
        if each.top:
            uses = self.project.uses(path)
            if not uses.exports_known:
                return Purpose.COMPUTED.of()
            found = elsewhere.names(Symbol(path, 0, each.name))
            if found is None or found:
                return found
            if _READ_BY_PROGRAMS.search(path):
                return Purpose.SETTINGS.of()
            if self._may_be_for_tests(path, each):
                return Purpose.FIXTURE.of()
            if each.attribute is not None and not path.endswith(".pyi") and self._consists_of_imports(module):
                return Purpose.CONSISTS.of()
        return acting.why(path, each)

    def _named_in_texts(
        self, names: Collection[tuple[ModuleFile, ImportedName]]
    ) -> dict[tuple[str, ImportedName], str]:
        """Return which of some names text files have behind the module's, as entry points do, and where."""
        found: dict[tuple[str, ImportedName], str] = {}
        dotted = [(_as_text(import_name(module), each.name), module, each) for module, each in names]
        for file in data_files(self.workspace) if dotted else ():
            try:
                content = self.workspace.glance(file.path) if file.size <= _LARGEST_TEXT else None
            except ResourceError:
                continue
            text = (content or b"").decode("utf-8", "replace")
            for pattern, module, each in dotted:
                if each.name in text and pattern.search(text):
                    found.setdefault((module.path, each), Purpose.ELSEWHERE.of(where=str(file)))
        return found

    def _may_be_for_tests(self, path: str, each: ImportedName) -> bool:
        """Return whether pytest may give the import to a test, call it, or collect it."""
        meant = self._meant(path, each)
        if any(isinstance(one, Symbol) and not one.scope and one in self._fixtures(one.path) for one in meant):
            return True
        if not _TEST_FILE.search(path):
            return False
        if _COLLECTED.match(each.name) or (each.attribute and path.endswith("conftest.py")):
            return True
        scopes = self.project.uses(path).scopes
        return any(how == u.PARAMETER for scope in scopes for how, *_ in scope.names.get(each.name, ()))

    def _fixtures(self, path: str) -> Iterable[Symbol]:
        try:
            return self.project.fixtures.defined(path).values()
        except ResourceError:
            return ()

    def _meant(self, path: str, each: ImportedName) -> Iterable[object]:
        number = self._number(path, each)
        return self.project.names.imported(path, number) if number is not None else ()

    def _number(self, path: str, each: ImportedName) -> int | None:
        """Return the number of an import among those of its file."""
        for number, other in enumerate(self.project.uses(path).imports):
            if (other.line, other.name, other.attribute) == (each.line, each.name, each.attribute or "") and (
                other.begins or other.module == each.module
            ):
                return number
        return None

    def _consists_of_imports(self, module: ModuleFile) -> bool:
        """Return whether a module defines nothing and lists nothing, so that it may hand on its imports."""
        try:
            outline = self.workspace.tree(module).outline
        except ResourceError:
            return True
        suite = outline.suites[0] if outline.suites else None
        statements = {each.start for each in outline.imports if each.top}
        others = (suite.size if suite else 0) - len(statements) - (outline.docstring is not None)
        return outline.exported is None and bool(statements) and others <= 0


def _as_text(module: str, name: str) -> re.Pattern[str]:
    """Return an expression for the spellings of a module's name: `app.core.json`, `app.core:json`, or as imported."""
    dotted, last = re.escape(module), re.escape(name)
    return re.compile(rf"(?<![\w.])(?:{dotted}[.:]|from[ \t]+{dotted}[ \t]+import\b[^\r\n]*\b){last}(?!\w)")


class _Elsewhere:
    """A search for code that takes names from the modules that import them.

    Parameters:
        workspace: the project.
        names: the names, by what they are in their modules.
    """

    def __init__(self, workspace: Workspace, names: dict[Symbol, tuple[ModuleFile, ImportedName]]) -> None:
        self.workspace = workspace
        self._names = names
        self._project = Project(workspace)
        self._project.names.kept = frozenset(names)
        self._takers: dict[str, str] = {}
        self._unread = ""
        self._found: dict[Symbol, list[Reference]] = {}

    def names(self, symbol: Symbol) -> str | None:
        """Return why something elsewhere may take a name; nothing where nothing does, None where it surely does."""
        module, each = self._names[symbol]
        unsure = ""
        for found in self.places(symbol):
            if found.certainty == "sure":
                return None
            unsure = unsure or Purpose.ELSEWHERE.of(where=f"{found.module}:{found.line}")
        return unsure or self._unread or self._handed_on(module, each)

    def places(self, symbol: Symbol) -> list[Reference]:
        """Return the places that take a name, or may; those of its own module too, but for the statement itself."""
        if symbol not in self._found:
            self._found[symbol] = list(self._places(symbol))
        return self._found[symbol]

    def _places(self, symbol: Symbol) -> Iterator[Reference]:
        module, each = self._names[symbol]
        references = searched(self._project, self._sought(symbol), self.workspace.index.naming)
        self._unread = self._unread_file(references, module)
        for found in references.found:
            is_own = found.module == module.name and each.lines[0] <= found.line <= each.lines[2]
            is_bare = found.why == Reason.BARE_NAME.of() and not self._names_module(found, module)
            if not is_bare and not (is_own and found.kind == "import"):
                yield found

    def _sought(self, symbol: Symbol) -> Sought:
        module, _ = self._names[symbol]
        name = import_name(module)
        return Sought(
            name=symbol.name,
            word=symbol.name,
            module=name,
            dotted=f"{name}.{symbol.name}",
            meanings=frozenset({symbol}),
        )

    def _names_module(self, found: Reference, module: ModuleFile) -> bool:
        """Return whether the file of a string imports a module, so that the string may be about a name of that."""
        for path in self.workspace.census.find(found.module):
            if path == module.path:
                return False  # what its own strings say is known
            uses = self._project.uses(path)
            if any(InModule(module.path) in self._project.names.imported(path, n) for n in range(len(uses.imports))):
                return True
        return False

    def _unread_file(self, references: References, module: ModuleFile) -> str:
        stem = import_name(module).rpartition(".")[2].encode()
        for path, _ in references.unreadable:
            try:
                content = self.workspace.glance(path) or b""
            except ResourceError:
                content = stem
            if stem in content:
                return Purpose.UNREAD.of(where=name_at(self.workspace.census, path))
        return ""

    def _handed_on(self, module: ModuleFile, each: ImportedName) -> str:
        """Return the reason that a package imports all of a module for others, or another module takes its imports."""
        if each.name.startswith("_") or module.path.endswith(".pyi"):
            return ""
        if module.path not in self._takers:
            self._takers[module.path] = self._taker(module)
        taker = self._takers[module.path]
        return Purpose.HANDED_ON.of(where=taker) if taker else ""

    def _taker(self, module: ModuleFile) -> str:
        """Return a module that takes an import of another one from there; none where none does."""
        own = self._project.uses(module.path)
        if own.exported is not None:
            return ""
        handed = {
            name for name, bindings in own.scopes[0].names.items() if all(how == u.IMPORTED for how, *_ in bindings)
        }
        stem = import_name(module).rpartition(".")[2]
        for path in self.workspace.index.naming([stem]).paths:
            try:
                uses = self._project.uses(path) if path != module.path else None
            except ResourceError:
                continue  # what it may name is known of the names themselves
            for other in uses.imports if uses is not None else ():
                takes = other.attribute in handed or (other.attribute == "*" and path.endswith(f"{_INIT}.py"))
                if takes and module.path in self._project.names.files(path, other.module, other.level):
                    return f"{self._project.address(path, 0)}:{other.line}"
        return ""


class Users(Struct, frozen=True, kw_only=True):
    """Places that use what an import binds, as `module:line`.

    Parameters:
        sure: those that surely do.
        tests: those of them that no code names: doctests, and tests that ask for a fixture.
        unsure: those that may, strings that may name it among them.
        why: why it may be needed where no place says so; empty where it surely is not.
    """

    sure: tuple[str, ...]
    tests: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    why: str = ""


def users_of_import(workspace: Workspace, module: ModuleFile, each: ImportedName, *, is_last: bool = True) -> Users:
    """Find what uses a name that a module, or a function in it, imports.

    Parameters:
        is_last: whether no other import goes on to bind the name, so that only what `import a.b` loads is asked about.

    Raises:
        ResourceError: the file could not be analysed.
    """
    finder = _Finder(workspace)
    mentions = reads_of if is_last else reads_of_module
    sure = [f"{module.name}:{mention.line}" for mention in mentions(finder.project, module.path, each)]
    doctests = _doctests(workspace.source(module).text, each, is_last=is_last) if each.top else ()
    tests = [f"{module.name}:{line}" for line in doctests]
    if not is_last:
        return Users(sure=tuple(dict.fromkeys((*sure, *tests))), tests=tuple(tests))
    symbol = Symbol(module.path, 0, each.name)
    elsewhere = _Elsewhere(workspace, {symbol: (module, each)})
    found = elsewhere.places(symbol) if each.top else ()
    tests += finder.asking(module, each) if each.top else ()
    sure += [f"{one.module}:{one.line}" for one in found if one.certainty == "sure" and one.module != module.name]
    unsure = dict.fromkeys(f"{one.module}:{one.line}" for one in found if one.certainty != "sure")
    why = "" if sure or tests or unsure else finder.why(module, each, elsewhere)
    return Users(
        sure=tuple(dict.fromkeys((*sure, *tests))), tests=tuple(dict.fromkeys(tests)), unsure=tuple(unsure), why=why
    )


def _doctests(text: str, each: ImportedName, *, is_last: bool) -> Iterator[int]:
    """Yield the lines of doctests that read a name; those that name the whole module, where another import binds it."""
    dotted = re.compile(rf"(?<![\w.]){re.escape(each.module)}(?!\w)")
    for taken in taken_by_doctests(text):
        if taken.name == each.name and (is_last or dotted.search(taken.code)):
            yield taken.line


def takers_of_import(workspace: Workspace, module: ModuleFile, name: str) -> list[tuple[str, int]]:
    """Return the places of other modules, as module and line, that surely take a name which a module imports."""
    text = workspace.source(module).text
    named = [each for each in imported_names(text) if each.top and each.name == name]
    symbol = Symbol(module.path, 0, name)
    found = _Elsewhere(workspace, {symbol: (module, named[0])}).places(symbol) if named else ()
    return [(one.module, one.line) for one in found if one.certainty == "sure" and one.module != module.name]
