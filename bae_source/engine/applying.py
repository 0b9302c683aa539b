"""Several changes as one: each planned on what the ones before it come to, all of them made or none.

    apply(requests=[{"do": "edit", "target": "app.f", "new_source": "…"}, {"do": "delete", "target": "app.g"}])
    apply(patch="--- a/app.py…")        the same as requests=[{"do": "patch", "patch": "--- a/app.py…"}]

Invariants:
- a request sees the project as the requests before it leave it;
- what comes out is one plan on what is on the disk: one diff, one commit, one undo;
- a request that fails says which of them it is; nothing has been written then;
- a file that does not parse may be mended by several requests: it must be whole in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from bae_source.engine.operations import Composed, Exporting, Operation, changes_of, check_makes
from bae_source.engine.registry import REQUESTS
from bae_source.errors import Refused, RequestError, ResourceError, SourceError
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, Request, as_mapping, described, fits, parameters, parse
from bae_source.model.text import is_text
from bae_source.project.search.short_names import in_full
from bae_source.project.workspace import Workspace
from bae_source.refactoring.patch import Patch, patch_of
from bae_source.refactoring.planning import still_used
from bae_source.refactoring.planning.joining import joined
from bae_source.refactoring.planning.plan import still_broken
from bae_source.syntax.patches.reading import is_patch as begins_so

_MOST = 10_000
_SOURCES = ("new_source", "source", "code")
"""Words by which requests, and the options of the command line, call new source."""


class Apply(Request, frozen=True, kw_only=True):
    """Make several changes in one transaction, all of them or none; or those of a patch.

    Each request is a mapping with the verb as `do`, and the verb's parameters. It sees what the requests before it have
    planned. There is one diff, one check, and one undo for all of them. A patch is a unified diff, such as git makes,
    or the form `*** Begin Patch` that models write; it may make, delete and rename modules and text files. A hunk is
    taken where its old lines stand at one place alone, also with other line numbers, another indentation or other outer
    lines of context, which is said; otherwise all hunks that do not fit are named with what stands there. A patch can
    stand among requests, too: `{"do": "patch", "patch": "…"}`.
    """

    verb: ClassVar[str] = "apply"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it when changes only make sense together: one check and one undo for all of them."
    examples: ClassVar[tuple[str, ...]] = (
        "apply changes.json --dry-run",
        "apply changes.json",
        "make-changes | {program} apply - --json",
        "git diff | {program} apply --patch - --dry-run",
    )

    requests: Annotated[
        tuple[dict[str, Any], ...],
        described('The changes in their order, such as {"do": "edit", "target": …}.', placed=True, max_length=_MOST),
    ] = ()
    patch: Annotated[
        str | None, described("Instead of requests, a unified diff or `*** Begin Patch … *** End Patch`.")
    ] = None
    message: Annotated[str, described("The reason, for the history.")] = ""

    def plan(self, workspace: Workspace) -> Plan:
        """Plan all of them.

        Raises:
            RequestError: what is malformed, all of it at once.
            ResourceError: what the first request that fails raises; it says which one it is.
        """
        if not is_text(self.message):
            raise RequestError("invalid_arguments", "message cannot be encoded.", hints=["Give UTF-8 text."])
        return composed(workspace, operations(self.changes))

    def parsed(self) -> tuple[dict[str, Any], ...]:
        """Return the changes with every parameter, as their own verbs would have them."""
        return tuple(change for each in operations(self.changes) for change in changes_of(each))

    @property
    def changes(self) -> tuple[dict[str, Any], ...]:
        """The changes as requests; a patch is one of them.

        Raises:
            RequestError: `invalid_arguments` unless there are either requests or a patch.
        """
        if bool(self.requests) == (self.patch is not None):
            both = (
                "requests and patch exclude each other" if self.requests else "there are neither requests nor a patch"
            )
            raise RequestError(
                "invalid_arguments",
                f"apply was called wrongly: {both}.",
                hints=['Give one of them; {"do": "patch", "patch": "…"} puts a patch among requests.'],
                details={"missing": [] if self.requests else ["requests"]},
            )
        return self.requests or ({"do": Patch.verb, **as_mapping(patch_of(self.patch or ""))},)

    def export_behind(self) -> Apply | None:
        """Return the request with exports of new modules behind the present imports; None if there are none."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        return _Behind(**given) if self.without_export() else None

    def without_export(self) -> Apply | None:
        """Return the request without exports of new modules; None if there are none."""
        less = tuple({**each, "export": False} if _may_export(each) else each for each in self.changes)
        return Apply(requests=less, message=self.message) if less != self.changes else None


class _Behind(Apply, frozen=True, kw_only=True):
    """The same, with what new modules export behind the imports that are there."""

    def plan(self, workspace: Workspace) -> Plan:
        """Plan all of them."""
        return composed(workspace, [_behind(each) for each in operations(self.changes)])

    def export_behind(self) -> None:
        """Return None: they are there already."""


def _may_export(asked: Mapping[str, Any]) -> bool:
    return bool(asked.get("export", True)) if asked.get("do") == "write" else bool(asked.get("export"))


def _behind(request: Request) -> Request:
    later = request.export_behind() if isinstance(request, Exporting) else None
    return later if isinstance(later, Request) else request


def operations(requests: Sequence[Mapping[str, Any]]) -> tuple[Request, ...]:
    """Return the requests that the mappings of a changes file stand for.

    Raises:
        RequestError: `unknown_operation` or `invalid_arguments`, with every problem of every request.
    """
    changes: list[Request] = []
    errors: list[tuple[int, ResourceError]] = []
    for number, given in enumerate(requests, 1):
        try:
            asked = operation(given)
            steps = asked.steps() if isinstance(asked, Composed) else ()
            changes += operations(steps) if steps else (asked,)
        except RequestError as error:
            errors.append((number, error))
    if errors:
        raise _malformed(errors, len(requests))
    return tuple(changes)


def as_steps(request: Request) -> Request:
    """Return a change as the several that it stands for, if it does; else as it is.

    Raises:
        RequestError: `invalid_arguments`.
    """
    steps = request.steps() if isinstance(request, Composed) else ()
    return Apply(requests=steps) if steps else request


def is_patch(text: str) -> bool:
    """Return whether a text is a patch, by its first line."""
    return begins_so(text)


def operation(given: Mapping[str, Any]) -> Request:
    """Return the request that one mapping stands for.

    Raises:
        RequestError: `unknown_operation` or `invalid_arguments`.
    """
    verb = given.get("do")
    kind = _kind(verb) if isinstance(verb, str) else None
    if kind is None or not issubclass(kind, Operation):
        what = f"{verb!r} is no change" if "do" in given else "do is missing: it names the change"
        raise RequestError("unknown_operation", f"{what}.", hints=[f"There are {', '.join(_changes())}."])
    return parse(kind, _in_own_words(kind, {name: value for name, value in given.items() if name != "do"}))


def _kind(verb: str) -> type[Request] | None:
    """Return the change with a verb; a patch is one only here."""
    if verb == Patch.verb:
        return Patch
    return REQUESTS.named(verb.replace(" ", "_")) if verb != Apply.verb else None


def _in_own_words(kind: type[Request], given: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping with the new source under the request's own name, whichever adapter's name it had.

    A text stands in a list of its own where the request takes a list of texts alone.

    Raises:
        RequestError: `invalid_arguments` where it is there twice.
    """
    given = {name: _as_list(kind, name, value) for name, value in given.items()}
    own = next((each.name for each in parameters(kind) if each.name in _SOURCES), None)
    found = [name for name in given if name in _SOURCES]
    if own is None or found in ([], [own]):
        return given
    if len(found) > 1:
        raise RequestError(
            "invalid_arguments",
            f"{' and '.join(found)} all mean the new source of {kind.verb}.",
            hints=[f"Give {own} alone."],
        )
    return {own if name == found[0] else name: value for name, value in given.items()}


def _as_list(kind: type[Request], name: str, value: Any) -> Any:
    """Return a text in a list of its own where the parameter takes a list of texts and no text."""
    annotation = next((each.annotation for each in parameters(kind) if each.name == name), None)
    single = isinstance(value, str) and annotation is not None and not fits(annotation, value)
    return [value] if single and fits(annotation, [value]) else value


def composed(workspace: Workspace, asked: Sequence[Request]) -> Plan:
    """Plan several operations, one on top of the other, and return what they come to together.

    Raises:
        ResourceError: what the first that fails raises.
    """
    plans: list[Plan] = []
    mended: dict[str, int] = {}  # files that did not parse, by the last request that changes them
    now = workspace
    for number, each in enumerate(asked, 1):
        assert isinstance(each, Operation)
        check_makes(each)
        now.lets_broken_through = number < len(asked)
        now.lets_used_go = len(asked) > 1
        try:
            plan = in_full(now, each)[0].plan(now)
        except ResourceError as error:
            raise _at(error, number, len(asked), each.verb) from error
        plans.append(plan)
        if now.lets_broken_in:
            mended.update((file.path, number) for file in plan.changes.files)
        now = now.after(plan.changes)
    for path, number in mended.items():
        try:
            _check_mended(now, path)
        except SourceError as error:
            raise _at(error, number, len(asked), asked[number - 1].verb) from error
    check_unused(workspace, now, plans)
    return joined(workspace, now, plans)


def check_unused(first: Workspace, last: Workspace, plans: Sequence[Plan]) -> None:
    """Check that nothing uses what was to go unused, as all changes leave the project.

    Raises:
        Refused: `unsafe_change` with the request, and what uses it.
    """
    now = first
    for number, plan in enumerate(plans, 1):
        if plan.unused:
            try:
                still_used.check_unused(now, last, plan)
            except Refused as error:
                raise _at(error, number, len(plans), error.details.get("verb", "delete")) from error
        now = now.after(plan.changes)


def _check_mended(workspace: Workspace, path: str) -> None:
    """Check that a file which earlier requests may have left broken is whole in the end."""
    content, module = workspace.content(path), workspace.layout.module_at(path)
    if content is None or module is None:
        return
    try:
        workspace.kept.trees.get(content)
    except SourceError as error:
        raise still_broken(error, module.name) from None


def _changes() -> list[str]:
    verbs = [kind.verb for kind in REQUESTS if issubclass(kind, Operation) and kind.verb != Apply.verb]
    return [*verbs, Patch.verb]


def _at(error: ResourceError, number: int, count: int, verb: str) -> ResourceError:
    """Return the error with the request in front that it is about."""
    if count == 1:
        return error
    subject = f"Request {number} of {count}, {verb}: {error.subject}".rstrip()
    return error.altered(subject=subject, details={**error.details, "request": number})


def _malformed(errors: Sequence[tuple[int, ResourceError]], count: int) -> ResourceError:
    if len(errors) == 1:
        number, error = errors[0]
        return _at(error, number, count, "malformed")
    message = " ".join(f"Request {number} of {count}: {error.message}" for number, error in errors)
    hints = tuple(dict.fromkeys(hint for _, error in errors for hint in error.hints))
    numbers = [number for number, _ in errors]
    return RequestError("invalid_arguments", message, hints=hints, details={"requests": numbers})
