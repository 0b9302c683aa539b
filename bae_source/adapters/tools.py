"""Requests as tools: what MCP, function-calling models and sessions offer, and the texts of their answers.

Invariant: a tool is derived from its request's declaration; nothing about a single one stands here.
"""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

from msgspec import Struct, structs

from bae_source.adapters.schema import brief_schema, input_schema, output_schema
from bae_source.engine.registry import REQUESTS
from bae_source.errors import RequestError
from bae_source.model.context import steering
from bae_source.model.outcome import Outcome, headed
from bae_source.model.request import Effect, Request, parameters, signature, summary
from bae_source.model.selection import KINDS, Selected, selected_failure

Json = dict[str, Any]


class Tool(Struct, frozen=True, kw_only=True):
    """One request as a tool.

    Parameters:
        name: its verb, in snake_case.
        kind: its declaration.
        prompt: its description where few tools are offered, which are described briefly; "" where all are.
    """

    name: str
    kind: type[Request]
    prompt: str = ""

    @property
    def title(self) -> str:
        """A name for people."""
        return self.name.replace("_", " ").capitalize()

    @property
    def summary(self) -> str:
        """The outcome in one sentence."""
        return summary(self.kind)

    @property
    def description(self) -> str:
        """The outcome, and then the occasion to use it; or the prompt."""
        return self.prompt or f"{self.summary} {self.kind.when}"

    @property
    def signature(self) -> str:
        """Return the call with its parameters: `edit(target, new_source=None, …)`."""
        return signature(self.kind)

    @property
    def input_schema(self) -> Json:
        """JSON Schema of its arguments."""
        return brief_schema(self.kind) if self.prompt else input_schema(self.kind)

    @property
    def output_schema(self) -> Json:
        """JSON Schema of its answer (`answered`)."""
        return output_schema(self.kind)

    @property
    def help(self) -> str:
        """The verb in full: its call, what comes of it, and its parameters."""
        known = (*parameters(self.kind), *steering(self.kind))
        about = cleandoc(self.kind.__doc__ or "")
        lines = [f"{each.name}{'' if each.required else f' = {each.default!r}'}: {each.help}" for each in known]
        return "\n".join([self.signature, "", about, self.kind.when, "", *lines, ""])

    def briefly(self, prompt: str) -> Tool:
        """Return the tool as it is described among few."""
        return structs.replace(self, prompt=prompt)

    @property
    def annotations(self) -> dict[str, bool]:
        """Hints for a client before it calls: whether it reads, destroys, can be repeated, goes outside."""
        reads = self.kind.effect is Effect.READS
        return {
            "readOnlyHint": reads,
            "destructiveHint": self.kind.effect is Effect.DESTROYS,
            "idempotentHint": reads or self.kind.idempotent,
            "openWorldHint": False,
        }


def tools(names: Iterable[str] = (), *, read_only: bool = False) -> tuple[Tool, ...]:
    """Return tools in the order of the registry.

    Parameters:
        names: only these; all of them if there are none.
        read_only: only those that read.

    Raises:
        RequestError: `unknown_operation`, if there is no tool of a name.
    """
    wanted = tuple(names)
    for name in wanted:
        if name not in REQUESTS.verbs:
            raise RequestError(
                "unknown_operation", f"There is no tool {name!r}.", hints=[f"There are {', '.join(REQUESTS.verbs)}."]
            )
    found = (Tool(name=kind.verb, kind=kind) for kind in REQUESTS if not wanted or kind.verb in wanted)
    return tuple(tool for tool in found if not read_only or tool.kind.effect is Effect.READS)


def as_called(name: str, failure: Outcome) -> Outcome:
    """Return a failure in the shape that a tool's answers have."""
    return selected_failure(failure, KINDS[name]) if name in KINDS else failure


def as_texts(outcome: Outcome) -> list[str]:
    """Return the text of a tool: that of `as_text`; of `ast` the printed lines, and then any warnings."""
    if not isinstance(outcome, Selected):
        return [as_text(outcome)]
    return [outcome.text, *(["".join(f"{line}\n" for line in warned)] if (warned := _warned(outcome)) else [])]


def as_text(outcome: Outcome) -> str:
    """Return an outcome for a model or a person to read, the verdict first and the diff last.

    Of a change the first line says how it is taken back, too. All that its JSON says is in it.
    """
    if outcome.errors:
        parts = [_failure(outcome), *_warned(outcome), *_known(outcome), outcome.diff]
    else:
        first, rest, actions = (outcome.text, "", outcome.next_actions) if _is_answer(outcome) else headed(outcome)
        incomplete = [] if outcome.complete else ["incomplete: this is not all there is."]
        hints = [f"-> {action}" for action in actions]
        parts = [first, rest, *_warned(outcome), *incomplete, *_known(outcome), *hints, outcome.diff]
    return "".join(part if part.endswith("\n") else f"{part}\n" for part in parts if part)


def _is_answer(outcome: Outcome) -> bool:
    return outcome.status == "answer"


def _warned(outcome: Outcome) -> list[str]:
    return [f"warning[{notice.code}]: {notice.message}" for notice in outcome.warnings]


def _failure(outcome: Outcome) -> str:
    lines: list[str] = []
    for failure in outcome.errors:
        lines.append(f"error[{failure.code}]: {failure.message}")
        lines += [f"-> {hint}" for hint in failure.hints]
        if failure.candidates:
            lines += ["candidates:", *(f"  {candidate}" for candidate in failure.candidates)]
    return "\n".join(lines)


def _known(outcome: Outcome) -> list[str]:
    """Return addresses and etags of what was read or changed."""
    lines = []
    if outcome.etag and outcome.etag not in (each.etag for each in outcome.changed):
        lines.append(f"etag {outcome.etag}" + (f" of {outcome.address}" if outcome.address else ""))
    return lines + [f"changed {each.address}" + (f" etag {each.etag}" if each.etag else "") for each in outcome.changed]
