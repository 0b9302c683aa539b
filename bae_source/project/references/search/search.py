"""One search for references: a text filter finds the files, names and receivers decide each mention in them.

    from app.core import send as s       in app: `s` is searched for as well, here,
    from app import s                    and, because other modules can import it, everywhere

Invariants:
- no mention is dropped unless bindings say that it means something else, or a call of something unknown gives what
  the function does not take;
- an attribute of an unknown receiver is probable where no other class than those of one family has its name;
- a file that could not be read is kept as such.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.project.facts.mentions import Mentioning
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.meaning.variables import Variables
from bae_source.project.references.search.ahead import receivers_from
from bae_source.project.references.search.strings import in_strings
from bae_source.project.references.search.verdict import Judge, Verdict
from bae_source.project.references.types.values import Class, Rebound, Values, class_around, in_order, lacks
from bae_source.syntax.names import uses as u

if TYPE_CHECKING:
    from bae_source.project.references.types.signatures import Signatures

Candidates = Callable[[Collection[str]], Mentioning]
Below = Callable[[Class], tuple[Class, ...] | None]
Registering = Callable[[Class | str], Collection[Class | None]]


def mentions_of(
    project: Project, sought: Sought, kinds: Iterable[int]
) -> tuple[list[Mentioned], dict[str, ResourceError]]:
    """Find mentions of some kinds; among strings are only those that hold code which imports the target."""
    search = Search(project, sought, kinds=frozenset(kinds))
    search.run(project.workspace.index.naming, [sought.name])
    return [each for _, mentions in search.by_file() for each in mentions], search.unreadable


class Search:
    """One search: names under which the symbol goes are worked off until none is new.

    Parameters:
        project: where to look.
        sought: what to look for.
        below: finds every class below a class, or None where there are too many; left out where that does not matter.
        registered: finds what is registered with an abstract class, None for what may be any; likewise.
        kinds: the kinds of mentions that count, see `mentions_of`; if left out all, and strings that may name it.
    """

    def __init__(
        self,
        project: Project,
        sought: Sought,
        *,
        below: Below | None = None,
        registered: Registering | None = None,
        kinds: Collection[int] | None = None,
    ) -> None:
        self.project = project
        self.sought = sought
        self.kinds = kinds
        self.judge = Judge(
            project.names, project.inference, sought, below or (lambda _: ()), registered or (lambda _: ())
        )
        self.doubts = Doubts(project, self.judge)
        self.found: dict[tuple[str, int, int], Mentioned] = {}
        self.unreadable: dict[str, ResourceError] = {}
        self.waiting: list[str] = []
        self.paths: dict[str, None] = {}
        self.words = {sought.name: sought.word}
        self.known: set[str] = {sought.name}

    def run(self, candidates: Candidates, names: Iterable[str]) -> None:
        """Look into every file that may refer to it.

        Parameters:
            candidates: finds the files that have one of some words.
            names: to begin with; those that imports give it are added.
        """
        self.waiting = list(names)
        self.known.update(self.waiting)
        while self.waiting:
            names, self.waiting = self.waiting, []
            words = [self.words.get(name, name) for name in names]
            mentioning = candidates(words)
            self.unreadable.update(mentioning.unreadable)
            self.paths.update(dict.fromkeys(mentioning.paths))
            self.project.load(mentioning.paths)
            self.project.load(receivers_from(self.project, mentioning.paths, names, self.kinds))
            if self.sought.classes and self.kinds is None:
                self.judge.others.look_into(mentioning.paths)
            for path in mentioning.paths:
                try:
                    self._file(path, names)
                except ResourceError as error:
                    self.unreadable[path] = error
        for path, mention, verdict in self.doubts.raised():
            self.found[path, mention.line, mention.column] = Mentioned(path, mention, verdict.certainty, verdict.why)
        self.unreadable.update(self.doubts.variables.unreadable)
        if self.kinds is None and self.sought.classes and not self.unreadable:
            self._raise_probable()
        elif self.kinds is None and not self.sought.classes:
            self._drop_receivers()

    def _raise_probable(self) -> None:
        """Make probable what is unsure for its receiver alone, if only one family of classes has the name."""
        below = Reason.CLASS_BELOW.of(name=self.sought.name, owner=self.judge.owner)
        reasons = {Reason.UNKNOWN_RECEIVER.of(): Reason.SOLE_FAMILY.of(), below: Reason.SOLE_BELOW.of()}
        unknown = [place for place, each in self.found.items() if each.why in reasons]
        if not unknown:
            return
        from bae_source.project.references.search.sole import (
            is_sole,  # few questions are about members used on unknown things
        )

        if is_sole(self.project, self.sought, self.judge.below, self.paths):
            for place in unknown:
                found = self.found[place]
                self.found[place] = structs.replace(found, certainty="probable", why=reasons[found.why])

    def _drop_receivers(self) -> None:
        """Drop what is unsure for its receiver alone, where no module that has the name is handed on as a value."""
        why = Reason.UNKNOWN_RECEIVER.of()
        unknown = [place for place, each in self.found.items() if each.why == why]
        if not unknown or self._is_in_a_class():
            return
        from bae_source.project.references.meaning.handed_on import HandedOn  # most receivers are known

        handed_on = HandedOn(self.project, self.sought, self.paths)
        for place in unknown:
            if not handed_on.may_be(self.found[place]):
                del self.found[place]

    def _is_in_a_class(self) -> bool:
        """Return whether the suite of a class imports the target, which its instances then have."""
        imports = (each for each in self.found.values() if each.mention.kind == u.IMPORT)
        return any(self.project.uses(each.path).scopes[each.mention.scope].kind == u.CLASS_SCOPE for each in imports)

    def by_file(self) -> Iterator[tuple[str, list[Mentioned]]]:
        """Yield what was found, by file in the order of their paths."""
        files: dict[str, list[Mentioned]] = {}
        for mentioned in self.found.values():
            files.setdefault(mentioned.path, []).append(mentioned)
        yield from sorted(files.items())

    def _file(self, path: str, searched: Sequence[str]) -> None:
        uses = self.project.uses(path)
        names = list(searched)
        for number, imported in enumerate(uses.imports):
            if imported.name and imported.name not in names and self._is_alias(path, number, imported):
                names.append(imported.name)
                if imported.name not in self.known and self._is_exported(uses, number, imported.name):
                    self.known.add(imported.name)
                    self.waiting.append(imported.name)
        mentions = {name: uses.mentions.get(name, ()) for name in names}
        self._note_unseen(path, uses, mentions)
        for name in names:
            for mention in mentions[name]:
                if self.kinds is None or mention.kind in self.kinds:
                    self._mention(path, name, mention)
        words = dict.fromkeys([*names, *(self.words.get(name, name) for name in names)])
        importing = self.kinds is not None
        for word in words if self.kinds is None or u.STRING in self.kinds else ():
            for mentioned in in_strings(path, uses, word, self.sought, self.project.inference, importing=importing):
                self.found.setdefault((path, *mentioned.mention[:2]), mentioned)

    def _note_unseen(self, path: str, uses: u.Uses, names: Mapping[str, Collection[u.Mention]]) -> None:
        """Note the mentions whose kind is not known, and the modules on the way of names that could not be read."""
        kinds = {mention.kind for mentions in names.values() for mention in mentions}
        if u.MENTION in kinds:
            unanalysed = self.project.unanalysed(path)
            does_not_parse = any(error.code == "syntax_invalid" for error in unanalysed.values())
            if does_not_parse or self.kinds is not None or not uses.scopes[0].names:
                self.unreadable.update(unanalysed)  # what it imports others may have from there
        may_be_starred = not self.sought.classes and not all(name in uses.scopes[0].names for name in names)
        for imported in uses.imports:
            starred = may_be_starred and imported.attribute == "*"
            if starred or imported.attribute in names or (imported.attribute and imported.name in names):
                for file in self.project.names.files(path, imported.module, imported.level):
                    try:
                        if not self.project.uses(file).scopes[0].names:
                            self.unreadable.update(self.project.unanalysed(file))
                    except ResourceError as error:
                        self.unreadable[file] = error

    def _mention(self, path: str, name: str, mention: u.Mention) -> None:
        verdict = self.judge.decide(path, name, mention)
        if self.sought.classes and self.kinds is None and (verdict or name == self.sought.name):
            self.doubts.note(path, name, mention, verdict)
        if verdict is None or (name != self.sought.name and not verdict.hit):
            return  # under another name only what may lead there counts, not everything of that name
        is_guessed = mention.kind == u.CALL and verdict.why == Reason.UNKNOWN_RECEIVER.of()
        if is_guessed and not self._signatures.may_take(path, name, mention):
            return
        place = (path, mention.line, mention.column)
        before = self.found.get(place)
        if before is None or (before.certainty != "sure" and verdict.certainty == "sure"):
            self.found[place] = Mentioned(path, mention, verdict.certainty, verdict.why)

    @cached_property
    def _signatures(self) -> Signatures:
        from bae_source.project.references.types.signatures import (
            Signatures,  # not all questions meet unknown receivers
        )

        return Signatures(self.project, self.sought)

    def _is_alias(self, path: str, number: int, imported: u.Imported) -> bool:
        """Return whether an import binds the symbol under another name."""
        named = imported.attribute or imported.module.rpartition(".")[2]
        if named not in self.known or (named == imported.name and not self.sought.is_module):
            return False
        meanings = self.project.names.imported(path, number)
        return bool(meanings & self.sought.meanings)

    def _is_exported(self, uses: u.Uses, number: int, name: str) -> bool:
        return any(
            binding.how == u.IMPORTED and binding.first == number for binding in uses.scopes[0].names.get(name, ())
        )


class Doubts:
    """Decided mentions; those through a variable that other modules bind anew are decided again.

        requirements = First()             in app.config
        config.requirements = Other()      in a file that need not name the target of the search
        config.requirements.method()       may be First's or Other's

    Code that binds it is searched for only where a mention is decided by the variable's own value: a search takes as
    long as that for one more name.

    Parameters:
        project: where to look.
        judge: decided the mentions.
    """

    def __init__(self, project: Project, judge: Judge) -> None:
        self.project = project
        self.judge = judge
        self.variables = Variables(project)
        self._waiting: list[tuple[str, str, u.Mention, Verdict | None, frozenset[Symbol]]] = []

    def note(self, path: str, name: str, mention: u.Mention, verdict: Verdict | None) -> None:
        """Note a mention that was decided, if it is sure, or none, by what variables hold."""
        receiver = mention.receiver
        if receiver <= 0 or mention.kind in (u.IMPORT, u.KEYWORD) or (verdict and verdict.certainty != "sure"):
            return
        if self.project.inference.called_on.itself(path, receiver):
            return  # no variable of a module
        variables = self.variables.behind(path, receiver)
        if variables and (verdict or any(map(class_around, self.project.inference.values(path, receiver)))):
            self._waiting.append((path, name, mention, verdict, variables))

    def raised(self) -> Iterator[tuple[str, u.Mention, Verdict]]:
        """Yield the mentions that were noted and are not as sure as that, since other modules bind a variable anew."""
        variables = frozenset[Symbol]().union(*(noted[-1] for noted in self._waiting))
        bound = self.variables.bound_anew(variables)
        for path, name, mention, verdict, through in self._waiting if bound else ():
            for variable in sorted(through & bound.keys(), key=in_order):
                if self._may_be_other(path, name, mention.receiver, verdict, bound[variable]):
                    yield path, mention, Verdict("unsure", self.variables.why(variable))
                    break

    def _may_be_other(self, path: str, name: str, receiver: int, verdict: Verdict | None, values: Values) -> bool:
        """Return whether a mention may mean something else because a variable on its way has other values, too."""
        if not self.variables.is_direct(path, receiver):
            return True
        may_be = [each for each in values if not isinstance(each, Rebound) and not lacks(each, name)]
        verdicts = (self.judge.of(each, name) for each in may_be)
        return any(each != verdict and not (each and each.doubts_receiver) for each in verdicts)
