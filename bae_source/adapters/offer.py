"""Tools that a caller is offered: a profile of a few, or all; and the two by which the verbs are called that are none.

    core    twelve tools: reading and changing in everyday work, `call` and `change` for all other verbs
    read    five that change nothing, for reviewers and sub-agents
    full    a tool a verb, with the schema of its answer

    call(verb="outline", arguments={"target": "app"})       is outline(target="app")
    change(verb="insert", arguments={...})                  a change; so a client's consent to `call` changes nothing
    change(verb="meta edit", arguments={...})               a change of the engine itself, where that is offered

Invariants:
- what a profile leaves out can be reached, unless it changes and only reading is offered;
- `call` makes no call that changes anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, get_args

from msgspec import Struct, structs

from bae_source.adapters.tools import Json, Tool, tools
from bae_source.engine.registry import REQUESTS
from bae_source.errors import RequestError
from bae_source.model.closest import closest
from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect

ProfileName = Literal["core", "read", "full"]
CORE: ProfileName = "core"
FULL: ProfileName = "full"
PROFILES: tuple[str, ...] = get_args(ProfileName)
"""Names of the profiles, the usual one first."""
CALL, CHANGE, HELP = "call", "change", "help"
META = "meta "
"""The beginning of a verb that is about the engine's own source."""
_ON_ENGINE = f' "{META}VERB" is a verb on the source of these tools themselves: names begin with bae_source.'

_OFFERED: Mapping[str, tuple[str, ...]] = {
    "core": (
        *("read", "find", "grep", "references", "edit", "apply", "rename", "move", "delete", "undo"),
        *(CALL, CHANGE),
    ),
    "read": ("read", "find", "grep", "references", CALL),
    "full": (),
}

PROMPTS: Mapping[str, str] = {
    "read": "Source of exactly the symbol you name, with its etag: shorter than cat or sed -n, and right after edits. "
    "A package or module comes as its interface (full=true for all of it); pkg.mod.f@body, @signature, @docstring are "
    'parts; :README.md and :docs/a.md are text files. Example: read(target="app.net.Client.send").',
    "grep": "Text search over source, stubs and text files, without what git ignores: module:line: text. Python's "
    'regular expressions (| not \\|). For uses of a symbol take references. Example: grep(pattern="timeout", '
    'scope="app.net", word=true).',
    "find": "Code by its shape, however it is laid out, where grep needs guesses: $NAME stands for one expression, "
    "$$$NAME for any number of arguments or statements, the same name twice for the same code. "
    'Example: find(pattern="requests.get($URL, timeout=$T)").',
    "references": "Who uses a symbol, through imports, aliases, self, base classes and re-exports: what grep on a name "
    "cannot tell. Each place is sure, probable, unsure (with the reason) or a mention. "
    'Example: references(target="app.net.Client.send", kind="call").',
    "edit": "Replace one symbol (new_source, at any indentation), a part (app.f@body, @signature, @docstring, "
    "@decorators, app.mod@imports), or a piece of text in it (old, new). Fails where sed would hit the wrong place; "
    "checked, imported, undoable; shows the diff. imports adds what is missing. "
    'Example: edit(target="app.f", old="wait=5", new="wait=30", verify=["tests"]).',
    "apply": "A patch (unified diff or *** Begin Patch; context that moved or is indented otherwise is found), or "
    "several requests as one: all or none, one check, one undo; each sees what those before it leave. do is edit, "
    "insert, delete, move, rename, write, change_signature, replace, imports_add, patch … "
    'Example: apply(requests=[{"do": "edit", "target": "app.f", "new_source": "…"}, '
    '{"do": "insert", "target": "app.f", "position": "after", "new_source": "…"}]).',
    "rename": "Rename a symbol, module or attribute everywhere: imports, __all__, overrides, calls, strings that name "
    "it. Other words that are spelt alike stay, which sed cannot do; it lists what it is not sure of. "
    'Example: rename(target="app.net.Client.send", new_name="post").',
    "move": "Move definitions to another module with the imports that they need and all that use them, or give a "
    'module or package another name. Example: move(target=["app.util.f", "app.util.LIMIT"], to="app.text").',
    "delete": "Delete symbols, modules or files. It is refused while something uses them, and names what does. "
    'Example: delete(target="app.util.old", with_imports=true).',
    "undo": "Take back your last change, or one by its id, exactly, and nothing that came later; git is not touched. "
    "Example: undo().",
}
"""Descriptions of the tools in short profiles: the gain over a shell first, the grammar, an example."""


INSTRUCTIONS = """\
These tools read and change one Python project by name: code is pkg.mod.Class.method, never a path; \
Class.method will do where one symbol alone ends so. \
Changes are lossless, checked, recorded, and taken back by undo. An error names what to do next; candidates in it are \
ready names. Read before you edit, and pass the etag as if_match. For several changes that belong together use apply, \
or transaction_begin and its handle.

Every change takes dry_run (show it, make nothing), verify (a list of import, cycles, tests, types or "command …": \
judged in a copy, before anything is written), quiet (no diff in the answer, as where you spelled all of it), tidy \
(take out imports that it leaves unused), format (as the project's formatter writes it), reload (auto, patch, process, \
child or off: how it is imported), cascade (load importers again), why (the reason, for the history), propose (a \
reason: it waits until a person approves it, and wait says what became of it) and goal (what that is a step to). What \
reads takes budget (bytes of the answer) and cursor ("0" for the first page; each page names the next one's)."""
"""Facts about all tools, for a client's or a model's instructions."""

_OUT_OF_REACH = "The source of these tools themselves is out of reach here; nothing was done."
_WITHIN_REACH = "A server that was started with --meta reaches it, and so do `bae-source meta VERB` and source.meta."


class Relay(Struct, frozen=True, kw_only=True):
    """A tool that makes the calls of other verbs.

    Parameters:
        name: `call` or `change`.
        reads: whether it makes calls of verbs that change nothing, or of those that do.
        of_engine: whether it makes calls about the engine's own source, too.
    """

    name: str
    reads: bool
    of_engine: bool = False

    @property
    def summary(self) -> str:
        """The verbs that it calls, in one sentence."""
        if self.reads:
            return f'Ask anything else; {self.name}(verb="{HELP}") lists all verbs.'
        return f"Make any other change; {HELP} of {CALL} lists them."

    @property
    def description(self) -> str:
        """The verbs that it calls, and how it is called."""
        return self._described + (_ON_ENGINE if self.of_engine else "")

    @property
    def _described(self) -> str:
        if not self.reads:
            example = 'change(verb="insert", arguments={"target": "app.f", "position": "after", "new_source": "…"})'
            return f"Make any other change: {_CHANGING}. {HELP} of call explains a verb. Example: {example}."
        example = 'call(verb="outline", arguments={"target": "app", "depth": 2})'
        return (
            f"Ask anything else: {_READING}. verb {HELP} lists all verbs; its "
            f'arguments {{"verb": "grep"}} explain one, with all its parameters. Example: {example}.'
        )

    @property
    def input_schema(self) -> Json:
        """JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": {"verb": {"type": "string"}, "arguments": {"type": "object"}},
            "required": ["verb"],
            "additionalProperties": False,
        }

    @property
    def annotations(self) -> dict[str, bool]:
        """A client's hints: what it calls may do."""
        return {
            "readOnlyHint": self.reads,
            "destructiveHint": not self.reads,
            "idempotentHint": self.reads,
            "openWorldHint": False,
        }


_READING = (
    "outline, glob, search, where, definition, callers, callees, subclasses, overrides, unused, imports_of, "
    "importers_of, tests_list, tests_results, config_read, history, hover, doctor"
)
_CHANGING = (
    "insert, write, change_signature, extract, inline, replace and rewrite (code patterns with holes), codemod, "
    "imports_add, "
    "imports_remove, imports_organise, exports_add, exports_remove, config_set, config_add, config_remove, "
    "config_rename, tests_run, commit, amend and abandon (of a draft), redo"
)
_RELAYS = (Relay(name=CALL, reads=True), Relay(name=CHANGE, reads=False))


class Offer:
    """The tools that are offered to one caller.

    Parameters:
        names: only these, `call` and `change` among them; those of the profile if there are none.
        profile: which tools there are, and how they are described.
        read_only: only those that read.
        further: tools that an adapter has beside the requests'.
        direct: whether verbs that are reached through `call` and `change` may be called by their own names, too.
        meta: whether `call` and `change` make calls about the engine's own source; they are always listed then.
    """

    def __init__(
        self,
        names: Iterable[str] = (),
        *,
        profile: str = FULL,
        read_only: bool = False,
        further: Sequence[Tool] = (),
        direct: bool = False,
        meta: bool = False,
    ) -> None:
        self.meta = meta
        self._profile = profile
        self._names = tuple(names)
        self._read_only = read_only or profile == "read"
        self._further = {tool.name: tool for tool in further}
        self._direct = direct

    @cached_property
    def tools(self) -> Mapping[str, Tool | Relay]:
        """The tools that are listed, in their order."""
        wanted = self._names or _OFFERED[self._profile]
        own = [name for name in wanted if name in REQUESTS.verbs]
        found = tools(own, read_only=self._read_only) if own or not wanted else ()
        if self._profile != FULL:
            found = tuple(each.briefly(PROMPTS.get(each.name, each.description)) for each in found)
        further = self._those_of(self._further.values(), wanted)
        relays = [structs.replace(each, of_engine=self.meta) for each in _RELAYS]
        listed = self._those_of(relays, (*wanted, CALL, CHANGE) if self.meta else wanted)
        return {each.name: each for each in (*found, *further, *listed)}

    def renew(self) -> None:
        """Look anew which requests there are, once the engine itself was changed."""
        for name in ("tools", "reached", "through", "relayed"):
            self.__dict__.pop(name, None)

    @cached_property
    def relayed(self) -> Mapping[str, str]:
        """The tool that makes the calls of a verb about the engine's own source, by verb; "" where none does."""
        names = {True: CALL, False: CHANGE}
        return {name: names[_reads(self.reached[name])] if name in self.reached else "" for name in REQUESTS.verbs}

    @cached_property
    def reached(self) -> Mapping[str, Tool]:
        """The tools whose calls can be made, by themselves or through another."""
        if self._names and not any(isinstance(each, Relay) for each in self.tools.values()):
            return {name: each for name, each in self.tools.items() if isinstance(each, Tool)}
        every = (*tools(read_only=self._read_only), *self._those_of(self._further.values(), ()))
        return {each.name: each for each in every}

    @cached_property
    def through(self) -> Mapping[str, str]:
        """The tool that makes the calls of a verb which is no tool of its own, by verb; "" where none makes them."""
        listed = self.tools
        found = {name: "" for name in (*REQUESTS.verbs, *self._further) if name not in listed}
        if CALL not in listed and CHANGE not in listed:
            return found
        names = {True: CALL, False: CHANGE}
        relays = {name: names[_reads(tool)] for name, tool in self.reached.items() if name in found}
        return found | {name: relay for name, relay in relays.items() if relay in listed}

    def opened(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Return the verb that a call is of, with `meta ` before it for the engine's own source, and its own arguments.

        Raises:
            RequestError: `unknown_operation` for a tool that is not offered or a verb that there is not;
                `invalid_arguments` for one that `call` does not make, or arguments that are none.
        """
        relay = self._relay(name)
        if relay is None:
            if name not in self.tools and not (self._direct and name in self.reached):
                raise self._not_offered(name)
            return name, arguments
        verb, given = _inner(name, arguments)
        of_engine = verb.strip().startswith(META)
        if of_engine and not self.meta:
            raise RequestError("unknown_operation", _OUT_OF_REACH, hints=[_WITHIN_REACH])
        verb = _as_verb(verb.strip().removeprefix(META) if of_engine else verb)
        if verb == HELP and relay.reads:
            return HELP, given
        tool = self.reached.get(verb)
        if tool is None or (of_engine and verb not in REQUESTS.verbs):
            raise self._no_verb(relay, verb)
        if _reads(tool) is not relay.reads:
            raise self._other(relay, verb, META if of_engine else "")
        return (META if of_engine else "") + verb, given

    def helped(self, arguments: Mapping[str, Any]) -> Outcome:
        """Return the help on a verb, or the list of all of them.

        Raises:
            RequestError: `unknown_operation` for a verb that there is not; `invalid_arguments`.
        """
        asked = arguments.get("verb", "")
        if arguments.keys() - {"verb"} or not isinstance(asked, str):
            raise RequestError("invalid_arguments", f"{HELP} takes a verb.", hints=[f'{CALL}(verb="{HELP}")'])
        verb = _as_verb(asked)
        if verb in (CALL, CHANGE):
            return Outcome(status="answer", text=next(each.description for each in _RELAYS if each.name == verb) + "\n")
        if verb and verb not in self.reached:
            raise self._no_verb(_RELAYS[0], verb)
        if verb:
            return Outcome(status="answer", text=self.reached[verb].help)
        lines = [f"{each.name} ({self._how(each)}): {each.summary}" for each in self.reached.values()]
        return Outcome(status="answer", text="\n".join([*lines, ""]))

    def _relay(self, name: str) -> Relay | None:
        relay = next((each for each in _RELAYS if each.name == name), None)
        return relay if relay is not None and name in self.tools else None

    def _those_of(self, found: Iterable[Any], wanted: Sequence[str]) -> list[Any]:
        """Return the tools of some that are wanted and may be offered; relays only where they are named."""
        return [
            each
            for each in found
            if (each.name in wanted or not (wanted or isinstance(each, Relay)))
            and not (self._read_only and each.name in (CHANGE, *self._further))
        ]

    def _how(self, tool: Tool) -> str:
        if tool.name in self.tools:
            return "tool"
        return CALL if _reads(tool) else CHANGE

    def _not_offered(self, name: str) -> RequestError:
        hints = [f"Did you mean {each}?" for each in closest(name, self.tools)]
        if relay := self.through.get(name):
            hints = [f'{relay}(verb="{name}", arguments={{…}}) calls it.']
        what = "not offered here" if name in REQUESTS.verbs else "no tool"
        listed = f"There are {', '.join(self.tools)}."
        return RequestError("unknown_operation", f"{name!r} is {what}.", hints=[*hints, listed])

    def _no_verb(self, relay: Relay, verb: str) -> RequestError:
        known = [name for name, tool in self.reached.items() if _reads(tool) is relay.reads]
        close = closest(verb, self.reached)
        what = "not offered here" if verb in REQUESTS.verbs else "no verb"
        hints = [*(f"Did you mean {each}?" for each in close), f"{relay.name} takes {', '.join(known)}."]
        return RequestError("unknown_operation", f"{verb[:_LONGEST]!r} is {what}.", hints=hints)

    def _other(self, relay: Relay, verb: str, before: str) -> RequestError:
        other = CHANGE if relay.reads else CALL
        is_offered = other in self.tools or (verb in self.tools and not before)
        what = (
            f"{verb} changes the {'engine' if before else 'project'}, and {CALL} only reads"
            if relay.reads
            else f"{verb} changes nothing"
        )
        is_tool = verb in self.tools and not before
        how = f"{verb} is a tool." if is_tool else f'{other}(verb="{before}{verb}", arguments={{…}}) calls it.'
        return RequestError("invalid_arguments", f"{what}; nothing was done.", hints=[how] if is_offered else [])


_LONGEST = 100


def _reads(tool: Tool) -> bool:
    return tool.kind.effect is Effect.READS and tool.name not in _BEGINNING


_BEGINNING = ("transaction_begin", "transaction_abandon")
"""Tools that write nothing of the project, and belong to changes."""


def _as_verb(name: str) -> str:
    """Return a verb as tools are called: `exports_add` for `exports add`, `hover` for `ast hover`."""
    return name.strip().removeprefix("ast ").replace(" ", "_").replace("-", "_")


def _inner(name: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the verb and the arguments that stand in those of a relay.

    Raises:
        RequestError: `invalid_arguments`.
    """
    verb, given = arguments.get("verb"), arguments.get("arguments", {})
    given = _read(given) if isinstance(given, str) else given
    problems = [f"{each} is unknown" for each in arguments if each not in ("verb", "arguments")]
    problems += [] if isinstance(verb, str) else ["verb is a text"]
    problems += [] if isinstance(given, Mapping) else ["arguments is an object"]
    if problems or not isinstance(verb, str) or not isinstance(given, Mapping):
        message = f"{name} was called wrongly: {'; '.join(problems[:20])}."
        hint = f'{name}(verb="…", arguments={{…}}): the arguments of the verb go into arguments.'
        raise RequestError("invalid_arguments", message, hints=[hint])
    return verb, given


def _read(text: str) -> Any:
    """Return the object in a JSON text, as models write one now and then; the text itself where it is none."""
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text


def offered(
    names: Iterable[str] = (),
    *,
    profile: str = FULL,
    read_only: bool = False,
    further: Sequence[Tool] = (),
    direct: bool = False,
    meta: bool = False,
) -> Offer:
    """Return the offer, once all of it is there.

    Parameters:
        names, profile, read_only, further, direct, meta: as `Offer` has them; a name may hold several, with commas
            between.

    Raises:
        RequestError: `unknown_operation`, if there is no tool or profile of a name, or none is left.
    """
    if profile not in PROFILES:
        raise RequestError(
            "unknown_operation", f"There is no profile {profile!r}.", hints=[f"There are {', '.join(PROFILES)}."]
        )
    wanted = tuple(part.strip() for name in names for part in name.split(",") if part.strip())
    known = (*REQUESTS.verbs, *(tool.name for tool in further), CALL, CHANGE)
    unknown = [name for name in wanted if name not in known]
    offer = Offer(wanted, profile=profile, read_only=read_only, further=further, direct=direct, meta=meta)
    if unknown or (wanted and not offer.tools):
        message = f"There is no tool {unknown[0]!r}." if unknown else "No tool is left: none of these only reads."
        raise RequestError("unknown_operation", message, hints=[f"There are {', '.join(known)}."])
    return offer
