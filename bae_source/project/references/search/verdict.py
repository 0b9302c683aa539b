"""The decision whether one mention refers to the target: surely, perhaps, or not.

A name that stands alone is decided by scopes and imports, an attribute by what its receiver may be. Each thing that
the receiver may be gives a hit, a maybe or a no: if all are hits the mention is sure, if all are no it is none.
"""

from __future__ import annotations

import builtins
import collections.abc
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property

from msgspec import Struct

from bae_source.model.reasons import Reason
from bae_source.model.reference import Certainty
from bae_source.project.references.classes.class_order import Order
from bae_source.project.references.classes.metaclasses import METACLASSES, Makers, may_come_before, properties
from bae_source.project.references.meaning.bound_elsewhere import BoundByOthers, joined
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import InFolder, InModule, Meaning, Outside, Symbol
from bae_source.project.references.meaning.sought import ACCESSING, Sought
from bae_source.project.references.search.reaching import Reaching, is_tested
from bae_source.project.references.types.inference import Inference
from bae_source.project.references.types.values import (
    FITTED,
    NEEDED,
    NO_VALUE,
    REPLACED,
    STANDARD,
    Above,
    Class,
    Function,
    Instance,
    Member,
    OfClass,
    OutsideInstance,
    Rebound,
    Value,
    Values,
    in_order,
    is_bound,
    is_exception,
    lacks,
    ordered,
)
from bae_source.syntax.names import uses as u


class Verdict(Struct, frozen=True):
    """The decision about a mention.

    Parameters:
        hit: whether bindings lead to the target, surely or among other things.
        doubts_receiver: whether it only says that the receiver must be something else than it looks.
    """

    certainty: Certainty
    why: str = ""
    hit: bool = False
    doubts_receiver: bool = False


_SURE = Verdict("sure", hit=True)
_NO: Verdict | None = None


class Judge:
    """The judge of mentions.

    Parameters:
        names: looks names up.
        inference: tells what receivers are.
        sought: the target.
        below: finds every class below a class, or None where there are too many to look at; asked only when needed.
        registered: finds what is registered with an abstract class, None for what may be any; likewise.
    """

    def __init__(
        self,
        names: Names,
        inference: Inference,
        sought: Sought,
        below: Callable[[Class], tuple[Class, ...] | None],
        registered: Callable[[Class | str], Collection[Class | None]],
    ) -> None:
        self.below = below
        self.registered = registered
        self.names = names
        self.inference = inference
        self.sought = sought
        self._makers = Makers(inference.orders, sought.classes, lambda: self.family)
        self._reaching = Reaching(inference, sought.meanings, registered)
        self._decided: dict[tuple[Value, str], Verdict | None] = {}
        self.others = BoundByOthers(names, inference.elsewhere)

    @cached_property
    def _is_local(self) -> bool:
        """Return whether the target is a name of functions alone: a parameter, or what they bind for themselves."""
        symbols = [each for each in self.sought.meanings if isinstance(each, Symbol)]
        kinds = {self.names.uses(each.path).scopes[each.scope].kind for each in symbols}
        return bool(symbols) and len(symbols) == len(self.sought.meanings) and kinds == {u.FUNCTION_SCOPE}

    @cached_property
    def family(self) -> tuple[Class, ...] | None:
        """Every class below those that the target is a member of, and these; None where they are too many."""
        owners = sorted(self.sought.classes, key=in_order)
        found = dict.fromkeys(owners)
        for owner in owners:
            below = self.below(owner)
            if below is None:
                return None
            found.update(dict.fromkeys(below))
        return tuple(found)

    def decide(self, path: str, name: str, mention: u.Mention) -> Verdict | None:
        """Return what a mention is; None where it means something else, or is the definition."""
        line, column, scope, kind, receiver, _ = mention
        accessor = self.sought.accessor
        if accessor and (kind not in ACCESSING[accessor] or (receiver == u.PLAIN and kind != u.MENTION)):
            return _NO
        if kind == u.MENTION:
            return Verdict("unsure", Reason.NOT_ANALYSED.of())
        if kind == u.KEYWORD:
            return self._keyword(path, name, receiver)
        if receiver > 0 and kind != u.IMPORT and self._is_local:
            return _NO  # no attribute of anything is a name of a function
        if kind == u.IMPORT:
            if self.sought.is_module and self.names.names_module(path, receiver) & self.sought.meanings:
                return self._hit()  # whatever its name is bound to
            return self._named(self.names.imported(path, receiver), name)
        if receiver == u.PLAIN:
            if kind in (u.WRITE, u.DELETE):
                return self._rebound(path, scope, name, kind)
            return self._named(self.names.named(path, scope, name, line, column), name)
        return self._attribute(path, name, receiver, is_bound=kind in (u.WRITE, u.DELETE))

    def _rebound(self, path: str, scope: int, name: str, kind: int) -> Verdict | None:
        """Decide a name that is bound or deleted: that changes the scope's own name, not the import under it.

        In the scope of the target, an assignment is a definition of it and no reference.
        """
        bound = self.names.scope_of(path, scope, name)
        if bound is None or Symbol(path, bound, name) not in self.sought.meanings:
            return _NO
        here = self.names.uses(path).scopes[scope]
        defines = bound == scope and here.kind in (u.MODULE_SCOPE, u.CLASS_SCOPE) and kind == u.WRITE
        return _NO if defines else self._hit(is_bound=True)

    def _named(self, meanings: Iterable[Meaning], name: str) -> Verdict | None:
        found = frozenset(meanings)
        hits = found & self.sought.meanings
        if hits and found <= self.sought.meanings:
            return self._hit()
        elsewhere = sorted(
            each.name for each in found if isinstance(each, Outside) and self._may_be(each.name, known=bool(hits))
        )
        if elsewhere:
            why = Reason.ANOTHER_ROOT.of(name=elsewhere[0], what=self.sought.dotted)
            return Verdict("unsure", why, hit=bool(hits))
        if hits:
            return Verdict("unsure", Reason.BOUND_IN_SEVERAL_WAYS.of(name=name), hit=True)
        return Verdict("unsure", Reason.FOUND_WHEN_RUN.of(name=name)) if None in found else _NO

    def _hit(self, *, is_bound: bool = False) -> Verdict:
        if self.sought.one_of_several or (self.sought.bound_again and not is_bound):
            return Verdict("unsure", Reason.BOUND_IN_SEVERAL_WAYS.of(name=self.sought.word), hit=True)
        return _SURE

    def _may_be(self, dotted: str, *, known: bool = False) -> bool:
        """Return whether a name from outside may be the target, under a folder that is no source root so far.

        No package is a source root, and what the standard library has comes from there.

        Parameters:
            known: whether the name may mean the target anyway.
        """
        if not self.sought.dotted.endswith(f".{dotted}") or (not known and dotted.partition(".")[0] in STANDARD):
            return False
        return not self.names.census.find(self.sought.dotted[: -len(dotted) - 1])

    def _keyword(self, path: str, name: str, call: int) -> Verdict | None:
        form = self.names.uses(path).expressions[call]
        if form[:1] == (u.PATCHED,):
            return self._attribute(path, name, int(form[1]), is_bound=True)
        from bae_source.project.references.calls.keywords import setting  # most names are no keywords

        why = setting(self.inference, self.sought, path, name, call)
        if why == "":
            return self._hit()
        return Verdict("unsure", why) if why else _NO

    def _attribute(self, path: str, name: str, receiver: int, *, is_bound: bool) -> Verdict | None:
        # def a(x: Client | None): x.send()     own: an instance of Client or of one below it; `of` gives _SURE: sure
        # def b(x: Client | Other): x.send()    of Client _SURE, of Other, whose `send` is its own, _NO: unsure
        # def c(x): x.send()                    own: None, and `of` gives unsure: the receiver is not known
        form = self.names.uses(path).expressions[receiver]
        own, others = self.inference.values(path, receiver), self.others.values_bound(path, form)
        if not others and self._leads_there(own, name):
            return self._hit()
        values = ordered(joined(own, self._having(name, others)) if others else own)
        plain = [each for each in values if not isinstance(each, Rebound)]
        known = [each for each in plain if not lacks(each, name)]
        if plain and not known and (self.sought.classes or NO_VALUE in plain) and self._is_open(path, form):
            return Verdict("unsure", Reason.NOTHING_HAS_IT.of(name=name))
        verdicts = [self.of(value, name) for value in known]
        if not any(verdicts):
            verdicts = [self.of(value, name) for value in plain if is_exception(value)]
        if is_bound or not _is_taken(form):  # what is assigned here, or made at once, is what it is
            verdicts = [_NO if each is not None and each.doubts_receiver else each for each in verdicts]
        if verdicts and all(verdict is _SURE for verdict in verdicts):
            return self._hit()
        unsure = next((verdict for verdict in verdicts if verdict is not None and verdict is not _SURE), None)
        if unsure is None and _SURE in verdicts:
            return Verdict("unsure", Reason.SOME_HAVE_IT.of(), hit=True)
        if unsure is None and self.sought.classes:
            rebound = (each for each in values if isinstance(each, Rebound))
            unsure = next((verdict for each in rebound if (verdict := self._of_rebound(each, name))), None)
        if unsure is None and self.sought.classes and is_tested(self.inference, path, form, lambda: self.family):
            return Verdict("unsure", Reason.ASKED_BY_ISINSTANCE.of(owner=self.owner), hit=True)
        return unsure

    def _leads_there(self, values: Values, name: str) -> bool:
        """Return whether a receiver is one thing, as most are, of which the attribute is the target."""
        if len(values) != 1:
            return False
        [value] = values
        return not isinstance(value, Rebound) and self.of(value, name) is _SURE

    def _having(self, name: str, values: Values) -> Values:
        """Return those of some values that have an attribute, as far as code shows."""
        return frozenset(each for each in values if isinstance(each, Rebound) or not self._is_doubted(each, name))

    def _is_doubted(self, value: Value, name: str) -> bool:
        verdict = self.of(value, name)
        return verdict is not None and verdict.doubts_receiver

    def _is_open(self, path: str, form: u.Expression) -> bool:
        """Return whether a receiver may hold what its binding does not say.

        Other code can bind an attribute, a name of a module or of a class, and an annotation may be wrong.
        """
        if _is_taken(form):
            return True
        number = self.names.scope_of(path, int(form[2]), str(form[1])) if form[:1] == (u.NAME,) else None
        if number is None:
            return False
        scope = self.names.uses(path).scopes[number]
        annotated = (binding.how in (u.PARAMETER, u.ANNOTATED, u.DECLARED) for binding in scope.names[str(form[1])])
        return scope.kind in (u.MODULE_SCOPE, u.CLASS_SCOPE) or any(annotated)

    def _of_rebound(self, rebound: Rebound, name: str) -> Verdict | None:
        """Decide an attribute of the value that a class below the receiver's binds instead."""
        owners, registered = self.below(rebound.below), self.registered(rebound.below)
        if owners is None or None in registered:
            return Verdict("unsure", Reason.TOO_MANY_BELOW.of(name=rebound.name))
        for owner in (*owners, *filter(None, registered)):
            values = ordered(self.inference.bound_below(rebound, owner))
            if any(self.of(value, name) for value in values if not isinstance(value, Rebound)):
                return Verdict("unsure", Reason.BOUND_BELOW.of(name=rebound.name), hit=True)
        return _NO

    def of(self, value: Value, name: str) -> Verdict | None:
        """Decide an attribute of one thing that the receiver may be; most stand before many dots."""
        key = (value, name)
        if key not in self._decided:
            self._decided[key] = self._decide_of(value, name)
        return self._decided[key]

    def _decide_of(self, value: Value, name: str) -> Verdict | None:
        if value is None:
            return Verdict("unsure", Reason.UNKNOWN_RECEIVER.of())
        if isinstance(value, InModule):
            return self._of_module(value, name)
        if isinstance(value, InFolder):
            return self._named(self.names.inside(value, name), name)
        if isinstance(value, Outside):
            return self._of_outside(value, name)
        if isinstance(value, Function):
            return self._of_function(value)
        if not self.sought.classes:
            return self._of_suite(value, name)
        if isinstance(value, OutsideInstance):
            return self._of_outside_instance(value, name)
        return self._of_class(value, name)

    def _of_suite(self, value: Value, name: str) -> Verdict | None:
        """Decide an attribute of a class, or its instance, whose suite may import the target."""
        if not isinstance(value, (Class, Instance, OfClass, Above)):
            return _NO
        members = self.inference.members(value, name)
        meanings = frozenset().union(*(self.names.bound(member.symbol) for member in members))
        return _NO if meanings.isdisjoint(self.sought.meanings) else self._named(meanings, name)

    def _of_function(self, value: Function) -> Verdict | None:
        flags = self.names.uses(value.path).scopes[value.scope].flags
        if self.sought.classes and (u.Flag.WRAPPED in flags or u.Flag.DECORATED in flags):
            return Verdict("unsure", Reason.DECORATED.of())
        return _NO

    def _of_module(self, value: InModule, name: str) -> Verdict | None:
        return self._named(self.names.attribute(value.path, name), name)

    def _of_outside(self, value: Outside, name: str) -> Verdict | None:
        owner, _, last = value.name.rpartition(".")
        if owner == "builtins" and (last == "__class__" or not hasattr(builtins, last)):
            return Verdict("unsure", Reason.BOUND_NOWHERE.of(name=last))
        if self._may_be(f"{value.name}.{name}"):
            return Verdict("unsure", Reason.ANOTHER_ROOT.of(name=value.name, what="a module of the project"))
        if self.sought.classes and owner and owner.partition(".")[0] not in STANDARD:
            return Verdict("unsure", Reason.OUTSIDE.of(name=value.name))
        if self.sought.classes and value.name in REPLACED:
            return Verdict("unsure", Reason.OFTEN_REPLACED.of(name=value.name))
        return _NO

    def _of_outside_instance(self, value: OutsideInstance, name: str) -> Verdict | None:
        module, _, last = value.name.rpartition(".")
        if module in FITTED or last == "PathLike":
            return self._of_fitted(last, name)
        if value.exact:
            return _NO
        if is_exception(value):
            from bae_source.project.references.types.caught import (
                may_be_caught,  # few methods are those of an exception
            )

            if not may_be_caught(self.family, self.inference.orders.of, last):
                return _NO
            return Verdict("unsure", Reason.KIND_FROM_OUTSIDE.of(kind=value.name, owner=self.owner))
        is_built_in = module == "builtins"
        family = self.sought.classes if is_built_in else self.family
        if family is None:
            return Verdict("unsure", Reason.KIND_FROM_OUTSIDE.of(kind=value.name, owner="one of many classes below"))
        for owner in family:
            outside = self.inference.orders.of(owner).outside
            if value.name in outside or (outside and not is_built_in):
                return Verdict("unsure", Reason.KIND_FROM_OUTSIDE.of(kind=value.name, owner=self.owner))
        return _NO

    def _of_fitted(self, kind: str, name: str) -> Verdict | None:
        """Decide an attribute of a receiver whose annotation fits any class with the right methods.

        Code that uses an attribute which the annotation does not promise gets other objects, too.
        """
        needed = NEEDED.get(kind) if hasattr(getattr(collections.abc, kind, None), name) else None
        if needed and self.family is not None and not self._reaching.fits(kind, needed, self.family):
            return _NO
        return Verdict("unsure", Reason.FITS_ANNOTATION.of(kind=kind, owner=self.owner))

    def _of_class(self, value: Value, name: str) -> Verdict | None:
        assert isinstance(value, (Class, Instance, OfClass, Above))
        of = value if isinstance(value, Class) else value.of
        members = self.inference.members(value, name)
        hits = [member for member in members if member.symbol in self.sought.meanings]
        if isinstance(value, Instance) and self.inference.orders.intercepts(of):
            why = Reason.GETATTRIBUTE.of(owner="the receiver's class")
            return Verdict("unsure", why, hit=bool(hits))
        if isinstance(value, (Class, OfClass)) and (first := properties(self.inference.orders, of, name)):
            why = Reason.METACLASS_PROPERTY.of(name=name)
            may_be = may_come_before(self.inference.orders, first, self.sought, exact=self._is_exact(value))
            return Verdict("unsure", why, hit=True) if hits or may_be else _NO
        if hits and not all(member.sure for member in members):
            return self._hidden(name)
        if hits and len(hits) < len(members):
            return Verdict("unsure", Reason.OTHER_CLASS_TOO.of(name=name), hit=True)
        if hits and is_bound(value):
            return Verdict("unsure", Reason.TYPE_VARIABLE.of(owner=self.owner), hit=True)
        is_class = isinstance(value, (Class, OfClass))
        if not hits or not ((is_class or self.others.may_set(name)) and self.inference.orders.is_hooked(of)):
            return _SURE if hits else self._of_another_class(value, of, members, name)
        from bae_source.project.references.classes.class_hooks import (
            why_not,  # most classes are made as they stand there
        )

        why = why_not(self.inference.orders, of, name, hits[0].symbol, of_class=is_class)
        return Verdict("unsure", why, hit=True) if why else _SURE

    def _of_another_class(self, value: Value, of: Class, members: Sequence[Member], name: str) -> Verdict | None:
        """Decide an attribute of a class, or its instance, whose own is not the target."""
        orders = self.inference.orders
        if isinstance(value, Instance) and self._makers.may_make(value):
            return Verdict("unsure", Reason.MADE_BY_METACLASS.of(owner=self.owner), hit=True)
        if orders.is_protocol(of):
            return Verdict("unsure", Reason.FITS_PROTOCOL.of(owner=self.owner))
        if not self._is_exact(value) and self._reached_below(value, of, name):
            why = Reason.CLASS_BELOW.of(name=name, owner=self.owner)
            return Verdict("unsure", why, hit=True)
        order = orders.of(of)
        if not (members and members[0].sure):
            for base in sorted(order.outside):
                if self._may_be(f"{base}.{name}"):
                    return Verdict("unsure", Reason.ANOTHER_ROOT.of(name=base, what="a class of the project"))
        if not members:
            return self._of_missing(value, order, name)
        if isinstance(value, (Class, OfClass)) and orders.are_for_types(members):
            return self._of_metaclass()  # the class has none when code runs
        return _NO if order.whole or members[0].sure else self._hidden(name)

    def _hidden(self, name: str) -> Verdict:
        return Verdict("unsure", Reason.UNKNOWN_BASE.of(name=name))

    def _of_missing(self, value: Value, order: Order, name: str) -> Verdict | None:
        """Decide an attribute that no class above the receiver's is seen to bind, though the code asks for it."""
        if not order.whole:
            return self._hidden(name)
        if isinstance(value, Above) or hasattr(object if isinstance(value, Instance) else type, name):
            return _NO
        if any(self.inference.orders.members(order, making) for making in ("__getattr__", "__getattribute__")):
            return Verdict("unsure", Reason.MADE_WHEN_ASKED.of())
        if not isinstance(value, Instance):
            return self._of_metaclass()
        if order.outside:
            return _NO
        if self.inference.orders.members(order, "__new__"):
            return Verdict("unsure", Reason.MADE_BY_NEW.of())
        if not value.exact and self._is_bound_below(value.of, name):
            return _NO
        return Verdict("unsure", Reason.NOT_IN_CLASS.of(name=name), doubts_receiver=True)

    def _is_bound_below(self, owner: Class, name: str) -> bool:
        """Return whether a class below another binds an attribute, which code that asks for it means then."""
        orders = self.inference.orders
        below = self.below(owner) or ()
        return any(orders.members(orders.of(each), name, of_instance=True) for each in below if each != owner)

    def _of_metaclass(self) -> Verdict | None:
        """Decide an attribute that a class has from elsewhere: its metaclass may be the class that is searched for."""
        outside = (self.inference.orders.of(owner).outside for owner in self.sought.classes)
        if any(not METACLASSES.isdisjoint(names) for names in outside):
            return Verdict("unsure", Reason.METACLASS.of(owner=self.owner))
        return _NO

    def _is_exact(self, value: Value) -> bool:
        return isinstance(value, Class) or (isinstance(value, (Instance, OfClass)) and value.exact)

    def _reached_below(self, value: Value, of: Class, name: str) -> bool:
        """Return whether a class below the receiver's leads to the target."""
        family = self.below(of) if self.family is None else self.family
        return family is None or self._reaching.below(value, of, name, family)

    @property
    def owner(self) -> str:
        """Name of the class that the target is a member of."""
        return self.sought.dotted.rpartition(".")[0].rpartition(".")[2]


def _is_taken(form: u.Expression) -> bool:
    """Return whether a receiver is an attribute, which a class may give otherwise than its suite shows."""
    return form[:1] == (u.ATTRIBUTE,)
