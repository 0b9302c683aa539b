"""Where a definition points to: what its names mean through static imports, and nothing that is only likely."""

from __future__ import annotations

from bae_source.project.naming.pointing import pointers
from bae_source.project.naming.resolve import resolve
from tests.project.support import workspace

FILES = {
    "app/__init__.py": "from .models import Message as Msg\n",
    "app/models.py": "class Base: ...\n\n\nclass Message(Base):\n    class Kind: ...\n\n    WAIT = 1\n\n\nLIMIT = 1\n",
    "app/run.py": (
        "import app.models\nimport app as a\nimport json\nfrom app import Msg, models as m\n"
        "from app.models import LIMIT, Base\nfrom app.nowhere import Lost\n"
        "try:\n    from fast import Fast\nexcept ImportError:\n    Fast = None\n\nOWN = 1\nclient = Base()\n\n\n"
        "class Run(Base):\n"
        "    def one(self, x: Msg, y: m.Message.Kind) -> app.models.Base:\n"
        "        return helper(x), self.two, LIMIT, OWN, m.LIMIT, print, json.loads, Lost, Fast, client.go\n\n"
        "    def two(self): return Run, self.two, m.Message.WAIT, m.Message.kind\n\n\n"
        "def helper(x): return helper(x), m\n"
    ),
    "broken.py": "def (\n",
    "uses.py": "from broken import B\nfrom app.models import *\n\n\ndef f(b: B, m: Message): return Unknown\n",
}


def pointed(name: str, *, header_only: bool = False) -> list[str]:
    space = workspace(FILES)
    found = pointers(space, resolve(space, name), header_only=header_only)
    return [str(each).removeprefix("sym://python/") for each in found.selectors]


def left_open(name: str) -> list[str]:
    space = workspace(FILES)
    resolved = resolve(space, name)
    found = pointers(space, resolved, header_only=False)
    return [resolved.tree.text[offset:].split("\n")[0].split(",")[0] for offset in found.open]


def test_a_header_points_through_aliases_and_re_exports_to_the_definition() -> None:
    assert pointed("app.run.Run.one", header_only=True) == [
        "type/app/models/Message",
        "type/app/models/Message#Kind",
        "type/app/models/Base",
    ]
    assert pointed("app.run.Run", header_only=True) == ["type/app/models/Base"]


def test_a_body_points_to_functions_and_a_constant_by_its_module() -> None:
    assert pointed("app.run.Run.one")[3:] == ["type/app/run/helper", "mod/app/models"]


def test_a_definition_does_not_point_to_itself_or_into_itself() -> None:
    assert pointed("app.run.helper") == ["mod/app/models"]
    assert pointed("app.run.Run.two") == ["type/app/run/Run", "type/app/models/Message"]


def test_what_is_not_one_definition_of_the_project_is_left_out() -> None:
    assert not {"Lost", "Fast", "loads"} & {name.rpartition("/")[2] for name in pointed("app.run.Run.one")}
    assert pointed("uses.f") == ["type/app/models/Message"]


def test_attributes_of_what_is_not_known_stay_open() -> None:
    assert left_open("app.run.Run.one")[0] == "two"
    assert "go" in left_open("app.run.Run.one")
    assert "kind" in left_open("app.run.Run.two")


def test_a_module_points_nowhere_by_itself() -> None:
    assert pointed("app.run") == []
