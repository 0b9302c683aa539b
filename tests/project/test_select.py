"""Selectors against files in memory: what they mean, and that whatever an error offers can be used as it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bae_source.errors import LookupFailed, SourceError
from bae_source.model.selector import parse_selector
from bae_source.project.naming.resolve import resolve
from bae_source.project.naming.select import by_name, reading_name, select, selector_for
from bae_source.project.workspace import Workspace
from bae_source.queries.read import Read
from tests.project.support import workspace

NAMES = ("a", "b", "x", "my-dir", "0001")
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
PROJECTS = st.sets(st.one_of(PATHS.map("{}.py".format), PATHS.map("{}/__init__.py".format)), min_size=1, max_size=6)


def found(space: Workspace, uri: str, *, exact: bool = False) -> str:
    resolved = select(space, parse_selector(f"sym://python/{uri}"), exact=exact)
    return f"{resolved.module.path}:{'.'.join(map(str, resolved.address.qualname))}"


def refused(space: Workspace, uri: str, *, exact: bool = False) -> LookupFailed:
    with pytest.raises(LookupFailed) as caught:
        found(space, uri, exact=exact)
    return caught.value


def follow(files: dict[str, str], action: str) -> str:
    """Return what a next action reaches; `--root` makes its folder the project."""
    words = action.split()
    if "--root" in words:
        lead = words[words.index("--root") + 1] + "/"
        inside = {path.removeprefix(lead): text for path, text in files.items() if path.startswith(lead)}
        return lead + found(workspace(inside), words[2].removeprefix("sym://python/"), exact="--exact" in words)
    return found(workspace(files), words[2].removeprefix("sym://python/"), exact="--exact" in words)


@given(PROJECTS, PATHS)
def test_a_path_means_one_file_or_every_call_of_the_error_reaches_one_of_several(paths: set[str], asked: str) -> None:
    path = asked.replace("my-dir", "x").replace("0001", "b")
    files = dict.fromkeys(paths, "")
    spelt = {name: name.removesuffix(".py").removesuffix("/__init__") for name in paths}
    matching = {name for name in paths if f"/{spelt[name]}".endswith(f"/{path}") and name != "__init__.py"}
    matching |= {name for name in paths if f"/{name[:-3]}".endswith(f"/{path}")}
    if len(matching) == 1:
        assert found(workspace(files), f"mod/{path}") == f"{matching.pop()}:"
        return
    error = refused(workspace(files), f"mod/{path}")
    offered = {candidate["file_rel"] for candidate in error.details["candidates"]}
    if matching:
        assert error.code == "ambiguous_symbol"
        assert offered == matching
        assert {follow(files, hint) for hint in error.hints} == {f"{name}:" for name in matching}
    else:
        assert error.code == "symbol_not_found"
        assert {follow(files, hint) for hint in error.hints if hint.startswith("ast ")} == {f"{it}:" for it in offered}


def test_a_folder_whose_name_no_selector_can_say_is_reached_as_a_root() -> None:
    files = {"my-dir/a.py": "", "other-dir/a.py": ""}
    assert refused(workspace(files), "mod/a").hints == (
        "ast symbols sym://python/mod/a --exact --root my-dir",
        "ast symbols sym://python/mod/a --exact --root other-dir",
    )


def test_a_literal_file_comes_before_a_package_only_where_it_is_asked_for_exactly() -> None:
    space = workspace({"x.py": "", "x/__init__.py": "", "y/__init__.py": ""})
    assert refused(space, "mod/x").code == "ambiguous_symbol"
    assert found(space, "mod/x", exact=True) == "x.py:"
    assert found(space, "mod/x/__init__") == found(space, "mod/x/__init__", exact=True) == "x/__init__.py:"
    assert found(space, "mod/y", exact=True) == "y/__init__.py:"


def test_candidates_of_a_file_that_does_not_parse_are_offered_as_modules() -> None:
    error = refused(workspace({"a/m.py": "def (", "b/m.py": "def f(): ..."}), "type/m/f")
    assert error.candidates == ("sym://python/mod/a/m", "sym://python/type/b/m/f")


def test_an_ambiguous_class_is_refused_with_dotted_names_before_its_members_are_looked_at() -> None:
    space = workspace({"m.py": "class C: ...\nx = 1\nclass C:\n    def f(self): ...\n"})
    assert refused(space, "type/m/C#f").hints == ("read m.C[0]", "read m.C[1]")


def test_a_group_of_an_assignment_and_a_function_is_a_function() -> None:
    space = workspace({"m.py": "f = None\ndef f(): ...\n"})
    assert found(space, "type/m/f") == "m.py:f"


def test_the_details_of_a_fault_name_the_uri_and_the_place() -> None:
    with pytest.raises(SourceError) as caught:
        found(workspace({"m.py": "x = (\n"}), "type/m/f")
    assert caught.value.details["sym"] == "sym://python/type/m/f"
    assert caught.value.details["line"] == 1


@pytest.mark.parametrize("name", ["m", "m.C", "m.C.f", "pkg", "pkg.m", "pkg.m.g"])
def test_what_has_a_selector_is_found_by_it_again(name: str) -> None:
    space = workspace(
        {"m.py": "class C:\n    def f(self): ...\n", "pkg/__init__.py": "", "pkg/m.py": "def g(): ...\n", "n/m.py": ""}
    )
    resolved = resolve(space, name)
    selector = selector_for(resolved)
    assert selector is not None
    again = select(space, selector, exact=True)
    assert (again.module.path, again.group) == (resolved.module.path, resolved.group)


@pytest.mark.parametrize("name", ["m.A", "m.C.x", "m.größe"])
def test_what_has_no_selector_is_not_given_one(name: str) -> None:
    space = workspace({"m.py": "A = 1\nclass C:\n    x = 1\ndef größe(): ...\n"})
    assert selector_for(resolve(space, name)) is None


def test_a_name_for_reading_leads_to_the_very_file() -> None:
    settings = '[tool.bae-source]\nsource-roots = ["one", "two"]\n'
    space = workspace(
        {"pyproject.toml": settings, "one/m.py": "", "two/m.py": "", "one/x.py": "", "one/x/__init__.py": ""}
    )
    names = {module.path: reading_name(space, module) for module in space.census.modules}
    assert names == {"one/m.py": None, "two/m.py": None, "one/x.py": None, "one/x/__init__.py": "x.__init__"}


def test_a_reading_request_by_selector_is_the_same_by_name() -> None:
    space = workspace({"pkg/m.py": "class C:\n    def f(self): ...\n"})
    asked = by_name(space, Read(target="sym://python/type/m/C#f", dedent=True))
    assert asked == Read(target="pkg.m.C.f", dedent=True)
    assert by_name(space, Read(target="pkg.m")) == Read(target="pkg.m")


def test_a_selector_of_what_no_dotted_name_reaches_says_so() -> None:
    settings = '[tool.bae-source]\nsource-roots = ["one", "two"]\n'
    files = {"pyproject.toml": settings, "one/m.py": "", "two/m.py": "", "one/x.py": "", "one/x/__init__.py": ""}
    for uri in ("sym://python/mod/m", "sym://python/mod/x"):
        with pytest.raises(LookupFailed) as caught:
            by_name(workspace(files), Read(target=uri))
        assert caught.value.code == "ambiguous_symbol"
