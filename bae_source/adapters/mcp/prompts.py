"""Prompts for the usual walks: which tools to call, in which order, and what to look at in between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from bae_source.adapters.mcp.paging import page
from bae_source.errors import RequestError

LONGEST = 10_000
"""Characters of an argument."""


class Prompt(Struct, frozen=True, kw_only=True):
    """One prompt.

    Parameters:
        arguments: what it takes, with a description each; all are required.
        needs: the tools that it speaks of; without them it is not offered.
        text: what the user says; arguments go where their names stand in braces.
    """

    name: str
    title: str
    description: str
    arguments: Mapping[str, str] = {}
    needs: tuple[str, ...]
    text: str


_PROMPTS = (
    Prompt(
        name="change_one_thing",
        title="Read before you edit",
        description="A change to one symbol, made on the very text that was read.",
        arguments={"target": "Dotted name of what is to change.", "change": "What is to change about it."},
        needs=("read", "references", "edit", "undo"),
        text="""Change {target}: {change}

1. read(target="{target}") shows its source and etag. If the name is ambiguous or not found, choose among the \
candidates; do not guess.
2. references(target="{target}") shows who uses it, if its signature or meaning changes.
3. edit(target="{target}", new_source=…, if_match=ETAG, dry_run=true) shows the diff; without dry_run it is made. For \
a small change give old and new instead of new_source. If it is refused as stale, begin again.
4. Read the warnings of the answer. It names the operation; undo takes it back.""",
    ),
    Prompt(
        name="change_several_things",
        title="Change several things at once",
        description="Changes that are made together or not at all, and checked before anything is kept.",
        arguments={"goal": "What is to be reached."},
        needs=(
            *("search", "references", "read", "edit", "insert", "delete", "move", "write", "undo"),
            *("transaction_begin", "transaction_preview", "transaction_commit", "transaction_abandon"),
        ),
        text="""{goal}

1. Find and read what is concerned: search, references, read.
2. transaction_begin(why=…) gives a handle.
3. Give the handle as `transaction` with every edit, insert, delete, move and write. Nothing is written; reading with \
the handle shows the code as it will be.
4. transaction_preview shows the whole diff. If it is not what is wanted: transaction_abandon.
5. transaction_commit(transaction=…, verify=["import", "tests"]) makes everything or nothing. One undo takes all of it \
back.""",
    ),
    Prompt(
        name="find_users",
        title="Find who uses a symbol",
        description="Everything that refers to a symbol, and what is not sure.",
        arguments={"target": "Dotted name of the symbol."},
        needs=("references", "callers", "overrides", "subclasses"),
        text="""Who uses {target}?

1. references(target="{target}") finds all of them. What is sure is told apart from what is not, with the reason: \
report both. If the answer is not complete, say so.
2. callers(target="{target}") shows the functions that call it; for a method, overrides shows what takes its place, \
and for a class subclasses what is made of it.""",
    ),
    Prompt(
        name="take_back",
        title="Undo",
        description="The last change taken back, exactly, without touching anything else.",
        needs=("history", "undo", "redo"),
        text="""Take the last change back.

1. history() lists what was done, the newest first, with operation ids.
2. undo(dry_run=true) shows what would be taken back; undo() does it. With operation_id it takes another one back.
3. If it is refused because a file has changed since, nothing was touched: give the reason and ask. redo() makes it \
once more.""",
    ),
)


def offered(tools: Iterable[str]) -> dict[str, Prompt]:
    """Return the prompts that speak of no other tools than these, by their names."""
    known = frozenset(tools)
    return {prompt.name: prompt for prompt in _PROMPTS if known.issuperset(prompt.needs)}


def listed(prompts: Mapping[str, Prompt], cursor: str | None) -> dict[str, Any]:
    """Return prompts as the protocol describes them.

    Raises:
        RequestError: `invalid_arguments` if the cursor is none of ours.
    """
    shown, _ = page(sorted(prompts), cursor)
    return {"prompts": [_described(prompts[name]) for name in shown]}


def filled(prompts: Mapping[str, Prompt], name: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Return a prompt with its arguments in place.

    Raises:
        RequestError: `unknown_operation` if there is none of that name; `invalid_arguments` with every problem.
    """
    prompt = prompts.get(name)
    if prompt is None:
        raise RequestError(
            "unknown_operation", "There is no such prompt.", hints=[f"There are {', '.join(sorted(prompts))}."]
        )
    problems = [f"{each} is missing" for each in prompt.arguments if not given.get(each, "").strip()]
    problems += [f"{each[:40]} is unknown" for each in given if each not in prompt.arguments]
    problems += [f"{each[:40]} is too long" for each, text in given.items() if len(text) > LONGEST]
    if problems:
        raise RequestError(
            "invalid_arguments",
            f"{name} cannot be made of these arguments: {'; '.join(problems[:10])}.",
            hints=[f"It takes {', '.join(prompt.arguments) or 'no arguments'}."],
        )
    text = re.sub(r"\{(\w+)\}", lambda match: given[match[1]], prompt.text)  # at once: no argument fills another
    return {
        "description": prompt.description,
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }


def _described(prompt: Prompt) -> dict[str, Any]:
    return {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": [{"name": name, "description": text, "required": True} for name, text in prompt.arguments.items()],
    }
