"""Settings that stumble their reader, or hold very long words: an answer or an error of ours, in a time that grows with
their length."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source, functions
from bae_source.errors import SourceError
from bae_source.project.files.settings import sections, settings_of
from tests.adapters.mcp.support import raw
from tests.adapters.support import run
from tests.memory import Memory

pytestmark = pytest.mark.sampled

FILES = {
    "app/__init__.py": "from app.core import f\n",
    "app/core.py": "def f():\n    return 1\n",
    "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    y = app.core:f\n",
}
SCRIPTS = '[project]\nname = "app"\nversion = "1"\n[project.scripts]\nx = "app.core:f"\n'
OURS = "[tool.bae-source]\n"
OTHERS = "[tool.other]\n"
STUMBLING = {
    "arrays": "x = " + "[" * 5_000 + "]" * 5_000,
    "inline tables": "x = " + "{a = " * 5_000 + "1" + "}" * 5_000,
    "digits": "x = " + "9" * 5_000,
    "hexadecimal digits": "x = 0x" + "f" * 5_000,
    "a long key": ".".join("a" * 20_000) + " = 1",
    "a long title": "[" + ".".join("a" * 20_000) + "]",
    "quoted keys": ".".join(['"a b"'] * 2_000) + " = 1",
    "a date": "x = 2023-02-31",
    "a time": "x = 25:61:61",
    "no value": "x = ",
    "twice": "x = 1\nx = 2",
}
NOT_UTF8 = b"x = '\xff\xfe'"
LONG = 100_000
WORDS = {
    "letters": "f" * LONG,
    "a million letters": "f" * 1_000_000,
    "letters and digits": "f1" * (LONG // 2),
    "dots": ".".join("f" * (LONG // 2)),
    "colons": ":".join("f" * (LONG // 2)),
    "dashes": "-".join("f" * (LONG // 2)),
    "dots behind which no name follows": "f.1" * (LONG // 3),
    "a package": "app." * (LONG // 4) + "f",
    "a module": "app.core." * (LONG // 9) + "f",
    "a function": "app.core.f" + ".f" * (LONG // 2),
    "names": "app.core:f," * (LONG // 11),
}


def laid(root: Path, **changes: str | bytes) -> Path:
    for name, text in {**FILES, **{name.replace("_", "."): each for name, each in changes.items()}}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def parsed(text: str) -> dict[str, Any]:
    return settings_of(Memory({"pyproject.toml": text.encode()}))


@pytest.mark.parametrize("what", [*STUMBLING, "bytes"])
def test_whatever_stumbles_the_reader_is_a_file_of_settings_that_cannot_be_read(what: str) -> None:
    text = NOT_UTF8 if what == "bytes" else STUMBLING[what].encode()
    for head in (OURS, OTHERS, ""):
        begun = time.monotonic()
        with pytest.raises(SourceError) as caught:
            settings_of(Memory({"pyproject.toml": head.encode() + text}))
        assert time.monotonic() - begun < 5
        assert (caught.value.code, caught.value.exit_code) == ("syntax_invalid", 4)
        assert caught.value.message.startswith("pyproject.toml ")
        assert len(caught.value.message) < 500
        assert list(caught.value.hints) == ["Mend pyproject.toml first."]


@pytest.mark.parametrize(
    "text",
    [
        "x = 9223372036854775807\ny = -9223372036854775808\nz = 0x7fff_ffff_ffff_ffff",
        "x = " + "[" * 50 + "]" * 50,
        ".".join("a" * 50) + " = 1",
        'x = "' + "a." * 1_000 + '" # ' + "a." * 1_000,
        "x = '''" + "a." * 1_000 + "'''\ny = \"\"\"" + 'a."\\""".' * 1_000 + '"""',
        "x = [" + "1.5, " * 1_000 + "]",
        "x = 1979-05-27T07:32:00Z",
    ],
)
def test_what_toml_allows_is_read(text: str) -> None:
    assert parsed(text)


@pytest.mark.parametrize("what", ["arrays", "digits", "hexadecimal digits", "a long key", "bytes"])
def test_on_the_command_line_it_is_an_error_with_the_usual_status(what: str, tmp_path: Path) -> None:
    text = NOT_UTF8 if what == "bytes" else STUMBLING[what].encode()
    project = laid(tmp_path, pyproject_toml=OURS.encode() + text)
    called = run("read", "app.core.f", "--json", folder=project)
    assert called.status == 4, called.err_text
    assert called.json["errors"][0]["code"] == "syntax_invalid"
    report = run("doctor", folder=project)
    assert report.status == 1, report.err_text
    assert "layout_unknown: pyproject.toml " in report.out.decode()
    hovered = run("ast", "hover", "sym://python/type/app/core/f", folder=project)
    assert hovered.status == 4
    assert hovered.json["errors"][0]["code"] == "SYNTAX_INVALID"


@pytest.mark.parametrize("what", ["arrays", "digits"])
def test_requests_that_do_not_need_the_setting_answer(what: str, tmp_path: Path) -> None:
    project = laid(tmp_path, pyproject_toml=OTHERS + STUMBLING[what])
    for argv in (
        ("read", "app.core.f"),
        ("references", "app.core.f"),
        ("ast", "hover", "sym://python/type/app/core/f"),
    ):
        assert run(*argv, folder=project).status == 0
    report = run("doctor", folder=project)
    assert report.status == 1
    assert "settings_unreadable: pyproject.toml cannot be read as settings" in report.out.decode()
    refused = run("edit", "app.core.f", "--old=1", "--new=2", "--json", folder=project)
    assert (refused.status, refused.json["errors"][0]["code"]) == (4, "syntax_invalid")


def test_by_mcp_and_as_a_function_it_is_the_same_error(tmp_path: Path) -> None:
    project = laid(tmp_path, pyproject_toml=OURS + STUMBLING["digits"])
    answer = functions.dispatch("read", {"target": "app.core.f"}, root=project, read_only=True)
    functions.close(project)
    assert answer["errors"][0]["code"] == "syntax_invalid"
    with pytest.raises(SourceError, match="cannot be read as settings: a number in it is too large"):
        Source(project).read("app.core.f")
    with raw(project, "--read-only") as server:
        server.initialize()
        result = server.call("read", target="app.core.f")
        assert result["isError"]
        assert result["structuredContent"]["errors"] == answer["errors"]
        assert not server.call("doctor")["isError"]


@pytest.mark.parametrize("value", ["0x7fffffffffffffff", "-1", "nan", "inf", "true", "[[1]]", '"a\\u0000b"', "{}"])
def test_settings_of_an_odd_value_keep_no_request_from_an_answer(value: str, tmp_path: Path) -> None:
    names = ("language-server-seconds", "verify-seconds", "history-megabytes", "history-operations", "python", "types",
             "telemetry", "language-server")  # fmt: skip
    project = laid(tmp_path, pyproject_toml=OURS + "".join(f"{name} = {value}\n" for name in names))
    for argv in (
        ("read", "app.core.f"),
        ("ast", "hover", "sym://python/type/app/core/f", "--language-server", "off"),
        ("doctor",),
        ("edit", "app.core.f", "--old=1", "--new=2", "--dry-run"),
        ("history",),
    ):
        called = run(*argv, folder=project)
        assert called.status in (0, 1), called.err_text


@pytest.mark.parametrize("asked", ["9" * 5_000, ">=3." + "9" * 5_000, ">=3.9," * 20_000 + ">=3", "x" * 100_000])
def test_versions_of_python_that_say_nothing_are_a_finding_of_the_doctor(asked: str, tmp_path: Path) -> None:
    project = laid(tmp_path, pyproject_toml=f'[project]\nname = "app"\nrequires-python = "{asked}"\n')
    report = run("doctor", folder=project)
    assert report.status == 1, report.err_text
    assert "requirement_wrong" in report.out.decode()
    assert len(report.out) < 4_000
    assert run("edit", "app.core.f", "--old=1", "--new=2", "--dry-run", folder=project).status == 0


@pytest.mark.parametrize("place", ["pyproject.toml", "setup.cfg"])
@pytest.mark.parametrize("what", WORDS)
def test_references_takes_time_by_the_length_of_a_word_in_the_settings(what: str, place: str, tmp_path: Path) -> None:
    word = WORDS[what]
    if place == "pyproject.toml":
        project = laid(tmp_path, pyproject_toml=f'description = "{word}"\n{SCRIPTS}')
    else:
        cfg = f"[metadata]\ndescription = {word}\n[options]\npackages = find:\n{FILES['setup.cfg']}"
        project = laid(tmp_path, pyproject_toml=SCRIPTS, setup_cfg=cfg)
    begun = time.monotonic()
    found = Source(project).references("app.core.f").outcome
    assert time.monotonic() - begun < 5
    strings = [(each.module, each.line) for each in found.found if each.kind == "string"]
    lines = {"pyproject.toml": 1 + (project / "pyproject.toml").read_text().count("\n")}
    assert ("pyproject.toml", lines["pyproject.toml"] - 1) in strings
    assert ("setup.cfg", 1 + (project / "setup.cfg").read_text().rstrip("\n").count("\n")) in strings
    assert all(len(each.text) <= 1_001 for each in found.found)


@pytest.mark.parametrize("what", ["letters", "dots", "a module"])
def test_references_takes_time_by_the_length_of_a_word_in_a_string_of_code(what: str, tmp_path: Path) -> None:
    project = laid(tmp_path, app_py="").joinpath("app/more.py")
    project.write_text(f"x = '{WORDS[what]}'\n")
    begun = time.monotonic()
    assert Source(tmp_path).references("app.core.f").outcome.found
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.cfg", "[options]\na" + " " * LONG + "b\n"),
        ("setup.cfg", "[options]\n" + "x\n" * LONG),
        ("setup.cfg", "x = 1\n[options\n]=\n[options]\n[options]\n:x\n= y\n" + "[" * LONG),
        ("setup.py", "package_dir={'a'}"),
        ("setup.py", "package_dir={[]: 1}"),
        ("setup.py", "package_dir={1: " + "-" * 5_000 + "1}"),
        ("setup.py", "package_dir={1: " + "(" * 5_000 + "1" + ")" * 5_000 + "}"),
        ("setup.py", "package_dir={1: " + "9" * 5_000 + "}"),
        ("setup.py", "package_dir" + " " * LONG + "=" + " " * LONG),
        ("setup.py", "package_dir={" * (LONG // 12)),
    ],
)
def test_what_says_where_packages_lie_is_read_in_time_and_never_a_bug(name: str, text: str, tmp_path: Path) -> None:
    project = laid(tmp_path, **{name.replace(".", "_"): text})
    begun = time.monotonic()
    assert run("read", "app.core.f", folder=project).status == 0
    assert time.monotonic() - begun < 8


def test_members_of_a_workspace_are_found_once_however_links_lead_round(tmp_path: Path) -> None:
    project = laid(tmp_path, pyproject_toml='[tool.uv.workspace]\nmembers = ["' + "/".join("*" * 30) + '", "libs/*"]\n')
    member = laid(project / "libs" / "one", pyproject_toml='[project]\nname = "one"\n')
    (member / "src/inner").mkdir(parents=True)
    (member / "src/inner/deep.py").write_text("x = 1\n")
    for name in ("to", "fro"):
        (project / name).symlink_to(".")
    begun = time.monotonic()
    assert run("read", "inner.deep.x", folder=project).status == 0
    assert time.monotonic() - begun < 8


def test_a_file_as_setup_cfg_is_read_as_setuptools_does() -> None:
    text = (
        "\ufeff[first]\n; a comment\n[options]\nPackage_Dir =\n  # which are\n  = src\n\n  other=lib\nzip_safe: no\n"
        "[options.packages.find]\nwhere = src\n[empty]\n[options]\nagain = 1\n"
    )
    found = sections(Memory({"setup.cfg": text.encode()}), "setup.cfg")
    assert found == {
        "first": {},
        "options": {"package_dir": "\n= src\nother=lib", "zip_safe": "no", "again": "1"},
        "options.packages.find": {"where": "src"},
        "empty": {},
    }
