"""Users of moved definitions, led to their new module in the way in which they named the old one.

    from app.core import send, stop      from app.core import stop
                                         from app.net import send
    from .core import send               from .net import send
    import app.core                      import app.core, and import app.net
    app.core.send()                      app.net.send()
    patch("app.core.send")               patch("app.net.send")

Invariants:
- an import is replaced where it stands: in a function, in a `try`, below `if TYPE_CHECKING`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.model.text import normalised
from bae_source.project.references.meaning.meanings import InModule, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.search.references import search_code
from bae_source.refactoring.moving.symbols import Travelling, is_taken, reference
from bae_source.syntax.importing.merging import imported_items
from bae_source.syntax.importing.removing import remove_imported
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.ast_walk import span_of
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.name_tokens import written
from bae_source.syntax.text.items import take_out
from bae_source.syntax.text.revision import Revision
from bae_source.syntax.text.source import Lines

_MODULE = re.compile(r"from(?:[ \t\f]|\\\r?\n)+([.\w \t]*?[.\w])(?:[ \t\f]|\\\r?\n)+import\b")
_RECEIVER = re.compile(r"(?<![\w.])((?:[^\W\d]\w*\s*\.\s*)+)$")
_NEWLINE = re.compile(r"(?:\r\n|\n|\r)$")
_NAMED_BY = (Reason.DOTTED_NAME.of(), Reason.LEADING_NAME.of())
_PATCHED = re.compile(r"\b(?:patch|setattr)\(\s*[A-Za-z]?[\"']\Z")


class Use(Struct, frozen=True, kw_only=True):
    """The mentions of one moved definition: by file, in the order of their places."""

    files: Mapping[str, Sequence[Mentioned]]
    unreadable: tuple[tuple[str, ResourceError], ...] = ()


class Changed(Struct, frozen=True, kw_only=True):
    """The changes in a file that uses moved definitions.

    Parameters:
        splices: on its text.
        statements: imports that it needs as well.
        places: how many places change.
        left: places that stay though they may mean one.
    """

    splices: tuple[tuple[Span, str], ...]
    statements: tuple[str, ...]
    places: int
    left: tuple[Mentioned, ...]


def sought_of(module: ModuleFile, name: str) -> Sought:
    """Return a definition of a module as it is searched for."""
    return Sought(
        name=name,
        word=name,
        module=module.name,
        dotted=f"{module.name}.{name}",
        meanings=frozenset({Symbol(module.path, 0, name)}),
    )


def uses_of(project: Project, module: ModuleFile, moved: Travelling) -> Use:
    """Return the mentions of a definition that moves."""
    matches = search_code(project, sought_of(module, moved.name), project.workspace.index.naming)
    return Use(files=dict(matches.files), unreadable=matches.unreadable)


class Retargeting:
    """One file that uses what moves.

    Parameters:
        module: of the file.
        origin: from where it moves.
        to: to where.
        names: the new name of each definition by its old one.
        needed: those that the old module goes on to use, so that it imports them.
    """

    def __init__(
        self,
        project: Project,
        tree: Tree,
        module: ModuleFile,
        origin: ModuleFile,
        to: ModuleFile,
        names: Mapping[str, str],
        needed: frozenset[str] = frozenset(),
    ) -> None:
        self.project = project
        self.tree = tree
        self.module = module
        self.origin = origin
        self.to = to
        self.names = names
        self.needed = needed
        self.uses = project.uses(module.path)
        self.statements: list[str] = []
        self.left: list[Mentioned] = []
        self.places = 0
        self._reached: dict[str, list[str]] = {}
        self.needing: dict[int, str] = {}
        """Imports that names need, by their offsets."""
        self.noting: dict[int, str] = {}
        """The same for names in annotations."""

    def changed(self, mentions: Sequence[tuple[str, Mentioned]], gone: Sequence[Span]) -> Changed:
        """Return the changes.

        Parameters:
            mentions: of each definition, by its name.
            gone: spans that leave the file, so that nothing in them counts.
        """
        splices: list[tuple[Span, str]] = []
        imported = False
        for name, mentioned in mentions:
            start = self.tree.source.lines.offset(*mentioned.mention[:2])
            if any(span.start <= start < span.end for span in gone):
                continue
            kind = mentioned.mention.kind
            if kind == u.STRING:
                splices += self._string(name, mentioned, start)
            elif kind == u.IMPORT:
                imported = True
            elif normalised(written(self.tree.text, start)) != name:
                splices += self._in_target(name, mentioned, start)  # another name that an import gives it
            elif mentioned.mention.receiver == u.PLAIN and not self._is_by_star(name, mentioned.mention):
                splices += self._in_target(name, mentioned, start)  # the import of the file is led to the new place
            elif mentioned.certainty not in ("sure", "probable"):
                self.left.append(mentioned)
            elif mentioned.mention.receiver > 0:
                splices += self._attribute(name, mentioned, start)
            else:
                self._import(name, start, is_noted=mentioned.mention.kind == u.ANNOTATION)
        if imported:
            splices += self._imports()
        splices += self._unused()
        return Changed(
            splices=tuple(splices),
            statements=tuple(dict.fromkeys(self.statements)),
            places=self.places,
            left=tuple(self.left),
        )

    def _in_target(self, name: str, mentioned: Mentioned, start: int) -> Iterator[tuple[Span, str]]:
        """Yield the changes in the module that a definition goes to, which imports it no more."""
        shown, mention = written(self.tree.text, start), mentioned.mention
        if self.module.path != self.to.path or mention.receiver != u.PLAIN or mention.kind == u.EXPORT:
            return
        if normalised(shown) != self.names[name]:
            yield Span(start, start + len(shown)), self.names[name]

    def _import(self, name: str, start: int, *, is_noted: bool) -> None:
        """Have the file import a definition by its name."""
        self.places += 1
        new = self.names[name]
        alias = f" as {name}" if new != name else ""
        self.statements.append(f"from {self.to.name} import {new}{alias}")
        (self.noting if is_noted else self.needing)[start] = self.statements[-1]

    def _is_by_star(self, name: str, mention: u.Mention) -> bool:
        """Return whether a name that stands alone comes from the module itself, or by a star."""
        if mention.kind == u.EXPORT:
            return False
        found = self.project.names.scope_of(self.module.path, mention.scope, name)
        return found is None or Symbol(self.module.path, found, name) in self._moved

    @property
    def _moved(self) -> set[Symbol]:
        return {Symbol(self.origin.path, 0, name) for name in self.names}

    def _imports(self) -> Iterator[tuple[Span, str]]:
        """Yield the changes in statements that import definitions from their old module."""
        revision = Revision(self.tree.text)
        if self.module.path == self.to.path:
            self.places += remove_imported(revision, self._is_of_moved)
        else:
            while (step := self._import_step(revision.text)) is not None:
                revision.apply(step)
        yield from revision.splices()

    def _is_of_moved(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
        """Return whether the new module imports a definition, from its old module or from one that passes it on."""
        if not isinstance(node, ast.ImportFrom):
            return False
        files = self.project.names.files(self.module.path, node.module or "", node.level)
        is_direct = self.origin.path in files and alias.name in self.names
        return is_direct or (node.module or "", node.level, alias.name) in self._passed_on

    def _import_step(self, text: str) -> list[tuple[Span, str]] | None:
        lines = Lines(text)
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.ImportFrom):
                continue
            files = self.project.names.files(self.module.path, node.module or "", node.level)
            gone = [number for number, alias in enumerate(node.names) if alias.name in self.names]
            if not gone or self.origin.path not in files:
                continue
            span = span_of(lines, node)
            self.places += len(gone)
            shown = reference(self.to.name, self.module) if node.level else self._as_seen(node.module or "")
            if len(gone) == len(node.names) and all(self.names[alias.name] == alias.name for alias in node.names):
                match = _MODULE.match(text, span.start)
                assert match is not None
                return [(Span(match.start(1), match.end(1)), shown)]
            taken = ", ".join(map(self._alias, (node.names[number] for number in gone)))
            new = f"from {shown} import {taken}"
            if len(gone) == len(node.names):
                return [(span, new)]
            rest = self._without(text, span, node, gone)
            indent = text[lines.start(lines.number(span.start)) : span.start]
            if indent.strip() or text[span.end : lines.end(lines.number(span.end - 1))].strip().startswith(";"):
                return [*rest, (Span(span.end, span.end), f"; {new}")]
            end = lines.end(lines.number(span.end - 1))
            newline = _NEWLINE.search(text, 0, end)
            line = f"{indent}{new}"
            return [*rest, (Span(end, end), f"{line}{newline[0]}" if newline else f"{self.tree.source.newline}{line}")]
        return None

    def _as_seen(self, module: str) -> str:
        """Return the name of the new module for a file that names the old one by a part of its name.

        In `tests/unit/test_a.py` that is `unit.test_b`, since pytest has `tests` on the path.
        """
        if not self.origin.name.endswith(f".{module}"):
            return self.to.name
        return self.to.name.removeprefix(self.origin.name.removesuffix(module))

    @cached_property
    def _passed_on(self) -> set[tuple[str, int, str]]:
        """The imports by which the new module takes definitions from modules that pass them on."""
        imported = self.project.names.imported
        return {
            (each.module, each.level, each.attribute)
            for number, each in enumerate(self.uses.imports)
            if each.attribute not in ("", "*")
            and (found := imported(self.module.path, number))
            and found <= self._moved
        }

    def _alias(self, alias: ast.alias) -> str:
        new, bound = self.names[alias.name], alias.asname or alias.name
        return new if new == bound and alias.asname is None else f"{new} as {bound}"

    def _without(self, text: str, span: Span, node: ast.ImportFrom, gone: Sequence[int]) -> list[tuple[Span, str]]:
        items = imported_items(text, span)
        if items is not None and len(gone) == 1:
            return take_out(text, items, gone[0])
        if items is not None:
            revision = Revision(text)
            end = len(text) - span.end
            for number in reversed(gone):
                now = imported_items(revision.text, Span(span.start, len(revision.text) - end))
                assert now is not None
                revision.apply(take_out(revision.text, now, number))
            return revision.splices()
        kept = [alias for number, alias in enumerate(node.names) if number not in gone]
        return [(span, ast.unparse(ast.ImportFrom(module=node.module, names=kept, level=node.level)))]

    def _attribute(self, name: str, mentioned: Mentioned, start: int) -> Iterator[tuple[Span, str]]:
        """Yield the changes where a definition is taken from its module: `app.core.send`."""
        receivers = self.project.inference.values(self.module.path, mentioned.mention.receiver)
        before = _RECEIVER.search(self.tree.text, 0, start)
        others = {each.path for each in receivers if isinstance(each, InModule)} - {self.origin.path}
        if len(others) == len(receivers) > 0:
            return  # modules that import it, whose imports are led to the new place
        if receivers != frozenset({InModule(self.origin.path)}) or before is None:
            self.left.append(Mentioned(mentioned.path, mentioned.mention, "unsure", Reason.REACHED_OTHERWISE.of()))
            return
        self.places += 1
        if self.module.path == self.to.path:
            yield Span(before.start(1), start + len(name)), self.names[name]
            return
        root = before[1].split(".")[0].strip()
        shown, statement = self._module_here(root)
        self.statements.append(statement)
        self._reached.setdefault(root, []).append(statement)
        yield Span(before.start(1), start + len(name)), f"{shown}.{self.names[name]}"

    def _unused(self) -> Iterator[tuple[Span, str]]:
        """Yield the splices that put an import of the new module in place of an import of the old one that goes."""
        if self.module.package:
            return  # which exposes what it imports
        for node in ast.parse(self.tree.text).body if self._reached else ():
            if not isinstance(node, (ast.Import, ast.ImportFrom)) or len(node.names) != 1:
                continue
            alias = node.names[0]
            root = alias.asname or alias.name.partition(".")[0]
            reached = self._reached.get(root, [])
            plain = [each for each in self.uses.mentions.get(root, ()) if each[4] == u.PLAIN and each[3] != u.IMPORT]
            if not reached or len(plain) != len(reached) or not self._is_of_origin(node, alias):
                continue
            lines = self.tree.source.lines
            if "noqa" in lines.cut(node.end_lineno or node.lineno) or is_taken(self.project, self.module.path, root):
                continue
            self.statements = [each for each in self.statements if each != reached[0]]
            yield span_of(lines, node), reached[0]

    def _is_of_origin(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
        """Return whether an import gives the old module, and its name the file no other one."""
        others = [each for each in self.tree.outline.imports if each.name == (alias.asname or alias.name)]
        module, level = (
            (f"{node.module or ''}.{alias.name}".strip("."), node.level)
            if isinstance(node, ast.ImportFrom)
            else (alias.name, 0)
        )
        return len(others) <= 1 and self.origin.path in self.project.names.files(self.module.path, module, level)

    def _module_here(self, root: str) -> tuple[str, str]:
        """Return how the file names the new module, and the import for it.

        Parameters:
            root: the name by which it reaches the old one.
        """
        imported = next((each for each in self.tree.outline.imports if each.name == root), None)
        package, _, last = self.to.name.rpartition(".")
        free = last not in self.uses.scopes[0].names
        if imported is not None and imported.attribute is not None and package and free:
            shown = reference(package, self.module) if imported.level else package
            if shown.strip(".") or imported.level:
                return last, f"from {shown} import {last}"
        return self.to.name, f"import {self.to.name}"

    def _string(self, name: str, mentioned: Mentioned, start: int) -> Iterator[tuple[Span, str]]:
        """Yield the changes in a string with the dotted name."""
        old = f"{self.origin.name}.{name}"
        text = self.tree.text
        end = start + len(old)
        if name in self.needed and _PATCHED.search(text, 0, start):
            self.left.append(Mentioned(mentioned.path, mentioned.mention, "mention", Reason.REPLACED_THERE.of()))
        elif mentioned.why in _NAMED_BY and text.startswith(old, start) and not text[end : end + 1].isidentifier():
            self.places += 1
            yield Span(start, end), f"{self.to.name}.{self.names[name]}"
        else:
            self.left.append(mentioned)
