"""Places that name what is inlined: reads that its value or body can go to, and what stands in the way.

    LIMIT = 3                   what is inlined
    from app import LIMIT       an import: it goes along, or others may take the name from there
    print(LIMIT, app.LIMIT)     reads
    __all__ = ["LIMIT"]         an export: others may take it
    patch("app.LIMIT")          a string that names it: it may be looked up by that
    patch.object(app, "LIMIT")  likewise; so is the keyword of `patch.multiple(app, LIMIT=4)`
    vars(app)["LIMIT"] = 4      likewise: near what gives the names of a module or class as a dictionary

Invariants:
- a place is chosen once, and each that stays has a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from bae_source.errors import Refused, RequestError, ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.text import listed
from bae_source.project.facts.mentions import Mentioning
from bae_source.project.files.unseen import name_at
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.search.references import search_code
from bae_source.refactoring.planning.choice import Choice, named_as
from bae_source.refactoring.planning.generated import GENERATED, generated_among
from bae_source.refactoring.renaming.named_strings import named_strings
from bae_source.syntax.inlining.hazards import Hazard
from bae_source.syntax.names import uses as u

_READING = (u.READ, u.CALL, u.BASE, u.DECORATOR, u.ANNOTATION, u.REQUEST)
_NAMESPACE = re.compile(r"\b__dict__\b|\b(?:vars|globals)\(")
_LINES_BEFORE = 3
_NAMING = (Reason.DOTTED_NAME.of(), Reason.LEADING_NAME.of(), Reason.END_OF_NAME.of())


class Found(Struct, frozen=True, kw_only=True):
    """Mentions of what is inlined, by what they do.

    Parameters:
        reads: where code reads or calls it.
        bindings: where code binds or deletes it, but for what defines it.
        imports: what takes it from its module.
        exports: entries of `__all__`.
        strings: those that name it by more than its bare name, or surely look it up.
        others: all other mentions.
        unreadable: files that may hold more, each with the reason.
    """

    reads: tuple[Mentioned, ...]
    bindings: tuple[Mentioned, ...]
    imports: tuple[Mentioned, ...]
    exports: tuple[Mentioned, ...]
    strings: tuple[Mentioned, ...]
    others: tuple[Mentioned, ...]
    unreadable: tuple[tuple[str, ResourceError], ...]


def found_of(project: Project, family: Family) -> Found:
    """Return the mentions of what is inlined."""
    local = Mentioning((family.local,))
    matches = search_code(project, family.sought, (lambda _: local) if family.local else project.workspace.index.naming)
    every = [each for _, mentions in matches.files for each in mentions]

    def of(*kinds: int) -> tuple[Mentioned, ...]:
        return tuple(each for each in every if each.mention[3] in kinds)

    looked_up = _looked_up(project, family, of(u.STRING))
    strings = [each for each in of(u.STRING) if each.why in _NAMING or (each.path, *each.mention[:2]) in looked_up]
    strings += [each for each in of(u.KEYWORD) if each.certainty == "sure"]
    if not family.local:
        others = (*of(u.STRING), *_keywords(project, family.sought.word))
        strings += [each for each in others if each not in strings and _is_in_namespace(project, each)]
    return Found(
        reads=of(*_READING),
        bindings=of(u.WRITE, u.DELETE),
        imports=of(u.IMPORT),
        exports=of(u.EXPORT),
        strings=tuple(strings),
        others=tuple(each for each in of(u.STRING, u.MENTION, u.KEYWORD) if each not in strings),
        unreadable=(*family.unreadable, *matches.unreadable),
    )


def _looked_up(project: Project, family: Family, strings: Sequence[Mentioned]) -> frozenset[tuple[str, int, int]]:
    """Return path, line and column of strings that surely look it up: `patch.object(core, "send")`."""
    if family.local:
        return frozenset()
    paths = dict.fromkeys(each.path for each in strings)
    return frozenset((path, *place) for path in paths for place in named_strings(project, family, path))


def _keywords(project: Project, word: str) -> Iterator[Mentioned]:
    """Yield where a call has a word as a keyword, of whatever it calls."""
    for path in project.workspace.index.naming([word]).paths:
        try:
            mentions = project.uses(path).mentions.get(word, ())
        except ResourceError:
            continue
        yield from (
            Mentioned(path, each, "unsure", Reason.NAMED_BY_STRING.of()) for each in mentions if each[3] == u.KEYWORD
        )


def _is_in_namespace(project: Project, mentioned: Mentioned) -> bool:
    """Return whether the lines of a mention ask for the names of something: `patch.dict(vars(app), {"LIMIT": 4})`."""
    lines, last = project.lines(mentioned.path), mentioned.mention[0]
    return any(_NAMESPACE.search(lines.cut(each)) for each in range(max(1, last - _LINES_BEFORE), last + 1))


class Places:
    """Keeps which places change, and which stay for what reason.

    Parameters:
        only: the places that alone are inlined; none for all.
    """

    def __init__(self, project: Project, choice: Choice, only: Sequence[str]) -> None:
        self.project = project
        self.choice = choice
        self.only = only
        self.changed: dict[str, int] = {}
        self.probable: list[Reference] = []
        self.left: list[Reference] = []
        self.mentions: list[Reference] = []
        self.asked: list[Reference] = []
        self._known: set[str] = set()
        self._seen: list[Reference] = []

    def is_wanted(self, mentioned: Mentioned) -> bool:
        """Return whether a place is to be inlined at all."""
        place = self.shown(mentioned)
        self._seen.append(place)
        names = named_as(place)
        self._known |= names
        return not self.only or not names.isdisjoint(self.only)

    def check_only(self) -> None:
        """See that each place that alone is to be inlined is there.

        Raises:
            RequestError: `invalid_arguments`, with the places that can be.
        """
        if unknown := [each for each in self.only if each not in self._known]:
            places = listed(f"{each.module}:{each.line}:{each.column}" for each in self._seen)
            raise RequestError(
                "invalid_arguments",
                f"only has {listed(unknown)}, where nothing reads or calls it",
                unchanged=True,
                hints=[f"It takes {places or 'nothing'}."],
            )

    def takes(self, mentioned: Mentioned, hazard: Hazard | None) -> bool:
        """Return whether a place changes, and note it if it stays."""
        place = self.shown(mentioned)
        if self.choice.skip_generated and generated_among(self.project.workspace, [mentioned.path]):
            self.left.append(structs.replace(place, certainty="unsure", why=GENERATED))
            return False
        if hazard is None and mentioned.certainty in ("sure", "probable"):
            return True
        why = hazard.why if hazard is not None else mentioned.why
        doubted = structs.replace(place, certainty="unsure", why=why)
        self.asked.append(doubted)
        if (hazard is None or not hazard.is_certain) and self.choice.takes(doubted):
            return True
        self.left.append(doubted)
        return False

    def note_change(self, mentioned: Mentioned) -> None:
        """Note that a place changes."""
        place = self.shown(mentioned)
        self.changed[place.address] = self.changed.get(place.address, 0) + 1
        if place.certainty == "probable":
            self.probable.append(place)

    def note_left(self, mentioned: Mentioned, why: str) -> None:
        """Note that a place stays for a reason that no caller may overrule."""
        self.left.append(structs.replace(self.shown(mentioned), certainty="unsure", why=why))

    def shown(self, mentioned: Mentioned) -> Reference:
        """Return a place as it is answered."""
        return self.project.shown(mentioned, self.project.lines(mentioned.path))


def check_bound_once(places: Places, bindings: Sequence[Mentioned], address: str) -> Hazard | None:
    """Return the doubt about all reads that bindings make which may be of it; see that none surely is.

    Parameters:
        bindings: where other code binds it, or may.

    Raises:
        Refused: `unsafe_change`, with the places.
    """
    sure = [places.shown(each) for each in bindings if each.certainty == "sure"]
    if sure:
        raise Refused(
            "unsafe_change",
            f"{address} cannot be inlined: other code binds it, too:"
            f" {listed(f'{each.module}:{each.line}' for each in sure)}",
            unchanged=True,
            hints=["Edit that code first, so that one definition alone gives it what it is."],
        )
    for each in bindings:
        places.note_left(each, each.why)
    word = address.rpartition(".")[2]
    return Hazard(Reason.BOUND_BY_OTHERS.of(name=word), False) if bindings else None


def letting_out(uses: Found) -> Iterator[tuple[Mentioned, str]]:
    """Yield the places by which code outside, or a string, may come to what is inlined, each with the reason.

    An import of a function is for that alone; one at the top of a module that does not read it hands it on, and so does
    one of a package's `__init__`.
    """
    reading = {each.path for each in uses.reads}
    for each in uses.exports:
        yield each, Reason.EXPORTED.of()
    for each in uses.imports:
        is_handed_on = each.path not in reading or each.path.endswith("__init__.py")
        if each.certainty == "sure" and is_handed_on and not each.mention[2]:
            yield each, Reason.EXPORTED.of()
        elif each.certainty != "sure":
            yield each, each.why
    for each in uses.strings:
        yield each, Reason.NAMED_BY_STRING.of()


def unparsed(project: Project, uses: Found) -> tuple[tuple[str, ResourceError], ...]:
    """Return the files that could not be searched, with their names."""
    census = project.workspace.census
    return tuple((name_at(census, path), error) for path, error in sorted(dict(uses.unreadable).items()))
