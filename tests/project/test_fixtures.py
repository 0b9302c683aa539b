"""Every project of fixtures/projects: names mean what Python says they mean, and canonical addresses lead back.

What Python says is asked of a child process that has the workspace's own source roots on `sys.path`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bae_source.errors import LookupFailed
from bae_source.model.address import Address, Part, Segment
from bae_source.project.files.layout import Layout
from bae_source.project.files.port import Disk
from bae_source.project.naming.resolve import resolve
from bae_source.project.naming.spans import span_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE, Outline
from bae_source.syntax.outline.locate import has_parts
from tests.memory import Memory
from tests.project.library import sample, shown
from tests.project.support import address, refused, same

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
PROJECTS = FIXTURES / "projects"
NAMES = sorted(path.name for path in PROJECTS.iterdir() if path.is_dir())
ROOTS: dict[str, list[str]] = {
    name: re.findall(r"`([^`]+)`", roots)
    for name, roots in re.findall(
        r"^\| `([^`]+)` \| ([^|]+) \|", (PROJECTS / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
}
#: Files that are no module of their project: build output, a member that is left out, a name that two files have.
NO_MODULE = {
    "flat/build/lib/shop/__init__.py",
    "same_module_twice/one/tool.py",
    "same_module_twice/two/tool.py",
}
#: Modules that do something when they are imported, or cannot be.
NOT_IMPORTED = {"setup", "weather.__main__", "chains.deep.up"}
#: Names that stand for several things, each of which Python only knows by running the code.
AMBIGUOUS = {
    "chains.parse": {"chains._fast.parse", "chains._slow.parse"},
    "chains._fallback.parse": {"chains._fast.parse", "chains._slow.parse"},
    "chains.run": {"chains.run@module", "chains.run.run"},
    "tool": set(),
    "tool.which": set(),
}
#: Names that a module binds itself, by an assignment, to what another one defines: the assignment is meant.
OWN = {"chains.Alias", "chains.conn", "chains.connect"}
#: An import in a class binds an attribute of the class, which is not followed.
IMPORTED_BY_A_CLASS = {"chains.in_class.Holder.connect"}
#: Names that are there for one who reads, and not for one who runs the code.
STATIC_ONLY = {
    "chains.only_typing.Client": "chains._client.Client",
    "chains.chains.Client": "chains._client.Client",
    "weather.__main__.Report": "weather._report.Report",
}
NOT_FOUND = [
    ("re_exports", "chains.Hidden"),
    ("re_exports", "chains._Private"),
    ("re_exports", "chains.dynamic"),
    ("re_exports", "chains.cycle_a.Ghost"),
    ("re_exports", "chains.cycle_b.Ghost"),
    ("re_exports", "chains.external.Ordered"),
    ("re_exports", "chains.external.loads"),
    ("re_exports", "chains.external.paths.join"),
    ("re_exports", "chains.deep.up.nothing"),
    ("re_exports", "chains.walk"),
    ("several_roots", "old"),
    ("several_roots", "util.shared"),
    ("several_roots", "packages.a.src.alpha"),
    ("same_module_twice", "one.tool.which"),
    ("namespace", "company"),
    ("namespace", "company.plugins"),
    ("namespace", "company.plugins.nothing"),
    ("namespace", "company.docs"),
    ("no_config", "tools"),
    ("flat", "build.lib.shop"),
    ("flat", "shop.templates"),
    ("src_layout", "src.weather.Report"),
    ("setup_cfg", "source.ledger.Book"),
    ("setuptools_package_dir", "code.engine"),
    ("setuptools_where", "lib.planets"),
    ("poetry_from", "python.harbour"),
    ("pdm_source", "grove.orchard"),
    ("numbered", "blog.migrations.0003_nothing"),
    ("single_file", "stopwatch.Stopwatch.began"),
]

_ASK = """
import contextlib, importlib, inspect, io, json, sys

def describe(value):
    if inspect.ismodule(value):
        return ["module", value.__name__]
    if isinstance(value, property):
        value = value.fget
    value = inspect.unwrap(value) if callable(value) else value
    if inspect.isclass(value) or inspect.isfunction(value) or inspect.isbuiltin(value):
        return ["object", value.__module__, value.__qualname__]
    return ["value", type(value).__module__]

def walk(name, value, found, depth):
    found[name] = describe(value), id(value)
    keep.append(value)
    if inspect.isclass(value) and depth < 4 and value.__module__ in modules:
        for inner, member in vars(value).items():
            if not (inner.startswith("__") and inner.endswith("__")):
                walk(f"{name}.{inner}", member, found, depth + 1)

modules, keep, found = sys.argv[1:], [], {}
with contextlib.redirect_stdout(io.StringIO()):
    loaded = {name: importlib.import_module(name) for name in modules}
for name, module in loaded.items():
    found[name] = describe(module), id(module)
    for inner, value in list(vars(module).items()):
        if not (inner.startswith("__") and inner.endswith("__")):
            walk(f"{name}.{inner}", value, found, 0)
print(json.dumps(found))
"""


def _space(name: str) -> Workspace:
    return Workspace(Disk(PROJECTS / name))


def _files(name: str) -> list[str]:
    root = PROJECTS / name
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))


def _modules(name: str) -> dict[str, str]:
    """Return the file of each module of a project, by the name that its nearest source root gives it."""
    layout, found = _space(name).layout, {}
    for path in _files(name):
        if f"{name}/{path}" in NO_MODULE:
            continue
        module = layout.module_at(path)
        assert module is not None
        found[module.name] = path
    return found


@cache
def _python(name: str) -> dict[str, Any]:
    """Return what Python says that each name of a project is, with a number that tells things apart."""
    space = _space(name)
    roots = [str(PROJECTS / name / root) for root in space.layout.roots]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots), "PYTHONDONTWRITEBYTECODE": "1"}
    modules = [module for module in _modules(name) if module not in NOT_IMPORTED]
    command = [sys.executable, "-S", "-P", "-c", _ASK, *modules]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("name", NAMES)
def test_the_source_roots_that_the_readme_names_are_found(name: str) -> None:
    roots = ["" if root == "." else root for root in ROOTS[name]]
    assert [root for root in roots if root not in _space(name).layout.roots] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_file_of_a_project_is_the_module_that_python_imports(name: str) -> None:
    space = _space(name)
    for module, path in _modules(name).items():
        if module in AMBIGUOUS:
            continue
        resolved = resolve(space, module)
        assert (resolved.module.path, resolved.group, str(resolved.address)) == (path, None, module)


@pytest.mark.parametrize("path", sorted(NO_MODULE))
def test_a_file_that_is_no_module_is_reached_by_none_of_its_names(path: str) -> None:
    name, _, inner = path.partition("/")
    parts = inner.removesuffix(".py").removesuffix("/__init__").split("/")
    for start in range(len(parts)):
        try:
            found = resolve(_space(name), ".".join(parts[start:]))
        except LookupFailed:
            continue
        assert found.module.path != inner


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_a_module_resolves_to_what_python_has_there(name: str) -> None:
    space, python = _space(name), _python(name)
    modules = _modules(name)
    alike: dict[int, set[str]] = {}
    for asked, (_, number) in python.items():
        alike.setdefault(number, set()).add(asked)
    checked = 0
    for asked, ((kind, *what), number) in python.items():
        if asked in AMBIGUOUS:
            error = refused(space, asked, "ambiguous_symbol")
            assert isinstance(error, LookupFailed)
            assert set(error.candidates) == AMBIGUOUS[asked]
            assert error.candidates or error.hints
        elif asked in OWN:
            assert address(space, asked) == asked
        elif asked in IMPORTED_BY_A_CLASS or any(asked.startswith(f"{own}.") for own in OWN):
            refused(space, asked, "symbol_not_found")  # what an assignment's value has is not looked into
        elif what[0] not in modules and (kind != "value" or what[0] != "builtins" or asked.endswith(".TYPE_CHECKING")):
            _not_there(space, asked, modules)
            continue
        elif kind == "value":
            assert address(space, asked) in alike[number], asked
        else:
            assert address(space, asked) == ".".join(what), asked
        checked += 1
    assert checked >= 2


def _not_there(space: Workspace, asked: str, modules: dict[str, str]) -> None:
    """What comes from elsewhere, or is a namespace package, has no code here."""
    assert asked not in modules
    refused(space, asked, "symbol_not_found")


@pytest.mark.parametrize(("name", "asked"), NOT_FOUND)
def test_what_is_not_there_is_not_found_and_its_candidates_are(name: str, asked: str) -> None:
    refused(_space(name), asked, "symbol_not_found")


@pytest.mark.parametrize("name", ["tool", "tool.which", "tool.nothing"])
def test_a_module_in_two_roots_is_ambiguous_and_a_hint_says_what_to_do(name: str) -> None:
    error = refused(_space("same_module_twice"), name, "ambiguous_symbol")
    assert error.hints


@pytest.mark.parametrize("name", [name for name in AMBIGUOUS if not name.startswith("tool")])
def test_an_ambiguous_name_has_candidates_that_differ(name: str) -> None:
    space = _space("re_exports")
    error = refused(space, name, "ambiguous_symbol")
    assert isinstance(error, LookupFailed)
    assert set(error.candidates) == AMBIGUOUS[name]
    found = [resolve(space, candidate) for candidate in error.candidates]
    assert not same(found[0], found[1])
    assert [str(item.address) for item in found] == list(error.candidates)


@pytest.mark.parametrize(("asked", "expected"), STATIC_ONLY.items())
def test_what_only_a_reader_sees_is_resolved_too(asked: str, expected: str) -> None:
    name = "src_layout" if asked.startswith("weather") else "re_exports"
    assert address(_space(name), asked) == expected


@pytest.mark.parametrize("name", NAMES)
def test_resolving_imports_nothing_and_writes_nothing(name: str) -> None:
    before = (set(sys.modules), {path: path.stat().st_mtime_ns for path in (PROJECTS / name).rglob("*")})
    for module in _modules(name):
        if module not in AMBIGUOUS:
            resolve(_space(name), module)
    assert {path: path.stat().st_mtime_ns for path in (PROJECTS / name).rglob("*")} == before[1]
    assert not {module for module in set(sys.modules) - before[0] if module in _modules(name)}


@pytest.mark.parametrize("name", NAMES)
def test_every_definition_of_a_project_has_an_address_that_leads_back(name: str) -> None:
    space = _space(name)
    for module in _modules(name):
        if module not in AMBIGUOUS:
            _check_definitions(space, module)


def _readable(path: Path) -> bool:
    facts = tomllib.loads((FIXTURES / "sources" / "index.toml").read_text(encoding="utf-8"))[path.name]
    return facts["parses"] != "never" and "encoding" in facts and facts.get("lossless", True)


@pytest.mark.parametrize("path", sorted((FIXTURES / "sources").glob("*.py")), ids=lambda path: path.name)
def test_every_definition_of_a_nasty_file_has_an_address_that_leads_back(path: Path) -> None:
    if _readable(path):
        _check_definitions(_alone(path), "m")
    else:
        with pytest.raises(Exception, match=r"m\b|file"):
            resolve(_alone(path), "m.anything")


@pytest.mark.parametrize("part", range(6))
def test_every_definition_of_the_standard_library_has_an_address_that_leads_back(part: int) -> None:
    for path in sample(60, "addresses", largest=150_000)[part::6]:
        try:
            _check_definitions(_alone(path), "m")
        except BaseException as error:
            error.add_note(shown(path))
            raise


def _alone(path: Path) -> Workspace:
    files = Memory({"m.py": path.read_bytes()})
    return Workspace(files, layout=Layout(files, [""]))


def _check_definitions(space: Workspace, module: str) -> None:
    """Resolve each definition by a name that says which of several; its canonical address must mean the very same."""
    outline = resolve(space, module).tree.outline
    canonical: dict[str, tuple[int, ...]] = {}
    for index in range(len(outline.definitions)):
        for last in outline.definitions[index].names:
            asked = _asked(outline, index, module, last)
            found = resolve(space, asked)
            assert found.group is not None
            assert found.group.members == (index,), asked
            again = resolve(space, str(found.address))
            assert same(again, found), f"{asked} -> {found.address}"
            assert again.address == found.address
            assert canonical.setdefault(str(found.address), (index,)) == (index,), "two definitions of one address"
            if has_parts(outline.definitions[index]):
                _check_parts(space, str(found.address))


def _check_parts(space: Workspace, whole: str) -> None:
    for part in (Part.SIGNATURE, Part.DECORATORS, Part.BODY):
        found = resolve(space, f"{whole}@{part.value}")
        assert str(found.address) == f"{whole}@{part.value}"
        assert str(found.address.whole) == whole
        inside = span_of(resolve(space, whole))
        assert inside.contains(span_of(found)), found.address


def _asked(outline: Outline, index: int, module: str, last: str) -> str:
    """Name a definition, each component by its number where there are several of its name."""
    segments: list[Segment] = []
    name, up = last, index
    while up != MODULE:
        alike = outline.named(outline.definitions[up].parent, name)
        segments.append(Segment(name, index=alike.index(up) if len(alike) > 1 else None))
        up = outline.definitions[up].parent
        name = outline.definitions[up].names[0] if up != MODULE else ""
    return str(Address(module=module, qualname=tuple(reversed(segments))))
