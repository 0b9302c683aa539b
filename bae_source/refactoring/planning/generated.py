"""Files that a program writes, left as they are where a refactoring is asked to leave them.

Invariants:
- a place that stays for that is unsure, with a reason of its own, and refuses nothing;
- a definition in such a file stays where it is, and keeps its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from bae_source.errors import Refused, ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.project.files.generated import is_generated
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import Spliced
from bae_source.syntax.names import uses as u

GENERATED = Reason.GENERATED.of()


def generated_among(workspace: Workspace, paths: Iterable[str]) -> frozenset[str]:
    """Return the files among some that a program writes."""
    return frozenset(path for path in dict.fromkeys(paths) if is_generated(path, workspace.content(path) or b""))


def check_written_by_hand(workspace: Workspace, places: Mapping[str, object]) -> None:
    """Check that no program writes the files that a refactoring cannot leave as they are.

    Parameters:
        places: what stands in each, by the paths.

    Raises:
        Refused: `unsafe_change`.
    """
    for path in sorted(generated_among(workspace, places)):
        raise Refused(
            "unsafe_change",
            f"{places[path]} is in a generated file",
            unchanged=True,
            hints=["Change it in the program that generates the file, or leave skip_generated out."],
        )


def refusing(report: Report) -> Sequence[Reference]:
    """Return the unsure places that refuse a refactoring."""
    return [each for each in report.unsure if each.why != GENERATED]


def without_generated(
    project: Project, spliced: Iterable[Spliced], report: Report, words: Collection[str]
) -> tuple[tuple[Spliced, ...], Report]:
    """Return changes and their report without those of files that a program writes, whose places are unsure then.

    Parameters:
        words: by which the target is named.
    """
    every = tuple(spliced)
    generated = generated_among(project.workspace, (each.module.path for each in every))
    skipped = [each for each in every if each.module.path in generated]
    names = {each.module.name for each in skipped}
    return (
        tuple(each for each in every if each.module.path not in generated),
        replace(
            report,
            changed={name: count for name, count in report.changed.items() if name not in names},
            unsure=(*report.unsure, *(place for each in skipped for place in _places(project, each, words))),
        ),
    )


def _places(project: Project, spliced: Spliced, words: Collection[str]) -> Iterator[Reference]:
    """Yield the places that would change: the target, on the lines that would; else these lines."""
    module, source = spliced.module, project.workspace.source(spliced.module)
    lines = sorted({source.lines.number(span.start) for span, _ in spliced.splices})
    try:
        mentions = [each for word in words for each in project.uses(module.path).mentions.get(word, ())]
    except ResourceError:
        mentions = []  # of a file that does not parse
    if found := sorted(each for each in mentions if each[0] in lines and each[3] != u.MENTION):
        for each in found:
            yield project.shown(Mentioned(module.path, each, "unsure", GENERATED), project.lines(module.path))
        return
    for line in lines:
        yield project.definition(module.path, 0, line, "mention", "unsure", GENERATED)
