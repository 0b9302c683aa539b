"""Definitions that nothing in the project uses, sure or not.

    def send(): …            app.web: send()          used
    def fetch(): …                                    unused: sure, where nothing outside the project may reach it
    def again(): again()                              unused: what stands inside a definition is no user of it
    def ping(): pong()
    def pong(): ping()                                both used, each by the other
    class Old: def m(self): …                         unused, and with it all that it holds

Invariants:
- a definition is listed only where no mention of its name refers to it, not even perhaps;
- one pass over the files tells which of them hold a name, and a name is decided by its mentions up to the first user;
- what code outside may reach is listed as unsure or probable, with the reason, and what Python, pytest or a base class
  calls by its name is not listed (`reached`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.model.address import Segment
from bae_source.model.plan import ModuleFile
from bae_source.model.reasons import Reach
from bae_source.model.reference import Certainty, Reference
from bae_source.model.text import normalised
from bae_source.project.facts.mentions import Mentioning, is_plain, unseen_in
from bae_source.project.files.contents import contents_of
from bae_source.project.files.layout import import_name
from bae_source.project.naming.listed_symbols import Named, is_method, symbols_of
from bae_source.project.references.calls.reached import Definition, Reached
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project, shown
from bae_source.project.references.meaning.sought import Sought, bound_in, scopes_inside
from bae_source.project.references.meaning.stubs import with_stub
from bae_source.project.references.search.prose import is_docstring, text_files_about
from bae_source.project.references.search.references import Families, searched
from bae_source.project.references.search.verdict import Judge
from bae_source.project.references.types.values import Class
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.summary import Summary
from bae_source.syntax.text.lexer import lex
from bae_source.syntax.text.source import Source

_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_ANY_WORD = re.compile(r"[^\W\d]\w*")
_ESCAPED = re.compile(rb"\\(?:[abfnrtv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-7]{1,3})(?=[A-Za-z_])")
"""Escapes in strings; what follows one is a word of its own."""
_SURENESS: dict[Certainty, int] = {"sure": 2, "probable": 1, "unsure": 0}


class Unused(Struct, frozen=True, kw_only=True):
    """Definitions that nothing uses, and files that could not be read.

    Parameters:
        definitions: by module and line.
        unreadable: files that may hold users or definitions, each with the reason.
    """

    definitions: tuple[Reference, ...]
    unreadable: tuple[tuple[str, ResourceError], ...]


def unused(project: Project, modules: Sequence[ModuleFile], lines: tuple[int, int] | None = None) -> Unused:
    """Find the definitions of some modules that nothing uses.

    Parameters:
        lines: the first and the last one of the only module, if only what lies between them counts.
    """
    return _Search(project, modules, lines).run()


class WordTable:
    """The files that hold each of many words as names: each file is read once, whatever the number of words.

        WordTable(workspace, {"send", "Client"}).files("send")        files whose text has `send`, not `send_all`

    No file is missed: text that Python reads otherwise than it is written is normalised as `mentions` does.

    Parameters:
        workspace: the project.
        words: those that will be asked for.

    Attributes:
        unreadable: why files cannot be read or decoded, by path.
    """

    def __init__(self, workspace: Workspace, words: Collection[str]) -> None:
        wanted = {normalised(word): word for word in words}
        encoded = {word.encode("utf-8", "surrogatepass"): word for word in wanted}
        self._files: dict[str, list[str]] = {word: [] for word in wanted}
        is_wanted, wanted_words = encoded.keys(), wanted.keys()
        holds_one = lambda text: not is_wanted.isdisjoint(_WORD.findall(text))  # noqa: E731
        self.unreadable: dict[str, ResourceError] = dict(unseen_in(workspace, holds_one))
        for content in contents_of(workspace, workspace.census.sources):
            try:
                text = content.read()
                matches: set[str] = {encoded[each] for each in is_wanted & set(_WORD.findall(text))}
                if b"\\" in text:
                    matches |= {encoded[each] for each in is_wanted & set(_WORD.findall(_ESCAPED.sub(b" ", text)))}
                if not (text.isascii() and is_plain(text)):
                    source = content.source()
                    matches |= wanted_words & set(_ANY_WORD.findall(normalised(source.text))) if source else set()
            except ResourceError as error:
                self.unreadable[content.path] = error
                continue
            for word in matches:
                self._files[word].append(content.path)

    def files(self, word: str) -> list[str]:
        """Return the files that hold a word, sorted."""
        return self._files.get(normalised(word), [])


class _Search:
    def __init__(self, project: Project, modules: Sequence[ModuleFile], lines: tuple[int, int] | None) -> None:
        self.project = project
        self.workspace: Workspace = project.workspace
        self.lines = lines
        self.modules = {module.path: module for module in modules}
        self.unreadable: dict[str, ResourceError] = {}
        self.families = Families(project)

    def run(self) -> Unused:
        files = list(self._defined())
        words = {each.word for definitions in files for each in definitions}
        self.reached = Reached(self.project, self.modules.values(), words, self.families.below)
        self.table = WordTable(self.workspace, words | self.reached.words)
        self.unreadable.update(self.table.unreadable)
        paths = sorted({path for word in words | self.reached.words for path in self.table.files(word)})
        self.project.load(paths)
        self.reached.look_into(paths, self.table.files)
        found = [each for definitions in files for each in self._of_file(definitions)]
        self.unreadable.update(self.families.unreadable)
        sure = [sought for each, sought in found if each.certainty == "sure"]
        spoken = frozenset(text_files_about(self.workspace, sure))
        listed = (_doubted(each) if each.certainty == "sure" and sought in spoken else each for each, sought in found)
        return Unused(definitions=tuple(listed), unreadable=tuple(sorted(self.unreadable.items())))

    def _defined(self) -> Iterator[list[Definition]]:
        """Yield the definitions of each module in the order of their lines, but those that are always used."""
        for path, summary in self.workspace.index.summaries(self.modules):
            if isinstance(summary, ResourceError):
                self.unreadable[path] = summary
            else:
                yield list(self._in(self.modules[path], summary))

    def _in(self, module: ModuleFile, summary: Summary) -> Iterator[Definition]:
        for named in symbols_of(summary):
            word, entry = named.path[-1], summary.entries[named.index]
            if word.strip("_") == "" or (word.startswith("__") and word.endswith("__")):
                continue
            if self.lines and not (self.lines[0] <= entry.first and entry.last <= self.lines[1]):
                continue
            yield _definition(module, summary, named)

    def _of_file(self, definitions: Sequence[Definition]) -> Iterator[tuple[Reference, Sought]]:
        """Yield the definitions of a file that nothing uses; what lies in one that is listed goes with it."""
        listed: list[tuple[Definition, Certainty]] = []
        for each in definitions:
            try:
                found = self._decided(each, listed)
            except ResourceError as error:
                self.unreadable[each.module.path] = error
                return
            if found is not None:
                listed.append((each, found[0].certainty))
                yield found

    def _decided(
        self, each: Definition, listed: Sequence[tuple[Definition, Certainty]]
    ) -> tuple[Reference, Sought] | None:
        sought = self._sought(each)
        if sought is None or self.reached.is_called(each, sought):
            return None
        others = self._others(each, sought)
        if others is None:
            return None
        certainty, why = self.reached.how(each, sought, others)
        around = (sure for outer, sure in listed if outer.is_around(each))
        if any(_SURENESS[certainty] <= _SURENESS[outer] for outer in around):
            return None
        mentions = self._mentions(each, sought)
        if isinstance(mentions, bool):
            return None
        if mentions and certainty != "unsure":
            certainty, why = "unsure", mentions
        if not self.unreadable.keys().isdisjoint(self.table.files(each.word)):
            certainty, why = "unsure", Reach.NAMED_IN_UNREAD.of()
        if certainty == "sure" and self._is_in_strings(each):
            certainty, why = "probable", Reach.NAMED_IN_STRING.of()
        return self._shown(each, certainty, why), sought

    def _sought(self, each: Definition) -> Sought | None:
        """Return what to look for; None where the file's code could not be analysed as far as that."""
        path, uses = each.module.path, self.project.uses(each.module.path)
        around = scopes_inside(uses.scopes, [Segment(name) for name in each.path[:-1]])
        in_class = any(uses.scopes[number].kind == u.CLASS_SCOPE for number in around)
        name = u.mangled(each.word, each.path[-2]) if in_class else each.word
        bound = [bound_in(uses.scopes, n, name) for n in around if name in uses.scopes[n].names]
        if not bound:
            self.unreadable.update(self.project.unanalysed(path))
            return None
        module = import_name(each.module)
        sought = Sought(
            name=name,
            word=each.word,
            module=module,
            dotted=".".join([module, *each.path]),
            meanings=frozenset(Symbol(path, number, name) for number in bound),
            classes=frozenset(Class(path, n) for n in bound if uses.scopes[n].kind == u.CLASS_SCOPE),
        )
        return with_stub(self.project, sought)

    def _others(self, each: Definition, sought: Sought) -> int | None:
        """Return how many attributes of its name are something else; None if a mention may refer to a definition."""
        own, others = each.module.path, 0
        judge = Judge(self.project.names, self.project.inference, sought, self.families.below, self.families.registered)
        for path in sorted(self.table.files(each.word), key=lambda path: (path != own, -_shared(path, own), path)):
            try:
                mentions = self.project.uses(path).mentions.get(sought.name, ())
            except ResourceError as error:
                self.unreadable[path] = error
                continue
            for mention in mentions:
                if self._counts(each, path, mention):
                    if judge.decide(path, sought.name, mention):
                        return None
                    others += mention.kind not in (u.IMPORT, u.KEYWORD) and mention.receiver != u.PLAIN
            if each.is_fixture and self._is_parameter(path, each.word):
                return None
        return others

    def _is_parameter(self, path: str, word: str) -> bool:
        """Return whether a function of a file has a parameter of a name, by which pytest may give it a fixture."""
        bound = (scope.names.get(word) for scope in self.project.uses(path).scopes)
        return any(bindings[0].how == u.PARAMETER for bindings in bound if bindings)

    def _counts(self, each: Definition, path: str, mention: u.Mention) -> bool:
        """Return whether a mention that refers to a definition uses it: no mention inside it, and no other binding."""
        line, _, _, kind, receiver, _ = mention
        if kind == u.EXPORT or (kind == u.IMPORT and self.reached.lets_out(path, receiver)):
            return False
        if path != each.module.path:
            return True
        if each.holds(line) or (receiver == u.PLAIN and kind in (u.WRITE, u.DELETE)):
            return False
        return kind != u.READ or not _is_declared(self.project.lines(path).cut(line))

    def _mentions(self, each: Definition, sought: Sought) -> str | bool:
        """Search for references of all kinds; return True for a user, else why a string may name it, or nothing."""

        def candidates(words: Collection[str]) -> Mentioning:
            if set(words) == {each.word}:
                return Mentioning(tuple(self.table.files(each.word)))
            return self.workspace.index.naming(words)

        references = searched(self.project, sought, candidates, self.families)
        self.unreadable.update(references.unreadable)
        why = ""
        for found in references.found:
            if found.certainty == "mention":
                if self.reached.is_a_call(found):
                    return True
                if found.module == each.module.name and each.holds(found.line):
                    continue
                why = why or Reach.NAMED_BY_STRING.of(why=found.why)
            elif not self._is_itself(each, found) and not self.reached.is_let_out(found):
                return True
        return why

    def _is_in_strings(self, each: Definition) -> bool:
        """Return whether the text of a string, which is no docstring, has the name of a definition as a word."""
        named = re.compile(rf"(?:(?<!\w)|(?<=\\[abfnrtv])){re.escape(each.word)}(?!\w)")
        for path in self.table.files(each.word):
            text = Source(self.workspace.content(path) or b"").text
            for string in lex(text).strings if named.search(text) else ():
                match = named.search(text, string.start, string.end)
                is_own = path == each.module.path and each.holds(text.count("\n", 0, string.start) + 1)
                if not match or (is_own and ">>>" not in text[string.start : string.end]):
                    continue
                if not is_docstring(text, string) or ">>>" in text[string.start : match.start()]:
                    return True
        return False

    def _is_itself(self, each: Definition, found: Reference) -> bool:
        if found.kind in ("export", "definition"):
            return True
        is_own = found.module == each.module.name
        return is_own and (each.holds(found.line) or found.kind in ("write", "delete") or _is_declared(found.text))

    def _shown(self, each: Definition, certainty: Certainty, why: str) -> Reference:
        text = self.project.lines(each.module.path).cut(each.line)
        match = re.search(rf"\b{re.escape(each.word)}\b", text)
        return Reference(
            module=each.module.name,
            address=f"{each.module.name}.{each.address}",
            line=each.line,
            column=match.start() + 1 if match else 1,
            kind=each.kind,
            certainty=certainty,
            why=why,
            text=shown(text),
        )


def _doubted(each: Reference) -> Reference:
    return structs.replace(each, certainty="probable", why=Reach.NAMED_IN_TEXT.of())


def _definition(module: ModuleFile, summary: Summary, named: Named) -> Definition:
    entry = summary.entries[named.index]
    around = summary.entries[entry.parent].kind if entry.parent != MODULE else "module"
    group = [each for n, each in enumerate(summary.entries) if named.index in (n, each.group)]
    return Definition(
        module=module,
        address=named.address,
        path=named.path,
        kind="method" if is_method(summary, entry) else entry.kind,
        line=entry.keyword,
        around=around,
        decorators=entry.decorators,
        spans=tuple((each.first, each.last) for each in group),
    )


def _is_declared(line: str) -> bool:
    """Return whether a line lets a function bind a name of a scope around it."""
    return line.lstrip().startswith(("global ", "nonlocal "))


def _shared(path: str, other: str) -> int:
    """Return how many folders two paths have in common."""
    count = 0
    for own, its in zip(path.split("/"), other.split("/"), strict=False):
        if own != its:
            break
        count += 1
    return count
