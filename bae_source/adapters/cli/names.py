"""Names between commands: one a line, in on standard input and out on standard output.

    bae-source grep retry --names | bae-source read -
    bae-source grep retry | bae-source read -           as is what grep, find and references print

Invariants:
- what is printed is addresses alone, each once, in the order of the answer;
- what is read is bounded, and is text; a line that names nothing is no name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import structs

from bae_source.adapters.cli.incoming import decoded
from bae_source.adapters.cli.streams import STANDARD_INPUT, Streams
from bae_source.errors import RequestError
from bae_source.model.outcome import FOUND, Outcome
from bae_source.model.request import MAX_CHARACTERS
from bae_source.model.text import on_a_line

_HIT = re.compile(r"(?P<place>\S[^\n]*?:\d{1,9})[:-](?:\s|$)")
"""A line as `grep` prints it: `app.net:12: text`, or `app.net:13- text` around it."""
_BELOW = re.compile(r"\s+(?P<line>\d{1,9}): ")
"""A line as `references` prints it below the name of a module."""
_NO_NAME = re.compile(r"\(|--$|\s+\$|[\d,]+ (?:sure|probable|unsure|mentions?)\b|(?:probable|unsure|mentions?): ")


def names_of(words: Sequence[str], streams: Streams) -> str | tuple[str, ...]:
    """Return the names that words stand for: a single one as it is, several as a tuple, with those of standard input.

    Raises:
        RequestError: `invalid_arguments` if standard input is named twice, is no text, or holds no name.
    """
    if STANDARD_INPUT not in words:
        return words[0] if len(words) == 1 else tuple(words)
    if words.count(STANDARD_INPUT) > 1:
        raise RequestError("invalid_arguments", "Standard input is named twice.", hints=["Give - once."])
    place = words.index(STANDARD_INPUT)
    return (*words[:place], *_piped(streams), *words[place + 1 :])


def names_alone(outcome: Outcome) -> Outcome:
    """Return an answer as the addresses of what it found, one a line."""
    names = dict.fromkeys(on_a_line(each.address) for each in outcome.found)
    return structs.replace(outcome, text="\n".join(names), address=None, next_actions=())


def status_alone(outcome: Outcome) -> Outcome:
    """Return an answer as its exit status alone: that of findings where nothing was found."""
    is_found = outcome.found or any(notice.code == "binary_matches" for notice in outcome.warnings)
    return structs.replace(outcome, text="", address=None, next_actions=(), exit_code=0 if is_found else FOUND)


def _piped(streams: Streams) -> tuple[str, ...]:
    """Return the names on standard input."""
    if streams.stdin_terminal:
        streams.stderr.write("Type or paste names, one a line, then press Ctrl-D on a line of its own.\n")
    try:
        content = streams.stdin.read(MAX_CHARACTERS + 1)
    except OSError as error:
        raise RequestError("invalid_arguments", f"Standard input cannot be read: {error.strerror}.") from None
    hint = "Standard input is to be names, one a line, as glob and --names print them."
    if len(content) > MAX_CHARACTERS:
        message = f"Standard input has more than {MAX_CHARACTERS:,} bytes of names."
        raise RequestError("invalid_arguments", message, hints=[hint])
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise RequestError("invalid_arguments", f"Standard input has a NUL byte in line {line}.", hints=[hint])
    names = tuple(_named(decoded(content, STANDARD_INPUT).splitlines()))
    if not names:
        raise RequestError("invalid_arguments", "Standard input holds no name.", hints=[hint])
    return names


def _named(lines: Sequence[str]) -> list[str]:
    """Return the names in lines.

        app.net:12: text              grep: the place app.net:12
        app.net.send — app.net:12     the name before the space
        :my file.txt                  a whole address
        app.net                       references: not the module itself, but the places below it,
          12: send(x)    [call]       app.net:12

    Counts, the headings of what is not sure, `(no matches)`, what stands for a `$X` of find, and the line between the
    hits of grep are no names.
    """
    names: list[str] = []
    module = ""
    for line in lines:
        words = line.split(maxsplit=1)
        if not words or _NO_NAME.match(line):
            continue
        if ":" in words[0] and (hit := _HIT.match(line)):
            names.append(hit["place"])
        elif module and (below := _BELOW.match(line)):
            if names[-1:] == [module]:
                names.pop()
            names.append(f"{module}:{below['line']}")
        else:
            module = line if len(words) == 1 else ""
            names.append(line.strip() if ":" in words[0] else words[0])
    return names
