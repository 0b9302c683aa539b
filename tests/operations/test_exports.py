"""Exports added, removed and checked by themselves, through the door that callers use."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError, TransactionError
from bae_source.functions import dispatch
from bae_source.project.workspace import Workspace
from benchmarks import corpus
from tests.operations.test_write import codes, picture, project
from tests.queries.support import close

REPOSITORY = Path(__file__).parents[2]
ZOO = {
    "zoo/__init__.py": '"""Animals."""\n\nfrom .cats import Lion\n\n__all__ = ["Lion"]\n',
    "zoo/cats.py": "class Lion: ...\n\n\nclass Tiger: ...\n\n\ndef _purr(): ...\n",
    "zoo/sea/__init__.py": "",
    "zoo/sea/fish.py": '__all__ = ["Cod", "eel"]\n\n\nclass Cod: ...\n\n\ndef eel(): ...\n\n\nclass Pike: ...\n',
    "plain.py": "X = 1\n",
}
STUBBED = {
    "zoo/__init__.py": (
        "import lazy_loader as lazy\n\n__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)\n"
    ),
    "zoo/__init__.pyi": '__all__ = ["Lion"]\n\nfrom .cats import Lion\n',
    "zoo/cats.py": "class Lion: ...\n\n\nclass Tiger: ...\n",
}


@pytest.fixture(autouse=True)
def _no_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAE_SOURCE_TELEMETRY", "off")


@pytest.mark.parametrize(
    ("target", "names", "to", "init", "line"),
    [
        ("zoo.cats", ["Tiger"], None, "zoo", "from .cats import Lion, Tiger"),
        ("zoo.cats", ["_purr", "Tiger"], None, "zoo", "from .cats import Lion, Tiger, _purr"),
        ("zoo.cats", None, None, "zoo", "from .cats import Lion, Tiger"),
        ("zoo.sea.fish", None, None, "zoo.sea", "from .fish import Cod, eel"),
        ("zoo.sea.fish", ["Pike"], "zoo", "zoo", "from .sea.fish import Pike"),
        ("zoo.sea", ["fish"], None, "zoo", "from .sea import fish"),
    ],
)
def test_what_is_added_resolves_and_what_is_removed_gives_every_byte_back(
    tmp_path: Path, target: str, names: list[str] | None, to: str | None, init: str, line: str
) -> None:
    src = project(tmp_path, {**ZOO, "zoo/sea/__init__.py": "from . import fish\n"} if names == ["fish"] else ZOO)
    before = picture(tmp_path)
    outcome = src.exports_add(target, names, to=to, reload="off")
    assert [each.address for each in outcome.changed] == [init]
    text = src.read(f"{init}.__init__", full=True)
    assert line in text.split("\n")
    added = [name for name in names or () if name != "fish"]
    assert [src.read(f"{init}.{name}").address for name in added] == [f"{target}.{name}" for name in added]
    again = src.exports_add(target, names, to=to, reload="off")
    assert (again.diff, again.operation_id) == ("", None)
    new = names or [name for name in line.partition("import ")[2].split(", ") if name != "Lion"]
    src.exports_remove(target, new, to=to, reload="off")
    assert picture(tmp_path) == before


@pytest.mark.parametrize(
    ("verb", "target", "names", "to", "error", "candidates"),
    [
        ("add", "zoo.cats", ["Tigre"], None, LookupFailed, ("zoo.cats.Tiger", "zoo.cats.Lion")),
        ("add", "zoo.cats.Lion", None, None, Refused, ()),
        ("add", "plain", None, None, LookupFailed, ()),
        ("add", "zoo.cats", None, "plain", LookupFailed, ("zoo",)),
        ("add", "zoo.cats", None, "zoo.cats", LookupFailed, ("zoo",)),
        ("add", "nowhere", None, None, LookupFailed, ()),
        ("remove", "zoo.cats", ["Tiger"], None, LookupFailed, ("zoo.Lion",)),
        ("remove", "zoo.sea.fish", None, None, LookupFailed, ()),
    ],
)
def test_what_cannot_be_exposed_is_refused_and_nothing_changes(
    tmp_path: Path,
    verb: str,
    target: str,
    names: list[str] | None,
    to: str | None,
    error: type[ResourceError],
    candidates: tuple[str, ...],
) -> None:
    src = project(tmp_path, ZOO)
    before = picture(tmp_path)
    with pytest.raises(error) as caught:
        getattr(src, f"exports_{verb}")(target, names, to=to, reload="off")
    assert caught.value.candidates == candidates
    assert caught.value.hints or candidates
    assert picture(tmp_path) == before


def test_an_export_that_makes_a_circle_is_refused_with_the_circle(tmp_path: Path) -> None:
    files = {"zoo/__init__.py": "FOOD = 1\n", "zoo/cats.py": "from zoo import FOOD\n\nLION = FOOD\n"}
    src = project(tmp_path, {**files, "zoo/__init__.py": "from . import dogs\n\nFOOD = 1\n", "zoo/dogs.py": ""})
    before = picture(tmp_path)
    with pytest.raises(Refused, match=r"zoo -> zoo\.cats -> zoo") as caught:
        src.exports_add("zoo.cats", ["LION"], reload="off")
    assert caught.value.code == "unsafe_change"
    assert picture(tmp_path) == before


LATE = {
    "an attribute read too early": {"zoo/cats.py": "import zoo\n\n\nclass LION(zoo.Animal):\n    pass\n"},
    "many modules on the way": {
        **{f"zoo/m{number}.py": "" for number in range(250)},
        "zoo/cats.py": "".join(f"from . import m{number}\n" for number in range(250)) + "from .last import LION\n",
        "zoo/last.py": "from zoo import Animal\n\nLION = Animal\n",
    },
}


@pytest.mark.parametrize("reload", ["off", "auto"])
@pytest.mark.parametrize("about", LATE)
def test_an_export_that_makes_a_circle_at_a_distance_is_refused(tmp_path: Path, about: str, reload: str) -> None:
    src = project(
        tmp_path, {"zoo/__init__.py": "from . import dogs\n\n\nclass Animal: ...\n", "zoo/dogs.py": "", **LATE[about]}
    )
    before = picture(tmp_path)
    with pytest.raises(Refused, match=r"before zoo has bound it \(zoo -> zoo\.cats -> .*zoo\)") as caught:
        src.exports_add("zoo.cats", ["LION"], reload=reload)
    assert caught.value.code == "unsafe_change"
    assert picture(tmp_path) == before


@pytest.mark.parametrize("in_package", [False, True])
def test_of_a_module_and_a_package_of_one_name_it_is_the_package_that_an_import_means(
    tmp_path: Path, in_package: bool
) -> None:
    early, fine = "from zoo import FOOD\n", "BARS = 1\n"
    files = {
        "zoo/__init__.py": "from . import dogs\n\nFOOD = 1\n",
        "zoo/dogs.py": "",
        "zoo/cats.py": "from . import cages\n\nLION = 1\n",
        "zoo/cages.py": fine if in_package else early,
        "zoo/cages/__init__.py": early if in_package else fine,
    }
    src = project(tmp_path, files)
    before = picture(tmp_path)
    if in_package:
        with pytest.raises(Refused, match=r"zoo\.cages imports FOOD from zoo before zoo has bound it"):
            src.exports_add("zoo.cats", ["LION"], reload="off")
        assert picture(tmp_path) == before
    else:
        src.exports_add("zoo.cats", ["LION"], reload="off")
        run = subprocess.run([sys.executable, "-B", "-c", "import zoo; zoo.LION"], cwd=tmp_path, check=False)
        assert run.returncode == 0


def test_an_export_that_breaks_only_another_way_in_is_refused(tmp_path: Path) -> None:
    files = {
        "zoo/__init__.py": "",
        "zoo/cages/__init__.py": "BARS = 1\n",
        "zoo/cages/cats.py": "from park import LION\n",
        "park.py": "from zoo.cages import BARS\n\nLION = BARS\n",
    }
    src = project(tmp_path, files)
    before = picture(tmp_path)
    with pytest.raises(Refused, match=r"\(park -> zoo\.cages -> zoo\.cages\.cats -> park\)"):
        src.exports_add("zoo.cages.cats", ["LION"], reload="off")
    assert picture(tmp_path) == before


def test_an_export_that_works_is_made_though_a_try_fails_meanwhile(tmp_path: Path) -> None:
    cats = "try:\n    from .fast import LION\nexcept ImportError:\n    LION = 1\n"
    files = {"zoo/__init__.py": "from . import dogs\n\nFOOD = 1\n", "zoo/dogs.py": "", "zoo/cats.py": cats}
    src = project(tmp_path, {**files, "zoo/fast.py": "from zoo import FOOD\n\nLION = FOOD\n"})
    assert src.exports_add("zoo.cats", ["LION"], reload="child").status == "applied"


WORKS = {
    "set by the one that asks": (
        "from . import dogs\n\nFOOD = 1\n",
        "import zoo\n\nzoo.FOOD = 2\nfrom zoo import FOOD\n\nLION = FOOD\n",
    ),
    "what each module has": (
        "from . import dogs\n\n__doc__ = 'Animals.'\n",
        "from zoo import __doc__ as about\n\nLION = about\n",
    ),
    "listed only later": (
        "__all__ = []\nfrom . import dogs\n\nFOOD = 1\n__all__ += ['FOOD']\n",
        "from zoo import *\n\nLION = 1\n",
    ),
}


@pytest.mark.parametrize("about", WORKS)
def test_an_export_that_python_imports_is_made(tmp_path: Path, about: str) -> None:
    init, cats = WORKS[about]
    src = project(tmp_path, {"zoo/__init__.py": init, "zoo/dogs.py": "", "zoo/cats.py": cats})
    assert src.exports_add("zoo.cats", ["LION"], reload="child").status == "applied"


def test_an_export_of_a_chain_of_packages_in_packages_is_made(tmp_path: Path) -> None:
    inner = ("a", "a/b", "a/b/c", "a/b/c/d")
    chain = {f"q{number}/__init__.py": f"import q{number + 1}.a.b.c.d\n" for number in range(160)}
    chain |= {f"q{number}/{each}/__init__.py": "" for number in range(160) for each in inner}
    files = {**chain, "q160.py": "import zoo\n", "zoo/__init__.py": "", "zoo/cats.py": "import q0\n\nLION = 1\n"}
    src = project(tmp_path, files)
    assert src.exports_add("zoo.cats", ["LION"], reload="off").status == "applied"


def test_a_namespace_package_cannot_expose_anything(tmp_path: Path) -> None:
    src = project(tmp_path, {"ns/a.py": "X = 1\n"})
    before = picture(tmp_path)
    with pytest.raises(LookupFailed, match="namespace package"):
        src.exports_add("ns.a", reload="off")
    assert picture(tmp_path) == before


def test_a_package_that_loads_by_its_stub_gets_the_name_in_the_stub(tmp_path: Path) -> None:
    src = project(tmp_path, STUBBED)
    before = picture(tmp_path)
    src.exports_add("zoo.cats", ["Tiger"], reload="off")
    assert (tmp_path / "zoo/__init__.pyi").read_text() == (
        '__all__ = ["Lion", "Tiger"]\n\nfrom .cats import Lion, Tiger\n'
    )
    assert (tmp_path / "zoo/__init__.py").read_text() == STUBBED["zoo/__init__.py"]
    src.exports_remove("zoo.cats", ["Tiger"], reload="off")
    assert picture(tmp_path) == before


def test_what_imports_all_is_withdrawn_with_all_that_the_module_exports(tmp_path: Path) -> None:
    init = 'from .fish import *\nfrom .whales import *\n\n__all__ = ["Cod", "eel"]\n'
    src = project(tmp_path, {**ZOO, "zoo/sea/__init__.py": init, "zoo/sea/whales.py": ""})
    src.exports_remove("zoo.sea.fish", ["Cod", "eel"], reload="off")
    assert (tmp_path / "zoo/sea/__init__.py").read_text() == "from .whales import *\n\n__all__ = []\n"
    src.undo(reload="off")
    outcome = src.exports_remove("zoo.sea.fish", ["Cod"], reload="off")
    assert codes(outcome) == ["star_kept"]


def test_a_star_import_goes_with_all_its_names_when_none_is_named(tmp_path: Path) -> None:
    init = 'from .cats import *\nfrom .sea import *\n\n__all__ = ["Lion", "Tiger", "sea"]\n'
    src = project(tmp_path, {**ZOO, "zoo/__init__.py": init})
    src.exports_remove("zoo.cats", reload="off")
    assert (tmp_path / "zoo/__init__.py").read_text() == 'from .sea import *\n\n__all__ = ["sea"]\n'
    src.exports_remove("zoo.sea", reload="off")
    assert (tmp_path / "zoo/__init__.py").read_text() == '__all__ = ["sea"]\n'


def test_exports_are_checked_in_a_child_like_any_change(tmp_path: Path) -> None:
    src = project(tmp_path, ZOO)
    src.exports_add("zoo.cats", ["Tiger"], reload="child")
    program = "import zoo; print(zoo.Tiger, zoo.__all__)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == b"<class 'zoo.cats.Tiger'> ['Lion', 'Tiger']\n"


ODD: Mapping[str, str] = {
    "zoo/__init__.py": (
        "from .cats import Lion, Tiger\nfrom .sea import *\nfrom .dogs import Wolf\n\n"
        '__all__ = ["Lion", "Tiger", "Cod", "Gone", "Lion", "late", "cats"]\n'
    ),
    "zoo/cats.py": 'class Lion: ...\n\n\nclass Tiger: ...\n\n\n__all__ = [\n    "Lion",\n    "Puma",\n]\n',
    "zoo/dogs.py": "class Wolf: ...\n",
    "zoo/sea.py": "class Cod: ...\n\n\nclass Eel: ...\n",
    "lazy/__init__.py": (
        '_LAZY = {"A": ".x"}\n__all__ = ["A", "B"]\n\n\ndef __getattr__(name):\n    return import_module(_LAZY[name])\n'
    ),
    "lazy/x.py": "A = 1\n",
    "dark/__init__.py": '__all__ = ["Anything"]\n\n\ndef __getattr__(name): ...\n',
    "outer/__init__.py": 'from json import *\n\n__all__ = ["loads", "whatever"]\n',
    "computed/__init__.py": "__all__ = [name for name in dir()]\n",
    "broken/__init__.py": "__all__ = [\n",
}


def test_what_is_odd_is_listed_in_a_stable_order_with_its_line(tmp_path: Path) -> None:
    src = project(tmp_path, ODD)
    answer = src.exports_check()
    assert answer.split("\n") == [
        "lazy:2: __all__ of lazy names B, which lazy does not have.",
        "zoo:3: zoo imports Wolf of its own modules and does not name it in __all__.",
        "zoo:5: __all__ of zoo names Gone, which zoo does not have.",
        "zoo:5: __all__ of zoo names Lion twice; the first time in line 5.",
        "zoo:5: __all__ of zoo names late, which zoo does not have.",
        "zoo.cats:9: __all__ of zoo.cats names Puma, which zoo.cats does not have.",
    ]
    assert not answer.complete
    assert [(notice.code, notice.message) for notice in answer.outcome.warnings] == [
        ("not_looked_at", "Could not be read: broken.")
    ]
    first = answer.outcome.found[0]
    assert (first.address, first.line, first.name, first.code) == ("lazy", 2, "B", "missing")
    assert src.exports_check("zoo.cats") == answer.split("\n")[-1]
    assert src.exports_check("outer") == "(no findings)"
    with pytest.raises(LookupFailed):
        src.exports_check("nowhere")


def test_unreadable_modules_are_named_and_the_rest_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "__all__ = ['gone']\n"
    src = project(tmp_path, {"pk/__init__.py": wrong, "pk/shut.py": wrong, "pk/sub/__init__.py": wrong})
    close(monkeypatch, "sub")
    glance = Workspace.glance

    def refusing(self: Workspace, path: str) -> bytes | None:
        if path == "pk/shut.py":
            raise Refused("forbidden", "The file may not be read.")
        return glance(self, path)

    monkeypatch.setattr(Workspace, "glance", refusing)
    outcome = src.exports_check().outcome
    assert not outcome.complete
    assert outcome.text == "pk:1: __all__ of pk names gone, which pk does not have."
    assert [(notice.code, notice.message) for notice in outcome.warnings] == [
        ("not_looked_at", "Could not be read: pk.shut."),
        ("forbidden", "pk.sub may not be listed, and what lies there was not looked at."),
    ]


def test_the_command_line_checks_as_well(tmp_path: Path) -> None:
    project(tmp_path, ODD)
    done = subprocess.run(
        [sys.executable, "-m", "bae_source", "exports", "check", "zoo", "--json", "--root", str(tmp_path)],
        cwd=REPOSITORY,
        env={**os.environ, "BAE_SOURCE_TELEMETRY": "off"},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert answer["status"] == "answer"
    assert answer["text"] == Source(tmp_path).exports_check("zoo")
    assert answer["text"].count("\n") == 4


@pytest.mark.parametrize(
    ("name", "folder"), [("httpx", "httpx"), ("attrs", "src/attr"), ("flask", "src/flask"), ("rich", "rich")]
)
def test_real_packages_export_nothing_that_is_missing_or_twice(name: str, folder: str, tmp_path: Path) -> None:
    release = next(release for release in corpus.RELEASES if release.name == name)
    shutil.copytree(corpus.fetch(release) / folder, tmp_path / Path(folder).name)
    found = Source(tmp_path).exports_check().outcome.found
    assert [each for each in found if each.code in ("missing", "twice")] == []


@pytest.mark.parametrize(
    ("verb", "nothing"), [("exports_add", "expose"), ("exports_remove", "withdraw"), ("exports_mend", "look at")]
)
def test_a_list_of_no_names_is_malformed_and_does_not_mean_everything(tmp_path: Path, verb: str, nothing: str) -> None:
    src = project(tmp_path, ZOO)
    before = picture(tmp_path)
    with pytest.raises(RequestError, match=f"names is empty, so there is nothing to {nothing}") as caught:
        getattr(src, verb)("zoo.cats", [], reload="off")
    assert caught.value.code == "invalid_arguments"
    answer = dispatch(verb, {"target": "zoo.cats", "names": []}, root=tmp_path)
    assert [each["code"] for each in answer["errors"]] == ["invalid_arguments"]
    with pytest.raises(RequestError, match="names is empty"), src.transaction() as draft:
        getattr(draft, verb)("zoo.cats", [])
    assert picture(tmp_path) == before


def test_without_names_everything_is_withdrawn(tmp_path: Path) -> None:
    src = project(tmp_path, ZOO)
    assert "-from .cats import Lion" in src.exports_remove("zoo.cats", reload="off").diff


def test_what_a_package_imports_under_another_name_is_bound_by_its_own_name_too(tmp_path: Path) -> None:
    files = {"zoo/__init__.py": 'from .cats import Lion as _Lion\n\n__all__ = ["pride"]\n\npride = [_Lion]\n'}
    src = project(tmp_path, {**ZOO, **files})
    before = picture(tmp_path)
    src.exports_add("zoo.cats", ["Lion"])
    assert src.read("zoo.__init__", full=True).startswith("from .cats import Lion as _Lion, Lion\n")
    assert src.read("zoo.Lion").address == "zoo.cats.Lion"
    assert src.exports_check("zoo").outcome.found == ()
    src.exports_remove("zoo.cats", ["Lion"])
    assert picture(tmp_path) == before


LAZY = (
    "from importlib import import_module\n\n_LAZY = {LAZY}\n\n\ndef __getattr__(name):\n"
    "    return getattr(import_module(_LAZY[name], __name__), name)\n"
)


@pytest.mark.parametrize("init", ["", LAZY.replace("{LAZY}", '{"Lion": ".cats"}')], ids=["plain", "lazy"])
def test_a_name_that_would_hide_another_module_of_the_package_is_refused(tmp_path: Path, init: str) -> None:
    files = {"zoo/cats.py": "class Lion: ...\n\n\ndef sea(): ...\n", "zoo/__init__.py": init}
    src = project(tmp_path, {**ZOO, **files})
    before = picture(tmp_path)
    with pytest.raises(Refused, match=r"zoo\.sea is a module") as caught:
        src.exports_add("zoo.cats", ["Lion", "sea"], reload="off")
    assert caught.value.code == "name_collision"
    with pytest.raises(Refused, match=r"zoo\.cats is a module"):
        src.write("zoo.dogs", "def cats(): ...\n", export=True, reload="off")
    assert picture(tmp_path) == before


@pytest.mark.parametrize(
    "init", ["from .cats import sea\n", "from .cats import *\n", LAZY.replace("{LAZY}", '{"sea": ".cats"}')]
)
def test_a_name_that_hides_a_module_already_is_none_to_refuse(tmp_path: Path, init: str) -> None:
    files = {"zoo/cats.py": '__all__ = ["sea"]\n\n\ndef sea(): ...\n', "zoo/__init__.py": init}
    src = project(tmp_path, {**ZOO, **files})
    assert src.exports_add("zoo.cats", ["sea"], reload="off").diff == ""


def test_a_module_may_expose_what_has_its_own_name(tmp_path: Path) -> None:
    src = project(tmp_path, ZOO)
    outcome = src.write("zoo.feed", "def feed(): ...\n", export=True)
    assert "zoo exports feed" in outcome.text


def test_an_export_of_what_imports_too_early_in_a_function_that_it_calls_is_left_out_by_the_import(
    tmp_path: Path,
) -> None:
    cats = "def _fed():\n    from zoo import FOOD\n\n    return FOOD\n\n\nDINNER = _fed()\n"
    src = project(tmp_path, {"zoo/__init__.py": "from . import dogs\n\nFOOD = 1\n", "zoo/dogs.py": ""})
    before = picture(tmp_path)
    assert codes(src.write("zoo.lions", cats, export=True)) == ["export_left_out"]
    assert picture(tmp_path)["zoo/__init__.py"] == before["zoo/__init__.py"]


@pytest.mark.parametrize(
    "statements",
    [
        '(__all__ := ["Lion"])\n',
        '__all__ = []\n__all__[:] = ["Lion"]\n',
        '__all__ = ["Eel"]\n__all__.clear()\n',
        '__all__ = ["Lion", "Eel"]\ndel __all__[1]\n',
        '__all__ = ["Tiger"]\n__all__ = sorted(["Lion"], key=len) or []\n',
        'import os\n\n__all__ = ["Lion"]\nif os.name:\n    __all__ = ["Eel"]\n',
        '__all__ = ["Lion"]\ntry:\n    import fast\nexcept ImportError:\n    pass\nelse:\n    __all__ = ["Eel"]\n',
        '__all__ = ["Lion"]\nfor each in ():\n    __all__.clear()\n',
    ],
)
def test_an_all_that_no_list_decides_in_the_end_is_left_alone_and_that_is_reported(
    tmp_path: Path, statements: str
) -> None:
    src = project(tmp_path, {**ZOO, "zoo/__init__.py": f"from .cats import Lion\n\n{statements}"})
    before = picture(tmp_path)
    outcome = src.exports_add("zoo.cats", ["Tiger"], reload="off")
    assert codes(outcome) == ["all_computed"]
    assert src.read("zoo.__init__", full=True) == f"from .cats import Lion, Tiger\n\n{statements}"
    src.undo()
    assert picture(tmp_path) == before


@pytest.mark.parametrize(
    "how",
    [
        "",
        'sea = 1\n__all__ += ["sea"]\n',
        "__all__.sort()\n",
        'if sea:\n    __all__ += ["sea"]\n',
        'if TYPE_CHECKING:\n    __all__ = ["sea"]\n',
    ],
)
def test_a_name_goes_into_the_list_that_stands_in_the_end(tmp_path: Path, how: str) -> None:
    source = f'from .cats import Lion\n\n__all__ = ["Tiger", "Lynx"]\n__all__ = ["Lion"]\n{how}'
    src = project(tmp_path, {**ZOO, "zoo/__init__.py": source})
    assert codes(src.exports_add("zoo.cats", ["Tiger"], reload="off")) == []
    after = source.replace("import Lion", "import Lion, Tiger").replace('= ["Lion"]', '= ["Lion", "Tiger"]')
    assert src.read("zoo.__init__", full=True) == after


def test_a_stub_beside_the_package_that_tells_something_else_is_named(tmp_path: Path) -> None:
    stub = "from .cats import Lion as Lion\n"
    src = project(tmp_path, {**ZOO, "zoo/__init__.pyi": stub, "zoo/py.typed": ""})
    outcome = src.exports_add("zoo.cats", ["Tiger"], reload="off")
    assert codes(outcome) == ["stub_there"]
    assert outcome.warnings[0].message.startswith("Type checkers believe zoo@stub, which does not have Tiger;")
    assert codes(src.exports_remove("zoo.cats", ["Tiger"], reload="off")) == []
    outcome = src.exports_remove("zoo.cats", ["Lion"], reload="off")
    assert "which still has Lion;" in outcome.warnings[0].message
    assert (tmp_path / "zoo/__init__.pyi").read_bytes() == stub.encode()
    assert codes(src.write("zoo.owls", "class Owl: ...\n", export=True, reload="off")) == ["stub_there"]


def test_a_list_that_is_lost_is_neither_checked_nor_mended(tmp_path: Path) -> None:
    lists = '__all__ = ["Lion", "Gone", "Tiger"]\n__all__ = ["Lion", "Tiger"]\n'
    src = project(tmp_path, {**ZOO, "zoo/__init__.py": f"from .cats import Lion, Tiger\n\n{lists}"})
    before = picture(tmp_path)
    assert src.exports_check("zoo") == "(no findings)"
    assert src.exports_mend("zoo", reload="off").text == "zoo is in order."
    assert picture(tmp_path) == before
    more = f'from .cats import Lion, Tiger\n\n{lists}__all__ += ["Lion", "Gone"]\n'
    src.write("zoo", more, overwrite=True, reload="off")
    assert [(each.line, each.code) for each in src.exports_check("zoo").outcome.found] == [(5, "missing"), (5, "twice")]
    src.exports_mend("zoo", reload="off")
    assert src.read("zoo.__init__", full=True) == more.replace('+= ["Lion", "Gone"]', "+= []")


def test_a_list_that_may_be_lost_is_checked(tmp_path: Path) -> None:
    source = 'if Lion:\n    __all__ = ["Lion"]\n'
    src = project(tmp_path, {**ZOO, "zoo/__init__.py": f'from .cats import Lion\n\n__all__ = ["Gone"]\n{source}'})
    assert [(each.line, each.name) for each in src.exports_check("zoo").outcome.found] == [(3, "Gone")]


def test_what_is_withdrawn_goes_from_both_lists_and_what_a_branch_lists_is_reported(tmp_path: Path) -> None:
    source = 'from .cats import Lion, Tiger\n\n__all__ = ["Lion", "Tiger"]\n__all__ = ["Tiger", "Lion"]\n'
    src = project(tmp_path, {**ZOO, "zoo/__init__.py": source})
    assert codes(src.exports_remove("zoo.cats", ["Tiger"], reload="off")) == []
    after = source.replace(", Tiger", "").replace(', "Tiger"', "").replace('"Tiger", ', "")
    assert src.read("zoo.__init__", full=True) == after
    src.write("zoo", f'{after}if __debug__:\n    __all__ = ["Lion"]\n', overwrite=True, reload="off")
    assert codes(src.exports_remove("zoo.cats", ["Lion"], reload="off")) == ["still_exported"]


TRIED = "try:\n    from .cats import Lion\nexcept ImportError:\n    Lion = None\n"


@pytest.mark.parametrize("names", [["Lion"], None])
def test_what_is_imported_inside_of_a_try_is_exposed_and_left_there(tmp_path: Path, names: list[str] | None) -> None:
    src = project(tmp_path, {**ZOO, "zoo/__init__.py": TRIED})
    before = picture(tmp_path)
    assert "like that already" in src.exports_add("zoo.cats", ["Lion"], reload="off").text
    with pytest.raises(
        Refused, match=r"zoo imports Lion of zoo\.cats inside of a try or an if, which is left"
    ) as caught:
        src.exports_remove("zoo.cats", names, reload="off")
    assert caught.value.code == "unsafe_change"
    assert picture(tmp_path) == before
    src.write("zoo", "", overwrite=True, reload="off")  # as the hint says
    assert src.read("zoo.__init__", full=True) == ""


def test_what_is_imported_inside_of_a_try_goes_into_all_and_out_again(tmp_path: Path) -> None:
    src = project(tmp_path, {**ZOO, "zoo/__init__.py": f'{TRIED}__all__ = ["sea"]\n'})
    before = picture(tmp_path)
    src.exports_add("zoo.cats", ["Lion"], reload="off")
    assert src.read("zoo.__init__", full=True) == f'{TRIED}__all__ = ["Lion", "sea"]\n'
    assert codes(src.exports_remove("zoo.cats", ["Lion"], reload="off")) == ["import_kept"]
    assert picture(tmp_path) == before


@pytest.mark.parametrize("names", [["Lynx"], None])
def test_a_module_that_exposes_its_own_name_is_the_one_that_is_meant(tmp_path: Path, names: list[str] | None) -> None:
    src = project(tmp_path, {**ZOO, "zoo/Lynx.py": "class Lynx: ...\n"})
    before = picture(tmp_path)
    src.exports_add("zoo.Lynx", names, reload="off")
    assert "like that already" in src.exports_add("zoo.Lynx", names, reload="off").text
    src.exports_remove("zoo.Lynx", names, reload="off")
    assert picture(tmp_path) == before


def test_which_of_two_modules_of_one_name_is_meant_is_asked(tmp_path: Path) -> None:
    files = {"zoo/__init__.py": "from .sea import cats\n", "zoo/sea/cats.py": "class Lynx: ...\n"}
    src = project(tmp_path, {**ZOO, **files})
    before = picture(tmp_path)
    with pytest.raises(LookupFailed, match="as well") as caught:
        src.exports_remove("zoo.cats", ["Lion"], reload="off")
    assert caught.value.code == "ambiguous_symbol"
    assert picture(tmp_path) == before


@pytest.mark.parametrize("word", [None, "--no-export", "--export"])
def test_a_new_module_is_exposed_like_the_others_unless_that_is_denied(tmp_path: Path, word: str | None) -> None:
    source = "from .cats import Lion\n"
    project(tmp_path, {"zoo/__init__.py": source, "zoo/cats.py": "class Lion: ...\n"})
    command = [
        sys.executable,
        "-m",
        "bae_source",
        "write",
        "zoo.fish",
        "--code",
        "class Eel: ...",
        "--root",
        str(tmp_path),
    ]
    done = subprocess.run([*command, *([word] if word else [])], capture_output=True, text=True, timeout=60, check=True)
    exposed = word != "--no-export"
    assert ("zoo exports Eel" in done.stdout) is exposed
    assert ("warning[exported]" in done.stderr + done.stdout) is (word is None)
    assert (tmp_path / "zoo/__init__.py").read_text() == (f"{source}from .fish import Eel\n" if exposed else source)


def test_a_module_that_does_not_import_is_not_blamed_on_its_export(tmp_path: Path) -> None:
    src = project(tmp_path, {"zoo/__init__.py": "from .cats import Lion\n", "zoo/cats.py": "class Lion: ...\n"})
    before = picture(tmp_path)
    with pytest.raises(TransactionError):
        src.write("zoo.fish", "class Eel: ...\nraise ValueError\n", export=False)
    assert picture(tmp_path) == before
    with pytest.raises(TransactionError):
        src.write("zoo.fish", "class Eel: ...\nraise ValueError\n")
    assert picture(tmp_path) == before


PUT_IN_PLACE = """\
import sys
from types import ModuleType

by_module = {'zoo.cats': ['Lion']}
origins = {name: module for module, names in by_module.items() for name in names}


class Lazy(ModuleType):
    def __getattr__(self, name):
        try:
            return getattr(__import__(origins[name], None, None, [name]), name)
        except KeyError:
            raise AttributeError(name) from None


old = sys.modules[__name__]
new = sys.modules[__name__] = Lazy(__name__)
new.__dict__.update(__path__=__path__, __file__=__file__, __spec__=__spec__)
"""


@pytest.mark.parametrize("asked", ["exports_add", "write"])
def test_what_a_package_with_another_module_object_exports_can_be_imported(tmp_path: Path, asked: str) -> None:
    project(tmp_path, {**ZOO, "zoo/__init__.py": PUT_IN_PLACE})
    if asked == "write":
        arguments = {"target": "zoo.dogs", "source": "class Tiger: ...\n", "export": True}
    else:
        arguments = {"target": "zoo.cats", "names": ["Tiger"]}
    found = dispatch(asked, arguments, root=tmp_path)
    assert (found["status"], found.get("warnings") or []) == ("applied", [])
    subprocess.run([sys.executable, "-c", "from zoo import Lion, Tiger"], cwd=tmp_path, check=True)


def test_where_a_package_is_replaced_by_what_cannot_be_read_the_export_is_doubted(tmp_path: Path) -> None:
    init = (
        "import sys\n\nfrom .cats import Lion\n\n\nclass Proxy:\n    lion = Lion\n\n\nsys.modules[__name__] = Proxy()\n"
    )
    src = project(tmp_path, {**ZOO, "zoo/__init__.py": init})
    outcome = src.exports_add("zoo.cats", ["Tiger"], reload="off")
    assert codes(outcome) == ["not_lazy"]
    assert "sys.modules" in outcome.warnings[0].message
