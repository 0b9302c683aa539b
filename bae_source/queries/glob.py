"""List the names that match a pattern."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.errors import RequestError
from bae_source.model.address import is_selector
from bae_source.model.call import Call
from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request, described
from bae_source.project.search.answer import answer_of, closer_look
from bae_source.project.search.matches import Kind, Match, data_matching, files_matching, symbols_matching
from bae_source.project.workspace import Workspace


class Glob(Request, frozen=True, kw_only=True):
    """List the modules, symbols and data files whose names match a pattern, sorted.

    `*` stands for anything within one component, `**` for any number of components, `?` for one character, `[ab]` for
    one of some. Names with a leading underscore match like any other. `pkg.mod@stub.*` looks into stubs.
    Attributes of instances and what is bound without a definition are left out, unless asked for; `read` lists the
    statements that bind one.
    With a colon the pattern is one of files that are no Python: `pkg:*.html`, `:docs/**` below the project's root.
    """

    verb: ClassVar[str] = "glob"
    lists_addresses: ClassVar[bool] = True
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it when you know how a name looks, and not where it is."
    examples: ClassVar[tuple[str, ...]] = (
        'glob "app.*"',
        'glob "**.Client.send*" --kind method',
    )

    pattern: Annotated[str, described("Pattern over dotted names, such as pkg.* or **.Client.send.")]
    kind: Annotated[Kind | None, described("Only symbols of this kind.")] = None
    attributes: Annotated[
        bool, described("Also attributes that classes set on instances, and names that loops, `with` and `:=` bind.")
    ] = False

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        if ":" in self.pattern and not is_selector(self.pattern):
            return self._data(workspace)
        kept, notices = symbols_matching(workspace, self.pattern, kind=self.kind, attributes=self.attributes)
        lines = list(dict.fromkeys(match.address for match in kept))
        actions = [_look(match) for match in kept[:1]]
        if not kept and self.kind is None and next(files_matching(workspace, f":{self.pattern}"), None):
            actions = [Call("glob", pattern=f":{self.pattern}")]
        return answer_of(lines, kept, notices, next_actions=actions)

    def _data(self, workspace: Workspace) -> Outcome:
        """List data files."""
        if self.kind is not None:
            raise RequestError(
                "invalid_arguments", f"A data file is no {self.kind}.", hints=["Leave kind out, or the colon."]
            )
        kept, notices = data_matching(workspace, self.pattern)
        return answer_of(
            [match.address for match in kept],
            kept,
            notices,
            next_actions=[Call("read", target=match.address) for match in kept[:1]],
        )


def _look(match: Match) -> str:
    module = match.address if match.kind in ("package", "module") else match.module
    return closer_look(module.removesuffix("@module"), match.address, match.kind)
