"""Calls that code outside the project may make, so that an answer without users may be incomplete.

class T(threading.Thread):
    def run(self): …             called by the class that it is below
@app.route("/")
def index(): …                   called by what the decorator gives it to
@register                        where `register` keeps the function; a wrapper calls it for its own callers
def job(): …

Invariants:
- only an answer without users is examined: one user shows already that the definition is used;
- what Python itself makes of a decorator or a base, as `property` or `Exception`, calls nothing by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import structs

from bae_source.model.outcome import Notice, Outcome
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.search.sole import is_standard
from bae_source.project.references.types.values import STANDARD, Function, Value
from bae_source.syntax.names import uses as u

if TYPE_CHECKING:
    from bae_source.project.references.classes.class_calls import Calls

_PASSIVE = frozenset(
    {"abc", "attr", "attrs", "builtins", "collections", "contextlib", "dataclasses", "enum", "functools", "typing",
     "typing_extensions", "types", "warnings"}
)  # fmt: skip
"""Modules whose decorators and classes call only what their users call."""
_BEGINNINGS = (
    "complete_", "depart_", "do_", "export_", "handle_", "help_", "http_error_", "test", "visit_", "smtp_",
)  # fmt: skip
_ENDINGS = ("_open", "_request", "_response")
"""Names that classes of the standard library put together to call what classes below them have."""
_ACCESSORS = ("setter", "getter", "deleter")
_WRAPPING = frozenset({"wraps", "update_wrapper", "partial", "signature", "iscoroutinefunction", "getattr", "hasattr"})
"""Functions that take a callable and hand it to no other code."""


def noting_outside_calls(answer: Outcome, resolved: Resolved, project: Project) -> Outcome:
    """Return an answer without users as one that may lack uses by code outside the project."""
    reason = next(reasons(project, sought_of(project.names, resolved)), None)
    if reason is None:
        return answer
    notice = Notice("called_from_outside", f"Nothing in the project names {resolved.address}, but {reason}.")
    return structs.replace(answer, complete=False, warnings=(*answer.warnings, notice))


def reasons(project: Project, sought: Sought) -> Iterator[str]:
    """Yield why code that is not known may use the target."""
    for symbol in sorted((each for each in sought.meanings if isinstance(each, Symbol)), key=str):
        for how, scope, *_ in project.uses(symbol.path).scopes[symbol.scope].names.get(symbol.name, ()):
            if how in (u.FUNCTION, u.CLASS):
                yield from _decorators(project, symbol.path, scope)
    name = sought.word
    if name.startswith("__"):
        return  # Python calls special methods, and no outside code private ones
    for owner in sorted(sought.classes, key=str):
        order = project.inference.orders.of(owner)
        for each in order.nodes:
            if isinstance(each, Outside) and may_call(each.name, name):
                yield f"{each.name}, which its class is below, may use {name}"
        if not order.whole and None in frozenset[Value]().union(*project.inference.orders.bases(owner)):
            yield f"its class has a base that is not known, which may use {name}"


def may_call(base: str, name: str) -> bool:
    """Return whether a class outside the project may use the member of a name that a class below it has."""
    package, (module, _, last) = base.partition(".")[0], base.rpartition(".")
    if package in _PASSIVE:
        return package in STANDARD and hasattr(getattr(_passive(module), last, None), name)
    if package not in STANDARD:
        return True
    return is_standard(name) or name.startswith(_BEGINNINGS) or name.endswith(_ENDINGS)


def _passive(module: str) -> object:
    """Return a module of the standard library that does nothing when it is imported; None where there is none."""
    try:
        return import_module(module)
    except ImportError:
        return None


def is_passive(name: str) -> bool:
    """Return whether a decorator or a class outside the project makes no calls of its own."""
    return name.partition(".")[0] in _PASSIVE


def _decorators(project: Project, path: str, scope: int) -> Iterator[str]:
    """Yield the uses that decorators may make of a function or class."""
    uses = project.uses(path)
    around, owner = uses.scopes[scope].parent, uses.scopes[scope].owner
    for name, mentions in uses.mentions.items():
        if name == u.NAMELESS:  # what a call gives, which has a name itself
            continue
        own = (each for each in mentions if (each[2], each[3], each[5]) == (around, u.DECORATOR, owner))
        for mention in own:
            if any(_hands_out(project, each) for each in _values(project, path, name, mention)):
                yield f"the decorator {name} is given it, and may hand it out"


def _values(project: Project, path: str, name: str, mention: u.Mention) -> set[Value]:
    """Return the possible values of a decorator."""
    line, column, scope, _, receiver, _ = mention
    inference = project.inference
    if receiver == u.PLAIN:
        meanings = project.names.named(path, scope, name, line, column)
    else:
        before = inference.values(path, receiver)
        if name in _ACCESSORS and all(isinstance(each, Function) for each in before):
            return set()
        meanings = frozenset().union(*(inference.attribute(value, name) for value in before))
    return {
        value
        for each in meanings
        for value in (inference.values_of(each) if isinstance(each, Symbol) else frozenset({each}))
    }


def _hands_out(project: Project, value: Value) -> bool:
    """Return whether a decorator may have its function called without its name."""
    if isinstance(value, Outside):
        return not is_passive(value.name)
    return _keeps(project, value) if isinstance(value, Function) else True


def _keeps(project: Project, decorator: Function) -> bool:
    """Return whether a function of the project, or one inside it, hands a parameter on and does not only call it."""
    path, uses = decorator.path, project.uses(decorator.path)
    inside = {decorator.scope}
    for number, scope in enumerate(uses.scopes):
        if scope.parent in inside:
            inside.add(number)
    from bae_source.project.references.classes.class_calls import Calls  # few decorators are functions of the project

    calls = Calls(project)
    parameters = {
        (number, name)
        for number in inside
        for name, bindings in uses.scopes[number].names.items()
        if bindings[0].how == u.PARAMETER
    }
    for name in {name for _, name in parameters}:
        for mention in uses.mentions.get(name, ()):
            if mention.kind == u.READ and mention.receiver == u.PLAIN and mention.scope in inside:
                bound = project.names.scope_of(path, mention.scope, name)
                if (
                    bound is not None
                    and (bound, name) in parameters
                    and _is_handed_on(project, calls, path, name, mention)
                ):
                    return True
    return False


def _is_handed_on(project: Project, calls: Calls, path: str, name: str, mention: u.Mention) -> bool:
    """Return whether a parameter is given to something, or put somewhere, where it stands."""
    line, column = mention[:2]
    text = project.lines(path).cut(line).encode()
    if text[column + len(name.encode()) :].lstrip().startswith(b"."):
        return False
    call = next(calls.around(Mentioned(path, mention, "sure", "")), None)
    return call.name not in _WRAPPING if call is not None else not text.lstrip().startswith(b"return")
