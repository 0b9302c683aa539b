"""The few verbs that are the command line's own and no requests: help, completion, demo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from msgspec import Struct

from bae_source.adapters.cli.arguments import ROOT, Argument, Shape, of_context
from bae_source.adapters.cli.streams import Streams
from bae_source.adapters.offer import PROFILES
from bae_source.engine.registry import REQUESTS
from bae_source.model.outcome import Outcome
from bae_source.model.page import USUAL

Run = Callable[[Mapping[str, Any], Streams], Outcome]


class Command(Struct, frozen=True, kw_only=True):
    """A verb of the command line alone.

    Parameters:
        about: its help, a summary line first.
        carried_out_by: the function among the adapters that gets what was given, by parameter, and the streams; it is
            loaded when it is called; "" where the command line itself carries it out.
        examples: calls, as `Request.examples` has them.
        several: whether it prints several outcomes, with --json a line each.
    """

    verb: str
    about: str
    arguments: tuple[Argument, ...] = ()
    carried_out_by: str = ""
    examples: tuple[str, ...] = ()
    several: bool = False

    def run(self, given: Mapping[str, Any], streams: Streams) -> Outcome:
        """Carry it out."""
        module, _, name = self.carried_out_by.rpartition(".")
        do: Run = getattr(import_module(f"bae_source.adapters.{module}"), name)
        return do(given, streams)


_TASK = Argument(parameter="task", metavar="NAME", required=True, help="Which one: its name, or the beginning of that.")
_DECIDES = Argument(
    parameter="who",
    flags=("--who",),
    metavar="NAME",
    help="Who decides, for the record; BAE_SOURCE_WHO or the account's name if left out.",
)
_OF_ENGINE = Argument(
    parameter="meta",
    flags=("--meta",),
    shape=Shape.FLAG,
    help="Of the changes of bae_source itself, not of the project.",
)
_REASON = Argument(parameter="reason", flags=("--reason",), metavar="TEXT", help="Why; the proposer is given it.")

_COMMIT = REQUESTS.called("commit")
SHELLS = ("bash", "zsh", "fish")
STYLES = ("openai", "anthropic", "mcp")
_PROFILE = Argument(
    parameter="profile",
    flags=("--profile",),
    shape=Shape.CHOICE,
    choices=PROFILES,
    metavar="PROFILE",
    help="core: twelve tools, by which all verbs can be called; read: five that only read; full: one a verb. [core]",
)

_BUDGET = Argument(
    parameter="budget",
    flags=("--budget",),
    shape=Shape.INTEGER,
    metavar="BYTES",
    help=f"How long an answer may be where a call does not say. [{USUAL}]",
)

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
            carried_out_by="cli.demo.demo",
            examples=("demo", "demo --keep"),
        ),
        Command(
            verb="functions",
            about="""Print the requests as JSON definitions of functions, to hand to a model as they are.

            What the model then calls is run by `bae_source.functions.dispatch` in Python.""",
            arguments=(
                Argument(
                    parameter="style",
                    flags=("--style",),
                    shape=Shape.CHOICE,
                    choices=STYLES,
                    required=True,
                    help="Whose form they have.",
                ),
                _PROFILE,
                Argument(
                    parameter="tools",
                    flags=("--tools", "--tool"),
                    shape=Shape.LIST,
                    metavar="A,B",
                    help="Only these; may be given several times.",
                ),
                Argument(
                    parameter="read_only",
                    flags=("--read-only",),
                    shape=Shape.FLAG,
                    help="Only those that change nothing.",
                ),
            ),
            carried_out_by="functions.printed",
            examples=(
                "functions --style openai --read-only",
                "functions --style anthropic --tools read,edit",
            ),
        ),
        Command(
            verb="do",
            about="""Carry out several commands, a line each; what they change is made together at the end.

            A line is split into words as a shell does it: quotes may span lines, and <<WORD gives the lines up to WORD
            as standard input; nothing is expanded. A line that begins with # is a comment. Reads see what is planned
            before them. If a change fails, nothing is written, and what is planned is kept: --draft goes on with it.
            The exit status is the highest of all commands.""",
            arguments=(
                Argument(parameter="file", metavar="FILE|-", help="The commands; standard input if left out."),
                Argument(
                    parameter="draft",
                    flags=("--draft",),
                    metavar="DRAFT",
                    help="Go on with what is planned already.",
                ),
                *of_context(_COMMIT),
                ROOT,
            ),
            carried_out_by="cli.doing.do",
            examples=("do changes.txt --verify tests", "do --dry-run < changes.txt"),
            several=True,
        ),
        Command(
            verb="agents",
            about="""Print 25 lines for an AGENTS.md that teach this command line to a coding agent.""",
            carried_out_by="cli.agents.agents",
            examples=("agents >> AGENTS.md",),
        ),
        Command(
            verb="docs",
            about="""Print the reference of all requests, errors, exit statuses, places and settings, as markdown.

            It is drawn from the declarations. With --check it is compared with the one in the checkout that this
            program runs from, and the exit status is 1 if they differ.""",
            arguments=(
                Argument(
                    parameter="check",
                    flags=("--check",),
                    shape=Shape.FLAG,
                    help="Print nothing of it; say whether docs/reference.md is the same.",
                ),
            ),
            carried_out_by="cli.reference.docs",
            examples=("docs > docs/reference.md", "docs --check"),
        ),
        Command(
            verb="completion",
            about="""Print the completion script of a shell, for `bae-source`.

            Verbs, options, their values and files complete.""",
            arguments=(
                Argument(parameter="shell", shape=Shape.CHOICE, choices=SHELLS, required=True, help="Which shell."),
            ),
            carried_out_by="cli.completion.completion",
            examples=(
                "completion bash >> ~/.bashrc",
                'completion zsh > "${fpath[1]}/_bae-source"',
                "completion fish | source",
            ),
        ),
        Command(
            verb="hook",
            about="""Check what is staged for a commit; made for pre-commit.

            Staged code parses and decodes, `__all__` names what is there, imports of the project's own modules and
            names find something, and no transaction is unfinished. What the commit takes away is followed to all that
            imports it, staged or not. The working tree is not judged. The exit status is 1 if there are findings. In
            the JSON each line of `text` is a finding.""",
            arguments=(
                Argument(
                    parameter="files",
                    shape=Shape.LIST,
                    metavar="FILE",
                    help="What to check; what differs from the last commit if left out.",
                ),
                Argument(
                    parameter="fix",
                    flags=("--fix",),
                    shape=Shape.FLAG,
                    help="Take out of __all__ what is not there, where a file is as it was staged; stages nothing.",
                ),
                ROOT,
            ),
            carried_out_by="hook.hook",
        ),
        Command(
            verb="adopt",
            about="""Make state of bae_source yours that you copied or moved with the project.

            State that came along is not believed: its history is not listed, and nothing in it is undone or finished.
            Adopt it only if it is your own. It asks at a terminal, and nothing else can ask for it.""",
            arguments=(ROOT,),
            carried_out_by="cli.adopting.adopt",
        ),
        Command(
            verb="approve",
            about="""Approve one change that waits, and make it: you are shown all of it, and type a code.

            The approval is of exactly what is shown, and is used once. If what it was planned on has changed, it is
            planned anew, and shown as it is now. It asks at a terminal, and nothing else can approve.""",
            arguments=(
                _TASK,
                Argument(
                    parameter="only",
                    flags=("--only",),
                    shape=Shape.LIST,
                    metavar="SYMBOL",
                    help="Take only these parts of it; the others are refused. May be given several times.",
                ),
                Argument(
                    parameter="digest",
                    flags=("--digest",),
                    metavar="DIGEST",
                    help="What you approve, or its beginning: refused if it comes to something else by now.",
                ),
                _REASON,
                _DECIDES,
                _OF_ENGINE,
                ROOT,
            ),
            carried_out_by="deciding.terminal.approve",
            examples=("approve code_mod_1a2b3c4d", "approve code_mod_1a2b3c4d --only app.core.send"),
        ),
        Command(
            verb="reject",
            about="""Reject one change that waits, or take parts out of it, with a reason that its proposer is given.

            Without its parts, the rest is planned and verified anew, and waits under a new digest. It asks for a
            terminal, as approve does.""",
            arguments=(
                _TASK,
                Argument(
                    parameter="part",
                    flags=("--part",),
                    shape=Shape.LIST,
                    metavar="SYMBOL",
                    help="Refuse only this part of it. May be given several times.",
                ),
                _REASON,
                _DECIDES,
                _OF_ENGINE,
                ROOT,
            ),
            carried_out_by="deciding.terminal.reject",
            examples=(
                'reject code_mod_1a2b3c4d --reason "It is used."',
                'reject code_mod_1a2b3c4d --part app.N --reason "No."',
            ),
        ),
        Command(
            verb="expire",
            about="""End one change that waits, as if its time were over; nothing of it is made.""",
            arguments=(_TASK, _DECIDES, _OF_ENGINE, ROOT),
            carried_out_by="deciding.terminal.expire",
            examples=("expire code_mod_1a2b3c4d",),
        ),
        Command(
            verb="review",
            about="""Open a page with the changes that wait, where you approve, reject and take apart.

            The page is on this machine's loopback address, and opens only with the token in the printed address.
            With --terminal the changes are gone through here, the riskiest first. The page needs the extra: pip install
            "bae-source[web]".""",
            arguments=(
                Argument(
                    parameter="terminal",
                    flags=("--terminal",),
                    shape=Shape.FLAG,
                    help="Go through them at the terminal, and open no page.",
                ),
                Argument(
                    parameter="port",
                    flags=("--port",),
                    shape=Shape.INTEGER,
                    metavar="PORT",
                    help="Of 127.0.0.1; any that is free if left out.",
                ),
                Argument(
                    parameter="no_browser",
                    flags=("--no-browser",),
                    shape=Shape.FLAG,
                    help="Print the address, and start no browser.",
                ),
                _DECIDES,
                _OF_ENGINE,
                ROOT,
            ),
            carried_out_by="web.command.review",
            examples=("review", "review --terminal"),
        ),
        Command(
            verb="meta",
            about="""Read and change the installed bae_source itself: requests about code, with `meta` before the verb.

            Names begin with bae_source. What is planned is imported, and then has to do its main work in a child (the
            smoke check), before anything is written; history, drafts and the lock lie in your own state folder. `meta
            undo` takes a change back, from a fresh process too; where the engine does not start any more, the command
            does that the outcome of the change names. What judges and writes changes, whom it asks, and whose state is
            believed, stays as it is.
            It goes without --root.""",
            arguments=(
                Argument(parameter="verb", metavar="VERB", required=True, help="A request, with what it takes."),
            ),
            examples=(
                "meta read bae_source.queries.read.Read",
                "meta edit bae_source.errors.Refused@docstring --source -",
                "meta undo",
                "meta history",
            ),
        ),
        Command(
            verb="mcp",
            about="""Serve the project to MCP clients: over standard input and output, or over HTTP on this machine.

            Twelve tools are offered, by which every request can be made, or with --profile full a tool a request;
            modules are resources; the usual walks are prompts. The server ends when its client goes, and what was begun
            then is taken back. Over HTTP only clients that have its secret are answered: it is part of the address that
            is printed at the start, unless --secret-file or the environment variable BAE_SOURCE_MCP_SECRET has it; then
            it is sent as `Authorization: Bearer`, or stands in the address in front of /mcp.
            Needs the extra: pip install "bae-source[mcp]".""",
            arguments=(
                Argument(
                    parameter="http",
                    flags=("--http",),
                    shape=Shape.INTEGER,
                    metavar="PORT",
                    help="Serve over HTTP on this port of 127.0.0.1; 0 for any that is free.",
                ),
                Argument(
                    parameter="secret_file",
                    flags=("--secret-file",),
                    metavar="FILE",
                    help="Take the secret for --http from this file, which only its owner may read; nothing prints it.",
                ),
                Argument(
                    parameter="read_only",
                    flags=("--read-only",),
                    shape=Shape.FLAG,
                    help="Offer no tool that changes; what a crashed transaction left is taken back.",
                ),
                _PROFILE,
                Argument(
                    parameter="tools",
                    flags=("--tools",),
                    shape=Shape.LIST,
                    metavar="A,B",
                    help="Offer these tools alone; may be given several times.",
                ),
                Argument(
                    parameter="meta",
                    flags=("--meta",),
                    shape=Shape.FLAG,
                    help='Let the client read and change bae_source itself: call and change take "meta VERB".',
                ),
                Argument(
                    parameter="who",
                    flags=("--who",),
                    metavar="NAME",
                    help="Who makes the changes, for the history; BAE_SOURCE_WHO or the client's own name if left out.",
                ),
                _BUDGET,
                ROOT,
            ),
            carried_out_by="mcp.command.serve",
        ),
        Command(
            verb="serve",
            about="""Keep projects warm for reads from this user's shells; started by itself where a read takes long.

            A read such as grep or find is then answered by the server, with the same outcome, in a tenth of a second
            and less. It runs nothing of a project, answers this user only, and ends when no request comes for ten
            minutes. BAE_SOURCE_SERVE=off has none started, and none asked. It needs Linux and XDG_RUNTIME_DIR.""",
            arguments=(
                Argument(
                    parameter="idle",
                    flags=("--idle",),
                    shape=Shape.NUMBER,
                    metavar="SECONDS",
                    help="How long to wait for another request. [600]",
                ),
                Argument(
                    parameter="status",
                    flags=("--status",),
                    shape=Shape.FLAG,
                    help="Say whether one runs, how much memory it takes, and for which projects.",
                ),
                Argument(parameter="stop", flags=("--stop",), shape=Shape.FLAG, help="End the one that runs."),
            ),
            carried_out_by="serve.command.serve",
            examples=("serve --status", "serve --stop"),
        ),
        Command(
            verb="shell",
            about="""Open a session on the project: Python, with the tools as functions and its modules as places.

            What is typed runs in a process of its own, which can import the project's modules, and begins in source;
            nav() shows the tools, and where else to go. The budget is for what is shown of a block's calls. On a
            terminal names complete and lines are remembered (pip install "bae-source[shell]"); through a pipe blocks
            run as they come, and the exit status is that of the last one that failed.""",
            arguments=(
                Argument(
                    parameter="who", flags=("--who",), metavar="NAME", help="Who makes the changes, for the history."
                ),
                Argument(
                    parameter="profile",
                    flags=("--profile",),
                    metavar="full|core|read",
                    help="full: every tool; core: ten, and call and change for all others; read: those that change "
                    "nothing. [full]",
                ),
                _BUDGET,
                Argument(
                    parameter="seconds",
                    flags=("--seconds",),
                    shape=Shape.NUMBER,
                    metavar="SECONDS",
                    help="How long a block may take. [60]",
                ),
                ROOT,
            ),
            carried_out_by="shell.shell.shell",
        ),
    )
}
