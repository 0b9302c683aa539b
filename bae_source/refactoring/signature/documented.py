"""Entries of docstrings for parameters, as a new signature has them.

    Args:                    def f(a, b)  ->  def f(b, c: int), and what to say of `c`
        a: It.
        b: Another.          the entry of `a` goes, and one of `c` follows that of `b`, in the docstring's own style

Invariants:
- entries stay in their order, unless they stood in that of the parameters, and this changes;
- nothing is written about a parameter that the request does not say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, structs

from bae_source.model.outcome import Notice
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.references.calls.keywords import MAKING
from bae_source.refactoring.signature.members import Member
from bae_source.syntax.outline.docstring_entries import Entry, Section, sections
from bae_source.syntax.signatures.signature import Parameter, Signature
from bae_source.syntax.text.revision import Revision


class Splice(Struct, frozen=True, kw_only=True):
    """A change of a docstring, and the address of the function that it documents."""

    span: Span
    new: str
    address: str

    def __contains__(self, offset: int) -> bool:
        return self.span.start <= offset < self.span.end


def documented(member: Member, after: Signature, texts: Mapping[str, str]) -> Iterator[Splice]:
    """Yield the changes in the docstrings of a function: its own, of a constructor its class's, too.

    Parameters:
        after: its new signature.
        texts: by names of new parameters, what their entries say.
    """
    text, newline = member.tree.text, member.tree.source.newline
    for docstring in _docstrings(member):
        for span, new in docstring_splices(text, docstring, member.header.signature, after, texts, newline):
            yield Splice(span=span, new=new, address=member.address)


def undocumented(member: Member, after: Signature, texts: Mapping[str, str]) -> Iterator[Notice]:
    """Yield the notice that a docstring which documents parameters has no entries for new ones."""
    before = member.header.signature.named
    silent = [name for name in after.named if name not in before and name not in texts]
    if silent and any(True for each in _docstrings(member) for _ in _of_parameters(member.tree.text, each)):
        text = f"The docstring of {member.address} has entries of parameters, and none of {listed(silent)}."
        yield Notice("undocumented", f"{text} --describe {silent[0]}=TEXT gives one.")


def _docstrings(member: Member) -> Iterator[Span]:
    definitions = member.tree.outline.definitions
    own = definitions[member.number]
    is_making = member.symbol.name in MAKING and own.parent >= 0
    for each in [own, definitions[own.parent]] if is_making else [own]:
        if each.docstring is not None:
            yield each.docstring


def docstring_splices(
    text: str,
    docstring: Span,
    before: Signature,
    after: Signature,
    texts: Mapping[str, str],
    newline: str,
) -> list[tuple[Span, str]]:
    """Return the changes in a docstring.

    Parameters:
        text: of the file.
        docstring: where the literal stands in it.
        before, after: the signatures of the function; a parameter that stays has one name in both.
        texts: by names of new parameters, what their entries say.
        newline: the line end of the file.
    """
    length = len(text)
    revision = Revision(text)

    def span() -> Span:
        return Span(docstring.start, docstring.end + len(revision.text) - length)

    for number in reversed(range(len(list(_of_parameters(text, docstring))))):
        for step in (_without, _ordered, _typed):
            section = _nth(revision.text, span(), number)
            if section is not None:
                revision.apply(step(revision.text, section, before, after))
    section = _nth(revision.text, span(), 0)
    for each in after.parameters:
        if each.name in texts and each.name not in before.named and section is not None:
            revision.apply(_added(revision.text, section, after, each, texts[each.name], newline))
            section = _nth(revision.text, span(), 0)
    return revision.splices()


def _of_parameters(text: str, docstring: Span) -> Iterator[Section]:
    """Yield the runs of entries that document parameters, without those that document others."""
    for section in sections(text, docstring):
        own = tuple(each for each in section.entries if each.what == "parameter")
        if own:
            yield structs.replace(section, entries=own)


def _nth(text: str, docstring: Span, number: int) -> Section | None:
    return next((each for place, each in enumerate(_of_parameters(text, docstring)) if place == number), None)


def _named(text: str, entry: Entry) -> list[str]:
    return [each.cut(text) for each in entry.names]


def _without(text: str, section: Section, before: Signature, after: Signature) -> list[tuple[Span, str]]:
    """Return the splices that take out the entries of parameters that go, with the header where none is left."""
    kept = {each.name for each in after.parameters}
    gone = {each.name for each in before.parameters} - kept
    going = [each for each in section.entries if gone.issuperset(_named(text, each))]
    if len(going) == len(section.entries):
        return [(_whole_lines(text, Span(section.header.start, going[-1].block.end)), "")]
    splices = [(_whole_lines(text, each.block), "") for each in going]
    for each in section.entries:
        if each not in going and not gone.isdisjoint(_named(text, each)):
            names = ", ".join(name for name in _named(text, each) if name not in gone)
            splices.append((Span(each.names[0].start, each.names[-1].end), names))
    return splices


def _whole_lines(text: str, block: Span) -> Span:
    """Return lines with the line end before them, where none stands behind them, and with what else parts them off."""
    if text[block.end - 1 : block.end] in "\r\n":
        above = text[: block.start].rstrip(" \t\r\n")
        rest = text[block.end :].lstrip(" \t")
        ends = rest[:1] in ('"', "'") or rest[:1] in ("\r", "\n")
        if ends and text[len(above) : block.start].count("\n") > 1:  # a blank line above, which parted it off
            return Span(_behind_line(text, len(above)), block.end)
        return block
    return Span(len(text[: block.start].rstrip(" \t\r\n")), block.end)


def _behind_line(text: str, position: int) -> int:
    while position < len(text) and text[position] not in "\r\n":
        position += 1
    return position + (2 if text.startswith("\r\n", position) else 1)


def _ordered(text: str, section: Section, before: Signature, after: Signature) -> list[tuple[Span, str]]:
    """Return the splices that put entries into the order of the parameters, if they stood in it and it changes."""
    old = [each.name for each in before.parameters]
    new = [each.name for each in after.parameters]
    entries = [each for each in section.entries if len(each.names) == 1 and _named(text, each)[0] in {*old} & {*new}]
    names = [_named(text, each)[0] for each in entries]
    is_plain = len(set(names)) == len(names) == len(section.entries)
    ends = all(text[each.block.end - 1] in "\r\n" for each in entries)
    if not is_plain or not ends or names != sorted(names, key=old.index):
        return []
    wanted = sorted(names, key=new.index)
    blocks = dict(zip(names, (each.block.cut(text) for each in entries), strict=True))
    return [(each.block, blocks[name]) for each, name in zip(entries, wanted, strict=True)]


def _typed(text: str, section: Section, before: Signature, after: Signature) -> list[tuple[Span, str]]:
    """Return the splices that give entries the new annotations, where their types are the old ones."""
    splices: list[tuple[Span, str]] = []
    for each in section.entries:
        name = _named(text, each)[0]
        old, new = before.named.get(name), after.named.get(name)
        if each.type is None or old is None or new is None or not new.annotation or len(each.names) > 1:
            continue
        if each.type.cut(text) == old.annotation != new.annotation:
            splices.append((each.type, new.annotation))
    return splices


def _added(
    text: str, section: Section, after: Signature, parameter: Parameter, about: str, newline: str
) -> list[tuple[Span, str]]:
    """Return the splice that adds an entry behind that of the parameter before it."""
    entries = section.entries
    order = [each.name for each in after.parameters]
    above = order[: order.index(parameter.name)]
    behind = [number for number, each in enumerate(entries) if not {*above}.isdisjoint(_named(text, each))]
    at = behind[-1] + 1 if behind else 0
    first = entries[0].block.cut(text)
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    new = _written(section, text, parameter, about, indent, newline)
    if at < len(entries):
        return [(Span(entries[at].block.start, entries[at].block.start), f"{new}{newline}")]
    end = entries[-1].block.end
    if text[end - 1 : end] in "\r\n":
        return [(Span(end, end), f"{new}{newline}")]
    end = len(text[:end].rstrip(" \t"))
    return [(Span(end, end), f"{newline}{new}")]


def _written(section: Section, text: str, parameter: Parameter, about: str, indent: str, newline: str) -> str:
    """Return an entry as the others are written."""
    if section.style == "sphinx":
        mark = text[section.entries[0].block.start :].lstrip()[:1]
        return f"{indent}{mark}param {parameter.name}: {about}"
    if section.style == "numpy":
        inner = _inner(section.entries, text, indent)
        kind = f" : {parameter.annotation}" if parameter.annotation else ""
        return f"{indent}{parameter.name}{kind}{newline}{inner}{about}"
    has_types = any(each.type is not None for each in section.entries)
    kind = f" ({parameter.annotation})" if has_types and parameter.annotation else ""
    return f"{indent}{parameter.name}{kind}: {about}"


def _inner(entries: Sequence[Entry], text: str, indent: str) -> str:
    """Return the indentation of the text below an entry's name."""
    for each in entries:
        lines = each.block.cut(text).splitlines()
        if len(lines) > 1:
            return lines[1][: len(lines[1]) - len(lines[1].lstrip())]
    return f"{indent}    "
