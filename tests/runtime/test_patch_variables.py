"""Variables that were set at run time go on when something else is patched; what the edit changed begins anew."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from bae_source import Source, TransactionError
from tests.runtime.support import FAILS_HERE, Trial

pytestmark = pytest.mark.sampled

OTHER = "\n\ndef other():\n    return 1\n"


class Loaded:
    """A project with one module, which this process has loaded."""

    def __init__(self, trial: Trial, content: str) -> None:
        trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
        self.file = trial.write("app/a.py", content + OTHER)
        self.module: Any = importlib.import_module("app.a")
        self.source = Source(trial.root, who="tester")

    def edit_other(self) -> None:
        """Change a function that has nothing to do with what is looked at."""
        outcome = self.source.edit("app.a.other", "def other():\n    return 2\n", reload="patch")
        assert (outcome.status, outcome.warnings) == ("applied", ())
        assert self.module.other() == 2

    def become(self, content: str) -> list[str]:
        """Write the whole module anew; return what is said of what was not patched."""
        outcome = self.source.write("app.a", content + OTHER, overwrite=True, reload="patch")
        assert outcome.status == "applied"
        return [notice.message for notice in outcome.warnings if notice.code == "not_patched"]


VARIABLES = """
import dataclasses
import enum

CACHE = None
COUNT = 0
LIMIT: float = -1.5
FIRST, SECOND = "one", ("two", 2)
A = B = None
ROWS = [1, 2]
TABLE = {}
UNTIL = 5


def get():
    global CACHE, COUNT
    CACHE = CACHE or object()
    COUNT += 1
    return CACHE


def fill():
    global LIMIT, FIRST, SECOND, A, B, ROWS, TABLE, UNTIL
    LIMIT, FIRST, SECOND, A, B, UNTIL = 7.5, "me", ("you",), [1], get, None
    ROWS, TABLE = (1, 2, 3), {"k": 1}


class S:
    _inst = None
    __own = None
    count = 0
    mode: str = "slow"

    def __new__(cls):
        cls.count += 1
        if cls._inst is None:
            cls._inst = super().__new__(cls)
            cls.__own = "own"
        return cls._inst

    def own(self):
        return self.__own

    class Inner:
        last = None


class T(S):
    pass


def of_class():
    S.mode = "fast"
    S.Inner.last = S
"""


def test_variables_that_functions_set_go_on_when_another_function_is_patched_and_when_that_is_undone(
    trial: Trial,
) -> None:
    loaded = Loaded(trial, VARIABLES)
    module = loaded.module
    cache, one = module.get(), module.S()
    module.get(), module.fill(), module.of_class(), module.S()
    other = module.T()

    def values() -> list[object]:
        return [
            module.CACHE, module.COUNT, module.LIMIT, module.FIRST, module.SECOND, module.A, module.B, module.ROWS,
            module.TABLE, module.UNTIL, module.S.count, module.S.mode, one.own(), module.S.Inner.last,
        ]  # fmt: skip

    before = values()
    assert before[:5] == [cache, 2, 7.5, "me", ("you",)]
    loaded.edit_other()
    assert values() == before
    loaded.source.undo(reload="patch")
    assert module.other() == 1
    assert values() == before
    assert (module.get() is cache, module.S() is one, module.T() is other) == (True, True, True)
    assert (module.COUNT, module.S.count) == (3, 3)


def test_a_failed_patch_leaves_variables_as_they_were(trial: Trial) -> None:
    loaded = Loaded(trial, VARIABLES)
    module = loaded.module
    cache, one = module.get(), module.S()
    module.fill()
    space, of_class, content = dict(vars(module)), dict(vars(module.S)), loaded.file.read_bytes()
    for new in (f"{VARIABLES}{FAILS_HERE}", VARIABLES.replace("COUNT = 0", "COUNT = 7") + FAILS_HERE):
        with pytest.raises(TransactionError, match="ZeroDivisionError"):
            loaded.become(new)
        assert dict(vars(module)) == space
        assert dict(vars(module.S)) == of_class
        assert loaded.file.read_bytes() == content
    assert (module.get() is cache, module.S() is one) == (True, True)


def test_a_patch_that_is_taken_back_later_leaves_variables_as_they_were(trial: Trial) -> None:
    loaded = Loaded(trial, VARIABLES)
    module = loaded.module
    module.get(), module.fill()
    one, other, content = module.S(), module.T(), loaded.file.read_bytes()
    spaces = [dict(vars(each)) for each in (module, module.S, module.T)]
    with pytest.raises(TransactionError):
        loaded.source.edit("app.a.other", old="1", new="2", reload="patch", verify=["command false"])
    assert [dict(vars(each)) for each in (module, module.S, module.T)] == spaces
    assert (module.S() is one, module.T() is other) == (True, True)
    assert loaded.file.read_bytes() == content


HANDING = "x = []\ndef hand(): return x\nhands = hand()"

# What the source says before and after, of `x` in the module and in a class; what is there then, where "set" was.
BEGINNINGS = {
    "the same": ("x = None", "x = None", "set"),
    "written otherwise": ("x = 1_024", "x = 1 << 10", "set"),
    "in a branch": ("if int:\n    x = None", "if int:\n    x = None", "set"),
    "behind a loop": ("for i in ():\n    pass\nx = 0", "for i in ():\n    pass\nx = 0", "set"),
    "with another annotation": ("x: int = 0", "x: str = 0", "set"),
    "beside another": ("x, y = 0, 1", "x, y = 0, 2", "set"),
    "another constant": ("x = 0", "x = 1", 1),
    "another kind of number": ("x = 0", "x = False", False),
    "another sign": ("x = 0.0", "x = -0.0", -0.0),
    "another part": ("x = (1, 2)", "x = (1, 3)", (1, 3)),
    "another element": ("x = [1]", "x = [2]", [2]),
    "a call": ("x = int()", "x = int()", 0),
    "a name": ("y = 0\nx = y", "y = 0\nx = y", 0),
    "an element that is a name": ("y = 0\nx = (y, 1)", "y = 0\nx = (y, 1)", (0, 1)),
    "a condition": ("x = 1 if int else 2", "x = 1 if int else 2", 1),
    "a choice": ("y = 0\nx = y or 2", "y = 0\nx = y or 2", 2),
    "computed before": ("x = int()", "x = 0", 0),
    "bound twice": ("x = 0\nx = 1", "x = 0\nx = 1", 1),
    "counted on": ("x = 0\nx += 1", "x = 0\nx += 1", 1),
    "one of two branches": ("if int: x = 0\nelse: x = 1", "if int: x = 0\nelse: x = 1", 0),
    "in a loop": ("for x in (1, 2): pass", "for x in (1, 2): pass", 2),
    "caught": (
        "try:\n    import no_such as x\nexcept ImportError:\n    x = None",
        "try:\n    import no_such as x\nexcept ImportError:\n    x = None",
        None,
    ),
    "not any more": ("x = 0", "y = 0", "nothing"),
    "what others have too": ("x = []\ny = x", "x = []\ny = x", []),
    "what others have through a function": (HANDING, HANDING, []),
}


@pytest.mark.parametrize(("before", "after", "expected"), BEGINNINGS.values(), ids=BEGINNINGS)
def test_a_variable_goes_on_only_if_both_sources_begin_it_with_the_same_constant(
    trial: Trial, before: str, after: str, expected: object
) -> None:
    def content(text: str) -> str:
        body = text.replace("\n", "\n    ")
        return f"{text}\n\n\nclass A:\n    {body}\n\n\ndef use():\n    global x\n    x = A.x = 'set'\n"

    loaded = Loaded(trial, content(before))
    module = loaded.module
    module.use()
    assert loaded.become(content(after) + "\n\ndef more():\n    return 1\n") == []
    for found in (getattr(module, "x", "nothing"), getattr(module.A, "x", "nothing")):
        assert (repr(found), type(found)) == (repr(expected), type(expected))


def test_names_that_python_gives_a_meaning_enums_and_fields_begin_as_the_source_says(trial: Trial) -> None:
    content = (
        "import dataclasses\nimport enum\n\n__version__ = '1'\n__all__ = ('D',)\n\n\n"
        "@dataclasses.dataclass\nclass D:\n    __mark__ = 1\n    x: int = 1\n    y = 1\n\n\n"
        "class E(enum.Enum):\n    RED = 1\n"
    )
    loaded = Loaded(trial, content)
    module, red = loaded.module, loaded.module.E.RED
    module.__version__, module.__all__, module.D.__mark__, module.D.x, module.D.y = "2", (), 2, 2, 2
    loaded.edit_other()
    assert (module.__version__, module.__all__, module.D.__mark__, module.D.x) == ("1", ("D",), 1, 1)
    assert (module.D.y, module.E.RED) == (2, red)


LOADING = """
COUNT = 0
READY = False


def reg(f):
    global COUNT
    COUNT += 1
    return f


def _set(value):
    global READY
    READY = value


def setup(value):
    _set(value)


class Tagged:
    tag = None


def mark(cls):
    cls.tag = cls.extra = 1
    return cls


@reg
def one():
    return 1


setup(True)
mark(Tagged)
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("return f", "return (f)", (1, True, 1, 1)),
        ("@reg\n", "@reg\ndef two():\n    return 2\n\n\n@reg\n", (2, True, 1, 1)),
        ("@reg\n", "", (0, True, 1, 1)),
        ("setup(True)", "", (1, False, 1, 1)),
        ("    _set(value)", "    return value", (1, False, 1, 1)),
        ("    READY = value", "    READY = READY and value", (1, False, 1, 1)),
        ("mark(Tagged)", "", (1, True, None, None)),
        ("cls.tag = cls.extra = 1", "cls.tag = 2", (1, True, 2, None)),
    ],
)
def test_what_loading_sets_is_what_a_fresh_import_of_the_new_source_sets(
    trial: Trial, old: str, new: str, expected: tuple[object, ...]
) -> None:
    loaded = Loaded(trial, LOADING)
    module = loaded.module
    assert loaded.become(LOADING.replace(old, new)) == []
    found = (module.COUNT, module.READY, module.Tagged.tag, getattr(module.Tagged, "extra", None))
    assert found == expected
    assert loaded.become(LOADING) == []
    assert (module.COUNT, module.READY, module.Tagged.tag, module.Tagged.extra) == (1, True, 1, 1)


def test_what_classes_are_given_when_they_are_made_goes_with_its_source(trial: Trial) -> None:
    content = (
        "class Base:\n    def __init_subclass__(cls):\n        cls.more = 1\n\n\n"
        "class T(Base):\n    pass\n\n\nclass U(T):\n    pass\n"
    )
    loaded = Loaded(trial, content)
    assert loaded.become(content.replace("cls.more = 1", "pass")) == []
    assert not hasattr(loaded.module.T, "more")
    assert not hasattr(loaded.module.U, "more")


def test_what_a_script_alone_runs_does_not_count_as_loading(trial: Trial) -> None:
    content = (
        "COUNT = 0\n\n\ndef step():\n    global COUNT\n    COUNT += 1\n    return 1\n\n\n"
        'if __name__ == "__main__":\n    step()\n'
    )
    loaded = Loaded(trial, content)
    loaded.module.step()
    assert loaded.become(content.replace("return 1", "return 2").replace("    step()", "    print(step())")) == []
    assert (loaded.module.step(), loaded.module.COUNT) == (2, 2)


def test_the_new_source_finds_what_it_binds_itself(trial: Trial) -> None:
    content = (
        "DEBUG = False\nLEVEL = 2 if DEBUG else 1\n\n\ndef switch():\n    global DEBUG\n    DEBUG = True\n\n\n"
        "class S:\n    _inst = None\n\n    def __new__(cls):\n        cls._inst = cls._inst or super().__new__(cls)\n"
        "        return cls._inst\n\n\nDEFAULT = S()\n"
    )
    loaded = Loaded(trial, content)
    module = loaded.module
    module.switch()
    loaded.edit_other()
    assert (module.DEBUG, module.LEVEL) == (True, 1)
    assert module.S() is module.DEFAULT


HOLDING = """
HELD = None


def hold(value):
    global HELD
    HELD = A.held = value


class A:
    held = None
    {}


class B:
    {}


def f():
    return 1


def make(n):
    {}

    def inner():
        return {}

    return inner


{}
"""


@pytest.mark.parametrize(
    ("value", "goes_on"),
    [
        ("module.f", True),
        ("module.A", True),
        ("module.A()", True),
        ("module.B", False),
        ("module.B()", False),
        ("module.make(1)", False),
        ("module.gone", False),
        ("module.Gone()", False),
    ],
)
def test_nothing_goes_on_with_what_is_gone_or_was_replaced_or_runs_old_code(
    trial: Trial, value: str, goes_on: bool
) -> None:
    gone = "def gone():\n    return 1\n\n\nclass Gone:\n    pass\n"
    loaded = Loaded(trial, HOLDING.format("x = 1", "__slots__ = ()", "m = 1", "n", gone))
    module = loaded.module
    kept = eval(value, {"module": module})
    module.hold(kept)
    loaded.become(HOLDING.format("x = 2", "__slots__ = ('y',)", "m = 2", "n, m", ""))
    expected = kept if goes_on else None
    assert module.HELD is expected
    assert module.A.held is expected


def test_values_set_by_others_go_on_and_values_edited_meanwhile_are_taken_from_the_source(trial: Trial) -> None:
    content = "LIMIT = 1\nCOUNT = 0\n\n\ndef step():\n    global COUNT\n    COUNT += 1\n"
    loaded = Loaded(trial, content)
    loaded.module.LIMIT = 5
    loaded.module.step()
    loaded.edit_other()
    assert (loaded.module.LIMIT, loaded.module.COUNT) == (5, 1)
    edited = content.replace("LIMIT = 1", "# as measured\nLIMIT = 2")
    trial.write("app/a.py", edited + OTHER)
    loaded.edit_other()
    assert (loaded.module.LIMIT, loaded.module.COUNT) == (2, 1)


def test_variables_of_importers_that_are_loaded_again_go_on(trial: Trial) -> None:
    trial.write("app/user.py", "from app.a import other\n\nSEEN = None\nMADE = other()\n")
    loaded = Loaded(trial, "")
    user: Any = importlib.import_module("app.user")
    user.SEEN = 3
    outcome = loaded.source.edit("app.a.other", "def other():\n    return 2\n", reload="patch", cascade=True)
    assert [notice.code for notice in outcome.warnings] == ["reloaded"]
    assert (user.SEEN, user.MADE) == (3, 2)
