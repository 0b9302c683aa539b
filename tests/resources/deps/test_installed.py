"""Distributions in an environment, read from files that pip and its like leave there, whole and broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bae_source.engine.service import Service
from bae_source.resources.deps.installed import Environment, Installed, environment_of, is_linked
from tests.resources.deps.support import PACKAGES, distribution, environment, has_run, written


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return environment(tmp_path)


def found(root: Path) -> Environment:
    there = environment_of(Service(root).workspace(), "app")
    assert there is not None
    assert not has_run(root)
    return there


def one(root: Path, name: str) -> Installed:
    return found(root).distributions[name]


def giving(root: Path, dotted: str) -> list[str]:
    return sorted(each.name for each in found(root).giving(dotted))


def test_metadata_and_record_say_what_a_distribution_is_and_gives(root: Path) -> None:
    metadata = (
        "Name: PyYAML\nVersion: 6.0.1\nRequires-Dist: attrs>=1; extra == 'x'\nProvides-Extra: X_y\n\nName: other\n"
    )
    distribution(
        root,
        "PyYAML",
        "6.0.1",
        metadata=metadata,
        record="yaml/__init__.py\nyaml/_yaml.cpython-312-x86_64-linux-gnu.so\n_yaml/__init__.py\n../../../bin/y.py",
        files={"entry_points.txt": "[console_scripts]\ny = yaml:main\n\n[pytest11]\ny = yaml.plugin\n"},
    )
    yaml = one(root, "pyyaml")
    assert (yaml.version, yaml.gives, yaml.problem) == ("6.0.1", ("_yaml", "yaml"), "")
    assert "yaml._yaml" in yaml.modules
    assert (yaml.requires, yaml.extras) == (("attrs>=1; extra == 'x'",), ("x-y",))
    assert yaml.entry_points == ("console_scripts", "pytest11")


def test_distributions_that_share_a_namespace_are_distinguished_by_the_longest_name(root: Path) -> None:
    distribution(root, "google-cloud-storage", record="google/cloud/storage/__init__.py\ngoogle/cloud/storage/blob.py")
    distribution(root, "google-cloud-core", record="google/cloud/client/__init__.py\ngoogle/cloud/version.py")
    distribution(root, "protobuf", record="google/protobuf/__init__.py\ngoogle/_upb/_message.abi3.so")
    assert giving(root, "google.cloud.storage.blob.Blob") == ["google-cloud-storage"]
    assert giving(root, "google.cloud.version") == ["google-cloud-core"]
    assert giving(root, "google.protobuf") == ["protobuf"]
    assert giving(root, "google.cloud") == ["google-cloud-core", "google-cloud-storage"]
    assert giving(root, "google.other") == []
    assert giving(root, "googleapis") == []


def test_a_namespace_with_an_init_in_each_distribution_is_distinguished_by_what_they_hold(root: Path) -> None:
    distribution(root, "zope-event", record="zope/__init__.py\nzope/event/__init__.py")
    distribution(root, "zope-schema", record="zope/__init__.py\nzope/schema/__init__.py")
    assert giving(root, "zope.schema.Field") == ["zope-schema"]
    assert giving(root, "zope.event") == ["zope-event"]
    assert giving(root, "zope.other") == ["zope-event", "zope-schema"]
    metadata = {"namespace_packages.txt": "zope\n"}
    distribution(root, "zope-old", record="zope/__init__.py\nzope/old/__init__.py", files=metadata)
    assert one(root, "zope-old").gives == ("zope.old",)


def test_stubs_give_nothing_to_import(root: Path) -> None:
    distribution(root, "types-requests", record="requests-stubs/__init__.pyi\nrequests-stubs/api.pyi")
    stubs = one(root, "types-requests")
    assert (stubs.gives, stubs.stubs, stubs.is_guessed) == ((), ("requests",), False)
    assert [each.name for each in found(root).stubs_for("requests.api")] == ["types-requests"]


def test_old_records_are_read(root: Path) -> None:
    written(
        root / PACKAGES,
        {
            "old-1.2-py3.12.egg-info/PKG-INFO": "Name: old\nVersion: 1.2\n",
            "old-1.2-py3.12.egg-info/installed-files.txt": "../older/__init__.py\nPKG-INFO\n",
            "single-3-py3.12.egg-info": "Name: single\nVersion: 3\n",
            "listed-1.dist-info/METADATA": "Name: listed\nVersion: 1\n",
            "listed-1.dist-info/top_level.txt": "_listed\nlists\n",
        },
    )
    assert (one(root, "old").version, one(root, "old").gives) == ("1.2", ("older",))
    assert (one(root, "single").version, one(root, "single").gives) == ("3", ())
    assert one(root, "listed").gives == ("_listed", "lists")


@pytest.mark.parametrize("kind", ["pth", "finder", "egg-link"])
def test_editable_installations_lead_to_their_code(root: Path, kind: str) -> None:
    code = written(
        root / "elsewhere", {"linked/__init__.py": "", "single.py": "", "setup.py": "", "tests/__init__.py": ""}
    )
    url = {"direct_url.json": json.dumps({"url": code.as_uri(), "dir_info": {"editable": True}})}
    if kind == "pth":
        distribution(root, "linked", record="_linked.pth", files=url)
        written(root / PACKAGES, {"_linked.pth": f"import os; os.system('touch ran')\n{code}\n"})
        assert one(root, "linked").gives == ("linked", "single")
    elif kind == "finder":
        name = "__editable___linked_1_0_finder.py"
        distribution(root, "linked", record=f"{name}\n__editable__.linked-1.0.pth", files=url)
        text = f"import os\nMAPPING: dict[str, str] = {{'linked': '{code}/linked', 'a.b': '/x', 'no name': '/y'}}\n"
        written(root / PACKAGES, {name: text, "__editable__.linked-1.0.pth": "import x\n"})
        assert one(root, "linked").gives == ("a.b", "linked")
    else:
        written(root / PACKAGES, {"linked.egg-link": f"{code}\n../\n"})
        assert one(root, "linked").gives == ("linked", "single")
    assert one(root, "linked").editable == str(code)


@pytest.mark.parametrize(
    "text", ["MAPPING = {", "MAPPING = {1: 2}", "MAPPING = {" + "[" * 5_000, "MAPPING = {__import__('os').system('x')}"]
)
def test_a_finder_that_holds_something_else_gives_nothing_and_is_not_run(root: Path, text: str) -> None:
    distribution(root, "linked", record="__editable___linked_1_0_finder.py")
    written(root / PACKAGES, {"__editable___linked_1_0_finder.py": text})
    assert one(root, "linked").gives == ()


def test_a_distribution_without_metadata_has_the_name_and_release_of_its_folder(root: Path) -> None:
    distribution(root, "bare", "2.0", metadata="")
    bare = one(root, "bare")
    assert (bare.version, bare.gives, bare.problem) == ("2.0", ("bare",), "it has no METADATA that could be read")


@pytest.mark.parametrize(
    "metadata", ["", "\0\0\0", "Name: \nVersion: \n", "Name: a b\nVersion: \x1b[31m\n", "x" * 400_000]
)
def test_metadata_that_says_no_name_or_release_does_not_count(root: Path, metadata: str) -> None:
    distribution(root, "odd", "3.1", metadata=metadata)
    assert (one(root, "odd").name, one(root, "odd").version) == ("odd", "3.1")


def test_an_empty_record_leaves_a_guess_by_the_name_where_there_is_such_a_package(root: Path) -> None:
    for name in ("empty", "away"):
        folder = distribution(root, name)
        (folder / "RECORD").write_text("")
    written(root / PACKAGES, {"empty/__init__.py": ""})
    assert (one(root, "empty").gives, one(root, "empty").is_guessed) == (("empty",), True)
    assert (one(root, "away").gives, one(root, "away").is_guessed) == ((), False)
    assert one(root, "away").problem == "it has no RECORD that could be read, or an empty one"


def test_paths_of_a_record_that_leave_the_environment_are_passed_over(root: Path) -> None:
    paths = [
        "../evil.py",
        "/etc/evil.py",
        "a/../../evil.py",
        "C:\\evil.py",
        '"quo,ted/__init__.py"',
        "x" * 9_000 + ".py",
        ".",
    ]
    distribution(root, "odd", record="\n".join([*paths, "a b/c.py", "fine/__init__.py", "1x.py"]))
    assert one(root, "odd").gives == ("fine",)


def test_a_huge_record_is_read_up_to_a_limit(root: Path) -> None:
    folder = distribution(root, "huge")
    lines = (f"huge/module_{number}.py,sha256={'x' * 200},1\n" for number in range(80_000))
    (folder / "RECORD").write_text("huge/__init__.py,,\n" + "".join(lines) + "late/__init__.py,,\n")
    huge = one(root, "huge")
    assert huge.gives == ("huge",)
    assert huge.problem == "its RECORD has more than 16,777,216 characters, of which the first count"


def test_links_and_special_files_among_metadata_are_not_read(root: Path, tmp_path: Path) -> None:
    folder = distribution(root, "linked", metadata="")
    secret = tmp_path / "secret"
    secret.write_text("Name: stolen\nVersion: 9\n")
    (folder / "METADATA").symlink_to(secret)
    assert (one(root, "linked").version, one(root, "linked").problem) == (
        "1.0",
        "it has no METADATA that could be read",
    )
    (folder / "METADATA").unlink()
    (folder / "METADATA").symlink_to("/dev/zero")
    assert one(root, "linked").version == "1.0"


@pytest.mark.parametrize(
    "text", ["[]", "3", "{", '{"url": 3, "dir_info": {"editable": true}}', '{"dir_info": 3}', "[" * 9_000]
)
def test_a_direct_url_that_cannot_be_understood_is_a_problem_and_no_error(root: Path, text: str) -> None:
    distribution(root, "odd", files={"direct_url.json": text})
    assert one(root, "odd").problem == "its direct_url.json cannot be understood"


def test_names_that_are_none_are_passed_over(root: Path) -> None:
    for name in ("-1.dist-info", "~broken-1.dist-info", "a\nb-1.dist-info", ".dist-info"):
        (root / PACKAGES / name).mkdir()
    distribution(root, "fine")
    assert list(found(root).distributions) == ["fine"]


def test_markers_are_judged_by_the_version_of_the_environment(root: Path) -> None:
    distribution(root, "fine")
    there = found(root)
    assert there.python == "3.12"
    assert there.applies('python_version >= "3.12"')
    assert not there.applies('python_version < "3.12"')
    assert not there.applies('extra == "x"')
    assert there.applies('extra == "x"', ["x"])
    assert there.applies("no marker at all")


def test_an_environment_that_sees_the_system_says_so(root: Path) -> None:
    distribution(root, "fine")
    assert not found(root).sees_more
    written(root, {".venv/pyvenv.cfg": "home = /usr/bin\ninclude-system-site-packages = true\n"})
    assert found(root).sees_more


def test_a_project_without_an_environment_has_none(tmp_path: Path) -> None:
    assert environment_of(Service(tmp_path).workspace(), "app") is None
    written(tmp_path, {".venv/bin/python": ""})
    assert environment_of(Service(tmp_path).workspace(), "app") is None, "it has no packages"


def test_our_own_python_is_the_projects_only_where_the_projects_folder_is_linked_there(tmp_path: Path) -> None:
    for own in ("pytest", "app"):  # a release of the same name is no link to the folder
        assert environment_of(Service(tmp_path).workspace(), own) is None
    place, root = tmp_path / "site-packages", tmp_path / "repo"
    record = place / "app-1.0.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text("Name: app\nVersion: 1.0\n")
    assert not is_linked([str(place)], "app", root)
    for editable, url, linked in ((True, root, True), (True, tmp_path / "other", False), (False, root, False)):
        direct_url = {"url": f"file://{url}", "dir_info": {"editable": editable}}
        (record / "direct_url.json").write_text(json.dumps(direct_url))
        assert is_linked([str(place)], "app", root) is linked
    assert not is_linked([str(place)], "web", root)
