"""Who refers to a symbol or a module: a text filter finds the files, bindings decide each mention in them.

    from app.core import send as s       sure: the import, and every `s` that this import alone binds
    core.send()                          sure where `core` is the module
    self.send(), Client().send()         sure where the class's own order of bases leads to it
    thing.send()                         unsure: nobody can say without running the code
    mock.patch("app.core.send")          a string

Invariants:
- no mention is dropped unless bindings say that it means something else;
- a file that could not be looked into is in the answer;
- the definition itself is no reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.model.reference import Certainty, Reference
from bae_source.project.inference import Inference
from bae_source.project.meaning import Meaning, Names
from bae_source.project.resolve import Resolved
from bae_source.project.sought import Mentioned, Sought, sought_of
from bae_source.project.strings import in_settings, in_strings
from bae_source.project.verdict import Judge, Verdict
from bae_source.project.workspace import Workspace
from bae_source.syntax import uses as u
from bae_source.syntax.source import Source

_MAX_ROUNDS = 20


class References(Struct, frozen=True, kw_only=True):
    """What was found.

    Parameters:
        found: by module, line and column.
        unreadable: files that may hold more, each with the reason.
    """

    found: tuple[Reference, ...]
    unreadable: tuple[tuple[str, ResourceError], ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every file was looked into."""
        return not self.unreadable


class Project:
    """What looking for references needs to know of a project; made once a request.

    Parameters:
        workspace: the project.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.uses = workspace.index.uses
        self.names = Names(workspace.census, self.uses)
        self.inference = Inference(self.names)

    def address(self, path: str, owner: int) -> str:
        """Return the address of a definition of a file."""
        module = self.workspace.census.module(path)
        name = module.name if module else ""
        qualname = self.uses(path).owners[owner]
        return f"{name}.{qualname}" if qualname else name

    def shown(self, mentioned: Mentioned, text: Sequence[str]) -> Reference:
        """Return a mention as it is answered.

        Parameters:
            text: the lines of its file.
        """
        line, column, _, kind, _, owner = mentioned.mention
        module = self.workspace.census.module(mentioned.path)
        content = text[line - 1] if line <= len(text) else ""
        return Reference(
            module=module.name if module else "",
            address=self.address(mentioned.path, owner),
            line=line,
            column=len(content.encode()[:column].decode(errors="ignore")) + 1,
            kind=u.KINDS[kind],
            certainty=mentioned.certainty,
            why=mentioned.why,
            text=content.strip(),
        )

    def definition(
        self, path: str, owner: int, line: int, kind: str, certainty: Certainty = "sure", why: str = ""
    ) -> Reference:
        """Return a definition as it is answered: its own address and line."""
        module = self.workspace.census.module(path)
        lines = self.lines(path)
        return Reference(
            module=module.name if module else "",
            address=self.address(path, owner),
            line=line,
            column=1,
            kind=kind,
            certainty=certainty,
            why=why,
            text=lines[line - 1].strip() if line <= len(lines) else "",
        )

    def bound(self, path: str, scope: int, name: str, binding: u.Binding) -> Reference:
        """Return one binding of a name in a scope as a definition."""
        scopes = self.uses(path).scopes
        if binding[0] in (u.FUNCTION, u.CLASS):
            return self.definition(path, scopes[binding[1]].owner, binding[3], "definition")
        around = self.definition(path, scopes[scope].owner, binding[3], "definition")
        return structs.replace(around, address=f"{around.address}.{name}")

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file, as Python counts them."""
        content = self.workspace.content(path)
        if content is None:
            return []
        source = Source(content)
        last = source.lines.number(len(source.text))
        return [source.lines.cut(number).rstrip("\r\n") for number in range(1, last + 1)]


def references_to(project: Project, resolved: Resolved) -> References:
    """Find what refers to a symbol or a module."""
    search = _Search(project, sought_of(project.uses, resolved))
    search.run()
    found: list[Reference] = []
    for path, mentions in search.by_file():
        lines = project.lines(path)
        found += [project.shown(mentioned, lines) for mentioned in mentions]
    found += in_settings(project.workspace, search.sought)
    found.sort(key=lambda each: (each.module, each.line, each.column))
    return References(found=tuple(found), unreadable=tuple(sorted(search.unreadable.items())))


def mentions_of(
    project: Project, sought: Sought, kinds: Iterable[int]
) -> tuple[list[Mentioned], dict[str, ResourceError]]:
    """Find mentions of some kinds; strings are left out."""
    search = _Search(project, sought, strings=False)
    search.run()
    wanted = frozenset(kinds)
    found = [each for _, mentions in search.by_file() for each in mentions if each.mention[3] in wanted]
    return found, search.unreadable


class _Search:
    """One search: names under which the symbol goes are worked off until none is new."""

    def __init__(self, project: Project, sought: Sought, *, strings: bool = True) -> None:
        self.project = project
        self.sought = sought
        self.strings = strings
        self.judge = Judge(project.names, project.inference, sought)
        self.found: dict[tuple[str, int, int], Mentioned] = {}
        self.unreadable: dict[str, ResourceError] = {}
        self.waiting: list[str] = [sought.name]
        self.words = {sought.name: sought.word}
        self.known: set[str] = {sought.name}

    def run(self) -> None:
        for _ in range(_MAX_ROUNDS):
            if not self.waiting:
                return
            names, self.waiting = self.waiting, []
            mentioning = self.project.workspace.index.mentioning([self.words.get(name, name) for name in names])
            self.unreadable.update(mentioning.unreadable)
            for path in mentioning.paths:
                try:
                    self._file(path, names)
                except ResourceError as error:
                    self.unreadable[path] = error

    def by_file(self) -> Iterator[tuple[str, list[Mentioned]]]:
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
        for name in names:
            for mention in uses.mentions.get(name, ()):
                self._mention(path, name, mention)
        if self.strings:
            for mentioned in in_strings(path, uses, self.sought, self.project.names):
                self.found.setdefault((path, *mentioned.mention[:2]), mentioned)

    def _mention(self, path: str, name: str, mention: u.Mention) -> None:
        verdict: Verdict | None = self.judge.decide(path, name, mention)
        if verdict is None or (name != self.sought.name and verdict.certainty != "sure"):
            return
        place = (path, mention[0], mention[1])
        before = self.found.get(place)
        if before is None or before.certainty != "sure":
            self.found[place] = Mentioned(path, mention, verdict.certainty, verdict.why)

    def _is_alias(self, path: str, number: int, imported: u.Imported) -> bool:
        """Say whether an import binds the symbol under another name."""
        named = imported.attribute or imported.module.rpartition(".")[2]
        if named not in self.known or (named == imported.name and not self.sought.is_module):
            return False
        meanings: frozenset[Meaning] = self.project.names.imported(path, number)
        return bool(meanings & self.sought.meanings)

    def _is_exported(self, uses: u.Uses, number: int, name: str) -> bool:
        return any(binding[0] == u.IMPORTED and binding[1] == number for binding in uses.scopes[0].names.get(name, ()))
