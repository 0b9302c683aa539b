"""Shell completion, by argcomplete; loaded only when a shell asks.

The parser of every verb is built from the same arguments that the command line itself uses. Names of the project are
not completed; nothing of the project is read.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import argcomplete
from argcomplete.shell_integration import shellcode

from bae_source.adapters.cli.arguments import ALWAYS, EVERYWHERE, Argument, Shape, of_context, of_output, of_request
from bae_source.adapters.cli.streams import Streams
from bae_source.engine.registry import REQUESTS
from bae_source.model.outcome import Outcome
from bae_source.model.request import command_of

PROGRAM = "bae-source"
Commands = Mapping[str, Sequence[Argument]]


def completion(given: Mapping[str, Any], _: Streams) -> Outcome:
    """Return the script that makes a `shell` (bash, zsh, fish) complete the console script."""
    code: str = shellcode([PROGRAM], shell=given["shell"], use_defaults=False)
    return Outcome(status="answer", text=code.strip("\n") + "\n")


def complete(commands: Commands) -> int:
    """Answer the completion question that the environment asks, on the descriptor that the shell reads."""
    argcomplete.autocomplete(parser(commands), exit_method=os._exit)
    return 0


def parser(commands: Commands) -> argparse.ArgumentParser:
    """Return one parser of all verbs; it is only good for completing.

    Parameters:
        commands: what each verb takes that is no request.
    """
    top = argparse.ArgumentParser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    _fill(top, EVERYWHERE)
    top.add_argument("--version", action="store_true", default=argparse.SUPPRESS)
    verbs = top.add_subparsers(dest="verb")
    families = {}
    for kind in REQUESTS:
        if kind.family and kind.family not in families:
            families[kind.family] = _verb(verbs, kind.family).add_subparsers(dest="second")
        called = _verb(families[kind.family] if kind.family else verbs, command_of(kind).split()[-1])
        _fill(called, (*of_request(kind), *of_context(kind), *of_output(kind), *EVERYWHERE))
    for verb, arguments in commands.items():
        _fill(_verb(verbs, verb), (*arguments, *ALWAYS))
    _verb(verbs, "help").add_argument("about", nargs="?", choices=[*verbs.choices])
    return top


def _verb(verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str) -> argparse.ArgumentParser:
    return verbs.add_parser(name, add_help=False, allow_abbrev=False)


def _fill(verb: argparse.ArgumentParser, arguments: Iterable[Argument]) -> None:
    for argument in arguments:
        action = _added(verb, argument)
        if argument.takes_value and not argument.choices:
            action.completer = _completer(argument.shape)  # type: ignore[attr-defined]  # argcomplete's protocol


def _added(verb: argparse.ArgumentParser, argument: Argument) -> argparse.Action:
    options: dict[str, Any] = {"default": argparse.SUPPRESS, "help": argument.help.replace("%", "%%")}
    if argument.shape is Shape.LIST:
        options["action"] = "append"
    if not argument.takes_value:
        options["action"] = "store_true"
    if argument.choices:
        options["choices"] = argument.choices
    if argument.takes_value:
        options["metavar"] = argument.value
    if argument.flags:
        return verb.add_argument(*argument.flags, **options)
    return verb.add_argument(argument.parameter, nargs="?", **options)


def _completer(shape: Shape) -> object:
    return {Shape.FILE: _files, Shape.FOLDER: _folders}.get(shape, _nothing)


def _nothing(**_: object) -> tuple[str, ...]:
    return ()


def _files(prefix: str, **_: object) -> list[str]:
    return [f"{name}/" if is_folder else name for name, is_folder in _entries(prefix)]


def _folders(prefix: str, **_: object) -> list[str]:
    return [f"{name}/" for name, is_folder in _entries(prefix) if is_folder]


def _entries(prefix: str) -> Iterator[tuple[str, bool]]:
    """Yield the completions of `prefix`, as typed, and whether each is a folder."""
    folder, _, beginning = prefix.rpartition("/")
    typed = f"{folder}/" if "/" in prefix else ""
    try:
        entries = sorted(os.scandir(Path(typed or ".").expanduser()), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(beginning) and (beginning or not entry.name.startswith(".")):
            yield typed + entry.name, entry.is_dir()
