"""The types of the Python API, drawn from the declarations of requests by `bae_source.adapters.python.stub`."""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Literal, TypedDict, Unpack, overload

from bae_source.model.outcome import Outcome, Text
from bae_source.model.reference import Certainty, Defined, Kind

Answer = dict[str, Any]
"""One selection as JSON has it: `status`, `kind`, `data`, `refs`, `errors`, `next_actions`."""

class How(TypedDict, total=False):
    dry_run: bool
    reload: Literal["auto", "patch", "process", "child", "off"]
    verify: Sequence[str]
    tidy: bool
    format: bool
    cascade: bool
    why: str | None
    propose: str | None
    goal: str | None
    quiet: bool

class Config:
    def read(self: object, section: str = "") -> Text:
        """Read pyproject.toml: which sections there are, or one of them as it stands."""

    def set(
        self: object,
        key: str,
        value: str | int | float | bool | Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        if_match: str | None = None,
        toml: str | None = None,
        retype: bool = False,
        **how: Unpack[How],
    ) -> Outcome:
        """Set a key of pyproject.toml; every other byte of the file stays as it is."""

    def add(
        self: object,
        key: str,
        value: str | int | float | bool | Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        if_match: str | None = None,
        toml: str | None = None,
        retype: bool = False,
        **how: Unpack[How],
    ) -> Outcome:
        """Add an item to an array of pyproject.toml, in the layout that the array has."""

    def remove(
        self: object,
        key: str,
        value: str | int | float | bool | Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        if_match: str | None = None,
        toml: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Remove a key of pyproject.toml, a section with all that is in it, or an item of an array."""

    def rename(self: object, key: str, new_name: str, *, if_match: str | None = None, **how: Unpack[How]) -> Outcome:
        """Give a key or a section of pyproject.toml another name; it stays where it is, with its value and comments."""

class Deps:
    def list(
        self: object,
        *dependencies: str,
        unused: bool = False,
        undeclared: bool = False,
        group: str | None = None,
        brief: bool = False,
    ) -> Text:
        """List the dependencies: which versions are wanted, locked and installed, and how many modules import each."""

    def get(self: object, dependency: str) -> ModuleType:
        """Return a dependency's module, by the name of its distribution or of the import."""

    def add(
        self: object,
        *requirements: str,
        group: str | None = None,
        extra: str | None = None,
        build: bool = False,
        files_only: bool = False,
        **how: Unpack[How],
    ) -> Outcome:
        """Declare dependencies, and install them."""

    def remove(
        self: object,
        *dependencies: str,
        group: str | None = None,
        extra: str | None = None,
        build: bool = False,
        files_only: bool = False,
        **how: Unpack[How],
    ) -> Outcome:
        """Take dependencies out of pyproject.toml, the lock and the environment."""

    def upgrade(
        self: object,
        *requirements: str,
        build: bool = False,
        files_only: bool = False,
        **how: Unpack[How],
    ) -> Outcome:
        """Install the newest releases that the requirements allow; everything else stays, unless they need it newer."""

class Exports:
    def add(
        self: object,
        target: str,
        names: Sequence[str] | None = None,
        *,
        to: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Expose names of a module in its package, in the style that its `__init__` has."""

    def remove(
        self: object,
        target: str,
        names: Sequence[str] | None = None,
        *,
        to: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Withdraw names of a module from its package; without names, all that the package exposes of it."""

    def mend(self: object, target: str, names: Sequence[str] | None = None, **how: Unpack[How]) -> Outcome:
        """Take out of a module's `__all__` the names that the module does not have, and those that stand there twice."""

    def check(self: object, target: str = "") -> Text:
        """List what is odd about exports: names in `__all__` that are not there or there twice, and names left out of it."""

class Imports:
    def of(
        self: object,
        target: str,
        scope: str | None = None,
        *,
        certainty: Certainty | None = None,
        kind: Kind | None = None,
    ) -> Text:
        """List what a module imports: modules and names, of the project by where they are defined."""

    def add(
        self: object,
        target: str,
        statements: Sequence[str],
        *,
        deferred: str | None = None,
        type_checking: bool = False,
        **how: Unpack[How],
    ) -> Outcome:
        """Add import statements to a module where they are missing."""

    def remove(self: object, target: str, names: Sequence[str], *, force: bool = False, **how: Unpack[How]) -> Outcome:
        """Take imported names out of a module, or of a function, and statements that import nothing more with them."""

    def organise(self: object, scope: str | None = None, *, sort: bool = False, **how: Unpack[How]) -> Outcome:
        """Take out the imports that surely nothing needs, and sort the others on request."""

class Ledger:
    def show(
        self: object,
        task: str | None = None,
        *,
        event: str | None = None,
        who: str | None = None,
        since: str | None = None,
        limit: int = 20,
    ) -> Text:
        """Show what was done to the project, and tried: one line an entry of the ledger, the newest last."""

    def head(self: object) -> Text:
        """Return the hash of the ledger's last entry, and nothing else."""

    def verify(self: object, *, head: str | None = None) -> Text:
        """Check that no entry of the ledger was altered, taken out or put elsewhere; the first that was is named."""

class Logs:
    def list(self: object) -> Text:
        """List the logs of the project, the newest first, each with its size and last change, and its lines if it is small."""

    def read(
        self: object,
        log: str,
        *,
        lines: int = 100,
        from_line: int | None = None,
        search: str | None = None,
        ignore_case: bool = False,
        fixed: bool = False,
        context: int = 0,
        follow: float | None = None,
    ) -> Text:
        """Show the last lines of a log, lines from a number on, lines that match, or those that come in the next seconds."""

class Tests:
    def list(self: object, *tests: str) -> Text:
        """List the tests that pytest collects, as far as the project's files tell: nothing is run or imported."""

    def run(
        self: object,
        *tests: str,
        failed: bool = False,
        affected_by: Sequence[str] = (),
        last_change: bool = False,
        seconds: float | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Run tests with the project's interpreter and its own settings of pytest, or by unittest where it has no pytest."""

    def results(
        self: object,
        *tests: str,
        outcome: Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"] | None = None,
        run: str | None = None,
        compare: bool = False,
    ) -> Text:
        """Show how the tests of the last run went, or of an earlier one; nothing is run."""

class CodeVerbs:
    @property
    def config(self) -> Config:
        """The verbs of `config`."""

    @property
    def deps(self) -> Deps:
        """The verbs of `deps`."""

    @property
    def exports(self) -> Exports:
        """The verbs of `exports`."""

    @property
    def imports(self) -> Imports:
        """The verbs of `imports`."""

    def read(
        self,
        target: str | Sequence[str] = "",
        *,
        full: bool = False,
        dedent: bool = False,
        around: bool = False,
        private: bool = False,
        numbers: bool = False,
    ) -> Text:
        """Read the source of symbols and their parts, of lines of files, a module's interface, or a data file."""

    def outline(
        self,
        target: str = "",
        *,
        depth: int = 1,
        private: bool = False,
        numbers: bool = False,
        attributes: bool = False,
    ) -> Text:
        """Outline what is defined in the project, a package, a module or a class."""

    def where(self, place: str) -> Text:
        """Tell which symbol stands at a line of a file."""

    def definition(self, place: str) -> Text:
        """Tell where the name that stands at a place of a file is defined."""

    def glob(
        self,
        pattern: str,
        *,
        kind: Literal["package", "module", "class", "function", "method", "assignment", "type alias", "attribute", "variable"] | None = None,
        attributes: bool = False,
    ) -> Text:
        """List the modules, symbols and data files whose names match a pattern, sorted."""

    def grep(
        self,
        pattern: str | Sequence[str],
        scope: str | None = None,
        *,
        ignore_case: bool = False,
        word: bool = False,
        fixed: bool = False,
        invert: bool = False,
        multi_line: bool = False,
        context: int = 0,
        before: int | None = None,
        after: int | None = None,
        only_matching: bool = False,
        modules: bool = False,
        count: bool = False,
        symbols: bool = False,
        data: bool = True,
        time_limit: float = 10.0,
    ) -> Text:
        """Search source, and every other text file of the project, for a regular expression."""

    def find(self, pattern: str, scope: str | None = None) -> Text:
        """Find code by a pattern with holes, and show what stands in them."""

    def search(self, *words: str, scope: str | None = None, limit: int = 10) -> Text:
        """Search names, docstrings and comments for words, and show the best symbols and why."""

    @overload
    def symbols(self, uri: str, /, *, exact: bool = False) -> Answer:
        """Show names and signatures: the skeleton of a module, class or function."""

    @overload
    def symbols(self, uri: str, other: str, /, *more: str, exact: bool = False) -> list[Answer]:
        """Show names and signatures: the skeleton of a module, class or function."""

    @overload
    def snippet(self, uri: str, /, *, exact: bool = False) -> Answer:
        """Show one implementation: the source of a class, function or module, cut where it is long."""

    @overload
    def snippet(self, uri: str, other: str, /, *more: str, exact: bool = False) -> list[Answer]:
        """Show one implementation: the source of a class, function or module, cut where it is long."""

    @overload
    def hover(
        self,
        uri: str,
        /,
        *,
        exact: bool = False,
        language_server: Literal["ty", "basedpyright", "pyrefly", "off"] | None = None,
        language_server_seconds: float | None = None,
    ) -> Answer:
        """Show a signature, the docstring, and where the names in it are defined."""

    @overload
    def hover(
        self,
        uri: str,
        other: str,
        /,
        *more: str,
        exact: bool = False,
        language_server: Literal["ty", "basedpyright", "pyrefly", "off"] | None = None,
        language_server_seconds: float | None = None,
    ) -> list[Answer]:
        """Show a signature, the docstring, and where the names in it are defined."""

    def references(
        self,
        target: str,
        scope: str | None = None,
        *,
        certainty: Certainty | None = None,
        kind: Kind | None = None,
        mentions: bool = False,
    ) -> Text:
        """List the references to a symbol or a module: every place, and how sure it is."""

    def callers(
        self,
        target: str,
        scope: str | None = None,
        *,
        certainty: Certainty | None = None,
        kind: Kind | None = None,
    ) -> Text:
        """List the calls of a function, a method or a class; decorating with it counts, and using it if it is a property."""

    def callees(
        self,
        target: str,
        scope: str | None = None,
        *,
        certainty: Certainty | None = None,
        kind: Kind | None = None,
    ) -> Text:
        """List what a function, a class or a module calls, in the project and outside it."""

    imports_of = Imports.of
    def importers_of(
        self,
        target: str,
        scope: str | None = None,
        *,
        certainty: Certainty | None = None,
        kind: Kind | None = None,
    ) -> Text:
        """List the import statements that name a module or something in it."""

    def subclasses(
        self,
        target: str,
        scope: str | None = None,
        *,
        certainty: Certainty | None = None,
        kind: Kind | None = None,
    ) -> Text:
        """List the classes below a class, direct and indirect ones."""

    def overrides(
        self,
        target: str,
        scope: str | None = None,
        *,
        certainty: Certainty | None = None,
        kind: Kind | None = None,
    ) -> Text:
        """List the members of subclasses that override a method or an attribute of a class."""

    def unused(
        self,
        scope: str | None = None,
        *,
        certainty: Certainty | None = None,
        kind: Defined | None = None,
    ) -> Text:
        """List the classes, functions, methods and variables that nothing in the project uses, sure or not."""

    def edit(
        self,
        target: str | Sequence[str],
        new_source: str | None = None,
        *,
        old: str | Sequence[str] | None = None,
        new: str | Sequence[str] | None = None,
        every: bool = False,
        nth: int | None = None,
        imports: Sequence[str] = (),
        comment: str | None = None,
        if_match: str | None = None,
        rename_to: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Replace a symbol, a part of it, or a piece of text in a symbol, a module or a data file; or a whole data file."""

    def insert(
        self,
        target: str,
        new_source: str,
        *,
        position: Literal["before", "after", "first", "last"] = "after",
        imports: Sequence[str] = (),
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Insert new source beside or inside a symbol or module."""

    def delete(
        self,
        target: str | Sequence[str],
        *,
        recursive: bool = False,
        with_imports: bool = False,
        force: bool = False,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Delete a symbol, a module, a package or a data file."""

    def move(
        self,
        target: str | Sequence[str],
        to: str,
        *,
        merge: bool = False,
        as_name: str | None = None,
        shim: bool = False,
        local_imports: bool = False,
        unsure: Literal["refuse", "leave"] = "refuse",
        text: Literal["none", "exact"] = "none",
        skip_generated: bool = False,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Move functions, classes or variables to another module, or give a module, a package or data another name."""

    def rename(
        self,
        target: str,
        new_name: str,
        *,
        unsure: Literal["refuse", "leave", "change"] = "refuse",
        include: Sequence[str] = (),
        text: Literal["none", "exact", "words"] = "none",
        skip_generated: bool = False,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Rename a symbol wherever the project names it."""

    def change_signature(
        self,
        target: str,
        signature: str,
        *,
        renamed: Sequence[str] = (),
        value: Sequence[str] = (),
        thread: Sequence[str] = (),
        up_to: Sequence[str] = (),
        describe: Sequence[str] = (),
        imports: Sequence[str] = (),
        unsure: Literal["refuse", "leave", "change"] = "refuse",
        include: Sequence[str] = (),
        skip_generated: bool = False,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Give a function other parameters, with its calls."""

    def extract(
        self,
        target: str,
        *,
        as_name: str | None = None,
        lines: str | None = None,
        code: str | None = None,
        kind: Literal["function", "method", "variable", "constant", "parameter"] | None = None,
        similar: bool = False,
        to_module: str | None = None,
        unsure: Literal["refuse", "leave", "change"] = "refuse",
        include: Sequence[str] = (),
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Make a function, a method, a variable, a constant or a parameter of a piece of code."""

    def inline(
        self,
        target: str,
        *,
        only: Sequence[str] = (),
        unsure: Literal["refuse", "leave", "change"] = "refuse",
        include: Sequence[str] = (),
        skip_generated: bool = False,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Put a value, or the body of a function, in the place of what names it."""

    def replace(
        self,
        text: str,
        replacement: str,
        scope: str | None = None,
        *,
        code: bool = False,
        word: bool = False,
        regex: bool = False,
        expect: int | None = None,
        skip_generated: bool = False,
        time_limit: float = 10.0,
        **how: Unpack[How],
    ) -> Outcome:
        """Replace text by other text wherever it occurs, in every text file of a scope."""

    def rewrite(
        self,
        pattern: str,
        replacement: str,
        scope: str | None = None,
        *,
        where: Sequence[str] = (),
        imports: Sequence[str] = (),
        unsure: Literal["refuse", "leave", "change"] = "refuse",
        include: Sequence[str] = (),
        skip_generated: bool = False,
        **how: Unpack[How],
    ) -> Outcome:
        """Rewrite code wherever a pattern matches, with what stands in its holes."""

    def codemod(
        self,
        codemod: str,
        scope: str | None = None,
        *,
        settings: Sequence[str] = (),
        check: bool = False,
        unsure: Literal["refuse", "leave"] = "refuse",
        stubs: bool = False,
        generated: bool = False,
        time_limit: float = 60.0,
        **how: Unpack[How],
    ) -> Outcome:
        """Run a codemod of LibCST, the project's own or an installed one, over modules in parallel, as one change."""

    def write(
        self,
        target: str,
        source: str,
        *,
        overwrite: bool = False,
        package: bool = False,
        export: bool | Sequence[str] | None = None,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Write a new module or package, replace one as a whole, or write a data file."""

    exports_add = Exports.add
    exports_remove = Exports.remove
    exports_mend = Exports.mend
    exports_check = Exports.check
    imports_add = Imports.add
    imports_remove = Imports.remove
    imports_organise = Imports.organise
    deps_list = Deps.list
    deps_get = Deps.get
    deps_add = Deps.add
    deps_remove = Deps.remove
    deps_upgrade = Deps.upgrade
    config_read = Config.read
    config_set = Config.set
    config_add = Config.add
    config_remove = Config.remove
    config_rename = Config.rename

class Verbs(CodeVerbs):
    @property
    def ledger(self) -> Ledger:
        """The verbs of `ledger`."""

    @property
    def logs(self) -> Logs:
        """The verbs of `logs`."""

    @property
    def tests(self) -> Tests:
        """The verbs of `tests`."""

    tests_list = Tests.list
    tests_run = Tests.run
    tests_results = Tests.results
    logs_list = Logs.list
    logs_read = Logs.read
    def check_staged(self, files: Sequence[str] = ()) -> Text:
        """List what is wrong with what git has staged: code that does not parse, `__all__` and imports that find nothing."""

    def apply(
        self,
        requests: Sequence[Mapping[str, Any]] = (),
        *,
        patch: str | None = None,
        message: str = "",
        **how: Unpack[How],
    ) -> Outcome:
        """Make several changes in one transaction, all of them or none; or those of a patch."""

    def commit(
        self,
        draft: str,
        *,
        unsure: Literal["refuse", "leave", "change"] = "refuse",
        include: Sequence[str] = (),
        **how: Unpack[How],
    ) -> Outcome:
        """Make a change that was refused because of places that are unsure, and was kept as a draft."""

    def amend(
        self,
        draft: str,
        *,
        old: str | Sequence[str] | None = None,
        new: str | Sequence[str] | None = None,
        new_source: str | None = None,
        set: Mapping[str, Any] | None = None,
        number: int | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Change one request of a draft, or one text in it, and make it: what was refused is not given once more."""

    def abandon(self, draft: str, **how: Unpack[How]) -> Outcome:
        """Forget a draft; nothing of it was written."""

    def undo(
        self,
        operation_id: str | Sequence[str] = ...,
        *,
        count: int | None = None,
        to: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Take back your last change, or the ones of the given ids."""

    def redo(self, operation_id: str | Sequence[str] = ..., *, count: int | None = None, **how: Unpack[How]) -> Outcome:
        """Make the change again that was undone last, or the ones of the given ids."""

    def history(
        self,
        target: str = "",
        *,
        limit: int = 20,
        who: str | None = None,
        since: str | None = None,
        diff: bool = False,
    ) -> Text:
        """List the operations on this project, the newest first, or tell one of them in full."""

    def prune(self, *, keep: int | None = None, older_than: str | None = None, **how: Unpack[How]) -> Outcome:
        """Delete old operations from the history for ever; they can be neither undone nor looked at after that."""

    def forget(self, *, foreign: bool = False, **how: Unpack[How]) -> Outcome:
        """Remove every trace of bae_source from this project: history, journal, cache, telemetry and what else there is."""

    def pending(
        self,
        *,
        who: str | None = None,
        state: Literal["waiting", "approved", "applied", "rejected", "stale", "failed", "expired", "all"] = "waiting",
        limit: int = 1000,
    ) -> Text:
        """List the changes that wait for a person, those with the highest risk first."""

    def show(self, task: str) -> Text:
        """Show one proposed change whole: what it does, why, its risk, its checks, its digest and its diff."""

    def wait(self, task: str, *, seconds: float = 60) -> Text:
        """Wait until a person has decided about a proposed change."""

    def withdraw(self, task: str, **how: Unpack[How]) -> Outcome:
        """End one of your proposed changes that is not wanted any more; nothing of it is made."""

    ledger_show = Ledger.show
    ledger_head = Ledger.head
    ledger_verify = Ledger.verify
    def telemetry(self) -> Text:
        """Show how many requests there were and how long they took, and parsing by file size against its targets."""

    def doctor(self, *, limit: int = 10) -> Text:
        """Report the state of a project and its tools as seen from here, with what is wrong and how to mend it."""

