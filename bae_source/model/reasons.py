"""The reasons why an answer is not sure, in one table: a name, the sentence that users read, and code that it is for.

    Reason.UNKNOWN_RECEIVER.of()                            what stands before the dot is not known statically
    Reason.OFTEN_REPLACED.of(name="sys.stdin")              sys.stdin is often replaced when code runs

Invariants:
- no module that finds places writes a reason of its own;
- a sentence says in plain words why it is not certain, and reads on behind `unsure: `.
"""

from __future__ import annotations

import re
from enum import Enum, unique

from bae_source.model.reference import Certainty


@unique
class Reason(Enum):
    """One reason.

    Attributes:
        sentence: as users read it, with holes in braces for what differs from place to place.
        example: code for which it is given.
        certainty: that of the places that have it.
    """

    sentence: str
    example: str
    certainty: Certainty

    def __init__(self, sentence: str, example: str, certainty: Certainty = "unsure") -> None:
        self.sentence = sentence
        self.example = example
        self.certainty = certainty

    def of(self, **holes: str) -> str:
        """Return the sentence with its holes filled."""
        return self.sentence.format_map(holes) if holes else self.sentence

    SOLE_FAMILY = (
        "what stands before the dot is not known statically, and no other class in reach has this name",
        "thing.on_decode_error()",
        "probable",
    )
    SOLE_BELOW = (
        "the receiver may be of a class below it that has this one, and no other class in reach has this name",
        "class Mixin: def f(self): self.send()",
        "probable",
    )

    # What a name may stand for.
    UNKNOWN = ("what this refers to is not known statically", "table[key]()")
    NOT_ANALYSED = ("this code is too new, too deep or too broken to be analysed", "def f(:")
    PASSED_BY_NAME = (
        "{decorator}, which decorates its function, may pass it by its name",
        '@click.option("--count") def main(count):',
    )
    ASKS_FOR_FIXTURE = ("pytest gives it a fixture by this name", "def test_one(db):")
    KEYWORDS_BY_STARS = ("the call hands on keywords by **, which may set it", "send(**options)")
    HANDED_TO_A_CALL = ("a call that is given the function may hand this on to it", "run(send, timeout=3)")
    PERHAPS_ANOTHER_CALL = ("the call may be of something else", "thing.send(timeout=3)")
    KEYWORD_OF_ANYTHING = ("a keyword of a call of what is not known statically", "table[key](timeout=3)")
    GENERATED = ("a program writes this file, so it was left", "# @generated")
    SEVERAL = ("{what} may be one of several things", "run = send if fast else wait; run()")
    BOUND_IN_SEVERAL_WAYS = (
        "{name} is bound in several ways, and which of them counts depends on what has run",
        "if fast: from a import send; else: from b import send",
    )
    BOUND_BY_OTHERS = ("{name} is bound by other code too", "config.handler = other")
    BOUND_NOWHERE = ("{name} is bound nowhere that can be seen", "from app import nothing_of_that_name")
    FOUND_WHEN_RUN = (
        "the module that {name} is imported from finds it only when code runs",
        "def __getattr__(name): ...",
    )
    ANOTHER_ROOT = ("{name} may be {what}, seen from another source root", "import core, where there is app/core.py")
    OUTSIDE = ("{name} is defined outside of the project, which does not say what it is", "yaml.loader.send()")
    OFTEN_REPLACED = ("{name} is often replaced when code runs", "sys.stdin.read()")
    OTHER_IMPORTER = ("{name} is bound here, perhaps to another function than Python's", "import_module = find")
    DECLARED_BY_STUB = ("its stub declares it", "class Client: ..., in client.pyi")

    # What stands before a dot.
    UNKNOWN_RECEIVER = ("what stands before the dot is not known statically", "thing.send()")
    SOME_HAVE_IT = (
        "what stands before the dot may be several things, and it is this one for some of them only",
        "(Client() if fast else Server()).send()",
    )
    NOTHING_HAS_IT = (
        "what stands before the dot is bound to nothing that has a {name}",
        "current = None; current.send()",
    )
    DECORATED = (
        "what stands before the dot is what a decorator makes of a function",
        "@task; def run(): ...; run.send()",
    )
    ASKED_BY_ISINSTANCE = (
        "code asks with isinstance for a {owner}, or a class below, before the dot",
        "isinstance(base, Client) and base.send()",
    )
    TYPE_VARIABLE = ("a type variable stands for {owner} or a class below it", "def f(x: T): x.send()")
    FITS_PROTOCOL = ("whatever fits the protocol may stand before the dot, {owner} too", "def f(x: Sender): x.send()")
    MAY_FIT = (
        "its class fits the protocol {owner}, and may be used as one",
        "class Mail: def send(self): ..., where a protocol has send",
    )
    FITS_ANNOTATION = ("the receiver is annotated as {kind}, which {owner} may be", "def f(x: BinaryIO): x.read()")
    KIND_FROM_OUTSIDE = ("the receiver is a {kind}, and {owner} may be one", "def f(x: socket.socket): x.send()")
    CLASS_BELOW = (
        "the receiver may be of a class below it, where {name} is that of {owner}",
        "def f(base: Base): base.send()",
    )
    BOUND_BELOW = ("a class below the receiver's has another {name}", "self.handler.send()")
    TOO_MANY_BELOW = ("one of the many classes below the receiver's may have another {name}", "self.handler.send()")

    # How a receiver's class comes to have something.
    UNKNOWN_BASE = ("a base of the receiver's class is not known, and may define {name}", "class C(unknown.Base): ...")
    OTHER_CLASS_TOO = (
        "another of the receiver's classes gives its instances a {name} too",
        "class C: send = None, where __init__ sets self.send",
    )
    NOT_IN_CLASS = ("the receiver's class has no {name} that its code shows", "Client().undefined()")
    MADE_WHEN_ASKED = (
        "the receiver's class has a __getattr__, which makes attributes on access",
        "proxy.send()",
    )
    MADE_BY_NEW = ("the receiver's class has a __new__, which may give something else", "Pool().send()")
    GETATTRIBUTE = ("{owner} has a __getattribute__, which may give something else", "proxy.send()")
    CLASS_MAKING = ("code that runs when {owner} is made sets or takes away its {name}", "@counting; class C: ...")
    METACLASS_PROPERTY = (
        "the {name} of the receiver's metaclass comes before what the class has",
        "class Meta(type): @property; def family(cls): ...",
    )
    METACLASS = ("{owner} may be the metaclass of the receiver", "Task.register(), where Task has none")
    MADE_BY_METACLASS = (
        "the receiver is a class that its metaclass makes, as {owner} may be",
        "class Meta(type): def __call__(cls): cls.send()",
    )
    KEYWORD_OF_CLASS = ("a keyword of the class's call, which may set this attribute", "Client(timeout=3)")
    KEYWORD_OF_ANY = (
        "a keyword of a function that takes any, which may set this attribute",
        "def made(**options): ...; made(timeout=3)",
    )
    KEYWORD_OF_UNKNOWN = (
        "a keyword of a call of what is not known statically, which may set this attribute",
        "kinds[name](timeout=3)",
    )
    KEYWORD_OF_SEVERAL = (
        "a keyword of one of several calls, of which only some set this attribute",
        "(Client if fast else dict)(timeout=3)",
    )

    # What is called.
    CALLED_BELOW = ("the class that is called may be this one, below the one around", "def made(cls): return cls()")
    MADE_BY_CODE = ("{what} is made by code that names {name}", "partial(send, 1)()")

    # Classes below a class, and their members.
    BASE_UNSURE = ("its base may be below the class, or not", "class D(MaybeBelow): ...")
    BASE_OR_BELOW = ("its base may be the class or one below it", "class Own(type(self)): ...")
    BASE_DECORATED = ("its base is what it decorates", "@extended; class C: ...")
    BASE_GIVEN = ("its base is the parameter {name}, which is given {owner}", "def made(kind): class C(kind): ...")
    NO_STATEMENT = ("{name}() makes a class of it, which has no class statement", 'type("D", (Base,), {})')
    REGISTERED = ("it is registered with its base, and does not inherit from it", "Shape.register(Tri)")
    SET_BY_METHOD = ("a method assigns it to each instance", "def __init__(self): self.send = other")
    SET_WHEN_RUN = ("it is assigned when that code runs", "def patch(): Sub.send = other")
    SET_BELOW = ("it may be assigned to a class below", "def patch(cls): cls.send = other")

    # Fixtures of pytest.
    PLUGIN = ("a plugin may give another fixture of this name, or this one", "def test_one(db): ...")
    PARAMETRIZED = ("parametrize may give it something else", '@pytest.mark.parametrize("db", [1])')

    # Calls of a function that gets another signature.
    ARGUMENTS_DO_NOT_FIT = ("it does not give the arguments that the function takes", "send(1, 2, 3)")
    ARGUMENTS_BY_STAR = ("it hands on arguments by *, which may be for parameters that change", "send(*things)")
    ARGUMENTS_BY_STARS = ("it hands on keywords by **, which may be for parameters that change", "send(**options)")
    COMPLETED_LATER = ("it makes a partial function, which other calls complete", "partial(send, 1)")
    TOO_MANY_ARGUMENTS = ("it gives more arguments than the function will take", "send(1, 2)")
    KEYWORD_NOT_TAKEN = ("it gives a keyword that the function will not take", "send(1, x=2)")
    OUT_OF_ORDER = ("its arguments have effects, and would run in another order", "send(first(), second())")
    BEHIND_A_GAP = (
        "an argument without a keyword would follow a parameter that the call does not give",
        "send(1, mode=2)",
    )
    EFFECT_LOST = ("{argument} would not run any more", "send(1, log())")
    CALLED_OTHERWISE = ("what is called goes by another name, and may be something else", "run = send; run(1)")
    BELOW_HAS_ITS_OWN = (
        "a class below may be called here, whose constructor is another",
        "type(self)(1), where a class below has an __init__",
    )
    HANDED_ON_BY = (
        "{decorator}, which decorates it, may call it with its old arguments",
        "@app.route(...); def f(x): ...",
    )
    CALLED_TOGETHER = (
        "a call of the class reaches it, too, with its old arguments",
        "class A: def __new__(cls, a): ..., where __init__ changes",
    )
    CALLED_BY_PYTHON = ("Python calls it at places that do not name it", "def __call__(self, x): ...")
    HANDED_ON = ("it is handed on here, and may be called with its old arguments", "map(send, items)")
    DECORATES = ("it decorates here, and is called with what it decorates", "@send; def f(): ...")
    RAISED = ("its instance is made here by raise, without arguments", "raise Failure")
    BOUND_TO_ANOTHER = ("it is bound to something else here, which takes the old arguments", "send = other")
    NO_PLACE = ("its signature cannot go along: {why}", "class Below: def send(self, a, b=1): ...")

    # Places that a replacement may not fit.
    IN_F_STRING = ("it stands in an f-string, whose quotes the new code may end", 'f"{send(1)}"')
    BACKSLASH_IN_F_STRING = (
        "an f-string may hold no backslash before Python 3.12",
        'x = "\\n".join(y); send(f"{x}")',
    )
    COUNTS_CALLS = (
        "it counts the calls around it, of which there would be one more",
        "warn(message, stacklevel=2)  # extracted to a function",
    )
    LOST_IN_WITH = (
        "if it raised, and a `with` around it went on all the same, {name} would not have its new value",
        "with may_swallow(): x = 1; run()  # both extracted to a function",
    )
    EVALUATED_EARLIER = (
        "it would be evaluated before {code}, which may make a difference",
        "show(read(), count())  # count() extracted to a variable",
    )
    EVALUATED_ONCE = (
        "it would be evaluated once, when {when}, which may make a difference",
        "connect(default_host())  # default_host() extracted to a constant",
    )
    REPLACEMENT_UNREAD = ("the replacement cannot be read as Python there", "send(1) = 2")
    OUT_OF_PLACE = (
        "with the replacement, an await, yield, return, break or continue stands where none can",
        "def f(): await send(1)",
    )
    ANY_NUMBER = (
        "where the pattern has one thing, a star stands for any number of them",
        "send(*rows)",
    )
    SHARED_LINE = ("it shares its line with other statements, and the replacement has several", "send(1); close()")
    CLAUSE = ("it is an elif, and the replacement is no if", "elif send(1): ...")
    PART_OF_EXPRESSION = ("it is a part of an expression, and the replacement is a statement", "x = send(1)")
    UNTOLD = (
        "annotations stand there that the pattern leaves out, and the replacement would drop them",
        "def send(x: int): ...",
    )
    CODEMOD_FAILED = ("the codemod fails on it: {what}", "raise ValueError(node)")
    UNDECIDED = ("it is not known whether {condition}", "thing.send(1)")

    # Places that a rename or a move cannot change.
    REPLACED_THERE = (
        "it is replaced where its old module goes on to use it",
        'patch("app.core.send"), where app.core calls send',
        "mention",
    )
    REACHED_OTHERWISE = ("it is reached by more than the name of its module here", "(core or other).send(1)")
    TABLE_OF_PACKAGE = ("a table of the package names it, and cannot name it where it goes", '_LAZY = {"core": "."}')
    NOT_CALLED = ("it is not called here", "map(self.send, items)")
    INSTANCE_OR_CLASS = ("this may be an instance or the class", "thing.send(1)")
    INSTANCE_MADE = ("the instance, which the function takes no more, is made here", "Client().send(1)")
    NOT_REWRITTEN = ("it is called in a way that could not be rewritten", "self.send(*self.send(1))")
    ASSIGNED_HERE = ("it is assigned here", "client.send = other")
    NAMED_AS_ATTRIBUTE = ("a string names it as an attribute of its class", 'patch.object(Client, "send")')

    # Places that a value, or the body of a function, cannot or may not take.
    BOUND_ANEW = ("{name}, which the value reads, is bound anew before it is read here", "x = y; y = 2; send(x)")
    EVALUATED_LATER = (
        "it is read when code runs later, and the value may be another by then",
        "x = y.size; return lambda: x",
    )
    EVALUATED_AGAIN = (
        "the value would be evaluated several times, and runs code or makes a new object each time",
        "x = []; send(x, x)",
    )
    EVALUATED_PERHAPS = ("the value runs code, which would run on some ways alone", "x = go(); y and send(x)")
    STATE_MAY_CHANGE = ("code in between may change what the value reads", "x = y.size; y.clear(); send(x)")
    RUNS_BEHIND = (
        "the value runs code, which would run later than code that now follows it",
        "x = go(); wait(); send(x)",
    )
    CAUGHT_HERE = ("an exception that the value raises would be handled here", "x = y[0]; try: send(x)")
    NOT_REACHED = ("it may be read here without being bound there", "if y: x = 1; send(x)")
    CAPTURED = ("{name} means something else here", "def f(y): send(x), where x = y")
    NO_PLAIN_READ = ("it is no read that a value can take the place of", "del x")
    SHOWS_ITSELF = ("an f-string shows its name here", 'f"{x=}"')
    EXPORTED = ("code outside of the project may take it from here", '__all__ = ["send"]')
    NAMED_BY_STRING = ("a string or a keyword names it, by which it may be looked up", 'patch("app.core.send")')
    READS_FRAME = ("{name}() may read it by its name", "def f(): x = 1; return locals()")
    RECEIVER_RUNS = ("what stands before the dot would not be evaluated any more", "made().LIMIT")
    USED_AS_VALUE = ("it is handed on here, and not called", "map(send, items)")
    PRIVATE_ELSEWHERE = ("{name} is private to a class, and another name here", "Client().send(), which has __x")
    NO_IMPORT = ("its module's {name} cannot be had here: {why}", "send(), which reads a global that is rebound")
    HAS_STATEMENTS = ("its body has statements, and the call is a part of an expression", "x = 1 + send()")
    RETURNS_EARLY = ("its body returns before its end, and the call itself is not returned", "x = send()")
    NOT_AWAITED = ("it is a coroutine, which is not awaited here", "task = send()")
    NO_ROOM = ("{name} would need a variable, which cannot be assigned before this code", "x and send(go())")
    GIVEN_BY_STAR = ("it gives arguments by * or **, so it is not seen which", "send(*rows)")
    IN_CLASS = ("names of its body would become those of the class", "class A: send()")
    DEFAULT_KEPT = (
        "the default of {name} is made once, when the function is defined",
        "send(), for def send(rows=[])",
    )
    GIVES_ANOTHER = ("it gives {name} something else than its default", "send(mode=2)")

    # Where its name is written as text.
    BARE_NAME = ("a string with its bare name", 'getattr(x, "send")', "mention")
    DOTTED_NAME = ("a string with its dotted name", 'patch("app.core.send")', "mention")
    LEADING_NAME = ("a string with a dotted name that leads to it", 'patch("app.send")', "mention")
    END_OF_NAME = ("a string with the end of its dotted name", '"core.send"', "mention")
    LABEL = ("a string with the label of a model: its app and its name", '"library.Author"', "mention")
    FIXTURE_NAME = ("a string with the name that pytest knows it by", 'usefixtures("db")', "mention")
    PUT_TOGETHER = ("a name that is put together here may be this one", 'getattr(self, "on_" + name)', "mention")
    SETTINGS = ("it names it in the project's settings", 'run = "app.core:send"', "mention")
    COMMENT = ("a comment speaks of it", "# see core.send", "mention")
    DOCSTRING = ("a docstring speaks of it", '"""Wrap `send`."""', "mention")
    STRING = ("a string speaks of it", 'doc=":meth:`send`"', "mention")
    TEXT = ("a text file speaks of it", "Use `Client.send`.", "mention")
    BYTES = ("bytes hold its name, as pickled objects do that need it", 'b"capp.core\\nClient\\n."', "mention")


CHANGES_THEM = "changes them, too; include, with ADDRESS:LINE, changes single ones."
"""The end of a call that changes places that are unsure."""


def has_word(reason: str) -> bool:
    """Return whether a place that is unsure for a reason may change; one of `**` has no word that could."""
    return not any(_is_sentence_of(each, reason) for each in _UNCHANGEABLE)


def _is_sentence_of(reason: Reason, sentence: str) -> bool:
    """Return whether a sentence is that of a reason, whatever stands in its holes."""
    pieces = [re.escape(each) for each in _HOLE.split(reason.sentence)]
    return re.fullmatch(".+".join(pieces), sentence, re.DOTALL) is not None


_HOLE = re.compile(r"\{\w+\}")
_UNCHANGEABLE = (
    Reason.KEYWORDS_BY_STARS,
    Reason.IN_F_STRING,
    Reason.BACKSLASH_IN_F_STRING,
    Reason.REPLACEMENT_UNREAD,
    Reason.OUT_OF_PLACE,
    Reason.SHARED_LINE,
    Reason.CLAUSE,
    Reason.PART_OF_EXPRESSION,
    Reason.UNTOLD,
    Reason.CODEMOD_FAILED,
    Reason.ARGUMENTS_DO_NOT_FIT,
    Reason.ARGUMENTS_BY_STAR,
    Reason.ARGUMENTS_BY_STARS,
    Reason.COMPLETED_LATER,
    Reason.TOO_MANY_ARGUMENTS,
    Reason.KEYWORD_NOT_TAKEN,
    Reason.OUT_OF_ORDER,
    Reason.BEHIND_A_GAP,
    Reason.MAY_FIT,
    Reason.CALLED_TOGETHER,
    Reason.HANDED_ON_BY,
    Reason.NO_PLACE,
    Reason.CALLED_BY_PYTHON,
    Reason.HANDED_ON,
    Reason.DECORATES,
    Reason.RAISED,
    Reason.BOUND_TO_ANOTHER,
    Reason.BOUND_ANEW,
    Reason.EVALUATED_AGAIN,
    Reason.EVALUATED_PERHAPS,
    Reason.NOT_REACHED,
    Reason.CAPTURED,
    Reason.NO_PLAIN_READ,
    Reason.SHOWS_ITSELF,
    Reason.RECEIVER_RUNS,
    Reason.USED_AS_VALUE,
    Reason.PRIVATE_ELSEWHERE,
    Reason.NO_IMPORT,
    Reason.HAS_STATEMENTS,
    Reason.RETURNS_EARLY,
    Reason.NOT_AWAITED,
    Reason.NO_ROOM,
    Reason.GIVEN_BY_STAR,
    Reason.IN_CLASS,
    Reason.GIVES_ANOTHER,
    Reason.DEFAULT_KEPT,
)


@unique
class Reach(Enum):
    """One reason why something may reach a definition that no code names, as `unused` gives them."""

    PUBLIC = "it is public, and others may install the package"
    OVERRIDDEN = "a class below its own overrides it"
    NAME_USED = "an attribute of its name is used, of something else as it looks"
    NAME_OF_PYTHON = "classes of the standard library have this name, so code outside may ask for it"
    NAME_OF_PACKAGE = "a package that the project imports has this name, and may ask for it"
    CLASS_HANDED_ON = "its class is handed on, and may be asked for all that it has"
    CLASS_ASKS_ITSELF = "its class asks itself for attributes whose names are not known"
    NAMED_BY_TEXT = "{module} names it"
    FIELD = "it may be a field, which the constructor of its class sets"
    CLASS_MADE = "code that runs when its class is made may use it"
    MODULE_LOADED = "no code imports its module, and what loads that may use it"
    MODULE_ASKS_ITSELF = "its module asks itself for all its names"
    MODULE_HANDED_ON = "its module is handed on, and may be asked for all its names"
    MANY_BELOW = "one of the many classes below its own may use it"
    MADE_BELOW = "code that runs when a class below its own is made may use it"
    BASE_BELOW = "{base}, which a class below its own is below, may use it"
    LISTED = "__all__ of its module lists it"
    LET_OUT = "{importer} imports it for others to import"
    LET_OUT_WHOLE = "a package imports all of its module for others to import"
    BASE_FINDS = "{base}, which it is below, may find it"
    UNKNOWN_BASE_FINDS = "a base of it is not known, and may find it"
    KEPT_WHEN_MADE = "code that runs when it is made may keep it"
    SUBCLASSES_ASKED = "the project calls __subclasses__() of classes"
    NAMED_IN_UNREAD = "a file that cannot be looked into has its name"
    NAMED_IN_STRING = "the text of a string has its name"
    NAMED_IN_TEXT = "a text file speaks of it"
    NAMED_BY_STRING = "a string may name it ({why})"

    def of(self, **holes: str) -> str:
        """Return the sentence with its holes filled."""
        return self.value.format_map(holes) if holes else self.value


@unique
class Purpose(Enum):
    """One reason why an import stays that no code reads, as `imports organise` gives them.

    Attributes:
        sentence: as users read it behind `unsure: `, with holes for what differs; empty where the code says plainly
            that the import is meant, so that no reason is needed.
    """

    sentence: str

    MARKED = "", "# noqa: F401"
    TRIED = "", "try: import fast; except ImportError: ..."
    CONDITIONAL = "", "if sys.version_info >= (3, 14): import new"
    AS_ITSELF = "", "from x import y as y"
    ALL_NAMES = "code of the module asks for all its names, or evaluates text", "globals()[name]"
    COMMENT = "a comment may say what it is for", "import app.signals  # registers them"
    DOCTEST = "a doctest of the module reads it", ">>> re.sub(...)"
    STRING = "code in a string of the module may read it", 'timeit("re.sub(...)")'
    ELSEWHERE = "{where} may name it", 'patch("app.core.json")'
    UNREAD = "{where} cannot be looked into and has its name", "from app.core import json, in a notebook"
    FIXTURE = "pytest may give it to a test, or collect it", "from .fixtures import db"
    DATA = "the file lies among the data of tests, which may read it as text", "tests/data/case.py"
    HANDED_ON = (
        "others import from the module what it imports itself, as {where} does",
        "from app.compat import urlparse",
    )
    CONSISTS = "the module consists of imports, so others may import from it", "from .impl import A, with nothing else"
    SETTINGS = "a program reads the names of the module", "from base import DEBUG, in settings.py"
    COMPUTED = "`__all__` of the module is worked out when it runs", "__all__ = [*names()]"
    ACTS = "{module} does something when it is imported{where}", "import app.signals"
    LOADS = "it loads a module that others may need loaded", "import google.cloud.storage"

    def __init__(self, sentence: str, _: str) -> None:
        self.sentence = sentence

    def of(self, **holes: str) -> str:
        """Return the sentence with its holes filled."""
        return self.sentence.format_map(holes) if holes else self.sentence
