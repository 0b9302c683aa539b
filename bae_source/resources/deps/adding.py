"""Dependencies added, removed and upgraded: in pyproject.toml, in the lock, and in the environment."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec.structs import replace

from bae_source.model.changeset import between
from bae_source.model.plan import Plan, Requirements
from bae_source.model.request import Effect, Request, described
from bae_source.project.files.settings import settings_of
from bae_source.project.workspace import Workspace

if TYPE_CHECKING:
    from bae_source.resources.deps.editing import Edited

Group = Annotated[str | None, described("The group (PEP 735) that it is for, such as dev.")]
Extra = Annotated[str | None, described("The extra that it is for.")]
FilesOnly = Annotated[bool, described("Change pyproject.toml and the lock, and not the environment.", seldom=True)]
Build = Annotated[
    bool,
    described("Let source distributions be built where there is no wheel, which runs their code.", seldom=True),
]


class DepsAdd(Request, frozen=True, kw_only=True):
    """Declare dependencies, and install them.

    They are put into `[project] dependencies`, or those of a group or an extra; one that is there already gets the
    versions that are given. What they come to is resolved with all else that is declared: by uv where there is a
    uv.lock, by pip otherwise. Then they are installed in the project's environment, the change is judged with them, and
    written. Where that fails, files and environment are as before. Modules of theirs that this process has imported are
    imported anew. One undo takes back all of it.
    """

    verb: ClassVar[str] = "deps_add"
    family: ClassVar[str] = "deps"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it where code needs a package that the project does not declare."
    examples: ClassVar[tuple[str, ...]] = (
        'deps add "httpx>=0.27"',
        "deps add pytest ruff --group dev",
        "deps add rich --extra shell --dry-run",
    )
    idempotent: ClassVar[bool] = True

    requirements: Annotated[
        tuple[str, ...],
        described(
            "Requirements such as httpx>=0.27 or rich[jupyter]~=13.9.",
            placed=True,
            starred=True,
            min_length=1,
            metavar="REQUIREMENT",
        ),
    ]
    group: Group = None
    extra: Extra = None
    build: Build = False
    files_only: FilesOnly = False

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change of pyproject.toml; what it comes to in the environment is resolved later.

        Raises:
            RequestError: `invalid_arguments` for what is no requirement by name and versions.
            LookupFailed, SourceError: there is no pyproject.toml that parses.
            Refused: `unsafe_change` where another tool keeps the dependencies.
        """
        from bae_source.resources.deps.editing import Place, added, requirement_of  # 60 ms, which declarations need not

        wanted = [requirement_of(each) for each in self.requirements]
        edited = added(workspace, wanted, Place(self.group, self.extra, settings_of(workspace.files)))
        extras = () if self.extra is None else (self.extra,)
        groups = () if self.group is None else (self.group,)
        need = Requirements(add=tuple(map(str, wanted)), extras=extras, groups=groups)
        return _planned(self, workspace, edited, need)


class DepsRemove(Request, frozen=True, kw_only=True):
    """Take dependencies out of pyproject.toml, the lock and the environment.

    Without a group or an extra they go wherever they are declared. Out of the environment they go where nothing else
    that is installed or declared needs them, and with them what only they needed, unless code imports it or it was
    installed by itself. Modules of the project that import them have to import without them.
    """

    verb: ClassVar[str] = "deps_remove"
    family: ClassVar[str] = "deps"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it for what nothing imports any more; deps list --unused shows what that may be."
    examples: ClassVar[tuple[str, ...]] = ("deps remove httpx", "deps remove pytest --group dev --dry-run")

    dependencies: Annotated[
        tuple[str, ...],
        described("Names of distributions.", placed=True, starred=True, min_length=1, metavar="NAME"),
    ]
    group: Group = None
    extra: Extra = None
    build: Build = False
    files_only: FilesOnly = False

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change of pyproject.toml.

        Raises:
            RequestError: `invalid_arguments` for what is no name.
            LookupFailed: `symbol_not_found` for what is not declared there.
            Refused: `unsafe_change` where another tool keeps it.
        """
        from bae_source.resources.deps.editing import Place, removed

        settings = settings_of(workspace.files)
        place = None if self.group is None and self.extra is None else Place(self.group, self.extra, settings)
        edited = removed(workspace, self.dependencies, place)
        return _planned(self, workspace, edited, Requirements(drop=edited.gone))


class DepsUpgrade(Request, frozen=True, kw_only=True):
    """Install the newest releases that the requirements allow; everything else stays, unless they need it newer.

    The lock keeps them; where there is none, the lowest version in pyproject.toml becomes the new one. A requirement
    in the place of a name changes what is allowed as well: `deps upgrade "rich>=14"`.
    """

    verb: ClassVar[str] = "deps_upgrade"
    family: ClassVar[str] = "deps"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it with --verify tests: the project's tests are run with the new release first."
    examples: ClassVar[tuple[str, ...]] = ("deps upgrade rich --verify tests", 'deps upgrade "rich>=14"')
    idempotent: ClassVar[bool] = True

    requirements: Annotated[
        tuple[str, ...],
        described(
            "Names of declared distributions, or requirements.",
            placed=True,
            starred=True,
            min_length=1,
            metavar="NAME",
        ),
    ]
    build: Build = False
    files_only: FilesOnly = False

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change of pyproject.toml; which releases there are is resolved later.

        Raises:
            as `DepsAdd.plan`; LookupFailed: `symbol_not_found` for what is not declared.
        """
        from bae_source.resources.deps.editing import requirement_of, upgraded

        edited = upgraded(workspace, [requirement_of(each) for each in self.requirements])
        return _planned(self, workspace, edited, Requirements(upgrade=edited.names))


def _planned(
    asked: DepsAdd | DepsRemove | DepsUpgrade, workspace: Workspace, edited: "Edited", need: Requirements
) -> Plan:
    from bae_source.resources.deps.declared import PYPROJECT

    before = workspace.content(PYPROJECT) or b""
    summary = "; ".join(edited.done) or "all of it is declared already"
    return Plan(
        changes=between({PYPROJECT: before}, {PYPROJECT: edited.text.encode()}),
        changed=(f":{PYPROJECT}",),
        modules=(),
        summary=f"{summary[:1].upper()}{summary[1:]}.",
        requirements=replace(need, build=asked.build, install=not asked.files_only),
    )
