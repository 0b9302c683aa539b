"""Comparison of what is declared, locked, installed and imported of each dependency.

Invariants:
- an import belongs to the distribution whose files give it; without an environment only to one of the same name, which
  is a guess and marked as one;
- what is declared in whatever part counts as declared, for code and tests alike; that code needs what a group alone
  declares is listed apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct, to_builtins

from bae_source.project.workspace import Workspace
from bae_source.resources.deps.declared import Declarations, Declared, Unread, declared, normalised
from bae_source.resources.deps.imported import Imports, OuterImport, imports_outside
from bae_source.resources.deps.installed import (
    Environment,
    Installed,
    environment_folders,
    environment_of,
    releases,
)
from bae_source.resources.deps.locked import Locked, locked

Status = Literal["undeclared", "open", "misplaced", "optional", "types", "beside"]
_ORDER = ("always", "extra", "group", "build")
_KINDS = ("code", "optional", "types", "tests", "beside")
_SCRIPTS = frozenset({"console_scripts", "gui_scripts"})
_PYTEST = "pytest11"
_STUBS = "types-"
_NO_ENVIRONMENT = (
    "The project has no environment that could be read (.venv, VIRTUAL_ENV, [tool.bae-source] python), so what is "
    "installed is not known, and what a dependency gives is guessed by its name."
)


class Dependency(Struct, frozen=True, kw_only=True):
    """A declared dependency.

    Parameters:
        applies: whether its marker lets it in here.
        locked: the releases that lock files fix.
        installed: its release; "" where that is not known, None where it is not installed.
        importers: the modules that import it: of the code, optionally, for types alone, of tests, beside.
        is_missing: whether it should be installed, and is not.
        is_unfit: whether another release is installed than is wanted.
        is_guessed: whether its importers are found by its name alone.
        problem: what is wrong with its metadata.
    """

    declared: Declared
    applies: bool
    locked: tuple[str, ...] = ()
    installed: str | None = None
    importers: Mapping[str, tuple[str, ...]] = {}
    is_missing: bool = False
    is_unfit: bool = False
    is_guessed: bool = False
    problem: str = ""

    def as_data(self) -> dict[str, Any]:
        """Return it as the JSON of an outcome has it."""
        facts = to_builtins(self)
        return {
            "kind": "dependency",
            "requirement_kind": facts["declared"].pop("kind"),
            **facts.pop("declared"),
            **facts,
        }


class Unfitting(Struct, frozen=True, kw_only=True):
    """An import that no declared dependency gives, or only one of a group.

    Parameters:
        imported: the package, as the statement names it.
        module, line: the place of the import.
        distributions: those that are installed and give it.
        comes_with: declared dependencies that bring one of them.
        groups: the groups that alone declare it.
    """

    status: Status
    imported: str
    module: str
    line: int
    where: str
    distributions: tuple[str, ...] = ()
    comes_with: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    is_environment_known: bool = True

    def as_data(self) -> dict[str, Any]:
        """Return it as the JSON of an outcome has it."""
        facts = to_builtins(self)
        del facts["is_environment_known"]
        return {"kind": "import", **facts}


class Unfound(Struct, frozen=True, kw_only=True):
    """A declared dependency that no import was found of, and why that need not mean that it is unused."""

    name: str
    groups: tuple[str, ...]
    why: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return it as the JSON of an outcome has it."""
        return {"kind": "no_import_found", **to_builtins(self)}


class NotRead(Unread, frozen=True, kw_only=True):
    """A text among dependencies that could not be understood."""

    def as_data(self) -> dict[str, Any]:
        """Return it as the JSON of an outcome has it."""
        return {"kind": "not_understood", **to_builtins(self)}


def overview(workspace: Workspace) -> tuple[int, frozenset[str] | None, tuple[str, ...]]:
    """Return the number of declared dependencies, those not installed, and what is not known.

    The second is None where no environment could be read. Only names of records are read there, and no code at all.
    """
    declarations = declared(workspace.files)
    folders = environment_folders(workspace, declarations.project)
    names = {each.name for each in declarations.dependencies if each.kind != "own"}
    if not folders:
        return len(names), None, (*declarations.unknown, _NO_ENVIRONMENT)
    there, empty = releases(folders), Environment(folders=folders)
    needed = {each.name for each in declarations.dependencies if _must_be_there(each) and empty.applies(_marker(each))}
    return len(names), frozenset(needed - there.keys()), declarations.unknown


def compared(workspace: Workspace) -> Compared:
    """Compare what is declared, locked, installed and imported.

    Raises:
        ResourceError: as `declared`.
    """
    declarations = declared(workspace.files)
    environment = environment_of(workspace, declarations.project)
    words = {name.partition(".")[0] for each in _of(environment, declarations) for name in each.gives}
    found = imports_outside(workspace, words)
    return Compared(workspace, declarations, locked(workspace.files), environment, found)


def _of(environment: Environment | None, declarations: Declarations) -> Iterator[Installed]:
    for name in {each.name for each in declarations.dependencies}:
        if environment is not None and (one := environment.distributions.get(name)):
            yield one


def _marker(one: Declared) -> str:
    return one.marker if one.kind != "poetry" else ""


def _must_be_there(one: Declared) -> bool:
    """Return whether a dependency has to be installed wherever the project is worked on; what builds it need not."""
    return one.part != "build" and one.kind != "own"


class Compared:
    """All that a project declares, has locked and installed, and imports.

    Parameters:
        workspace: the project.
        declarations: what it declares.
        fixed: what its lock files say.
        environment: what is installed; None where that is not known.
        imports: what it imports from outside.
    """

    def __init__(
        self,
        workspace: Workspace,
        declarations: Declarations,
        fixed: Locked,
        environment: Environment | None,
        imports: Imports,
    ) -> None:
        self.workspace = workspace
        self.declarations = declarations
        self.fixed = fixed
        self.environment = environment
        self._imports = imports
        self._names = {each.name for each in declarations.dependencies if each.kind != "own"}
        self._perhaps = {normalised(name) for each in declarations.unread if (name := _name_in(each.text))}
        self._users: dict[str, dict[str, dict[str, None]]] = {}
        self._guessed: set[str] = set()
        self._unfitting: list[Unfitting] = []
        for each in imports.imports:
            self._take(each)

    @property
    def is_environment_known(self) -> bool:
        """True where it is known what is installed."""
        return self.environment is not None

    @property
    def is_open(self) -> bool:
        """True where the project may declare more than could be read."""
        return bool(self.declarations.unknown) or any(each.text.startswith("-") for each in self.declarations.unread)

    @property
    def is_complete(self) -> bool:
        """True where all that the answer rests on could be read."""
        return not (self.notices or self.declarations.unread)

    @property
    def imports(self) -> tuple[Unfitting, ...]:
        """The imports that do not fit what is declared, by file and line."""
        return tuple(self._unfitting)

    @cached_property
    def notices(self) -> tuple[str, ...]:
        """Facts that are not known, and why, in sentences."""
        found = [*self.declarations.unknown, *self.fixed.problems]
        if self.environment is None:
            found.append(_NO_ENVIRONMENT)
        elif self.environment.sees_more:
            found.append("The environment lets in what is installed for the system, which was not looked at.")
        broken = {name for name in self._names if (one := self._installed(name)) and one.problem}
        found += [f"The metadata of {name} is broken: {self._problem(name)}." for name in sorted(broken)]
        if unread := self._imports.unread:
            shown = [f"{path} ({why})" for path, why in unread.items()]
            more = f", and {len(shown) - 5:,} more" if len(shown) > 5 else ""
            found.append(f"What these import is not known: {'; '.join(shown[:5])}{more}.")
        return tuple(found)

    @cached_property
    def unread(self) -> tuple[NotRead, ...]:
        """The texts among dependencies that could not be understood."""
        return tuple(
            NotRead(**{name: getattr(each, name) for name in each.__struct_fields__})
            for each in self.declarations.unread
        )

    @cached_property
    def dependencies(self) -> tuple[Dependency, ...]:
        """The declared ones: always, for extras, for groups, for building; of each in the order of the files."""
        groups = list({(each.groups, each.path): None for each in self.declarations.dependencies})
        order = lambda each: (_ORDER.index(each.part), groups.index((each.groups, each.path)))  # noqa: E731
        return tuple(map(self._dependency, sorted(self.declarations.dependencies, key=order)))

    @cached_property
    def unfound(self) -> tuple[Unfound, ...]:
        """The declared ones that are imported nowhere, in the same order."""
        groups: dict[str, dict[str, None]] = {}
        for each in self.dependencies:
            one = each.declared
            if one.kind != "own" and one.name not in self._users:
                groups.setdefault(one.name, {}).update(dict.fromkeys(one.groups))
        return tuple(
            Unfound(name=name, groups=tuple(names), why=tuple(self._why(name))) for name, names in groups.items()
        )

    def bringing(self, name: str) -> tuple[str, ...]:
        """Return the declared dependencies that require a distribution, at whatever distance."""
        if name not in self._brought:
            return ()
        return tuple(each for each in self._brought[name] if each != name)

    @cached_property
    def _brought(self) -> dict[str, list[str]]:
        """By name of what is installed, the declared dependencies that bring it."""
        environment = self.environment
        found: dict[str, list[str]] = {}
        if environment is None:
            return found
        known: dict[str, tuple[str, ...]] = {}
        for one in {(each.name, each.extras): None for each in self.declarations.dependencies if each.kind != "own"}:
            waiting, seen = list(environment.required_by(*one)), {one[0]}
            while waiting:
                name = waiting.pop()
                if name in seen:
                    continue
                seen.add(name)
                found.setdefault(name, [])
                if one[0] not in found[name]:
                    found[name].append(one[0])
                if name not in known:
                    known[name] = environment.required_by(name)
                waiting += known[name]
        return found

    def _dependency(self, one: Declared) -> Dependency:
        there = self._installed(one.name)
        users = self._users.get(one.name, {})
        return Dependency(
            declared=one,
            applies=self._applies(one),
            locked=self.fixed.versions.get(one.name, ()),
            installed=there.version if there else None,
            importers={kind: tuple(users[kind]) for kind in _KINDS if kind in users},
            is_missing=self._is_missing(one),
            is_unfit=self._is_unfit(one),
            is_guessed=one.name in self._guessed,
            problem=self._problem(one.name),
        )

    def _applies(self, one: Declared) -> bool:
        return self.environment is None or self.environment.applies(_marker(one))

    def _is_missing(self, one: Declared) -> bool:
        if self.environment is None or self._installed(one.name):
            return False
        return _must_be_there(one) and self._applies(one)

    def _is_unfit(self, one: Declared) -> bool:
        there = self._installed(one.name)
        if there is None or not there.version or one.kind != "index" or not one.versions or not self._applies(one):
            return False
        from packaging.specifiers import SpecifierSet  # 40 ms, which help need not pay

        return not SpecifierSet(one.versions).contains(there.version, prereleases=True)

    def _installed(self, name: str) -> Installed | None:
        return self.environment.distributions.get(name) if self.environment else None

    def _problem(self, name: str) -> str:
        one = self._installed(name)
        return one.problem if one else ""

    def _take(self, one: OuterImport) -> None:
        """Note whose user an import makes its module, or that it fits nothing which is declared."""
        giving = self._giving(one)
        names = self._names.intersection(giving)
        module = self._module(one.path)
        if not names and not (giving and self.environment):
            names = self._alike(one)
            self._guessed |= names
        for name in names:
            kind = one.where if one.where != "code" else one.purpose or "code"
            self._users.setdefault(name, {}).setdefault(kind, {})[module] = None
        own = self.declarations.project
        if names:
            self._check_place(one, module, names)
        elif own in giving or self._perhaps & {*giving, normalised(one.module.partition(".")[0])}:
            return
        elif giving or not one.may_be_own:
            status: Status = one.purpose or ("beside" if one.where == "beside" else "undeclared")
            if status == "undeclared" and (self.is_open or not (giving or self._all_are_known)):
                status = "open"
            self._unfit(one, module, status, giving)

    @cached_property
    def _all_are_known(self) -> bool:
        """True where all that is declared is installed, so that it is known what it gives."""
        return not any(map(self._is_missing, self.declarations.dependencies))

    def _giving(self, one: OuterImport) -> tuple[str, ...]:
        if self.environment is None:
            return ()
        found = self.environment.giving(one.dotted)
        if not found and one.purpose == "types":
            found = self.environment.stubs_for(one.dotted)
        return tuple(each.name for each in found if not each.is_guessed or each.name in self._names)

    def _alike(self, one: OuterImport) -> set[str]:
        """Return the declared dependency that has the name of what is imported."""
        parts = one.dotted.split(".")
        names = (normalised(".".join(parts[:length])) for length in range(len(parts), 0, -1))
        return set(next(([name] for name in names if name in self._names), []))

    def _check_place(self, one: OuterImport, module: str, names: Iterable[str]) -> None:
        """Note that code needs a dependency that only a group of development declares."""
        declared_in = [each for each in self.declarations.dependencies if each.name in names]
        if one.where == "code" and not one.purpose and all(each.part == "group" for each in declared_in):
            groups = tuple(dict.fromkeys(name for each in declared_in for name in each.groups))
            self._unfit(one, module, "misplaced", tuple(names), groups)

    def _unfit(
        self, one: OuterImport, module: str, status: Status, giving: tuple[str, ...], groups: tuple[str, ...] = ()
    ) -> None:
        roots = [name for each in giving if (there := self._installed(each)) for name in there.gives]
        shown = next((name for name in roots if f"{one.dotted}.".startswith(f"{name}.")), one.module.partition(".")[0])
        bringing = {name: None for each in giving for name in self.bringing(each)} if status != "misplaced" else {}
        self._unfitting.append(
            Unfitting(
                status=status,
                imported=shown,
                module=module,
                line=one.line,
                where=one.where,
                distributions=giving,
                comes_with=tuple(bringing),
                groups=groups,
                is_environment_known=self.environment is not None,
            )
        )

    def _module(self, path: str) -> str:
        module = self.workspace.census.module(path)
        return module.name if module else path

    def _why(self, name: str) -> Iterator[str]:
        """Yield the reasons why a dependency may be used though nothing imports it."""
        declared_in = [each for each in self.declarations.dependencies if each.name == name]
        there = self._installed(name)
        if all(each.part == "build" for each in declared_in):
            yield "it builds the project"
        elif there is None:
            yield from self._why_absent(declared_in)
        else:
            yield from _kinds(there)
            paths = {path for root in there.gives for path in self._imports.strings.get(root.partition(".")[0], ())}
            if paths:
                first, more = min(paths), f" and {len(paths) - 1} more" if len(paths) > 1 else ""
                yield f"its name stands in a string of {self._module(first)}{more}"
        if name.startswith(_STUBS) and not (there and there.stubs):
            yield "stubs for type checkers"

    def _why_absent(self, declared_in: Iterable[Declared]) -> Iterator[str]:
        if self.environment is None:
            yield "what it gives is not known, since there is no environment"
        elif not any(self.environment.applies(_marker(each)) for each in declared_in):
            yield "not needed on this Python or system"
        else:
            yield "not installed, so what it gives is not known"


def _kinds(one: Installed) -> Iterator[str]:
    """Yield the reasons why an installed distribution is useful without an import."""
    groups = set(one.entry_points)
    if one.stubs:
        yield "stubs for type checkers"
    if _PYTEST in groups:
        yield "a plugin of pytest"
    if others := sorted(groups - _SCRIPTS - {_PYTEST}):
        yield f"a plugin: it has entry points for {', '.join(others[:3])}"
    if groups & _SCRIPTS:
        yield "it brings a program (console script)"
    if not one.gives and not one.stubs and not one.problem:
        yield "it gives nothing to import"
    if one.problem:
        yield f"its metadata is broken: {one.problem}"


def _name_in(text: str) -> str:
    """Return the probable name in a requirement that does not parse."""
    head = text.strip()
    end = next((at for at, letter in enumerate(head) if not (letter.isalnum() or letter in "._-")), len(head))
    return head[:end].strip("._-") if head[:1].isalnum() else ""
