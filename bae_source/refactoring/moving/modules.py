"""Importers of a module or a package that gets another name, and what it imports itself.

    import pkg.old                 import pkg.new.old; and `pkg.old.f()` becomes `pkg.new.old.f()`
    from pkg import old            from pkg.new import old
    from pkg import old            from pkg import fresh, and `fresh.f()`; or `fresh as old`, where `fresh` is taken
    from .old import f             from .new.old import f
    from .base import Base         in the module itself: from ..base import Base
    patch("pkg.old.f")             patch("pkg.new.old.f")

Invariants:
- an import keeps its form: by dots or by its whole name, in a function or below `if TYPE_CHECKING`;
- no import binds less than before: where `import pkg.old` was what bound `pkg`, something still does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, structs

from bae_source.errors import Refused, SourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.model.span import Span
from bae_source.project.files.layout import STUB
from bae_source.project.files.unseen import name_at
from bae_source.project.importing.importers import calls_importing
from bae_source.project.importing.lazily_named import in_tables
from bae_source.project.naming.resolve import absolute_name
from bae_source.project.references.meaning.meanings import InFolder, InModule, Meaning
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.search.prose import code_of
from bae_source.project.references.search.references import search_code
from bae_source.refactoring.moving.following import Following
from bae_source.refactoring.moving.settings import renamed_settings
from bae_source.refactoring.moving.symbols import reference
from bae_source.refactoring.planning.plan import Spliced
from bae_source.refactoring.renaming.broken import module_imports, words_left
from bae_source.syntax.importing.doubled import with_joined
from bae_source.syntax.importing.statements import import_statements
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.ast_walk import span_of
from bae_source.syntax.outline.static_values import Loaded
from bae_source.syntax.rewrite.name_tokens import written
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.source import Lines, Source

_FROM = re.compile(r"from(?:[ \t\f]|\\\r?\n)*([.\w][.\w \t]*?)(?:[ \t\f]|\\\r?\n)+import\b")
_CHAIN = re.compile(r"(?<![\w.])((?:[^\W\d]\w*\s*\.\s*)+)$")
_LOADING = re.compile(r"""\w+\s*\(\s*(?:name\s*=\s*)?[rRuU]?["'](\.+)((?:\w+\.)*\w+)["']""")
"""A call that imports a module by its name and dots, from the function's name on."""
_Splice = tuple[Span, str]


class Moved(Struct, frozen=True, kw_only=True):
    """The changes in the importers of moved modules.

    Parameters:
        spliced: what changes in modules that stay where they are.
        contents: the text of moved files that change, by the path that they have now; and settings.
        report: what changes and what stays.
        code: by path, line and column of places that name the module and are code.
        notices: further remarks for the outcome.
    """

    spliced: tuple[Spliced, ...]
    contents: Mapping[str, bytes]
    report: Report
    code: Mapping[str, Sequence[tuple[int, int]]]
    notices: tuple[Notice, ...]


class ModuleMove:
    """A module or a package that gets another name.

    Parameters:
        project: known as a whole.
        old, new: the names.
        paths: where its files go, by the paths that they have now.
        path: of the module's own file; of a package without one its folder.
        stars: the names that a star import of it gives, if it is to give no others.
    """

    def __init__(
        self,
        project: Project,
        old: str,
        new: str,
        paths: Mapping[str, str],
        path: str,
        stars: Sequence[str] | None = None,
    ) -> None:
        self.project = project
        self.workspace = project.workspace
        self.old = old
        self.new = new
        self.paths = paths
        self.stars = stars
        meaning: Meaning = InModule(path) if path.endswith((".py", ".pyi")) else InFolder(path)
        last = old.rpartition(".")[2]
        self.sought = Sought(name=last, word=last, module=old, dotted=old, meanings=frozenset({meaning}))
        self._tables: dict[str, set[int]] = {}
        """By package, the lines on which a table names it by which the package finds names when they are asked for."""
        for place in in_tables(self.workspace, old):
            package, _, line = place.rpartition(":")
            self._tables.setdefault(package, set()).add(int(line))
        self._calls: dict[str, list[tuple[Mentioned, Loaded]]] = {}
        """By file, the calls that import it, or something in it."""
        self._in_strings: dict[str, list[tuple[int, int]]] = {}
        """By file, line and column in bytes of its name in the strings of such calls that change."""
        self._changed: dict[str, int] = {}
        self._left: list[Reference] = []

    def _whole_imports(self, module: ModuleFile) -> Iterator[Spliced]:
        """Yield the changes in a file that does not parse, and stays where it is."""
        try:
            source = Source(self.workspace.content(module.path) or b"")
            spans = tuple(module_imports(source.text, self.old, self.new))
        except SourceError:
            return
        word = self.sought.word
        changed = {span.end - len(word) for span in spans}
        self._left += words_left(self.project, module.path, source, word, changed)
        if spans and module.path not in self.paths:
            self._changed[self._named(module.name)] = len(spans)
            yield Spliced(module=module, splices=tuple((span, self.new) for span in spans))

    def moved(self) -> Moved:
        """Return the changes."""
        matches = search_code(self.project, self.sought, self.workspace.index.naming)
        mentions = dict(matches.files)
        stays = self.stars is not None or self.old.rpartition(".")[0] != self.new.rpartition(".")[0]
        self.following = Following(self.project, self.sought, self.new, mentions, stays_around=stays)
        for each, loaded in calls_importing(self.project, self.sought):
            self._calls.setdefault(each.path, []).append((each, loaded))
        unread = dict(matches.unreadable)
        spliced: list[Spliced] = []
        contents: dict[str, bytes] = {}
        packages = {path for name in self._tables for path in self.workspace.census.find(name)}
        broken = (path for path, error in matches.unreadable if error.code == "syntax_invalid")
        own = (path for path in self.paths if path.endswith((".py", ".pyi")))
        for path in sorted({*mentions, *self._calls, *packages, *self.following.around, *own, *broken}):
            module = self.workspace.census.module(path)
            if module is None:
                continue
            try:
                source = self.workspace.source(module)
                nodes = self._imports(module, source)
            except SourceError as error:
                unread.setdefault(path, error)
                spliced += self._whole_imports(module)
                continue
            splices = list(self._file(module, source, nodes, mentions.get(path, ())))
            if not splices:
                continue
            self._changed[self._named(module.name)] = len(splices)
            if path in self.paths:
                contents[path] = source.encode(splice(source.text, splices))
            else:
                splices = with_joined(source.text, splices, newline=source.newline)
                whole = Span(0, len(source.text))
                spliced.append(Spliced(module=module, splices=tuple(splices), targets=(whole,)))
        contents.update(self._settings())
        left = self._left
        report = Report(
            changed=self._changed,
            unsure=tuple(each for each in left if each.certainty == "unsure"),
            mentions=tuple(each for each in left if each.certainty == "mention"),
            unparsed=tuple((self._at(path), unread[path]) for path in sorted(unread)),
            complete=not unread,
        )
        notices, code = tuple(self.following.public_gone()), code_of(matches.files)
        for path, places in self._in_strings.items():
            code[path] = [*code.get(path, ()), *places]
        return Moved(spliced=tuple(spliced), contents=contents, report=report, code=code, notices=notices)

    def _at(self, path: str) -> str:
        return name_at(self.workspace.census, path)

    def _named(self, dotted: str) -> str:
        """Return the name of a module afterwards."""
        return self.new + dotted[len(self.old) :] if self._is_moved(dotted) else dotted

    def _is_moved(self, dotted: str) -> bool:
        return dotted == self.old or dotted.startswith((f"{self.old}.", f"{self.old}{STUB}"))

    def _imports(self, module: ModuleFile, source: Source) -> Sequence[ast.stmt]:
        """Return the import statements of a file; none of one that is too new or too deep.

        Raises:
            SourceError: it does not parse.
        """
        try:
            uses = self.project.uses(module.path)
            concerned = uses.imports if module.path in self.paths else filter(self._may_be_moved, uses.imports)
            known = {each.line for each in concerned} if uses.whole else None
            return import_statements(source.text, source.lines, known)
        except (SyntaxError, RecursionError, MemoryError, Refused):
            self.workspace.tree(module)
            return ()

    def _may_be_moved(self, imported: u.Imported) -> bool:
        """Return whether an import has the module's name in it; no other leads to it."""
        return self.sought.word in (imported.attribute, *imported.module.split("."))

    def _file(
        self, module: ModuleFile, source: Source, imports: Sequence[ast.stmt], mentions: Sequence[Mentioned]
    ) -> Iterator[_Splice]:
        """Yield the changes in one file."""
        there = ModuleFile(
            name=self._named(module.name), path=module.path, source_root=module.source_root, package=module.package
        )
        local = self.following.has(module.path)
        lines = source.lines
        for node in imports:
            if isinstance(node, ast.ImportFrom):
                yield from self._from(node, lines, source, module, there, local)
            elif isinstance(node, ast.Import):
                yield from self._import(node, source, module, local)
        tables = list(self._in_tables(module, source))
        in_tables = {span.start for span, _ in tables}
        exported = [each for each in self._exported(module.path) if local and each[0].start not in in_tables]
        yield from (*tables, *exported, *self._in_calls(module, source))
        for mentioned in mentions:
            if source.lines.offset(*mentioned.mention[:2]) not in {span.start for span, _ in exported}:
                yield from (each for each in self._mention(mentioned, source, module, local) if each not in tables)

    def _in_calls(self, module: ModuleFile, source: Source) -> Iterator[_Splice]:
        """Yield the changes in `import_module(".old", __package__)`; a name without dots is changed as a string."""
        parts, lines = self.old.split("."), source.lines
        for mentioned, (name, level) in self._calls.get(module.path, ()):
            match = _LOADING.match(source.text, lines.offset(*mentioned.mention[:2]))
            loaded = absolute_name(module, _named_by(name, level))
            if match is None or loaded is None:
                continue
            given = match[2].split(".")
            around = len(loaded) - len(given)
            if around >= len(parts):
                continue  # it is part of the package that the dots begin at
            if mentioned.certainty != "sure":
                self._leave(mentioned, module)
                continue
            inside = ".".join(given[: len(parts) - around])
            end = match.start(2) + len(inside)
            line, word = lines.number(end), end - len(parts[-1])
            column = len(source.text[lines.start(line) : word].encode("utf-8", "surrogatepass"))
            self._in_strings.setdefault(module.path, []).append((line, column))
            is_near = self.new.rpartition(".")[0] == self.old.rpartition(".")[0]
            yield Span(word if is_near else match.start(1), end), self.following.last if is_near else self.new

    def _exported(self, path: str) -> Iterator[_Splice]:
        """Yield the changes in the `__all__` of a file in which the name follows."""
        for start in sorted(self.following.exported.offsets(path)):
            yield Span(start, start + len(self.sought.word)), self.following.last

    def _in_tables(self, module: ModuleFile, source: Source) -> Iterator[_Splice]:
        """Yield the changes in the tables of a package: `".old"` and `"pkg.old"`, and `"old"` for lazy_loader."""
        lead = f"{module.name}."
        below = self.old.removeprefix(lead)
        later = self.new.removeprefix(lead) if self.new.startswith(lead) else ""
        spelled = {self.old: self.new, f".{below}": f".{later}" if later else self.new, below: later}
        names = "|".join(re.escape(each) for each in sorted(spelled, key=len, reverse=True))
        quoted = re.compile(rf"""(?<=["'])({names})(?=(?:\.\w+)*["'])""")
        lines = source.lines
        for number in sorted(self._tables.get(module.name, ())):
            found = list(quoted.finditer(source.text, lines.start(number), lines.end(number)))
            for match in found:
                if spelled[match[1]]:
                    yield Span(*match.span(1)), spelled[match[1]]
            if not all(spelled[match[1]] for match in found) or not found:
                why = Reason.TABLE_OF_PACKAGE.of()
                self._left.append(self.project.definition(module.path, 0, number, "string", "unsure", why))

    def _from(
        self, node: ast.ImportFrom, lines: Lines, source: Source, module: ModuleFile, there: ModuleFile, local: bool
    ) -> Iterator[_Splice]:
        base = absolute_name(module, _imported(node))
        if base is None:
            return
        dotted = ".".join(map(str, base))
        start = lines.offset(node.lineno, node.col_offset)
        moved = [
            alias
            for alias in node.names
            if f"{dotted}.{alias.name}" == self.old and self._is_module(node, alias, module)
        ]
        shown = self._shown(self._named(dotted), node.level, there)
        match = _FROM.match(source.text, start)
        if match is None:
            return
        if not moved and self.following.is_taken_from_one(module.path, _imported(node)):
            taken = (alias for alias in node.names if alias.name == self.sought.word)
            yield from ((span_of(lines, alias), self._taken(alias, local)) for alias in taken)
        if moved and not self._is_moved(dotted):
            yield from self._as_attribute(node, moved[0], lines, source, match, there, local)
        elif shown != re.sub(r"[ \t]", "", match[1]) and (
            self._is_moved(dotted) or (node.level and there.name != module.name)
        ):
            yield Span(match.start(1), match.end(1)), shown
            if self.stars and dotted == self.old and node.names[0].name == "*":
                star = lines.offset(node.names[0].lineno, node.names[0].col_offset)
                yield Span(star, star + 1), ", ".join(self.stars)

    def _is_module(self, node: ast.ImportFrom, alias: ast.alias, module: ModuleFile) -> bool:
        inner = f"{node.module}.{alias.name}" if node.module else alias.name
        files = self.project.names.files(module.path, inner, node.level)
        meaning = next(iter(self.sought.meanings))
        return not isinstance(meaning, InModule) or meaning.path in files

    def _shown(self, dotted: str, level: int, there: ModuleFile) -> str:
        return reference(dotted, there) if level else dotted

    def _as_attribute(
        self,
        node: ast.ImportFrom,
        alias: ast.alias,
        lines: Lines,
        source: Source,
        match: re.Match[str],
        there: ModuleFile,
        local: bool,
    ) -> Iterator[_Splice]:
        """Yield the changes in `from pkg import old`."""
        package = self.new.rpartition(".")[0]
        span, text = span_of(lines, alias), self._taken(alias, local)
        shown = self._shown(package, node.level, there) if package else ""
        same = shown == re.sub(r"[ \t]", "", match[1])
        if same:
            yield span, text
            return
        statement = f"from {shown} import {text}" if package else f"import {text}"
        whole = span_of(lines, node)
        if len(node.names) == 1:
            yield whole, statement
            return
        rest = [each for each in node.names if each is not alias]
        kept = ast.unparse(ast.ImportFrom(module=node.module, names=rest, level=node.level))
        indent = source.text[lines.start(lines.number(whole.start)) : whole.start]
        newline = source.newline
        joined = f"; {statement}" if indent.strip() else f"{newline}{indent}{statement}"
        yield whole, f"{kept}{joined}"

    def _taken(self, alias: ast.alias, local: bool) -> str:
        """Return the imported name afterwards, with `as` where the statement binds another one."""
        last, bound = self.following.last, alias.asname or alias.name
        bound = last if local and bound == self.sought.word else bound
        return last if bound == last and alias.asname is None else f"{last} as {bound}"

    def _import(self, node: ast.Import, source: Source, module: ModuleFile, local: bool) -> Iterator[_Splice]:
        for alias in node.names:
            if not self._is_moved(alias.name):
                continue
            start = source.lines.offset(alias.lineno, alias.col_offset)
            new = self._named(alias.name)
            root, other = alias.name.partition(".")[0], new.partition(".")[0]
            also = ""
            if alias.asname is None and root == self.old:  # the name that it gives goes with the module
                bound = self.new.rpartition(".")[2] if local else root
                also = "" if bound == other else f" as {bound}" if new == self.new else f", {self.new} as {bound}"
            elif alias.asname is None and root != other and self._needs_root(module, root):
                also = f", {root}"
            length = re.compile(r"[\w.]+(?:\s*\.\s*\w+)*").match(source.text, start)
            assert length is not None
            yield Span(start, length.end()), f"{new}{also}"

    def _needs_root(self, module: ModuleFile, root: str) -> bool:
        """Return whether a file uses the top package otherwise than by the name that changes, and binds it so alone."""
        imports = self.workspace.tree(module).outline.imports
        others = (each for each in imports if each.name == root and each.attribute is None and each.top)
        if any(not self._is_moved(each.module) for each in others):
            return False
        uses = self.project.uses(module.path)
        plain = [each for each in uses.mentions.get(root, ()) if each[3] != u.IMPORT]
        chains = len([1 for each in uses.mentions.get(self.sought.word, ()) if each[4] > 0 and each[3] != u.IMPORT])
        return len(plain) > chains

    def _mention(self, mentioned: Mentioned, source: Source, module: ModuleFile, local: bool) -> Iterator[_Splice]:
        start = source.lines.offset(*mentioned.mention[:2])
        kind, receiver = mentioned.mention[3:5]
        if kind == u.IMPORT:
            return
        if kind == u.STRING:
            if source.text.startswith(self.old, start) and not source.text[start + len(self.old) :][:1].isidentifier():
                yield Span(start, start + len(self.old)), self.new
            else:
                self._leave(mentioned, module)
        elif written(source.text, start) != self.sought.word:
            return
        elif mentioned.certainty != "sure" and (local or receiver != u.PLAIN):
            self._leave(mentioned, module)
        elif receiver > 0:
            yield from self._attribute(mentioned, source, module, start)
        elif local:
            yield Span(start, start + len(self.sought.word)), self.following.last
        elif kind != u.EXPORT and any(map(self.following.has, self.following.by_star(module.path))):
            why = mentioned.why or "a star import gives it this name, and cannot give it the new one"
            self._leave_unsure(mentioned, module, why)

    def _attribute(self, mentioned: Mentioned, source: Source, module: ModuleFile, start: int) -> Iterator[_Splice]:
        """Yield the changes where the module is taken from its package, or from a module that hands it out."""
        word = Span(start, start + len(self.sought.word))
        before = _CHAIN.search(source.text, 0, start)
        chain = re.sub(r"\s", "", before[1]) if before else ""
        if before is not None and f"{chain}{self.sought.word}" == self.old:
            yield Span(before.start(1), word.end), self.new
        elif owners := self.following.owners(mentioned.path, mentioned.mention.receiver):
            follow = [self.following.has(each) for each in owners]
            if all(follow):
                yield word, self.following.last
            elif any(follow):
                self._leave_unsure(mentioned, module, "it is called so in one of the modules that this may be")
        elif self.new.rpartition(".")[0] == self.old.rpartition(".")[0]:
            yield word, self.following.last
        else:
            self._leave_unsure(mentioned, module, "it is taken from its package here")

    def _leave_unsure(self, mentioned: Mentioned, module: ModuleFile, why: str) -> None:
        self._leave(structs.replace(mentioned, certainty="unsure", why=why), module)

    def _leave(self, mentioned: Mentioned, module: ModuleFile) -> None:
        self._left.append(self.project.shown(mentioned, self.project.lines(module.path)))

    def _settings(self) -> Mapping[str, bytes]:
        """Return the project's settings with the new name where they had the old one."""
        found = renamed_settings(self.project, [self.sought], {self.old: self.new})
        self._changed |= {f":{path}": count for path, count in found.changed.items()}
        self._left += found.left
        return found.contents


def _imported(node: ast.ImportFrom) -> u.Imported:
    return _named_by(node.module or "", node.level, node.lineno)


def _named_by(module: str, level: int, line: int = 0) -> u.Imported:
    return u.Imported(module=module, level=level, attribute="*", line=line, name="", begins=False)
