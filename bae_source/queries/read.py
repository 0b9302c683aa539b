"""Read source: symbols, their parts, lines, modules; packages and modules as their interface; data files as text."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from msgspec.structs import replace

from bae_source.errors import LookupFailed, SourceError
from bae_source.model.address import is_pattern, is_selector, parse_name
from bae_source.model.call import Call
from bae_source.model.outcome import NOT_SHOWN, Notice, Outcome
from bae_source.model.reference import Shown
from bae_source.model.request import Effect, Request, described
from bae_source.project.naming.finding import find_code, module_named
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.naming.spans import definition_of, span_of
from bae_source.project.workspace import Workspace, etag_of
from bae_source.syntax.outline.definitions import MODULE, Kind
from bae_source.syntax.text.source import Source


class Read(Request, frozen=True, kw_only=True):
    """Read the source of symbols and their parts, of lines of files, a module's interface, or a data file.

    Source comes as it stands, or dedented; its etag makes sure that a later change meets the very same text. Packages
    and modules are read as their outline, unless the full source is asked for. Without a name, the project is listed.
    A name that loops, `with`, `match`, `:=` or a function's `global` bind, and an attribute that a class sets on its
    instances, is read as the list of these statements.
    Of several names, and of patterns as `glob` has them, each is shown below a line with its address, place and etag;
    what cannot be found is named in a warning. A file's path and a line stand for the symbol there, and first and last
    line for these lines: `src/app/net.py:42`, `README.md:10-40`.
    """

    verb: ClassVar[str] = "read"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it before you change something, and for the etag that makes the change safe."
    examples: ClassVar[tuple[str, ...]] = (
        "read app.net.Client.send",
        "read app.net.Client app.net.load 'app.net.get_*'",
        "read src/app/net.py:42",
        "{program} grep retry --names | {program} read -",
        "read app.net.Client.send --dedent > send.py",
        "read app.net --full --numbers",
        "read app.net.Client.send --around",
        "read app:templates/mail.txt",
        "read app.net.Client.send@docstring --json",
    )

    target: Annotated[
        str | tuple[str, ...],
        described(
            "Dotted name such as pkg.mod.Class.method, pkg:data.txt, :README.md; several; patterns such as pkg.*; "
            "lines such as src/pkg/mod.py:42 or README.md:10-40; the project if left out.",
            placed=True,
            metavar="NAME",
        ),
    ] = ""
    full: Annotated[bool, described("Read the whole source of a module, or of a package's __init__.")] = False
    dedent: Annotated[bool, described("Take the symbol's own indentation off.", seldom=True)] = False
    around: Annotated[
        bool,
        described(
            "Put comments above a symbol: its class with the members beside it, the imports and the names of its "
            "module that it uses, and how many callers it has; the etag stays that of the symbol."
        ),
    ] = False
    private: Annotated[bool, described("In an outline, show names that begin with _ too.", seldom=True)] = False
    numbers: Annotated[bool, described("Put line numbers in front; the etag stays that of the plain text.")] = False

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        if isinstance(self.target, str) and not is_pattern(self.target):
            return self._one(workspace, self.target) if self.target else self._outline(workspace)
        from bae_source.project.reading.several import read_several  # most calls are about one name

        names = (self.target,) if isinstance(self.target, str) else self.target
        return read_several(workspace, names, lambda name: self._one(workspace, name))

    def _one(self, workspace: Workspace, name: str) -> Outcome:
        """Answer about one name, or the lines of a file."""
        if is_selector(name):
            from bae_source.project.naming.select import dotted_name  # 2 ms, for selectors alone

            name = dotted_name(workspace, name, verb=self.verb)
        if (name[-1:].isdigit() and ":" in name) or ".py" in name:
            from bae_source.project.reading.lines import range_given, read_lines  # few calls are about lines

            if lines := range_given(workspace, name):
                return read_lines(workspace, lines, lambda each: self._one(workspace, each), numbers=self.numbers)
        if parse_name(name).resource is not None:
            return self._data(workspace, name)
        found = self._found(workspace, name)
        if isinstance(found, Outcome):
            return found
        if isinstance(found, str) or (found.group is None and found.address.part is None and not self.full):
            return self._outline(workspace, found)
        return self._source(workspace, found)

    def _outline(self, workspace: Workspace, found: Resolved | str | None = None) -> Outcome:
        """Outline what was found; the project where nothing was asked for."""
        from bae_source.project.interfaces.listing import (
            Style,  # 5 ms with what follows, which reading a symbol need not pay
        )
        from bae_source.project.interfaces.listings import project_overview
        from bae_source.project.interfaces.overview import of_found

        style = Style(private=self.private, numbers=self.numbers)
        return project_overview(workspace, style) if found is None else of_found(workspace, found, style)

    def _found(self, workspace: Workspace, name: str) -> Resolved | str | Outcome:
        """Return what a name means, or already the text of a module that does not parse."""
        try:
            return resolve(workspace, name) if self.full else find_code(workspace, name)
        except LookupFailed as error:
            if bound := self._bound(workspace, name, error):
                return bound
            raise
        except SourceError as error:
            module = module_named(workspace, name) if self.full else None
            if module is None and error.code == "syntax_invalid":
                return self._broken(workspace, name, error)
            content = workspace.content(module.path) if module else None
            if module is None or content is None or error.code == "encoding_invalid":
                raise
            text = Source(content).text
            shown = self._numbered(text, 1)
            notice = Notice(error.code, error.message)
            return Outcome(status="answer", text=shown, etag=etag_of(text), address=module.name, warnings=(notice,))

    def _bound(self, workspace: Workspace, name: str, error: LookupFailed) -> Outcome | None:
        """List the statements that bind a name which nothing defines, or an attribute of a class's instances."""
        from bae_source.project.naming.bound_names import read_bound  # only once a name has failed
        from bae_source.project.references.meaning.instance_attributes import read_attribute

        return read_bound(workspace, name) or read_attribute(workspace, name, error)

    def _broken(self, workspace: Workspace, name: str, error: SourceError) -> Outcome:
        """Read a symbol of a module that does not parse."""
        from bae_source.project.naming.changeable import resolve_broken  # seldom needed

        found = resolve_broken(workspace, name)
        if found.group is None:
            raise error
        return replace(self._source(workspace, found), warnings=(Notice(error.code, error.message),))

    def _source(self, workspace: Workspace, resolved: Resolved) -> Outcome:
        span = span_of(resolved)
        as_it_stands = span.cut(resolved.tree.text)
        text = as_it_stands
        if self.dedent and resolved.group is not None:
            from bae_source.syntax.rewrite.splice import dedented  # 2 ms

            text = dedented(resolved.tree, span, _indent(resolved, as_it_stands))
        line = resolved.tree.source.lines.number(span.start)
        etag, address = etag_of(as_it_stands), str(resolved.address)
        shown = Shown(module=resolved.module.name, address=address, line=line, kind=_kind(resolved), etag=etag)
        text = self._numbered(text, line)
        actions = [Call("edit", target=address, if_match=etag)] if resolved.group is not None else []
        if self.around and resolved.group is not None:
            from bae_source.project.reading.around import around  # 30 ms, only for requests with it

            comments, users = around(workspace, resolved)
            text = comments + text
            actions.append(users)
        return Outcome(
            status="answer",
            text=text,
            etag=etag,
            address=address,
            found=(shown,),
            next_actions=tuple(actions),
        )

    def _numbered(self, text: str, first: int) -> str:
        """Return lines with their numbers in front, if they are asked for."""
        if not self.numbers:
            return text
        from bae_source.project.reading.numbers import numbered  # few ask for them

        return numbered(text, first)

    def _data(self, workspace: Workspace, name: str) -> Outcome:
        from bae_source.project.data_files import DataFolder, content_of, find_data
        from bae_source.project.interfaces.overview import of_data

        data = find_data(workspace, parse_name(name))
        if isinstance(data, DataFolder):
            return of_data(workspace, data)
        content, address = content_of(workspace, data, full=self.full), str(data)
        if content.text is not None:
            text, etag = self._numbered(content.text, 1), content.digest[:16]
            shown = Shown(module=address, address=address, line=1, kind="data file", etag=etag)
            return Outcome(status="answer", text=text, etag=etag, address=address, found=(shown,))
        notice = Notice(NOT_SHOWN, f"{address} is described, and not shown: {content.reason}.")
        return Outcome(
            status="answer",
            text=f"{address} — {content.described}\n",
            etag=content.digest[:16],
            address=address,
            complete=False,
            warnings=(notice,),
            next_actions=(Call("read", target=address, full=True),) if content.in_full else (),
        )


def _indent(resolved: Resolved, text: str) -> str:
    """Return the white space that indents what was read: its first line's, or the definition's."""
    if resolved.address.part is None:
        return definition_of(resolved).indent
    return text[: len(text) - len(text.lstrip(" \t"))].rpartition("\n")[2]


def _kind(resolved: Resolved) -> str:
    """Return what was read: a module, or a definition by its kind."""
    if resolved.group is None:
        return "module"
    definition = definition_of(resolved)
    outer = resolved.tree.outline.definitions[definition.parent].kind if definition.parent != MODULE else None
    return "method" if definition.kind is Kind.FUNCTION and outer is Kind.CLASS else definition.kind.value
