"""A change of a signature as a plan's parts: what changes in each file, and the report on all of it.

Invariants:
- a call is rewritten only where it is known which parameter each argument is for;
- a call that means the same with the new signature keeps its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct, structs

from bae_source.errors import RequestError, ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.files.unseen import name_at
from bae_source.project.importing.plan import added_imports
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.calls.keywords import MAKING
from bae_source.project.references.calls.parameters import parameter_family
from bae_source.project.references.classes.family import Family
from bae_source.project.references.classes.fitting import fitting
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, sought_by
from bae_source.refactoring.planning.choice import Choice
from bae_source.refactoring.planning.plan import Spliced
from bae_source.refactoring.renaming.outside import overridden
from bae_source.refactoring.renaming.renaming import passed_by_name
from bae_source.refactoring.signature.decorated import decorator_handing_on
from bae_source.refactoring.signature.documented import Splice, documented, undocumented
from bae_source.refactoring.signature.forwarding import Forwarder, forwarder_at
from bae_source.refactoring.signature.members import Member, family_of_function, members_of_family
from bae_source.refactoring.signature.prose import ShownCall, shown_calls
from bae_source.refactoring.signature.sites import How, Site, Sites, sites_of
from bae_source.refactoring.signature.views import Views, Wanted
from bae_source.syntax.signatures.arguments import Change, Lacking, Left
from bae_source.syntax.signatures.headers import header_splices, led_along
from bae_source.syntax.signatures.signature import Header, Signature, header_at
from bae_source.syntax.text.lexer import end_of_bracket, lex
from bae_source.syntax.text.revision import Revision

_TYPES = re.compile(r":[ \t]*(?:\r?\n[ \t]*)?#[ \t]*type:[ \t]*\(")
_PROMPT = re.compile(r"^[ \t]*\.\.\.[ \t]", re.MULTILINE)


class Changed(Struct, frozen=True, kw_only=True):
    """The outcome of a change of a signature.

    Parameters:
        spliced: what changes in each module.
        report: what changes, what stays, and why.
        members: the definitions that change, as they were, with their new signatures.
        notices: further remarks for the outcome.
    """

    spliced: tuple[Spliced, ...]
    report: Report
    members: tuple[tuple[Member, Signature], ...]
    notices: tuple[Notice, ...]


class SignatureChange:
    """The change of one function's signature, with all that goes along."""

    def __init__(self, project: Project, resolved: Resolved, wanted: Wanted, choice: Choice) -> None:
        self.project = project
        self.resolved = resolved
        self.wanted = wanted
        self.choice = choice
        self.family: Family = family_of_function(project, resolved)
        several = list(members_of_family(project, self.family.symbols))
        self.members = [each for each in several if isinstance(each, Member)]
        self.others = [each for each in several if not isinstance(each, Member)]
        self._edits: dict[str, list[tuple[int, Member | Site | Splice | ShownCall]]] = {}
        self._changed: dict[str, int] = {}
        self._left: list[Reference] = []
        self._probable: list[Reference] = []
        self._asked_about: list[Reference] = []
        self._notices: list[Notice] = []
        self._lacking: dict[str, list[str]] = {}
        self._filled: dict[str, list[str]] = {}
        self._strings: dict[str, tuple[Span, ...]] = {}
        self._forwarders: set[tuple[str, int]] = set()
        self._forwarding: set[tuple[str, int, int]] = set()

    @cached_property
    def target(self) -> Member:
        """The definition that was named; of several with one name the last, which implements the others."""
        definitions = self.resolved.group.members if self.resolved.group else ()
        own = [
            each
            for each in self.members
            if each.module.path == self.resolved.module.path and each.number in definitions
        ]
        return own[-1]

    @cached_property
    def before(self) -> Signature:
        """The signature as it is."""
        return self.target.header.signature

    @property
    def change(self) -> Change:
        """The change as calls of the function itself see it."""
        return self.views.change

    @cached_property
    def views(self) -> Views:
        """The change as each call sees it."""
        word = self.family.sought.name
        return Views(self.project, self.wanted, word, self.members, self.signatures, self.target)

    @cached_property
    def signatures(self) -> dict[int, Signature]:
        """The new signature of each member, by its number among them."""
        found: dict[int, Signature] = {}
        for number, each in enumerate(self.members):
            if each is self.target:
                found[number] = self.wanted.after
                continue
            new = led_along(each.header.signature, self.before, self.wanted.after)
            if isinstance(new, Signature):
                found[number] = new
            else:
                self._leave_definition(each, Reason.NO_PLACE.of(why=new))
        return found

    def result(self) -> Changed:
        """Return the changes.

        Raises:
            RequestError: `invalid_arguments` where calls lack a parameter.
        """
        for number, each in enumerate(self.members):
            if number in self.signatures:
                edits = self._edits.setdefault(each.module.path, [])
                edits.append((each.header.types.start, each))
                found = documented(each, self.signatures[number], self.wanted.documented)
                edits += ((splice.span.start, splice) for splice in found)
        self._notices += self._type_comments()
        self._notices += undocumented(self.target, self.wanted.after, self.wanted.documented)
        unreadable = self._note_calls()
        notices: Sequence[Notice] = ()
        if not self.change.is_compatible:
            self._note_others()
            notices = self._note_prose()
        spliced = tuple(filter(None, map(self._file, sorted(self._edits))))
        self.choice.check_included([*self._asked_about, *self._left])
        self._check_given()
        self._left.sort(key=lambda each: (each.module, each.line, each.column))
        self._probable.sort(key=lambda each: (each.module, each.line, each.column))
        report = Report(
            changed=dict(sorted(self._changed.items())),
            probable=tuple(self._probable),
            unsure=tuple(each for each in self._left if each.certainty != "mention"),
            mentions=tuple(each for each in self._left if each.certainty == "mention"),
            unparsed=tuple((name_at(self.project.workspace.census, path), error) for path, error in unreadable),
            complete=not unreadable and not notices,
        )
        return Changed(
            spliced=spliced,
            report=report,
            members=tuple((self.members[number], new) for number, new in self.signatures.items()),
            notices=tuple(self._notices),
        )

    def _type_comments(self) -> Iterator[Notice]:
        """Yield notices about comments with types of parameters, which stay as they are."""
        for each in self.members:
            text, end = each.tree.text, each.header.end
            if each.header.signature.parameters != self.wanted.after.parameters and _TYPES.match(text, end):
                line = each.tree.source.lines.number(end)
                text = (
                    f"{each.address} has a comment with types of its parameters (line {line}), which was not changed."
                )
                yield Notice("type_comment_left", text)

    def _note_calls(self) -> Sequence[tuple[str, ResourceError]]:
        """Note all places whose calls may have to change; return the files that could not be read."""
        is_harmless = self.change.is_compatible and not self._may_give
        if is_harmless and len(self.members) == 1:
            return ()
        within = sorted({each.module.path for each in self.members}) if is_harmless else None
        sites = sites_of(self.project, self.family, within)
        if is_harmless:
            for each in filter(self.views.is_passing_up, sites.sites):
                self._note_site(each)
            return sites.unreadable
        unreadable = dict(sites.unreadable)
        waiting = list(sites.sites)
        while waiting:
            site = waiting.pop()
            self._note_site(site)
            forwarder = self._forwarder_at(site)
            if forwarder is not None and forwarder.member.place not in self._forwarders:
                self._forwarders.add(forwarder.member.place)
                further = self._further(forwarder)
                unreadable.update(further.unreadable)
                self.views.by_forwarder(further.sites, forwarder)
                waiting += further.sites
        return sorted(unreadable.items())

    def _note_site(self, site: Site) -> None:
        self._edits.setdefault(site.mentioned.path, []).append((max(site.opening, 0), site))

    def _forwarder_at(self, site: Site) -> Forwarder | None:
        """Return the function that hands on to a call all that it is given, if it is none of those that change."""
        if site.opening < 0 or self.views.around(site) is not None:
            return None
        text = self.project.workspace.tree_at(site.mentioned.path).text
        brackets = Span(site.opening, end_of_bracket(text, site.opening))
        change, skipped = self.views.seen_by(site, brackets.cut(text))
        found = forwarder_at(self.project, site, brackets.cut(text), change, skipped)
        if found is not None:
            self._forwarding.add(site.place)
        return found

    def _further(self, forwarder: Forwarder) -> Sites:
        """Return the places that use a function which hands on what it is given."""
        symbol = forwarder.member.symbol
        sought = sought_by(self.project.uses, self.project.address, symbol)
        return sites_of(self.project, Family(sought=sought, symbols=(symbol,)))

    @property
    def _may_give(self) -> bool:
        """True where calls get arguments for what is new."""
        old = self.before.named
        return bool(self.wanted.threaded) or any(
            name in self.wanted.after.named and name not in old for name in self.wanted.given
        )

    def _note_others(self) -> None:
        """Note other places that may go wrong: bindings, and classes and decorators from outside."""
        for symbol, binding in self.others:
            found = self.project.bound(symbol.path, symbol.scope, symbol.name, binding)
            self._left.append(structs.replace(found, certainty="unsure", why=Reason.BOUND_TO_ANOTHER.of()))
        self._left += fitting(self.project, self.family)
        for reason in overridden(self.project, self.family).values():
            self._leave_definition(self.target, reason)
        name = self.target.symbol.name
        if self.target.in_class and name.startswith("__") and name.endswith("__") and name not in MAKING:
            self._leave_definition(self.target, Reason.CALLED_BY_PYTHON.of())
        for member in self.members:
            if decorator := decorator_handing_on(self.project, member):
                self._leave_definition(member, Reason.HANDED_ON_BY.of(decorator=decorator))
        if self.target.in_class and name in MAKING:
            symbols = [Symbol(each.symbol.path, each.symbol.scope, other) for each in self.members for other in MAKING]
            for each in members_of_family(self.project, [each for each in symbols if each.name != name]):
                if isinstance(each, Member):
                    self._leave_definition(each, Reason.CALLED_TOGETHER.of())
        for name in self.before.named:
            if name not in self.wanted.after.named:
                for each in self.members:
                    self._left += self._passed_by_name(each, name)

    def _note_prose(self) -> Sequence[Notice]:
        """Note calls that docstrings, comments and text files show; return what could not be searched."""
        calls, notices = shown_calls(self.project, self.family)
        for each in calls:
            edits = self._edits.setdefault(each.path, []) if each.opening >= 0 else []
            if each.opening >= 0 and not any(isinstance(edit, Splice) and each.opening in edit for _, edit in edits):
                edits.append((each.opening, each))
            else:
                self._left.append(each.reference)
        return notices

    def _edit_doctest(self, revision: Revision, call: ShownCall, newline: str) -> None:
        """Rewrite a call in a doctest, if it is seen what it gives."""
        brackets = Span(call.opening, end_of_bracket(revision.text, call.opening))
        text = brackets.cut(revision.text)
        prompts = set(_PROMPT.findall(text))  # white space of their length takes the places of `...`
        prompt = prompts.pop() if len(prompts) == 1 else ""
        blank = " " * len(prompt)
        found = self.change.rewritten(text.replace(prompt, blank) if prompt else text, self.target.bound, newline)
        if not isinstance(found, str):
            self._left.append(call.reference)
            return
        found = found.replace(f"\n{blank}", f"\n{prompt}") if prompt else found
        if found != text:
            revision.apply([(brackets, found)])
            self._count(call.reference.address)

    def _passed_by_name(self, member: Member, name: str) -> Iterator[Reference]:
        """Yield the places where pytest or an outside decorator may pass a removed parameter by its name."""
        symbol = Symbol(member.symbol.path, member.scope, name)
        if name in member.header.signature.named:
            sought = sought_by(self.project.uses, self.project.address, symbol)
            family = parameter_family(self.project, Family(sought=sought, symbols=(symbol,), is_local=True))
            yield from passed_by_name(self.project, structs.replace(family, symbols=(symbol,)))

    def _leave_definition(self, member: Member, why: str) -> None:
        line = member.tree.source.lines.number(member.header.types.start)
        owner = self.project.uses(member.symbol.path).scopes[member.scope].owner
        found = self.project.definition(member.symbol.path, owner, line, "definition", "unsure", why)
        if found not in self._left:
            self._left.append(found)

    def _file(self, path: str) -> Spliced | None:
        """Return the changes in one file: from its end to its beginning, so that no edit moves a later one."""
        module = self.project.workspace.census.module(path)
        assert module is not None
        first = next((each.tree for _, each in self._edits[path] if isinstance(each, Member)), None)
        try:
            tree = first or self.project.workspace.tree_at(path)
        except ResourceError:
            return None
        revision, newline = Revision(tree.text), tree.source.newline
        for _, each in sorted(self._edits[path], key=lambda edit: edit[0], reverse=True):
            if isinstance(each, Member):
                self._edit_definition(revision, each, newline)
            elif isinstance(each, Splice):
                revision.apply([(each.span, each.new)])
                self._count(each.address)
            elif isinstance(each, ShownCall):
                self._edit_doctest(revision, each, newline)
            else:
                self._edit_call(revision, each, newline)
        splices = revision.splices()
        statements = [each for each in self.wanted.imports if self._needs(path, each)]
        if statements:
            splices = list(added_imports(self.project.workspace, module, tree, splices, statements).splices)
        if not splices:
            return None
        return Spliced(module=module, splices=tuple(splices), targets=(Span(0, len(tree.text)),))

    def _needs(self, path: str, statement: str) -> bool:
        """Return whether what a file's calls are given uses a name that an import binds."""
        names = set(statement.replace(",", " ").replace("(", " ").replace(")", " ").split())
        words = {word for text in self._filled.get(path, ()) for word in _words(text)}
        return not names.isdisjoint(words)

    def _edit_definition(self, revision: Revision, member: Member, newline: str) -> None:
        definition = member.tree.outline.definitions[member.number]
        new = self.signatures[self.members.index(member)]
        header = header_at(revision.text, definition.keyword)
        splices = None if header is None else header_splices(revision.text, header, self._renewed(header, new), newline)
        if splices is None:
            self._leave_definition(member, Reason.NOT_ANALYSED.of())
            return
        if splices:
            self._count(member.address)
        revision.apply(splices)
        self._filled.setdefault(member.module.path, []).extend(new for _, new in splices)

    def _renewed(self, header: Header, new: Signature) -> Signature:
        """Return a signature with the parameters that stay as calls in their defaults have been rewritten."""
        present = header.signature.named
        return structs.replace(
            new,
            parameters=tuple(
                structs.replace(present[each.name], kind=each.kind)
                if each.name in present and any(each.text == other.text for other in self.before.parameters)
                else each
                for each in new.parameters
            ),
        )

    def _count(self, address: str) -> None:
        self._changed[address] = self._changed.get(address, 0) + 1

    def _edit_call(self, revision: Revision, site: Site, newline: str) -> None:
        shown = self._shown(site.mentioned)
        why = self._rewritten(revision, site, newline, shown)
        is_far_off = shown.certainty == "unsure" and (
            site.how is How.HANDED_ON or (self.target.symbol.name in MAKING and not site.makes)
        )  # an attribute of something unknown that is not called, and the constructor of an unknown class
        if why is None or is_far_off:
            return
        is_put_together = shown.why == Reason.PUT_TOGETHER.of()  # and is called, unlike a string that is shown
        if site.how is How.MENTION and not is_put_together:
            if not self.change.is_compatible:
                self._left.append(shown)
            return
        self._left.append(structs.replace(shown, certainty="unsure", why=why or shown.why))

    def _rewritten(self, revision: Revision, site: Site, newline: str, shown: Reference) -> str | None:
        """Rewrite one call; return why it stays as it is, None if it does not have to change or did."""
        if site.opening < 0:
            return self._without_brackets(site)
        brackets = Span(site.opening, end_of_bracket(revision.text, site.opening))
        text = brackets.cut(revision.text)
        if site.place in self._forwarding or self.views.hands_all_on(site, text):
            return None
        change, skipped = self.views.seen_by(site, text)
        found = self._result(change, text, skipped, newline, site, drops=False)
        is_plain = not site.is_other or self.views.is_plain(site)
        is_another = found == Left(Reason.ARGUMENTS_DO_NOT_FIT.of()) and shown.certainty != "sure"
        if found == text or is_another or (site.is_other and self.views.is_completing(site)):
            return None
        is_below = isinstance(found, str) and self.views.is_of_others_below(site, text, found)
        doubt = Reason.BELOW_HAS_ITS_OWN.of() if is_below else ""
        is_wanted = shown.certainty in ("sure", "probable") and is_plain and not doubt
        if isinstance(found, Lacking) and is_wanted:
            self._lacking.setdefault(found.name, []).append(f"{shown.module}:{shown.line}")
            return None
        if not isinstance(found, str) or not is_wanted:
            why = shown.why or doubt or Reason.CALLED_OTHERWISE.of()
            why = found.why if isinstance(found, Left) and is_plain else why
            place = structs.replace(shown, certainty="unsure", why=why)
            self._asked_about.append(place)
            if not self.choice.takes(place):
                return why
            found = self._result(change, text, skipped, newline, site, drops=True)
            if not isinstance(found, str):
                return found.why if isinstance(found, Left) else why
        if set("'\"\\\n#") & (set(found) - set(text)) and self._is_in_string(site):
            return Reason.IN_F_STRING.of()
        revision.apply([(brackets, found)])
        self._count(shown.address)
        self._filled.setdefault(site.mentioned.path, []).append(found)
        if shown.certainty == "probable":
            self._probable.append(shown)
        return None

    def _is_in_string(self, site: Site) -> bool:
        """Return whether a call stands in an f-string, which quotes and line ends would end."""
        path = site.mentioned.path
        if path not in self._strings:
            self._strings[path] = lex(self.project.workspace.tree_at(path).text).strings
        return any(each.start < site.opening < each.end for each in self._strings[path])

    def _result(
        self, change: Change, text: str, skipped: int, newline: str, site: Site, *, drops: bool
    ) -> str | Left | Lacking:
        is_partial = site.how is How.PARTIAL
        return change.rewritten(text, skipped, newline, drops=drops, is_partial=is_partial)

    def _without_brackets(self, site: Site) -> str | None:
        """Return why a place has to be looked at that gives no arguments; None where it means the same as before."""
        if self.change.is_compatible or site.how is How.MENTION:
            return "" if site.how is How.MENTION else None
        if site.how is How.DECORATOR or site.how is How.RAISED:
            text = "(f)" if site.how is How.DECORATOR else "()"
            found = self.change.rewritten(text, int(site.makes), "\n")
            return None if found == text else Reason.DECORATES.of() if site.how is How.DECORATOR else Reason.RAISED.of()
        return Reason.HANDED_ON.of()

    def _shown(self, mentioned: Mentioned) -> Reference:
        return self.project.shown(mentioned, self.project.lines(mentioned.path))

    def _check_given(self) -> None:
        """Check that no call lacks a parameter.

        Raises:
            RequestError: `invalid_arguments`, with the calls.
        """
        gone = [name for name in self.before.named if name not in self.wanted.after.named]
        for name, places in self._lacking.items():
            calls = f"{len(places):,} {'call gives' if len(places) == 1 else 'calls give'}"
            raise RequestError(
                "invalid_arguments",
                f"{name} has no default, and {calls} nothing for it: {listed(sorted(places))}",
                unchanged=True,
                hints=[
                    *(f"renamed {old}={name} says that it is {old} by another name." for old in gone[:1]),
                    f"Set the value they pass with value {name}=EXPRESSION, or give {name} a default.",
                    *([] if self.wanted.threaded else [f"thread {name} has callers take it, too, and pass it on."]),
                ],
            )


def _words(text: str) -> set[str]:
    return set("".join(each if each.isalnum() or each == "_" else " " for each in text).split())
