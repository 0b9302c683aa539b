"""List the dependencies of a project: declared, locked, installed and imported, and what does not fit together.

Invariants:
- what is not known is said to be unknown: without an environment, the name alone says what a distribution gives;
- an import is called undeclared only where all that the project declares could be read; one that is optional, for types
  alone, or in a file beside the code and its tests, is called that.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, ClassVar

from bae_source.errors import LookupFailed
from bae_source.model.call import Call
from bae_source.model.closest import closest
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.request import Request, described
from bae_source.model.text import counted, listed, on_a_line
from bae_source.project.workspace import Workspace
from bae_source.resources.deps.compared import Compared, Dependency, NotRead, Unfitting, Unfound, compared, overview
from bae_source.resources.deps.declared import Declared, normalised

_ALWAYS, _BUILD = "always", "build"
_MOST_PLACES = 20
_NOT_KNOWN = "what is installed is not known."
_HEADS = {"always": "Always", "extra": "Extra", "group": "Group", "build": "For building"}
_WORDS = {"code": "", "optional": "optionally", "types": "for types alone", "tests": "of tests", "beside": "beside"}
_STATUS = {
    "undeclared": "undeclared",
    "open": "not among what is known to be declared",
    "misplaced": "declared",
    "optional": "optional, and undeclared",
    "types": "for types alone, and undeclared",
    "beside": "beside code and tests, and undeclared",
}


class DepsList(Request, frozen=True, kw_only=True):
    """List the dependencies: which versions are wanted, locked and installed, and how many modules import each.

    Then come imports that nothing declared gives, and what is declared and not found in any import. All of it is read
    from files: pyproject.toml, setup.cfg, lock files, and the metadata in the project's environment. Nothing is run.
    """

    verb: ClassVar[str] = "deps_list"
    family: ClassVar[str] = "deps"
    abbreviates: ClassVar[bool] = False
    when: ClassVar[str] = "Use it before a dependency is added, removed or upgraded."
    examples: ClassVar[tuple[str, ...]] = (
        "deps list",
        "deps list httpx",
        "deps list --undeclared",
        "deps list --group test",
    )

    dependencies: Annotated[
        tuple[str, ...],
        described(
            "Distributions to tell of, with the modules that import them; all if left out.", placed=True, starred=True
        ),
    ] = ()
    unused: Annotated[bool, described("Only what is declared and not found in any import.")] = False
    undeclared: Annotated[bool, described("Only imports that nothing declared gives.")] = False
    group: Annotated[
        str | None,
        described("Only this extra or group, with the groups that it includes; `always` and `build` are the others."),
    ] = None
    brief: Annotated[
        bool, described("Only how many are declared, and which are not installed; code is not looked at.")
    ] = False

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace.

        Raises:
            LookupFailed: `symbol_not_found` if a name is none of a dependency, or the group none of the project.
            ResourceError: as `declared`.
        """
        if self.brief:
            return _brief(workspace)
        facts = compared(workspace)
        for name in self.dependencies:
            _check_readable(workspace, name)
        wanted = tuple(each for each in _wanted(facts, self) if _is_open(workspace, each.declared.name))
        is_narrow, is_part = bool(self.dependencies or self.group), self.unused or self.undeclared
        imports = facts.imports if not is_narrow or self.undeclared else _named(facts, self.dependencies)
        imports = imports if self.undeclared or not self.unused else ()
        imports = tuple(
            each for each in imports if all(_is_open(workspace, name) for name in (each.imported, *each.distributions))
        )
        closed = {each.declared.name for each in facts.dependencies if not _is_open(workspace, each.declared.name)}
        names = {one.declared.name for one in wanted} if self.unused or not self.undeclared else set()
        unfound = tuple(each for each in facts.unfound if each.name in names)
        unread = () if is_narrow or is_part or closed else facts.unread
        shown = () if is_part else wanted
        is_known = facts.is_environment_known
        drawn = {one.declared.name for one in shown if one.is_missing}  # as not installed, which is the whole reason
        lines = [
            _verdict(facts, wanted, imports, unfound) if wanted or not self.group else _nothing_in(self.group),
            *_dependencies(shown, with_places=bool(self.dependencies), is_known=is_known),
            *_imports(imports),
            *_unfound([each for each in unfound if each.name not in drawn or len(each.why) > 1], is_known=is_known),
            *_unread(unread),
        ]
        return Outcome(
            status="answer",
            text="\n".join(map(on_a_line, lines)),
            warnings=(
                *(Notice("not_known", each) for each in (*facts.notices, *_left_out(facts, unread))),
                *(
                    [Notice("forbidden", f"{listed(sorted(closed))} may not be read, and was left out.")]
                    if closed
                    else []
                ),
            ),
            complete=facts.is_complete and not closed,
            found=(*shown, *imports, *unfound, *unread),
            counts={
                "declared": len(_others(wanted)),
                "not_installed": len({each.declared.name for each in wanted if each.is_missing}),
                "undeclared": len({each.imported for each in imports if each.status == "undeclared"}),
                "unfound": len(unfound),
            },
        )


def _is_open(workspace: Workspace, name: str) -> bool:
    return workspace.refusal_of("deps", normalised(name)) is None


def _check_readable(workspace: Workspace, name: str) -> None:
    refusal = workspace.refusal_of("deps", normalised(name))
    if refusal is not None:
        raise refusal


def _brief(workspace: Workspace) -> Outcome:
    number, missing, notices = overview(workspace)
    text = _declared(number, missing) if missing is not None else f"{_counted(number)}; {_NOT_KNOWN}"
    return Outcome(
        status="answer",
        text=text,
        warnings=tuple(Notice("not_known", each) for each in notices),
        complete=not notices,
    )


def _left_out(facts: Compared, shown: Sequence[NotRead]) -> Iterator[str]:
    """Yield how much is not understood that the answer does not show."""
    if more := len(facts.unread) - len(shown):
        yield f"{counted(more, 'declaration')} could not be understood; deps list shows them."


def _nothing_in(group: str) -> str:
    return f"No dependency is declared in {group}."


def _counted(number: int) -> str:
    if not number:
        return "No dependency is declared"
    return f"{number:,} {'dependency is' if number == 1 else 'dependencies are'} declared"


def _declared(number: int, missing: Collection[str]) -> str:
    if not number:
        return "No dependency is declared."
    return f"{_counted(number)}; {f'not installed: {listed(sorted(missing))}' if missing else 'all are installed'}."


def _verdict(
    facts: Compared, wanted: Sequence[Dependency], imports: Sequence[Unfitting], unfound: Sequence[Unfound]
) -> str:
    """Return the summary, in a line."""
    names = _others(wanted)
    missing = {each.declared.name for each in wanted if each.is_missing}
    is_known = facts.is_environment_known
    parts = [_declared(len(names), missing) if is_known else f"{_counted(len(names))}; {_NOT_KNOWN}"]
    for status, how in (("undeclared", "not declared"), ("open", "perhaps not declared")):
        if packages := {each.imported for each in imports if each.status == status}:
            parts.append(f"Imported, and {how}: {listed(sorted(packages))}.")
    if unfound and is_known:
        without = [each.name for each in unfound if not each.why]
        others = counted(len(unfound) - len(without), "other")
        also = f"; {others} with a reason" if len(without) < len(unfound) else ""
        parts.append(f"Declared, and no import found: {listed(without) or 'none'}{also}.")
    return " ".join(parts)


def _others(found: Iterable[Dependency]) -> set[str]:
    """Return the names of dependencies, without the project's own."""
    return {each.declared.name for each in found if each.declared.kind != "own"}


def _wanted(facts: Compared, request: DepsList) -> tuple[Dependency, ...]:
    """Return the dependencies that the request is about."""
    found = facts.dependencies
    if request.group is not None:
        found = tuple(each for each in found if _is_in(facts, each.declared, request.group))
        known = (_ALWAYS, *facts.declarations.groups, _BUILD)
        if not found and normalised(request.group) not in map(normalised, known):
            raise LookupFailed(
                "symbol_not_found",
                f"The project declares nothing in a group or extra {request.group!r}.",
                hints=[f"There are {listed(known, 20)}."],
            )
    names = {normalised(name) for name in request.dependencies}
    for name in sorted(names):
        if not any(each.declared.name == name for each in found) and not _named(facts, [name]):
            raise _not_declared(facts, name, request.group)
    return tuple(each for each in found if each.declared.name in names) if names else found


def _is_in(facts: Compared, declared: Declared, group: str) -> bool:
    if group in (_ALWAYS, _BUILD) and declared.part == group:
        return True
    return not facts.declarations.within(group).isdisjoint(map(normalised, declared.groups))


def _not_declared(facts: Compared, name: str, group: str | None) -> LookupFailed:
    where = f" in {group}" if group else ""
    installed = facts.environment.distributions.get(name) if facts.environment else None
    also = ""
    if elsewhere := [_title(each.declared).lower() for each in facts.dependencies if each.declared.name == name]:
        also = f" It is declared elsewhere: {listed(elsewhere)}."
    elif installed is not None:
        also = f" It is installed, with release {installed.version}{_comes_with(facts.bringing(name))}."
    close = closest(name, sorted({each.declared.name for each in facts.dependencies}))
    return LookupFailed(
        "symbol_not_found",
        f"The project declares no dependency {name}{where}.{also}",
        hints=[*(f"Did you mean {each}?" for each in close), Call("deps list", then="shows all that it declares.")],
    )


def _named(facts: Compared, names: Collection[str]) -> tuple[Unfitting, ...]:
    """Return the imports that are listed with some names: of a distribution, or of what is imported."""
    wanted = {normalised(name) for name in names}
    return tuple(
        each for each in facts.imports if wanted & {*each.distributions, normalised(each.imported.partition(".")[0])}
    )


def _dependencies(found: Sequence[Dependency], *, with_places: bool, is_known: bool) -> Iterator[str]:
    """Draw the dependencies.

    Parameters:
        with_places: whether the modules that import each are listed.
        is_known: whether it is known what is installed.
    """
    head = ""
    for each in found:
        if (title := _title(each.declared)) != head:
            head = title
            yield from ("", f"{title}:")
        yield f"  {_line(each, is_known=is_known)}"
        if with_places:
            for kind, modules in each.importers.items():
                word = f" ({_WORDS[kind]})" if _WORDS[kind] else ""
                yield from (f"    {module}{word}" for module in modules)


def _title(declared: Declared) -> str:
    names = f" {', '.join(declared.groups)}" if declared.groups else ""
    path = "" if declared.path == "pyproject.toml" else f" ({declared.path})"
    return f"{_HEADS[declared.part]}{names}{path}"


def _line(one: Dependency, *, is_known: bool) -> str:
    """Draw a dependency: `httpx>=0.27: locked 0.27.2, installed 0.27.0; imported by 4 modules, 2 of tests`."""
    facts = [f"locked {listed(one.locked)}"] if one.locked else []
    if one.installed is not None:
        facts.append(f"installed {one.installed}" if one.installed else "installed, of an unknown release")
    elif one.declared.kind == "own":
        facts.append("the project itself")
    elif not one.applies:
        facts.append("not needed on this Python or system")
    elif one.is_missing:
        facts.append("not installed")
    elif is_known:
        facts.append("not installed, and needed for building alone")
    facts += ["which does not fit"] if one.is_unfit else []
    facts += [one.problem] if one.problem else []
    counts = [(len(modules), _WORDS[kind]) for kind, modules in one.importers.items() if modules]
    users = ", ".join(
        f"{counted(number, 'module') if not at else number} {word}".strip() for at, (number, word) in enumerate(counts)
    )
    unsure = ", if its name is that of the package" if one.is_guessed else ""
    facts += [f"imported by {users}{unsure}"] if users else []
    return f"{one.declared.written}{': ' if facts else ''}{'; '.join(facts)}"


def _imports(found: Sequence[Unfitting]) -> Iterator[str]:
    for title, statuses in (
        ("Imports without a declared dependency", ("undeclared",)),
        ("Imports that may be of what is declared: not all of that is known or installed", ("open",)),
        ("Imports by the code of what is declared for a group of development alone", ("misplaced",)),
        ("Imports without a declared dependency that may do without", ("optional", "types", "beside")),
    ):
        several = [each for each in found if each.status in statuses]
        if several:
            yield from ("", f"{title}:")
        packages: dict[tuple[str, str], list[Unfitting]] = {}
        for each in several:
            packages.setdefault((each.imported, each.status), []).append(each)
        for (package, status), places in packages.items():
            yield f"  {package}: {_STATUS[status]}{_given(places[0])}"
            shown = [f"{each.module}:{each.line}{' (of tests)' if each.where == 'tests' else ''}" for each in places]
            yield f"    {listed(shown, _MOST_PLACES)}"


def _given(one: Unfitting) -> str:
    if not one.distributions:
        return "; nothing that is installed gives it" if one.is_environment_known else ""
    groups = f" in {', '.join(one.groups)}" if one.groups else ""
    return f"{groups}{_comes_with(one.comes_with)}; {' or '.join(one.distributions)} gives it"


def _comes_with(names: Sequence[str]) -> str:
    return f" (comes with {listed(names, 3)})" if names else ""


def _unfound(found: Sequence[Unfound], *, is_known: bool) -> Iterator[str]:
    if not found:
        return
    if not is_known:
        yield from ("", "Declared, with no import of the same name, and their modules are unknown:")
        yield f"  {listed([each.name for each in found], _MOST_PLACES)}"
        return
    yield from ("", "Declared, and no import found:")
    for each in found:
        where = f" ({', '.join(each.groups)})" if each.groups else ""
        yield f"  {each.name}{where}{': ' if each.why else ''}{'; '.join(each.why)}"


def _unread(found: Sequence[NotRead]) -> Iterator[str]:
    if found:
        yield from ("", "Not understood:")
    for each in found:
        yield f"  {each.path}{f':{each.line}' if each.line else ''}: {each.text!r}: {each.reason}"
