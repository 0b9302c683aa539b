"""Replace text everywhere: in source, stubs, and every other text file that git does not ignore.

replace oldname newname :docs --word        whole words in the files of a folder
replace 'v(\\d+)' 'version \\1' --regex      with groups of the expression
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, ClassVar

from msgspec.structs import replace as with_fields

from bae_source.errors import Refused, RequestError, ResourceError, TransactionError
from bae_source.model.call import Call, call_of
from bae_source.model.changeset import changeset
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.model.request import Effect, Request, SkipGenerated, described
from bae_source.model.span import Span
from bae_source.model.text import counted, is_text, listed
from bae_source.project.files.second_names import second_names
from bae_source.project.naming.resolve import resolve
from bae_source.project.references.meaning.project import shown
from bae_source.project.search.expression import Expression, expression_of
from bae_source.project.search.matching import Stopped
from bae_source.project.search.replacing import Edits, Found, Text, find_replacements
from bae_source.project.search.scope import Scope, scope_of
from bae_source.project.search.sieve import Sieve
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.generated import GENERATED, generated_among
from bae_source.refactoring.planning.plan import planned_files
from bae_source.refactoring.planning.sound import check_sound
from bae_source.syntax.names.fields import no_code_in
from bae_source.syntax.outline.locate import definition_around, qualname_of
from bae_source.syntax.rewrite.textual import stands
from bae_source.syntax.text.source import NEWLINE, Lines, dominant_newline, kept_uniform, with_newlines

_MOST_FILES = 20
_SHOWN = 60
_MOST_NAMES = 3


class Replace(Request, frozen=True, kw_only=True):
    """Replace text by other text wherever it occurs, in every text file of a scope.

    All is searched that lies below the project's root and that git does not ignore, Python files as text, too; these
    have to parse afterwards if they did before. The text is taken as it is, or as an expression of Python's re, which
    must not match the empty text; a line end in it means that of the file. Where the new text holds the old one and
    stands there already, nothing changes. What is no text and holds it is named. No file gets another name.
    """

    verb: ClassVar[str] = "replace"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it for words in texts, and for text that is no name; rename renames what code defines."
    examples: ClassVar[tuple[str, ...]] = (
        "replace 'Acme Corp' 'Acme Ltd' --expect 12",
        "replace http:// https:// :docs --dry-run",
        r"replace 'v(\d+)' 'version \1' app --regex",
    )

    text: Annotated[str, described("Text to replace; with regex a regular expression, as Python's re has them.")]
    replacement: Annotated[
        str, described(r"The replacement; with regex `\1` and `\g<name>` stand for groups.", placed=True)
    ]
    scope: Annotated[
        str | None,
        described(
            "Name to replace in: a package, module, class or function, or a file or folder such as :docs.", placed=True
        ),
    ] = None
    code: Annotated[
        bool,
        described("Replace in Python code alone: outside of comments and strings; what f-strings compute is code."),
    ] = False
    word: Annotated[bool, described("Replace whole words only.")] = False
    regex: Annotated[bool, described("Take the text as a regular expression.")] = False
    expect: Annotated[
        int | None, described("The expected number of places; with any other number nothing changes.")
    ] = None
    skip_generated: SkipGenerated = False
    time_limit: Annotated[float, described("Seconds after which the search stops.", gt=0, le=3600)] = 10.0

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for no text, or an expression that is none.
            LookupFailed: there is nothing of the scope's name, or several things.
            SourceError: `syntax_invalid` if a file would not parse any more; `encoding_invalid`.
            Refused: `unsafe_change` if there are more or fewer places than expected.
            TransactionError: `timed_out` if searching takes too long.
        """
        expression, new = self._expression(ignore_case=False), self._template()
        scope, found = self._search(workspace, expression, new)
        edits = [(text, chosen) for text, every in found.files if (chosen := self._chosen(text, every))]
        already = sum(len(every) for _, every in found.files) - sum(len(chosen) for _, chosen in edits)
        left, edits = self._without_generated(workspace, edits)
        counts = {text.file.name: len(chosen) for text, chosen in edits}
        self._check_expected(counts)
        report = Report(
            changed=counts,
            unsure=tuple(left),
            unparsed=found.unread,
            complete=scope.complete and not found.unread,
        )
        changes = {text.file.path: text.change(chosen) for text, chosen in edits}
        contents = {
            path: change.apply(text.content) for (text, _), (path, change) in zip(edits, changes.items(), strict=True)
        }
        check_sound(workspace, edits, changes)
        plan = planned_files(
            workspace,
            contents=contents,
            checked=contents.keys(),
            summary=self._summary(counts) if counts else self._nowhere(workspace, left, already),
            changed=tuple(counts),
            warnings=(
                *scope.notices,
                *_binary(found),
                *(self._already(already) if not self.code else ()),
                *(self._near(workspace) if not counts and not left and not already else ()),
                *self._renaming(workspace, edits),
            ),
        )
        return with_fields(plan, changes=changeset(changes.values()), report=report)

    def _expression(self, *, ignore_case: bool) -> Expression:
        if not self.text:
            raise RequestError("invalid_arguments", "The text to replace is empty.", hints=["Give some text."])
        if not (is_text(self.text) and is_text(self.replacement)):
            raise RequestError("invalid_arguments", "The text cannot be written as UTF-8.", hints=["Give it as UTF-8."])
        pattern = self.text if self.regex else re.escape(NEWLINE.sub("\n", self.text))
        return expression_of(pattern, ignore_case=ignore_case, word=self.word, multi_line=True)

    def _template(self) -> str | None:
        """Return the replacement with its groups; None where it is taken as it is."""
        if not self.regex:
            return None
        compiled = self._expression(ignore_case=False).compiled
        try:
            compiled.sub(self.replacement, "")  # which reads the replacement, and finds at most the empty text
        except (re.error, IndexError) as error:
            raise RequestError(
                "invalid_arguments",
                f"The replacement is none of a regular expression: {error}.",
                hints=["Write \\\\ for a backslash; \\1 and \\g<name> stand for groups of the expression."],
            ) from None
        if compiled.search(""):
            raise self._empty()
        return self.replacement

    def _empty(self) -> RequestError:
        return RequestError(
            "invalid_arguments",
            f"{self.text!r} matches the empty text, which stands everywhere; nothing was changed.",
            hints=["Let it match one character at least: x+ instead of x*."],
        )

    def _search(self, workspace: Workspace, expression: Expression, new: str | None) -> tuple[Scope, Found]:
        sieve = Sieve(workspace, expression, seconds=self.time_limit)
        scope = scope_of(workspace, self.scope, stubs=True, data=self._has_data, sieve=sieve)
        if self.code:
            scope = with_fields(scope, files=tuple(file for file in scope.files if file.python))
        try:
            found = find_replacements(workspace, scope, expression, new, sieve)
        except Stopped as error:
            name = error.text.file.name if isinstance(error.text, Text) else "the project"
            raise TransactionError(
                "timed_out",
                f"The search was stopped in {name} after {self.time_limit:g} s",
                unchanged=True,
                hints=["Give a plainer expression, a narrower scope, or more time (time_limit)."],
            ) from None
        if any(not span for _, every in found.files for span, _ in every):
            raise self._empty()
        doubled = second_names(workspace.files, [text.file.path for text, _ in found.files])
        files = tuple(each for each in found.files if each[0].file.path not in doubled)
        return scope, with_fields(found, files=files)

    @property
    def _has_data(self) -> bool:
        return not self.code or (self.scope or "").find(":") >= 0

    def _chosen(self, text: Text, every: Edits) -> Edits:
        """Return the places of a file that change, each with its new text."""
        if self.code:
            every = _in_code(text.text, every)
        if self.regex:
            return [(span, _fitted(text, span, new)) for span, new in every]
        new, chosen = NEWLINE.sub("\n", self.replacement), []
        for span, _ in every:
            taking, old = _fitted(text, span, new), span.cut(text.text)
            if taking != old and not stands(text.text, span.start, old, taking):
                chosen.append((span, taking))
        return chosen

    def _without_generated(
        self, workspace: Workspace, edits: list[tuple[Text, Edits]]
    ) -> tuple[list[Reference], list[tuple[Text, Edits]]]:
        """Return the places that stay since a program writes their file, and the others."""
        if not self.skip_generated:
            return [], edits
        generated = generated_among(workspace, (text.file.path for text, _ in edits))
        left = [place for text, chosen in edits if text.file.path in generated for place in _places(text, chosen)]
        return left, [each for each in edits if each[0].file.path not in generated]

    def _check_expected(self, counts: dict[str, int]) -> None:
        number = sum(counts.values())
        if self.expect is None or number == self.expect:
            return
        if number:
            following = call_of(with_fields(self, expect=number)).and_then("replaces all of them.")
        else:
            as_text: dict[str, Any] = {} if self.regex else {"fixed": True}
            following = Call("grep", pattern=self.text, **as_text, ignore_case=True, then="looks for it.")
        raise Refused(
            "unsafe_change",
            f"{self._shown} stands in {counted(number, 'place')}, and {self.expect:,} were expected: "
            f"{_by_file(counts) or 'nowhere'}",
            unchanged=True,
            hints=[following],
        )

    @property
    def _shown(self) -> str:
        return repr(self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}…")

    def _summary(self, counts: dict[str, int]) -> str:
        places, files = counted(sum(counts.values()), "place"), counted(len(counts), "file")
        return f"Replaced {self._shown} in {places} of {files}: {_by_file(counts)}."

    def _nowhere(self, workspace: Workspace, left: list[Reference], already: int) -> str:
        if already and not self.code:
            return f"{self._shown} is replaced already: {counted(already, 'place')} with the new text."
        if left:
            return f"{self._shown} occurs in generated files alone, which were not changed."
        scope = scope_of(workspace, self.scope, stubs=True, data=self._has_data)
        files = [file for file in scope.files if file.python or not self.code]
        what = "code of " if self.code else ""
        where = f" of {self.scope}" if self.scope else ""
        return f"{self._shown} stands nowhere in {what}{counted(len(files), 'file')}{where}."

    def _already(self, number: int) -> Iterator[Notice]:
        if number:
            text = f"{counted(number, 'place')} {'has' if number == 1 else 'have'} the new text already."
            yield Notice("already_there", text)

    def _near(self, workspace: Workspace) -> Iterator[Notice]:
        """Yield the notice about matches in other letters' case."""
        expression = self._expression(ignore_case=True)
        _, found = self._search(workspace, expression, self.replacement if self.regex else None)
        counts = {text.file.name: len(every) for text, every in found.files}
        if counts:
            places = counted(sum(counts.values()), "place")
            yield Notice("other_case", f"With letters in another case it stands in {places}: {_by_file(counts)}.")

    def _renaming(self, workspace: Workspace, edits: list[tuple[Text, Edits]]) -> Iterator[Notice]:
        """Yield the call that renames the symbol of that name."""
        is_name = all(part.isidentifier() for part in self.text.split("."))
        if self.regex or not is_name or not all(part.isidentifier() for part in self.replacement.split(".")):
            return
        names = [self.text] if "." in self.text else islice(self._defined(workspace, edits), _MOST_NAMES)
        for name in names:
            try:
                address = resolve(workspace, name).address
            except ResourceError:
                continue
            if self.text.rpartition(".")[0] == self.replacement.rpartition(".")[0]:
                call = Call("rename", target=address, new_name=self.replacement.rpartition(".")[2], then="renames it")
            else:
                call = Call("move", target=address, to=self.replacement, then="moves it")
            what = f"{address} is a name of the project; {call} with all that refers to it, and nothing else."
            yield Notice("is_a_name", what)
            return

    def _defined(self, workspace: Workspace, edits: list[tuple[Text, Edits]]) -> Iterator[str]:
        """Yield the addresses that the text may be the name of, those of definitions that change first."""
        yield self.text
        name = rf"(?:async[ \t]+)?(?:def|class)[ \t]+{self.text}\b|(?<![ \t]){self.text}[ \t]*[:=]"
        defined = re.compile(rf"^[ \t]*(?:{name})", re.MULTILINE)
        others = []
        for text, chosen in edits:
            places = {span.start for span, _ in chosen}
            for found in defined.finditer(text.text) if text.file.python else ():
                at = text.text.index(self.text, found.start())
                address = self._definition_at(workspace, text, at) if at in places else None
                if address is not None:
                    yield address
                elif not found[0][0].isspace():
                    others.append(f"{text.file.name}.{self.text}")
        yield from others

    def _definition_at(self, workspace: Workspace, text: Text, offset: int) -> str | None:
        """Return the address of the class or function whose name stands at an offset."""
        module = workspace.census.module(text.file.path)
        try:
            outline = workspace.tree(module).outline if module is not None else None
        except ResourceError:
            return None
        number = definition_around(outline, offset) if outline is not None else None
        if outline is None or number is None or self.text not in outline.definitions[number].names:
            return None
        return f"{text.file.name}.{'.'.join(map(str, qualname_of(outline, number)))}"


def _fitted(text: Text, span: Span, new: str) -> str:
    """Return new text with the line ends of its place."""
    if "\n" not in new:
        return new
    fitting = kept_uniform(new, text.text)
    return fitting if fitting != new else with_newlines(new, dominant_newline(span.cut(text.text)) or text.newline)


def _in_code(text: str, edits: Edits) -> Edits:
    """Return the edits that touch neither comments nor strings."""
    no_code = sorted(span for span in no_code_in(text) if span.start < span.end)
    starts = [span.start for span in no_code]
    found = []
    for span, new in edits:
        before = bisect_left(starts, span.end) - 1
        if before < 0 or no_code[before].end <= span.start:
            found.append((span, new))
    return found


def _places(text: Text, edits: Edits) -> Iterator[Reference]:
    """Yield places that stay in a file that a program writes."""
    lines = Lines(text.text)
    for span, _ in edits:
        place = lines.place(span.start)
        yield Reference(
            module=text.file.name,
            address=text.file.name,
            line=place.line,
            column=place.column,
            kind="text",
            certainty="unsure",
            why=GENERATED,
            text=shown(lines.cut(place.line)),
        )


def _binary(found: Found) -> Iterator[Notice]:
    if found.binary:
        yield Notice("binary_matches", f"No text, and holds it, so it was left: {listed(found.binary)}.")


def _by_file(counts: dict[str, int]) -> str:
    return listed((f"{name} {count}" for name, count in counts.items()), _MOST_FILES)
