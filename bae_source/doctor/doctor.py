"""The doctor as a request: one look after the other, and one answer of all of them.

Invariants:
- it reads, and never recovers, records or runs the project's code; so it shows what any other request would mend;
- it works on a broken project: what cannot be read is a finding, and the rest is looked at all the same;
- of all answers this one holds paths: a person must know where state and interpreter lie to mend them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, ClassVar

from bae_source.doctor.health import Part, drawn
from bae_source.model.outcome import FOUND, Outcome
from bae_source.model.request import Request, described

if TYPE_CHECKING:
    from bae_source.doctor.scene import Scene


class Doctor(Request, frozen=True, kw_only=True):
    """Report the state of a project and its tools as seen from here, with what is wrong and how to mend it.

    It looks at the root, source roots, interpreter, our own state, an unfinished transaction, history, files that do
    not parse, settings, policies, and what is installed. Each finding has a code and what to type. It only reads;
    unlike other answers, this one holds paths, since a person needs them. The exit status is 1 if there are findings.
    """

    verb: ClassVar[str] = "doctor"
    runner: ClassVar[str] = "doctor"
    when: ClassVar[str] = "Use it when answers or refusals are not what you expect, or on a project you do not know."
    examples: ClassVar[tuple[str, ...]] = (
        "doctor",
        "doctor --limit 100 --json",
    )
    recovers: ClassVar[bool] = False

    limit: Annotated[int, described("How many files that do not parse are named.", ge=1)] = 10


def examined(request: Doctor, scene: Scene) -> Outcome:
    """Look at everything; `found` of the outcome has the findings as values (`doctor.health.Trouble`)."""
    from bae_source.doctor import of_project, of_state  # whose imports the request's help need not pay

    parts_of: tuple[Callable[[Scene], Part], ...] = (
        lambda scene: Part(name="root", lines=(str(scene.root),)),
        of_project.roots,
        of_project.interpreter,
        of_state.state,
        of_state.transaction,
        of_state.history,
        of_state.plans,
        of_state.telemetry,
        lambda scene: of_project.modules(scene, request.limit),
        of_state.cache,  # behind the modules: looking at them fills it
        of_project.settings,
        of_project.policy,
        of_project.packages,
        of_project.programs,
    )
    parts = [look(scene) for look in parts_of]
    troubles = tuple(trouble for part in parts for trouble in part.troubles)
    return Outcome(
        status="answer",
        text=drawn(parts),
        found=troubles,
        next_actions=tuple(dict.fromkeys(trouble.mend for trouble in troubles)),
        exit_code=FOUND if troubles else 0,
    )
