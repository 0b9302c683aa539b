"""Names mean one thing or are an error whose candidates work; canonical addresses lead back to where they came from."""

from __future__ import annotations

import pytest

from bae_source.project.files.port import Disk
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from tests.project.support import address, refused, same, workspace

RUN_TWICE = {
    "p/__init__.py": "def run(): pass\n",
    "p/run.py": "def go(): pass\n",
    "q.py": "from p import run\nimport p.run as r\n",
}


def test_a_submodule_and_an_attribute_of_one_name_are_ambiguous() -> None:
    error = refused(workspace(RUN_TWICE), "p.run", "ambiguous_symbol")
    assert error.candidates == ("p.run@module", "p@module.run")


def test_an_attribute_that_shares_its_name_with_a_submodule_is_marked_when_reached_by_an_import() -> None:
    assert address(workspace(RUN_TWICE), "q.run") == "p@module.run"


def test_a_definition_has_one_canonical_address_whatever_marker_was_asked() -> None:
    space = workspace(
        {"p/__init__.py": "from p._c import run\n", "p/run.py": "", "p/_c.py": "class run:\n    def go(self): pass\n"}
    )
    assert address(space, "p@module.run.go") == "p._c.run.go"
    assert address(space, "p@module.run") == "p._c.run"


def test_a_module_that_needs_no_marker_has_none_in_its_address() -> None:
    space = workspace({"p/__init__.py": "x = 1\n", "p/m.py": "y = 1\n"})
    assert address(space, "p.m@module.y") == "p.m.y"


def test_a_package_that_does_not_parse_does_not_hide_its_modules() -> None:
    space = workspace({"p/__init__.py": "def (\n", "p/m.py": "x = 1\n"})
    assert address(space, "p.m.x") == "p.m.x"


def test_a_module_beside_a_package_of_its_name_can_be_addressed_or_says_so_with_working_candidates() -> None:
    space = workspace({"x.py": "def f(): pass\n", "x/__init__.py": "def g(): pass\n"})
    refused(space, "x", "ambiguous_symbol")
    refused(space, "x.g", "ambiguous_symbol")


def test_an_attribute_hidden_two_levels_deep_behind_a_submodule_is_ambiguous() -> None:
    space = workspace(
        {
            "p/__init__.py": "class q:\n    class r:\n        def m(self): pass\n",
            "p/q/__init__.py": "",
            "p/q/r.py": "def m(): pass\n",
        }
    )
    refused(space, "p.q.r.m", "ambiguous_symbol")


def test_a_later_star_import_that_rebinds_an_import_is_not_ignored() -> None:
    # from c import x, then from b import * with an x of its own: Python has b's.
    space = workspace({"a.py": "from c import x\nfrom b import *\n", "b.py": "x = 1\n", "c.py": "x = 2\n"})
    try:
        assert address(space, "a.x") == "b.x"
    except Exception:  # noqa: BLE001
        refused(space, "a.x", "ambiguous_symbol")


@pytest.mark.parametrize(
    "exports",
    [
        "__all__ = [*c.__all__]",
        "__all__ = []\n__all__ += c.__all__",
        '__all__ = ["z"]\n__all__.extend(c.__all__)',
        "__all__ = list(c.names)",
    ],
)
def test_a_star_import_behind_a_computed_all_is_not_guessed(exports: str) -> None:
    space = workspace(
        {"a.py": "from b import *\n", "b.py": f"import c\n{exports}\ny = 2\n", "c.py": "__all__ = []\nnames = []\n"}
    )
    refused(space, "a.y", "symbol_not_found")


def test_a_name_appended_to_all_is_exported() -> None:
    space = workspace({"a.py": "from b import *\n", "b.py": '__all__ = ["y"]\n__all__.append("_k")\ny = _k = 1\n'})
    assert address(space, "a._k") == "b._k"


def test_a_star_import_brings_the_submodules_that_all_names() -> None:
    space = workspace({"a.py": "from p import *\n", "p/__init__.py": '__all__ = ["sub"]\n', "p/sub.py": "v = 1\n"})
    assert address(space, "a.sub.v") == "p.sub.v"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({".gitignore": "gen.py\n", "gen.py": "x = 1\n"}, "gen"),
        ({".gitignore": "/out/\n", "out/a.py": "x = 1\n"}, "out"),
        ({"env/pyvenv.cfg": "", "env/lib/a.py": "x = 1\n"}, "env"),
        ({"node_modules/a.py": "x = 1\n"}, "node_modules"),
        ({"src/a.py": "x = 1\n"}, "src"),
        ({"build/lib/a.py": "x = 1\n", "dist/a.py": "x = 1\n"}, "build"),
        ({"build/lib/a.py": "x = 1\n", "dist/a.py": "x = 1\n"}, "dist.a.x"),
        ({".git/info/exclude": "a.py\n", "a.py": "x = 1\n"}, "a.x"),
    ],
)
def test_what_is_no_part_of_the_project_is_not_found_and_not_offered(files: dict[str, str], name: str) -> None:
    refused(workspace(files), name, "symbol_not_found")


def test_a_file_that_a_deeper_gitignore_takes_back_is_part_of_the_project() -> None:
    space = workspace({".gitignore": "*.py\n", "p/.gitignore": "!a.py\n", "p/a.py": "x = 1\n"})
    assert address(space, "p.a.x") == "p.a.x"


def test_a_package_that_setup_cfg_places_elsewhere_is_found() -> None:
    config = "[options]\npackage_dir =\n    pkg = source/impl\n"
    assert address(workspace({"setup.cfg": config, "source/impl/__init__.py": "x = 1\n"}), "pkg.x") == "pkg.x"


def test_a_package_that_lies_elsewhere_has_one_name() -> None:
    settings = '[tool.setuptools.package-dir]\n"x.y" = "lib"\n'
    space = workspace({"pyproject.toml": settings, "lib/__init__.py": "k = 1\n", "lib/z.py": "v = 1\n"})
    assert address(space, "x.y.z.v") == "x.y.z.v"
    refused(space, "lib.z.v", "symbol_not_found")


def test_links_that_lead_out_of_the_project_are_neither_followed_nor_offered(tmp_path) -> None:  # type: ignore[no-untyped-def]
    root, outside = tmp_path / "root", tmp_path / "root2"
    root.mkdir()
    outside.mkdir()
    (outside / "x.py").write_text("y = 1\n")
    (root / "link.py").symlink_to(outside / "x.py")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to(root / "loop")
    for name in ("link.y", "folder.x.y", "loop"):
        refused(Workspace(Disk(root)), name, "symbol_not_found")


def test_nested_functions_are_named_with_and_without_locals() -> None:
    space = workspace({"a.py": "def o():\n    def i():\n        class K:\n            def m(self): pass\n"})
    one, other = resolve(space, "a.o.<locals>.i.<locals>.K.m"), resolve(space, "a.o.i.K.m")
    assert same(one, other)


STUBBED = {
    "p/__init__.py": "from p._speed import fast\nfrom p.m import f\n",
    "p/m.py": "def f(a): return a\nclass C:\n    def g(self): pass\n",
    "p/m.pyi": "from p._types import Alias as Alias\ndef f(a: int) -> int: ...\n"
    "class C:\n    def g(self) -> None: ...\n",
    "p/_types.py": "Alias = 1\n",
    "p/_types.pyi": "Alias: int\n",
    "p/_speed.pyi": "def fast(n: int) -> int: ...\n",
    "q-stubs/__init__.pyi": "def outside() -> None: ...\n",
    "q-stubs/deep/part.pyi": "X: int\n",
}


def test_a_stub_is_a_module_of_its_own_name() -> None:
    space = workspace(STUBBED)
    assert address(space, "p.m@stub") == "p.m@stub"
    assert address(space, "p.m@stub.C.g") == "p.m@stub.C.g"
    assert address(space, "p.m@stub.f@signature") == "p.m@stub.f@signature"
    assert address(space, "p.m.f") == "p.m.f"
    assert not resolve(space, "p.m@stub.f").module.import_checked


def test_what_a_stub_imports_is_looked_for_in_stubs() -> None:
    assert address(workspace(STUBBED), "p.m@stub.Alias") == "p._types@stub.Alias"


def test_a_module_with_a_stub_alone_is_not_found_and_the_stub_is_offered() -> None:
    space = workspace(STUBBED)
    assert refused(space, "p._speed", "symbol_not_found").candidates == ("p._speed@stub",)
    assert refused(space, "p._speed.fast", "symbol_not_found").candidates == ("p._speed@stub.fast",)
    assert refused(space, "p._speed.nothing", "symbol_not_found").candidates == ("p._speed@stub",)
    assert refused(space, "p.fast", "symbol_not_found").candidates == ("p._speed@stub.fast",)
    assert refused(space, "q.outside", "symbol_not_found").candidates == ("q@stub.outside",)
    assert refused(space, "q.deep.part.X", "symbol_not_found").candidates == ("q.deep.part@stub.X",)


def test_a_module_without_a_stub_says_so_and_offers_its_code_and_near_stubs() -> None:
    space = workspace(STUBBED | {"p/n.py": "x = 1\n"})
    error = refused(space, "p.n@stub.x", "symbol_not_found")
    assert "p.n.x" in error.candidates
    assert "p.m@stub" in error.candidates
    assert refused(space, "nope@stub", "symbol_not_found").hints


def test_a_stub_in_two_places_is_ambiguous() -> None:
    refused(workspace(STUBBED | {"p-stubs/m.pyi": "def f(): ...\n"}), "p.m@stub.f", "ambiguous_symbol")


def test_names_in_a_stub_are_offered_with_its_marker() -> None:
    assert refused(workspace(STUBBED), "p.m@stub.CC", "symbol_not_found").candidates == ("p.m@stub.C",)


def test_a_data_file_is_no_code() -> None:
    error = refused(workspace({"p/__init__.py": "", "p/a.css": ""}), "p:a.css", "symbol_not_found")
    assert "data file" in error.message
    assert error.hints


def test_an_attribute_beside_a_folder_of_data_of_its_name_is_the_attribute() -> None:
    space = workspace({"p/__init__.py": "templates = 1\n", "p/templates/a.html": ""})
    assert address(space, "p.templates") == "p.templates"


def test_a_folder_of_data_is_no_module_and_the_hint_says_how_it_is_listed() -> None:
    error = refused(workspace({"p/__init__.py": "", "p/templates/a.html": ""}), "p.templates", "symbol_not_found")
    assert any("read p:templates" in hint for hint in error.hints)


def test_a_name_that_looks_like_a_file_is_a_name_where_there_is_such_a_symbol_and_else_a_path() -> None:
    space = workspace({"m.py": "py = 1\ndef f(): ...\n"})
    assert address(space, "m.py") == "m.py"
    assert "Try m." in refused(workspace({"m.py": "x = 1\n"}), "m.py", "invalid_name").hints


def test_what_a_package_takes_from_elsewhere_is_a_candidate_if_it_leads_to_something() -> None:
    files = {
        "app/__init__.py": (
            "from app._client import *\nfrom app._wire import Channel\nimport os\n__all__ = ['Client', 'Clinet']\n"
        ),
        "app/_client.py": "__all__ = ['Client']\n\n\nclass Client:\n    pass\n",
        "app/_wire.py": "class Channel:\n    pass\n",
    }
    space = workspace(files)
    assert refused(space, "app.Clint", "symbol_not_found").candidates[0] == "app.Client"
    assert "app.Clinet" not in refused(space, "app.Clint", "symbol_not_found").candidates, "it leads nowhere"
    assert refused(space, "app.Chanel", "symbol_not_found").candidates[0] == "app.Channel"
    assert "app.os" not in refused(space, "app.oss", "symbol_not_found").candidates


def test_a_name_alone_that_is_no_module_may_be_searched_for() -> None:
    assert (
        "search Client looks for code of that name."
        in refused(workspace({"m.py": ""}), "Client", "symbol_not_found").hints
    )
