"""One dependency as it is installed; in Python and in sessions, the module itself."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from msgspec import Struct

from bae_source.errors import LookupFailed
from bae_source.model.call import Call
from bae_source.model.outcome import Outcome
from bae_source.model.request import Request, described
from bae_source.model.text import listed
from bae_source.project.workspace import Workspace
from bae_source.resources.deps.declared import declared, normalised
from bae_source.resources.deps.installed import environment_of


class Gotten(Struct, frozen=True, kw_only=True):
    """A distribution that is installed.

    Parameters:
        name: normalised.
        version: its release.
        gives: the names that can be imported of it, the one that is meant first.
        module: that one.
    """

    name: str
    version: str
    gives: tuple[str, ...]
    module: str


class DepsGet(Request, frozen=True, kw_only=True):
    """Return a dependency's module, by the name of its distribution or of the import.

    Where code runs in the same process, in Python and in sessions, the module is imported and returned. It is looked
    up anew each time, so after `deps upgrade` it is the one of the new release. The command line and tools tell its
    release and the names that it gives.
    """

    verb: ClassVar[str] = "deps_get"
    family: ClassVar[str] = "deps"
    live: ClassVar[bool] = True
    when: ClassVar[str] = "Use it where code of yours is to go on with a dependency that is upgraded meanwhile."
    examples: ClassVar[tuple[str, ...]] = ("deps get httpx",)

    dependency: Annotated[str, described("Name of a distribution or of an import.", min_length=1)]

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace.

        Raises:
            LookupFailed: `symbol_not_found` if nothing of that name is installed, or it gives nothing to import.
        """
        environment = environment_of(workspace, declared(workspace.files).project)
        every = environment.distributions if environment is not None else {}
        found = every.get(normalised(self.dependency))
        found = found or next((each for each in every.values() if self.dependency in each.gives), None)
        refusal = workspace.refusal_of("deps", normalised(self.dependency if found is None else found.name))
        if refusal is not None:
            raise refusal
        if found is None:
            raise LookupFailed(
                "symbol_not_found",
                f"{self.dependency} is not installed in the project's environment.",
                hints=[
                    Call("deps list", dependencies=[self.dependency], then="says whether it is declared."),
                    Call("deps add", requirements=["NAME"], then="declares and installs a distribution by its name."),
                ],
            )
        if not found.gives:
            raise LookupFailed(
                "symbol_not_found", f"{found.name} {found.version} gives nothing that can be imported.", hints=[]
            )
        likely = (self.dependency, found.name, found.name.replace("-", "_"))
        module = next((each for each in likely if each in found.gives), found.gives[0])
        gives = (module, *(each for each in found.gives if each != module))
        gotten = Gotten(name=found.name, version=found.version, gives=gives, module=module)
        text = f"{found.name} {found.version} gives {listed(gives)}."
        return Outcome(status="answer", text=text, found=(gotten,))
