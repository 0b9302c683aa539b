"""The places in which a family has its name: what a search finds, and the names that bind it.

    from app import send            the import, and every `send` that it binds
    from app import send as send    both, since the second is the name that the module goes on with
    from app import send as s       the first alone; `s` stays
    __all__ = ["send"]              inside the string
    mock.patch("app.send")          the last component of a string whose dotted name leads there
    global send                     likewise, as in `nonlocal`

Invariants:
- each place is the exact text of the name in its file; a name that cannot be found there as it is written is unsure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct, structs

from bae_source.errors import ResourceError, SourceError
from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.model.text import normalised
from bae_source.project.facts.mentions import Mentioning
from bae_source.project.references.calls.keywords import keyword_of
from bae_source.project.references.calls.parameters import BY_STARS, header_keywords, keywords_of, private_keywords
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, bound_in
from bae_source.project.references.search.references import Matches, search_code
from bae_source.project.references.search.strings import offset_in
from bae_source.project.references.types.values import Class
from bae_source.refactoring.renaming.exported import Exported
from bae_source.refactoring.renaming.fixtures import strings_asking
from bae_source.refactoring.renaming.named_strings import named_strings
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.broken import broken_tree
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.name_tokens import NameToken, name_tokens, written
from bae_source.syntax.text.source import Source

_NAMED_BY = (Reason.DOTTED_NAME.of(), Reason.LEADING_NAME.of())
_SLOTS = frozenset({"__slots__", "__match_args__"})
"""Attributes of a class whose strings name others."""
_AS = re.compile(r"(?:[ \t\f\r\n\\]|#[^\r\n]*)+as(?:[ \t\f\r\n\\]|#[^\r\n]*)+")
"""Text between the name that an import takes and its alias."""
_GIVEN = (u.PARAMETER, u.INSTANCE, u.OWN_CLASS, u.OTHER)
"""Binding of a parameter; of one with stars the values are not known."""


class Place(Struct, frozen=True, kw_only=True):
    """One place that has the name.

    Parameters:
        path: the file.
        span: of the name in the file's text.
        new: what stands there afterwards.
        mentioned: how it was found; None for a name that binds.
        line: where it stands, from 1.
    """

    path: str
    span: Span
    new: str
    line: int
    mentioned: Mentioned | None = None


class Places(Struct, frozen=True, kw_only=True):
    """Everything that has the name.

    Parameters:
        changed: sure and probable places, by path and position.
        left: places that are unsure, and strings that are no more than mentions.
        matches: what the search found.
    """

    changed: tuple[Place, ...]
    left: tuple[Mentioned, ...]
    matches: Matches


def places_of(project: Project, family: Family, new: str, is_chosen: Callable[[Mentioned], bool]) -> Places:
    """Return the places in which a family has its name.

    Parameters:
        new: the name that it is to have.
        is_chosen: says of a place that is not sure whether it changes all the same.
    """
    candidates = project.workspace.index.naming
    if family.local:
        matches = search_code(project, family.sought, lambda _: Mentioning((family.local,)))
    else:
        matches = search_code(project, family.sought, candidates)
    keywords = keywords_of(project, family)
    found = dict(matches.files)
    for mentioned in keywords.mentions:
        found.setdefault(mentioned.path, [])
        known = {each.mention[:2] for each in found[mentioned.path]}
        if mentioned.mention[:2] not in known:
            found[mentioned.path] = [*found[mentioned.path], mentioned]
    for symbol in family.symbols:
        found.setdefault(symbol.path, [])
    changed: list[Place] = []
    left: list[Mentioned] = []
    mixed = frozenset(_mixed(project, family, found))
    exported = Exported(project, family.sought)
    for path, mentions in sorted(found.items()):
        file = _File(project, family, path, new, is_chosen, exported)
        for mentioned in mentions:
            place = file.place(mentioned, mixed)
            if isinstance(place, Place):
                changed.append(place)
            elif place is not None:
                left.append(place)
        starts = {each.span.start for each in changed if each.path == path}
        changed += file.bindings(starts, mentions, mixed)
    for path, start in header_keywords(project, family):
        changed += _File(project, family, path, new, is_chosen, exported).at(start, new)
    for mentioned in private_keywords(project, family):
        if mentioned.certainty == "sure" or is_chosen(mentioned):
            file = _File(project, family, mentioned.path, new, is_chosen, exported)
            changed += file.at(file.offset(mentioned.mention), file.keyword, mentioned)
        else:
            left.append(mentioned)
    unique = {(each.path, each.span.start): each for each in changed}
    return Places(
        changed=tuple(sorted(unique.values(), key=lambda each: (each.path, each.span.start))),
        left=tuple(left),
        matches=structs.replace(matches, unreadable=(*matches.unreadable, *keywords.unreadable)),
    )


def _mixed(project: Project, family: Family, found: Mapping[str, Iterable[Mentioned]]) -> Iterator[Symbol]:
    """Yield the names of scopes that import the renamed symbol under its own name, and bind it to something else, too.

    try:
        from fast import run        `run` stays the name here: `from fast import go as run`
    except ImportError:
        run = None
    """
    symbols = frozenset(family.symbols)
    for path, mentions in found.items():
        uses = project.uses(path)
        for mentioned in mentions:
            _, _, scope, kind, number, _ = mentioned.mention
            if kind == u.IMPORT and mentioned.certainty == "sure" and uses.imports[number].name == family.sought.word:
                own = Symbol(path, bound_in(uses.scopes, scope, family.sought.word), family.sought.word)
                if project.names.bound(own) - symbols:
                    yield own


class _File:
    """The places of one file."""

    def __init__(
        self,
        project: Project,
        family: Family,
        path: str,
        new: str,
        is_chosen: Callable[[Mentioned], bool],
        exported: Exported,
    ) -> None:
        self.exported = exported
        self.is_chosen = is_chosen
        self.project = project
        self.family = family
        self.path = path
        self.new = new
        self.uses = project.uses(path)

    @cached_property
    def tree(self) -> Tree | None:
        """The file's definitions; None where they are not known."""
        return tree_of(self.project, self.path)

    @cached_property
    def source(self) -> Source | None:
        """The file's text; None where it does not parse."""
        module = self.project.workspace.census.module(self.path)
        if module is not None and self.uses.whole:
            return self.project.workspace.source(module)
        return None if self.tree is None else self.tree.source

    @cached_property
    def is_broken(self) -> bool:
        """Return whether the file does not parse."""
        return any(each.code == "syntax_invalid" for each in self.project.unanalysed(self.path).values())

    @cached_property
    def own(self) -> set[tuple[int, int]]:
        """Return the places where the file has the name itself, and not another that an import gives it."""
        names = dict.fromkeys((self.family.sought.name, self.family.sought.word))
        return {mention[:2] for name in names for mention in self.uses.mentions.get(name, ())}

    @cached_property
    def keyword(self) -> str:
        """The keyword by which constructors set the attribute under its new name."""
        new = self.family.stored(self.new)
        return keyword_of(self.project.inference, self.family.sought, new) or new

    def offset(self, mention: u.Mention) -> int:
        """Return where a mention stands in the text."""
        assert self.source is not None
        return self.source.lines.offset(mention.line, mention.column)

    def place(self, mentioned: Mentioned, mixed: Collection[Symbol]) -> Place | Mentioned | None:
        """Return the place of a mention that changes, the mention where it stays, None where it has another name.

        Parameters:
            mixed: names that stay, though they are imported under the name of the renamed symbol.
        """
        if mentioned.why == BY_STARS:
            return mentioned  # where no word stands
        if self.source is None:
            return structs.replace(mentioned, certainty="unsure", why=Reason.NOT_ANALYSED.of())
        if mentioned.mention.kind == u.MENTION and self.is_broken and not self.is_chosen(mentioned):
            return structs.replace(mentioned, certainty="mention")  # which no rename makes worse
        mention, start = mentioned.mention, self.offset(mentioned.mention)
        if self.exported.leads(self.path, mentioned):
            mentioned = structs.replace(mentioned, certainty="sure", why="")
        if self.family.is_local and mention.receiver != u.PLAIN and mention.kind not in (u.KEYWORD, u.STRING):
            return None  # an attribute is no name of a function
        if mention.kind == u.STRING and start in self.exported.offsets(self.path):
            return self._place(Span(start, start + len(self.family.sought.word)), self.new, mentioned)
        if mention.kind == u.STRING:
            is_wanted = self._is_named(mentioned, start) or self.is_chosen(mentioned)
            span = self._in_string(mention, start) if is_wanted else None
            return mentioned if span is None else self._place(span, self.new, mentioned)
        if mixed and (stays := self._by_mixed(mention, start, mixed)):
            return None if stays is True else structs.replace(stays, mentioned=mentioned)
        word = normalised(written(self.source.text, start))
        sought = self.family.sought
        if word not in (sought.word, sought.name):
            is_own = mention.kind == u.MENTION or mention[:2] in self.own
            return structs.replace(mentioned, certainty="unsure", why=Reason.NOT_ANALYSED.of()) if is_own else None
        if mentioned.certainty not in ("sure", "probable") and not self.is_chosen(mentioned):
            return mentioned
        new = self.new if word == sought.word else self.family.stored(self.new)
        new = self.keyword if mention.kind == u.KEYWORD and self.family.classes else new
        return self._place(Span(start, start + len(written(self.source.text, start))), new, mentioned)

    def at(self, start: int, new: str, mentioned: Mentioned | None = None) -> Iterator[Place]:
        """Yield the place of the word at an offset; nothing where the file does not parse."""
        if self.source is not None:
            span = Span(start, start + len(written(self.source.text, start)))
            yield self._place(span, new, mentioned)

    def _by_mixed(self, mention: u.Mention, start: int, mixed: Collection[Symbol]) -> Place | bool:
        """Return whether a mention leads to a name that stays; of the import that gives it, return its place."""
        assert self.source is not None
        word, names = self.family.sought.word, self.project.names
        if mention.kind == u.IMPORT:
            imported = self.uses.imports[mention.receiver]
            own = Symbol(self.path, bound_in(self.uses.scopes, mention.scope, word), word)
            files = names.files(self.path, imported.module, imported.level)
            if any(Symbol(file, 0, word) in mixed for file in files):
                return True
            if own not in mixed or imported.name != word:
                return False
            end = start + len(written(self.source.text, start))
            has_alias = _AS.match(self.source.text, end) is not None
            return self._place(Span(start, end), self.new if has_alias else f"{self.new} as {word}", None)
        if mention.receiver != u.PLAIN:
            return False
        scope = names.scope_of(self.path, mention.scope, word)
        return scope is not None and Symbol(self.path, scope, word) in mixed

    def _place(self, span: Span, new: str, mentioned: Mentioned | None) -> Place:
        assert self.source is not None
        line = self.source.lines.number(span.start)
        return Place(path=self.path, span=span, new=new, line=line, mentioned=mentioned)

    def _is_named(self, mentioned: Mentioned, start: int) -> bool:
        """Return whether a string surely names the renamed symbol."""
        return mentioned.why in _NAMED_BY or mentioned.mention[:2] in self.naming or self._is_slot(start)

    @cached_property
    def naming(self) -> frozenset[tuple[int, int]]:
        """Return the places where strings ask for a fixture, or have to be what the name is."""
        asking = strings_asking(self.project, self.family, self.path)
        return frozenset((*asking, *named_strings(self.project, self.family, self.path)))

    def _is_slot(self, offset: int) -> bool:
        """Return whether a string stands in what gives a class of the family its attributes, such as `__slots__`."""
        assert self.tree is not None
        outline, lines = self.tree.outline, self.tree.source.lines
        for each in outline.definitions if self.family.sought.classes else ():
            if each.keyword <= offset < each.end and not _SLOTS.isdisjoint(each.names) and each.parent >= 0:
                line = lines.number(outline.definitions[each.parent].keyword)
                return any(
                    binding.how == u.CLASS
                    and binding.line == line
                    and Class(self.path, binding.first) in self.family.classes
                    for scope in self.uses.scopes
                    for binding in scope.names.get(outline.definitions[each.parent].names[0], ())
                )
        return False

    def _in_string(self, mention: u.Mention, start: int) -> Span | None:
        """Return where the name stands in a string that names it; None where that cannot be seen."""
        assert self.source is not None
        text, word = self.source.text, self.family.sought.word
        string = next((e.text for e in self.uses.strings.get(word, ()) if (e.line, e.column) == mention[:2]), "")
        if not string or not text.startswith(string, start):
            return None  # it has escapes, or is put together of several literals
        offset = offset_in(string, self.family.sought, self.project.inference)
        if offset is None:
            offset = max(match.start() for match in re.finditer(r"\w+", string) if match[0] == word)
        return Span(start + offset, start + offset + len(word))

    def bindings(self, known: set[int], mentions: Sequence[Mentioned], mixed: Collection[Symbol]) -> Iterator[Place]:
        """Yield the names that bind the renamed symbol.

        Parameters:
            known: the offsets of places that change anyway.
            mentions: of the file, as the search found them.
            mixed: as of `place`.
        """
        if self.source is None:
            return
        sought = self.family.sought
        here = {each for each in self.family.symbols if each.path == self.path}
        every = self.uses.mentions.get(sought.name, ())
        for mention in every:
            if (
                mention.receiver == u.PLAIN
                and mention.kind in (u.WRITE, u.DELETE, u.READ)
                and self._is_own(mention, here)
            ):
                start = self.offset(mention)
                if start not in known:
                    yield self._place(Span(start, start + len(written(self.source.text, start))), self.new, None)
        for start in self.exported.offsets(self.path) - known:
            yield self._place(Span(start, start + len(sought.word)), self.new, None)
        yield from self._other_imports(every, here, known)
        imports = self._imports(mentions, mixed)
        if not here and not any(_AS.match(self.source.text, end) for end in imports):
            return  # so it is in most files, and it takes long to find what is no code
        offsets = {self.offset(mention) for mention in every if mention.kind != u.EXPORT}
        for token in name_tokens(self.tree, sought.word, offsets) if self.tree is not None else ():
            if self._binds(token, here, imports):
                word = written(self.source.text, token.start)
                yield self._place(Span(token.start, token.start + len(word)), self.new, None)

    def _other_imports(
        self, every: Iterable[u.Mention], here: Collection[Symbol], known: Collection[int]
    ) -> Iterator[Place]:
        """Yield the imports of other things that bind the name, too: `import fast` beside `fast = None`."""
        assert self.source is not None
        scopes, name = self.uses.scopes, self.family.sought.name
        for mention in every:
            if mention.kind != u.IMPORT or (start := self.offset(mention)) in known:
                continue
            imported, bound = self.uses.imports[mention.receiver], bound_in(scopes, mention.scope, name)
            is_whole = imported.name == name and (imported.attribute or imported.module == name)
            word = written(self.source.text, start)
            if (
                is_whole
                and any(each.scope == bound for each in here)
                and not _AS.match(self.source.text, start + len(word))
            ):
                yield self._place(Span(start, start + len(word)), f"{word} as {self.new}", None)

    def _is_own(self, mention: u.Mention, here: Iterable[Symbol]) -> bool:
        """Return whether a name that stands alone is bound, deleted or added to in the scope of the renamed symbol."""
        found = self.project.names.scope_of(self.path, mention.scope, self.family.sought.name)
        if mention.kind == u.READ and self.uses.scopes[mention.scope].kind != u.CLASS_SCOPE:
            return False  # which the search decides
        return any(each.scope == found for each in here)

    def _imports(self, mentions: Sequence[Mentioned], mixed: Collection[Symbol]) -> dict[int, u.Imported]:
        """Return the imports of the renamed symbol that bind its own name, by where the imported name ends."""
        assert self.source is not None
        found: dict[int, u.Imported] = {}
        for mentioned in mentions:
            mention = mentioned.mention
            if mention.kind == u.IMPORT and mentioned.certainty == "sure":
                imported = self.uses.imports[mention.receiver]
                start = self.offset(mention)
                word = self.family.sought.word
                own = Symbol(self.path, bound_in(self.uses.scopes, mention.scope, word), word)
                if imported.name == word and own not in mixed:
                    found[start + len(written(self.source.text, start))] = imported
        return found

    def _binds(self, token: NameToken, here: set[Symbol], imports: dict[int, u.Imported]) -> bool:
        scopes, name = self.uses.scopes, self.family.sought.name
        if token.role == "alias":
            assert self.source is not None
            text = self.source.text
            is_taken = any(
                (binding.how, binding.line) == (u.IMPORTED, token.line)
                for each in here
                for binding in scopes[each.scope].names.get(name, ())
            )
            follows = (match.end() for end in imports if (match := _AS.match(text, end)) is not None)
            return is_taken or token.start in follows
        if token.role == "declaration":
            return any(
                binding.how in (u.GLOBAL, u.NONLOCAL)
                and binding.line == token.line
                and any(each.scope == bound_in(scopes, number, name) for each in here)
                for number, scope in enumerate(scopes)
                for binding in scope.names.get(name, ())
            )
        hows = {"definition": (u.FUNCTION, u.CLASS), "parameter": _GIVEN}.get(token.role, ())
        return any(
            binding.line == token.line and (binding.how in hows or scopes[each.scope].kind == u.TYPE_SCOPE)
            for each in here
            for binding in scopes[each.scope].names.get(name, ())
        )


def unreadable(places: Places, family: Family) -> list[tuple[str, ResourceError]]:
    """Return the files that may hold more places, and why they could not be read."""
    return sorted({**dict(family.unreadable), **dict(places.matches.unreadable)}.items())


def tree_of(project: Project, path: str) -> Tree | None:
    """Return a file's definitions, as far as they are recognised where it does not parse; None where none are."""
    try:
        return project.workspace.tree_at(path)
    except SourceError as error:
        return broken_tree(project.workspace.content(path) or b"") if error.code == "syntax_invalid" else None
