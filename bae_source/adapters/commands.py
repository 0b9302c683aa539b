"""The few verbs that are the command line's own and no requests: help, completion, demo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from bae_source.adapters.arguments import Argument, Shape
from bae_source.adapters.streams import Streams
from bae_source.model.outcome import Outcome

Run = Callable[[Mapping[str, Any], Streams], Outcome]


class Command(Struct, frozen=True, kw_only=True):
    """A verb of the command line alone.

    Parameters:
        about: its help, a summary line first.
        run: gets what was given, by parameter.
    """

    verb: str
    about: str
    arguments: tuple[Argument, ...] = ()
    run: Run


def _demo(given: Mapping[str, Any], streams: Streams) -> Outcome:
    from bae_source.adapters.demo import demo  # starts processes

    return demo(streams, keep=bool(given.get("keep")))


def _completion(given: Mapping[str, Any], _: Streams) -> Outcome:
    from bae_source.adapters.completion import script  # argcomplete is heavy

    return Outcome(status="answer", text=script(given["shell"]))


SHELLS = ("bash", "zsh", "fish")

COMMANDS: Mapping[str, Command] = {
    command.verb: command
    for command in (
        Command(
            verb="demo",
            about="""Show the main job, step by step, on a small project made for it.

            The project lies in a temporary folder. Every step is carried out for real and checks what it says; the
            exit status tells whether all of them held.""",
            arguments=(
                Argument(parameter="keep", flags=("--keep",), shape=Shape.FLAG, help="Keep the project to look at."),
            ),
            run=_demo,
        ),
        Command(
            verb="completion",
            about="""Print the completion script of a shell, for `bae-source`.

            Verbs, options, their values and files complete.""",
            arguments=(
                Argument(parameter="shell", shape=Shape.CHOICE, choices=SHELLS, required=True, help="Which shell."),
            ),
            run=_completion,
        ),
    )
}
