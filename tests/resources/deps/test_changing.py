"""Dependencies added, upgraded and removed in a real environment; what is refused changes nothing anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import ResourceError
from tests.resources.deps.installable import (
    PYPROJECT,
    files_of,
    install,
    installed,
    packages,
    versions,
    wheel,
)

pytestmark = pytest.mark.sampled


@contextmanager
def nothing_changed(root: Path) -> Iterator[None]:
    before = files_of(root), installed(root)
    yield
    assert files_of(root) == before[0]
    assert installed(root) == before[1]


def refused(root: Path, verb: str, *words: str, **options: object) -> ResourceError:
    """Have a change refused, and see that it changed neither files nor environment."""
    with nothing_changed(root), pytest.raises(ResourceError) as caught:
        getattr(Source(root).deps, verb)(*words, **options)
    return caught.value


def command(root: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bae_source", *words],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        input=given,
        capture_output=True,
        text=True,
    )


def declared(root: Path, text: str) -> None:
    (root / "pyproject.toml").write_bytes(text.encode())


def test_add_upgrade_and_remove_are_undone_and_redone_with_the_environment(root: Path) -> None:
    src = Source(root)
    states = [(files_of(root), versions(root))]
    outcome = src.deps.add("alpha<2", "gamma")
    assert outcome.text.startswith("Changed alpha>=1 to alpha<2 in project.dependencies; added gamma to project.dep")
    assert {each.name: each.result for each in outcome.checks} == {"install": "passed"}
    states.append((files_of(root), versions(root)))
    assert versions(root) == {"alpha": "1.1", "beta": "1.0", "gamma": "1.0"}
    assert (root / "pyproject.toml").read_text() == PYPROJECT.replace(
        '"alpha>=1",  # the first\n', '"alpha<2",  # the first\n    "gamma",\n'
    )
    ids = [outcome.operation_id, src.deps.remove("gamma").operation_id]
    states.append((files_of(root), versions(root)))
    assert versions(root) == {"alpha": "1.1", "beta": "1.0"}, "beta is needed by alpha"
    outcome = src.deps.upgrade("alpha>=1")
    assert outcome.text == "Changed alpha<2 to alpha>=1. Installs alpha 2.0 for 1.1."
    ids.append(outcome.operation_id)
    states.append((files_of(root), versions(root)))
    assert '"alpha>=2.0",  # the first' in (root / "pyproject.toml").read_text(), "no lock holds it, so a bound does"
    assert versions(root) == {"alpha": "2.0", "beta": "1.0"}, "what it needs is there already"
    for state in reversed(states[:-1]):
        src.undo()
        assert (files_of(root), versions(root)) == state
    for state in states[1:]:
        src.redo()
        assert (files_of(root), versions(root)) == state
    text = src.undo(ids).text
    assert text.startswith("Undid 3 changes: ")
    assert text.endswith("Takes out alpha 2.0, beta 1.0.")
    assert (files_of(root), versions(root)) == states[0]


def test_a_dry_run_changes_nothing_and_shows_what_would_be_installed(root: Path) -> None:
    marker = root / "ran"
    (root / "json.py").write_text(f"open({str(marker)!r}, 'w')\n")
    with nothing_changed(root):
        outcome = Source(root).deps.add("gamma", dry_run=True, verify=["tests"])
    assert outcome.status == "planned"
    assert outcome.text == (
        "Dry run, nothing was changed: Added gamma to project.dependencies. Installs gamma 1.0, alpha 2.0, beta 1.0. "
        "Not verified: tests (a dry run installs nothing, so nothing can be judged with it)."
    )
    assert '+    "gamma",' in outcome.diff
    [check] = outcome.checks
    assert (check.name, check.result) == ("tests", "not_run"), "nothing can be judged without what would be installed"
    assert not marker.exists(), "pip is not run with the project's modules on its path"


def test_what_is_declared_already_is_installed_if_it_is_missing_and_else_nothing_happens(root: Path) -> None:
    src = Source(root)
    before = files_of(root)
    outcome = src.deps.add("alpha")
    assert outcome.status == "applied"
    assert (outcome.operation_id, [each.code for each in outcome.warnings]) == (None, ["not_recorded"])
    [entered] = src.ledger.show().outcome.found
    assert (entered.event, entered.meta["verb"]) == ("environment_changed", "deps_add")
    assert entered.meta["target"] == ["Installs alpha 2.0", "Installs beta 2.0"]
    assert (files_of(root), versions(root)) == (before, {"alpha": "2.0", "beta": "2.0"})
    with nothing_changed(root):
        assert src.deps.add("Alpha>=1").status == "unchanged"
        outcome = src.deps.upgrade("alpha")
    assert (outcome.status, outcome.text) == ("unchanged", "Nothing newer is allowed: alpha 2.0.")


@pytest.mark.parametrize(
    ("before", "added", "after"),
    [
        ("alpha>=1", "alpha", "alpha>=1"),
        ("alpha>=1", "alpha>=1.1", "alpha>=1.1"),
        ("foo.bar", "Foo_Bar[x]", "foo.bar[x]"),
        ("Foo-Bar[x]>=1", "foo.bar<9", "Foo-Bar[x]<9"),
        ("alpha @ https://example.org/alpha.zip", "alpha>=1", "alpha>=1"),
        ("alpha @ https://example.org/alpha.zip", "alpha", "alpha @ https://example.org/alpha.zip"),
        ("alpha>=1; python_version < '4'", "alpha<2", 'alpha<2; python_version < "4"'),
        ("alpha>=1", "alpha; python_version < '4'", 'alpha>=1; python_version < "4"'),
    ],
)
def test_a_declared_requirement_gets_what_is_given_and_keeps_the_rest(
    root: Path, before: str, added: str, after: str
) -> None:
    declared(root, PYPROJECT.replace("alpha>=1", before))
    Source(root).deps.add(added, files_only=True)
    expected = PYPROJECT.replace("alpha>=1", after)
    found = (root / "pyproject.toml").read_text()
    assert found.replace("'", '"').replace('\\"', '"') == expected.replace("'", '"')


def test_one_of_several_is_meant_by_its_marker(root: Path) -> None:
    text = PYPROJECT.replace(
        '"alpha>=1",', "\"alpha<2; python_version < '3.12'\", \"alpha; python_version >= '3.12'\","
    )
    declared(root, text)
    error = refused(root, "add", "alpha>=1.1", files_only=True)
    assert error.code == "unsafe_change"
    Source(root).deps.add("alpha>=1.1; python_version < '3.12'", files_only=True)
    assert "alpha>=1.1; python_version" in (root / "pyproject.toml").read_text()
    Source(root).deps.remove("alpha", files_only=True)
    assert "alpha" not in (root / "pyproject.toml").read_text()


def test_groups_and_extras_are_made_or_found_by_any_spelling(root: Path) -> None:
    src = Source(root)
    declared(root, PYPROJECT + '\n[dependency-groups]\nDev_Tools = []\nall = [{include-group = "Dev_Tools"}]\n')
    before = files_of(root)
    src.deps.add("gamma", group="dev-tools")
    src.deps.add("Foo.Bar[x]", extra="shell")
    text = (root / "pyproject.toml").read_text()
    assert 'Dev_Tools = ["gamma"]' in text
    assert '[project.optional-dependencies]\nshell = ["Foo.Bar[x]"]' in text
    assert versions(root) == {"alpha": "2.0", "beta": "1.0", "foo_bar": "1.0", "gamma": "1.0"}
    src.deps.remove("gamma", group="dev.tools")
    assert versions(root)["gamma"] == "1.0", "the extra x of Foo.Bar needs it"
    src.deps.remove("FOO-bar", extra="Shell")
    assert versions(root) == {"alpha": "2.0", "beta": "1.0", "gamma": "1.0"}, "gamma was installed by itself"
    for _ in range(4):
        src.undo()
    assert (files_of(root), versions(root)) == (before, {})
    assert refused(root, "remove", "alpha", group="dev-tools").code == "symbol_not_found"
    assert refused(root, "add", "gamma", group="dev", extra="x").code == "invalid_arguments"
    assert refused(root, "add", "gamma", group="[x]\ny").code == "invalid_arguments"


NO_REQUIREMENTS = (
    "-r x",
    "--index-url http://example.org",
    "-e .",
    "alpha @ https://example.org/alpha.zip",
    "alpha @ file:///tmp/alpha",
    "git+https://example.org/alpha",
    "evil.whl",
    "evil.tar.gz",
    "evil.tar",
    "evil.txz",
    "./alpha",
    "../alpha",
    ".",
    "alpha; touch x",
    "alpha && touch x",
    "$(touch x)",
    "`touch x`",
    "alpha\n--index-url http://example.org",
    "alpha>=1\x00",
    "",
)


def test_what_is_no_requirement_by_name_is_refused(root: Path) -> None:
    src = Source(root)
    with nothing_changed(root):
        for given in NO_REQUIREMENTS:
            for verb in ("add", "upgrade", "remove"):
                with pytest.raises(ResourceError) as caught:
                    getattr(src.deps, verb)(given)
                is_name = verb == "remove" and given.startswith("evil")
                assert caught.value.code == ("symbol_not_found" if is_name else "invalid_arguments"), given


def test_names_that_do_not_exist_and_releases_that_fit_nothing_are_refused_with_the_resolvers_reason(
    root: Path,
) -> None:
    error = refused(root, "add", "nosuch")
    assert error.code == "resolution_failed"
    assert "No matching distribution found for nosuch; nothing was changed." in error.message
    error = refused(root, "add", "beta>=2", "gamma")
    assert "conflict" in error.message
    assert "gamma 1.0 depends on beta<2" in error.message
    error = refused(root, "upgrade", "gamma")
    assert (error.code, error.exit_code) == ("symbol_not_found", 3)
    assert error.message == "gamma is not declared by this project."
    assert refused(root, "remove", "alpha", group="dev").message == (
        "alpha is not declared in dependency-groups.dev, but in project.dependencies."
    )


def test_what_is_installed_and_not_declared_keeps_what_it_needs(root: Path) -> None:
    src = Source(root)
    src.deps.add("alpha<2")
    install(root, "needy")
    error = refused(root, "upgrade", "alpha>=2")
    assert error.code == "resolution_failed"
    entered = src.ledger.show().outcome.found[-1]
    assert (entered.event, entered.meta["target"]) == ("change_refused", "alpha"), "no address that may stand behind it"
    assert "needy 1.0 needs alpha<2" in error.message
    src.deps.remove("alpha")
    assert versions(root) == {"alpha": "1.1", "beta": "2.0", "needy": "1.0"}, "it is undeclared, and stays for needy"


def test_a_dependency_and_the_code_that_imports_it_are_one_change(root: Path) -> None:
    src = Source(root)
    before = files_of(root)
    (root.parent / "use.txt").write_text("from gamma import VERSION as USED\n")
    ended = command(root, "do", "-", given="deps add gamma\nwrite app.use --source ../use.txt\n")
    assert ended.returncode == 0, ended.stderr
    assert "Installs gamma 1.0, alpha 2.0, beta 1.0." in ended.stdout
    assert versions(root)["gamma"] == "1.0"
    src.undo()
    assert (files_of(root), versions(root)) == (before, {})
    with src.transaction("use gamma") as change:
        change.deps.add("gamma")
        change.write("app.use", "import gamma\n\nassert gamma.VERSION == '1.0'\n")
    assert versions(root)["gamma"] == "1.0"
    src.undo()
    assert (files_of(root), versions(root)) == (before, {})
    asked = [
        {"do": "deps add", "requirements": ["gamma"]},
        {"do": "write", "target": "app.use", "source": "import nosuch"},
    ]
    with nothing_changed(root), pytest.raises(ResourceError) as caught:
        src.apply(requests=asked)
    assert caught.value.code == "reload_failed"
    asked = [{"do": "deps add", "requirements": ["gamma"]}, {"do": "deps remove", "dependencies": ["gamma"]}]
    with nothing_changed(root):
        assert src.apply(requests=asked).status == "unchanged"


def test_a_module_that_does_not_import_without_it_keeps_a_dependency(root: Path) -> None:
    src = Source(root)
    src.deps.add("gamma", "Foo.Bar")
    (root / "app" / "use.py").write_text("import gamma\n")
    (root / "app" / "may.py").write_text("try:\n    import foo_bar\nexcept ImportError:\n    foo_bar = None\n")
    error = refused(root, "remove", "gamma")
    assert error.code == "reload_failed"
    assert "app.use does not import with the change: ModuleNotFoundError: No module named 'gamma'" in error.message
    src.deps.remove("foo.bar")
    assert "foo_bar" not in versions(root)


def test_a_release_with_which_tests_fail_is_not_kept_and_what_failed_before_is_not_its_fault(
    root: Path,
) -> None:
    src = Source(root)
    src.deps.add("alpha<2")
    declared(root, PYPROJECT)
    (root / "tests").mkdir()
    (root / "tests" / "__init__.py").write_text("")
    (root / "tests" / "test_alpha.py").write_text(
        "import unittest\n\n\nclass TestAlpha(unittest.TestCase):\n"
        "    def test_old(self):\n        import alpha\n\n        self.assertLess(alpha.VERSION, '2')\n\n"
        "    def test_red(self):\n        self.fail()\n"
    )
    error = refused(root, "upgrade", "alpha", verify=["tests"])
    assert error.code == "verify_failed"
    assert "test_old fails with the change" in error.message
    (root / "tests" / "test_alpha.py").write_text(
        "import unittest\n\n\nclass TestAlpha(unittest.TestCase):\n"
        "    def test_new(self):\n        import alpha\n\n        self.assertGreater(alpha.VERSION, '1')\n\n"
        "    def test_red(self):\n        self.fail()\n"
    )
    outcome = src.deps.upgrade("alpha", verify=["tests"])
    assert {each.name: each.result for each in outcome.checks} == {"install": "passed", "tests": "failed_before"}
    assert versions(root)["alpha"] == "2.0"


def test_what_came_from_a_folder_is_not_replaced_since_no_index_could_bring_it_back(root: Path, links: Path) -> None:
    declared(root, PYPROJECT.replace('"alpha>=1",', '"alpha>=1", "beta",'))
    install(root, str(links / "alpha-1.0-py3-none-any.whl"))
    error = refused(root, "upgrade", "alpha")
    assert (error.code, error.message) == (
        "unsafe_change",
        "alpha came from a folder or an address, and no index has it to take this back; nothing was changed.",
    )
    assert refused(root, "remove", "alpha").code == "unsafe_change"
    Source(root).deps.remove("alpha", files_only=True)
    assert versions(root)["alpha"] == "1.0"


def test_the_project_itself_in_its_environment_stays_and_keeps_nothing(root: Path) -> None:
    src = Source(root)
    src.deps.add("gamma")
    info = packages(root) / "app-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: app\nVersion: 1.0\nRequires-Dist: gamma\n")
    (info / "RECORD").write_text("app-1.0.dist-info/METADATA,,\napp.pth,,\n")
    (info / "direct_url.json").write_text(json.dumps({"url": root.as_uri(), "dir_info": {"editable": True}}))
    (packages(root) / "app.pth").write_text(f"{root}\n")
    own = {path: content for path, content in installed(root).items() if path.startswith("app")}
    src.deps.remove("gamma")
    assert versions(root) == {"alpha": "2.0", "app": "1.0", "beta": "1.0"}
    src.undo()
    assert versions(root)["gamma"] == "1.0"
    assert {path: content for path, content in installed(root).items() if path.startswith("app")} == own


def test_local_versions_early_releases_and_markers(root: Path) -> None:
    src = Source(root)
    src.deps.add(
        "local", "early", "gamma; python_version < '3'", f"Foo.Bar; python_version >= '3.{sys.version_info[1]}'"
    )
    assert versions(root) == {"alpha": "2.0", "beta": "2.0", "local": "1.0+here", "early": "1.0", "foo_bar": "1.0"}
    src.deps.upgrade("early>=2.0b1", "local")
    assert versions(root)["early"] == "2.0b1"
    text = (root / "pyproject.toml").read_text()
    assert ('"early>=2.0b1"' in text, '"local"' in text) == (True, True)
    src.undo()
    src.undo()
    assert (versions(root), (root / "pyproject.toml").read_text()) == ({}, PYPROJECT)


@pytest.mark.parametrize("text", [PYPROJECT.replace("\n", "\r\n"), f"\ufeff{PYPROJECT}"])
def test_line_ends_and_a_byte_order_mark_stay(root: Path, text: str) -> None:
    declared(root, text)
    Source(root).deps.add("gamma", files_only=True)
    newline = "\r\n" if "\r" in text else "\n"
    expected = text.replace(f"# the first{newline}", f'# the first{newline}    "gamma",{newline}').encode()
    assert (root / "pyproject.toml").read_bytes() == expected
    Source(root).undo()
    assert (root / "pyproject.toml").read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("text", "code", "reason"),
    [
        (None, "symbol_not_found", "The project has no pyproject.toml"),
        ("[project]\nname = \n", "syntax_invalid", "line 2"),
        ('[project]\nname = "a"\nname = "b"\n', "syntax_invalid", "pyproject.toml"),
        ("[tool.other]\n", "unsafe_change", "pyproject.toml has no [project]"),
        ('[project]\nname = "a"\ndynamic = ["dependencies"]\n', "unsafe_change", "dependencies are dynamic"),
        ('[tool.poetry]\nname = "a"\n[tool.poetry.dependencies]\nbeta = "*"\n', "unsafe_change", "poetry keeps"),
        ("[project]\nname = 'Gamma'\n", "unsafe_change", "gamma is the project itself, which needs no declaration"),
        ("[project]\nname = 'a'\ndependencies = 1\n", "invalid_arguments", "takes no items"),
        (b"[project]\nname = '\xff'\n", "syntax_invalid", "does not parse"),
    ],
)
def test_where_dependencies_cannot_be_declared_that_is_reported(
    root: Path, text: str | bytes | None, code: str, reason: str
) -> None:
    file = root / "pyproject.toml"
    file.unlink()
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    error = refused(root, "add", "gamma")
    assert error.code == code
    assert reason in error.message
    if isinstance(text, str) and "poetry" in text:
        for verb in ("remove", "upgrade"):
            assert refused(root, verb, "beta").message.startswith("beta * stands in pyproject.toml, tool.poetry.dep")


@pytest.mark.parametrize("own", ["group.docs.dependencies", "dev-dependencies"])
def test_groups_that_poetry_keeps_get_no_others_beside_them(root: Path, own: str) -> None:
    declared(root, f'{PYPROJECT}\n[tool.poetry.{own}]\nbeta = "*"\n')
    with nothing_changed(root):
        ended = command(root, "deps", "add", "gamma", "--group", "dev")
    assert "poetry keeps the dependencies of this project in tables of its own" in ended.stderr
    assert "Use poetry add." in ended.stderr
    Source(root).deps.add("gamma", files_only=True)
    assert '    "gamma",\n' in (root / "pyproject.toml").read_text(), "what it always needs stands in [project]"


def test_the_project_with_an_extra_is_declared_in_a_group(root: Path) -> None:
    declared(root, PYPROJECT + "[project.optional-dependencies]\nfast = []\n")
    Source(root).deps.add("App[fast]", group="dev", files_only=True)
    assert 'dev = ["App[fast]"]' in (root / "pyproject.toml").read_text()


def test_an_installers_reason_is_cut_to_what_matters(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 13):
        wheel(tmp_path, "many", f"{number}.0")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{tmp_path} {tmp_path}/nowhere")
    pip = [root / ".venv/bin/python", "-m", "pip", "download", "many>=99"]
    ended = subprocess.run(pip, capture_output=True, text=True, cwd=tmp_path)
    assert "WARNING: Location " in ended.stderr
    assert "(from versions: 1.0, 2.0, " in ended.stderr
    message = refused(root, "add", "many>=99").message
    assert "many>=99 (from versions: …, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0)" in message
    assert "WARNING" not in message


def test_a_dependency_that_is_not_installed_is_not_gotten_and_the_next_calls_are_named(root: Path) -> None:
    ended = command(root, "deps", "get", "gamma")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr.endswith(
        "gamma is not installed in the project's environment.\n"
        "  -> deps list gamma says whether it is declared.\n"
        "  -> deps add NAME declares and installs a distribution by its name.\n"
    )
    assert command(root, "deps", "add", "gamma").returncode == 0
    assert command(root, "deps", "get", "gamma").stdout == "gamma 1.0 gives gamma.\n"


def test_without_an_environment_of_its_own_only_the_files_can_change(root: Path) -> None:
    (root / ".venv").rename(root.parent / "elsewhere")
    for options in ({}, {"dry_run": True}):
        with pytest.raises(ResourceError) as caught:
            Source(root).deps.add("gamma", **options)
        assert caught.value.code == "forbidden"
        assert "python -m venv .venv" in caught.value.hints[0]
        assert "files_only" in caught.value.hints[1]
    assert (root / "pyproject.toml").read_text() == PYPROJECT
    outcome = Source(root).deps.add("gamma", files_only=True)
    assert outcome.text == "Added gamma to project.dependencies."
    assert Source(root).deps.upgrade("gamma", files_only=True).text.startswith("No file holds what would be upgraded")


def test_locks_that_do_not_follow_are_named(root: Path) -> None:
    top = root.parent
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    (top / "uv.lock").write_text("version = 1\n")
    (root / "poetry.lock").write_text("")
    outcome = Source(root).deps.add("gamma", files_only=True)
    assert [each.message for each in outcome.warnings] == [
        "Locks that do not follow by themselves: poetry.lock, ../uv.lock. Have the tools that wrote them lock anew."
    ]


def test_an_upgrade_takes_names_and_versions_alone(root: Path) -> None:
    for given in ("alpha[x]", "alpha>=2; python_version > '3'"):
        error = refused(root, "upgrade", given)
        assert (error.code, "deps_add" in error.hints[0]) == ("invalid_arguments", True)


def test_an_interpreter_whose_packages_are_not_beside_it_is_not_installed_into(root: Path) -> None:
    declared(root, PYPROJECT + '[tool.bae-source]\npython = "python3"\n')
    error = refused(root, "add", "gamma")
    assert (error.code, error.message) == (
        "forbidden",
        "The folder of python3 does not show where its packages are; nothing was changed.",
    )


def test_an_environment_without_pip_is_refused_where_there_is_no_uv(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bae_source.resources.deps.programs.own_uv", lambda: None)
    monkeypatch.setenv("PATH", "/nowhere")
    (packages(root) / "pip").rename(root / "pip-elsewhere")
    error = refused(root, "add", "gamma")
    assert (error.code, "ensurepip" in error.hints[0]) == ("forbidden", True)
    (root / "uv.lock").write_text("version = 1\n")
    assert "there is no uv" in refused(root, "add", "gamma").message


def test_an_environment_that_others_manage_is_left_to_them_in_pips_own_words(root: Path) -> None:
    # pip looks beside the standard library, which several environments share: a sitecustomize leads it elsewhere.
    (packages(root) / "sitecustomize.py").write_text(
        "import sys, sysconfig, pathlib\nreal, here = sysconfig.get_path, str(pathlib.Path(__file__).parent)\n"
        "sysconfig.get_path = lambda name, *a, **k: here if name == 'stdlib' else real(name, *a, **k)\n"
        "sys.base_prefix = sys.prefix\n"
    )
    (packages(root) / "EXTERNALLY-MANAGED").write_text("[externally-managed]\nError=Ask the distribution.\n")
    error = refused(root, "add", "gamma")
    assert "externally-managed-environment" in error.message
    assert "Ask the distribution." in error.message


def test_undo_leaves_what_others_changed_or_need_since(root: Path) -> None:
    src = Source(root)
    src.deps.add("alpha<2", "gamma")
    install(root, "alpha==2.0")
    outcome = src.undo()
    assert [each.message for each in outcome.warnings if each.code == "others_kept"] == [
        "alpha changed since in the environment, and stays as it is there.",
        "beta stays as it is in the environment, since alpha 2.0 needs beta.",
    ]
    assert versions(root) == {"alpha": "2.0", "beta": "1.0"}


def test_undo_leaves_what_a_later_change_needs(root: Path) -> None:
    src = Source(root)
    declared(root, PYPROJECT.replace('"alpha>=1",', "") + "\n[tool.x]\n\n[dependency-groups]\n")
    first = src.deps.add("alpha<2", "beta<2").operation_id
    src.deps.add("gamma", group="two")
    assert versions(root) == {"alpha": "1.1", "beta": "1.0", "gamma": "1.0"}
    outcome = src.undo(first)
    assert versions(root) == {"beta": "1.0", "gamma": "1.0"}
    assert [each.message for each in outcome.warnings if each.code == "others_kept"] == [
        "pyproject.toml has changed since; what else is in there stays as it is.",
        "beta stays as it is in the environment, since gamma 1.0 needs beta<2.",
    ]


def test_files_are_undone_where_the_environment_or_the_index_is_gone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    src = Source(root)
    src.deps.add("alpha<2")
    src.deps.upgrade("alpha>=2")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    outcome = Source(root).undo()
    [notice] = [each for each in outcome.warnings if each.code == "not_installed"]
    assert notice.message.startswith("The environment stays as it is, also alpha: ")
    assert "Installs alpha 1.1" not in outcome.text
    assert versions(root)["alpha"] == "2.0"
    assert '"alpha<2"' in (root / "pyproject.toml").read_text()
    (root / ".venv").rename(root.parent / "elsewhere")
    outcome = Source(root).undo()
    assert [each.code for each in outcome.warnings] == ["not_installed"]
    assert (root / "pyproject.toml").read_text() == PYPROJECT


def test_a_file_that_changes_while_it_is_planned_is_planned_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bae_source.resources.deps import programs

    real, other = programs.plain_version, PYPROJECT.replace('"1.0"', '"1.1"')
    read_versions: list[str] = []

    def read(version: str) -> str:  # of what pip reports
        declared(root, other) if not read_versions else None
        read_versions.append(version)
        return real(version)

    monkeypatch.setattr(programs, "plain_version", read)
    Source(root).deps.add("gamma")
    assert (root / "pyproject.toml").read_text() == other.replace("# the first\n", '# the first\n    "gamma",\n')
    assert versions(root)["gamma"] == "1.0"


def test_the_diff_of_a_lock_is_not_shown_where_it_follows_from_another_file(root: Path) -> None:
    before = "version = 1\nrevision = 3\n"
    (root / "uv.lock").write_text(before)
    src = Source(root)
    lock = {"do": "write", "target": ":uv.lock", "source": f'{before}requires-python = ">=3.11"\n', "overwrite": True}
    settings = {"do": "edit", "target": ":pyproject.toml", "old": "[project]", "new": "# ours\n[project]"}
    done = src.apply([lock, settings])
    assert "uv.lock" not in done.diff
    assert "+# ours" in done.diff
    assert [each.message for each in done.warnings if each.code == "lock_follows"] == [
        "uv.lock changes with it (+1 lines), which the diff leaves out."
    ]
    assert (root / "uv.lock").read_text() != before
    src.undo()
    assert (root / "uv.lock").read_text() == before
    assert "+++ b/uv.lock" in src.apply([lock]).diff
