"""Which logs there are, and which folders they are looked for in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source import LookupFailed, Refused, RequestError, Source
from bae_source.errors import ResourceError
from bae_source.resources.logs import folders
from tests.adapters.support import run

Write = Callable[[str], Path]


def listed(root: Path) -> list[str]:
    return [each.log for each in Source(root).logs_list().outcome.found]


def test_logs_are_listed_with_size_lines_and_last_change_the_newest_first(root: Path) -> None:
    ran = run("logs", "list", folder=root)
    assert ran.out.decode().splitlines() == [
        "2 logs; the newest is web/access.log, changed 2027-01-15T08:00:00Z.",
        "web/access.log: 22 bytes, 2 lines, changed 2027-01-15T08:00:00Z",
        "app.log: 11,233 bytes, 1,234 lines, changed 2023-11-14T22:13:20Z",
    ]
    assert run("logs", "list", "--json", folder=root).json["found"] == [
        {"log": "web/access.log", "bytes": 22, "lines": 2, "changed": "2027-01-15T08:00:00Z"},
        {"log": "app.log", "bytes": 11_233, "lines": 1_234, "changed": "2023-11-14T22:13:20Z"},
    ]


def test_lines_of_a_large_log_are_not_counted_for_the_list(root: Path) -> None:
    (root / "var/log/app.log").write_bytes(b"x\n" * 1_000_000)
    assert "\napp.log: 2,000,000 bytes, changed " in Source(root).logs_list()


def test_folders_of_the_users_own_settings_count_as_well_by_their_names(
    root: Path, users: Write, tmp_path: Path
) -> None:
    for name in ("srv/one/log", "srv/two/log", "srv/web"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.log").write_text(f"{name}\n")
    named = [str(tmp_path / name) for name in ("srv/one/log", "srv/two/log", "srv/web")]
    users(f"logs = {named}")
    assert sorted(listed(root)) == ["app.log", "one/log/a.log", "srv/web/a.log", "two/log/a.log", "web/access.log"]
    assert Source(root).logs_read("two/log/a.log").splitlines()[1] == "srv/two/log"
    (root / "pyproject.toml").write_text("")
    assert sorted(listed(root)) == ["one/log/a.log", "two/log/a.log", "web/a.log"]


USERS = '  -> Set any other in $XDG_CONFIG_HOME/bae-source/settings.toml: logs = ["/var/log/app"]\n'


@pytest.mark.parametrize("where", ["", "a = [\n[1],\n]\n", "[tool]\nbae-source = {}\n", 'x = """\n[a]\n"""\n'])
def test_without_settings_it_is_reported_how_to_set_a_folder(root: Path, where: str) -> None:
    (root / "pyproject.toml").write_text(where)
    ran = run("logs", "list", folder=root)
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err_text == (
        "error[symbol_not_found]: No folder of logs is set.\n"
        '  -> Set the project\'s own in pyproject.toml, by hand, below [tool.bae-source]: logs = "var/log"\n' + USERS
    )


def test_a_folder_that_is_not_there_is_named(root: Path) -> None:
    (root / "pyproject.toml").write_text('[tool.bae-source]\nlogs = "later/log"\n')
    answer = Source(root).logs_list()
    assert answer == "(no logs)"
    [notice] = answer.outcome.warnings
    assert notice.message == "The folder of logs later/log is not there, or may not be looked into."
    with pytest.raises(LookupFailed, match=r"^Log file not found: app\.log\.$"):
        Source(root).logs_read("app.log")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("'../log'", "[tool.bae-source] logs is '../log', which is not in the project."),
        ("'/var/log'", "[tool.bae-source] logs is '/var/log', which is not in the project."),
        ("'out'", "[tool.bae-source] logs is 'out', which is not in the project."),
        ("'out/deeper'", "[tool.bae-source] logs is 'out/deeper', which is not in the project."),
        ("'var/../../log'", "[tool.bae-source] logs is 'var/../../log', which is not in the project."),
        ('"var\\u0000"', "[tool.bae-source] logs is 'var\\x00', which is not in the project."),
        ("'.'", "[tool.bae-source] logs is '.', which is no folder of logs."),
        ("''", "[tool.bae-source] logs is '', which is no folder of logs."),
        ("'.git'", "[tool.bae-source] logs is '.git', which is no folder of logs."),
        ("'hidden'", "[tool.bae-source] logs is 'hidden', which is no folder of logs."),
        ("['var/log']", "[tool.bae-source] logs is wrong: expected `str | null`, got `array`."),
        ("5", "[tool.bae-source] logs is wrong: expected `str | null`, got `int`."),
    ],
)
def test_a_project_cannot_name_a_folder_that_is_not_in_it(root: Path, tmp_path: Path, value: str, message: str) -> None:
    (tmp_path / "elsewhere/deeper").mkdir(parents=True)
    (tmp_path / "elsewhere/deeper/secret.log").write_text("secret\n")
    (root / "out").symlink_to(tmp_path / "elsewhere")
    (root / ".git").mkdir()
    (root / "hidden").symlink_to(".git")
    (root / "pyproject.toml").write_text(f"[tool.bae-source]\nlogs = {value}\n")
    for ask in (Source(root).logs_list, lambda: Source(root).logs_read("secret.log")):
        with pytest.raises((Refused, RequestError)) as caught:
            ask()
        assert caught.value.message == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('logs = "/var/log"', "your settings.toml logs is wrong: expected `array`, got `str`."),
        (
            'logs = ["var/log"]',
            "$XDG_CONFIG_HOME/bae-source/settings.toml logs has 'var/log', which is no absolute path.",
        ),
        ("logs = [", "$XDG_CONFIG_HOME/bae-source/settings.toml does not parse: "),
        ("logs = ", "$XDG_CONFIG_HOME/bae-source/settings.toml does not parse: "),
        ("a" + ".a" * 200 + " = 1", "$XDG_CONFIG_HOME/bae-source/settings.toml cannot be read as settings: "),
        ("#" * 2_000_001, "$XDG_CONFIG_HOME/bae-source/settings.toml cannot be read as settings: it has more than "),
    ],
    ids=["kind", "relative", "open", "empty", "long key", "large"],
)
def test_settings_of_the_user_that_are_wrong_are_an_error_that_names_the_file(
    root: Path, users: Write, text: str, message: str
) -> None:
    users(text)
    with pytest.raises(ResourceError) as caught:
        Source(root).logs_list()
    assert caught.value.message.startswith(message)


def test_only_regular_files_that_stay_in_the_folder_are_logs(root: Path, tmp_path: Path) -> None:
    folder = root / "var/log"
    (tmp_path / "secret.log").write_text("secret\n")
    os.mkfifo(folder / "pipe.log")
    (folder / "out.log").symlink_to(tmp_path / "secret.log")
    (folder / "zero.log").symlink_to("/dev/zero")
    (folder / "current.log").symlink_to("web/access.log")
    (folder / "loop").symlink_to(".")
    (folder / ".env").write_text("TOKEN=1\n")
    (folder / "env.log").symlink_to(".env")
    (folder / ".git").mkdir()
    (folder / ".git/config").write_text("[remote]\n")
    (folder / "new\nline.log").write_text("x\n")
    answer = Source(root).logs_list()
    assert sorted(each.log for each in answer.outcome.found) == ["app.log", "current.log", "web/access.log"]
    assert [each.message for each in answer.outcome.warnings] == [
        "Left out, since they lead out of the folder of logs: out.log, zero.log.",
        "Left out, since their names cannot be written: 1 file.",
    ]
    assert not answer.complete


def test_the_list_has_limits_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = root / "var/log" / "/".join("abcdefgh")
    deep.mkdir(parents=True)
    (deep / "deep.log").write_text("x\n")
    answer = Source(root).logs_list()
    assert not answer.complete
    assert answer.outcome.warnings[0].message == "Not looked into, since they lie too deep: a/b/c/d/e/f."
    assert Source(root).logs_read("a/b/c/d/e/f/g/h/deep.log").splitlines()[1:] == ["x"]
    monkeypatch.setattr(folders, "MOST", 1)
    answer = Source(root).logs_list()
    assert [each.log for each in answer.outcome.found] == ["web/access.log"]
    assert "Of 2 logs only the newest 1 are listed." in [each.message for each in answer.outcome.warnings]
    monkeypatch.setattr(folders, "MOST_ENTRIES", 1)
    assert "too_many" in [each.code for each in Source(root).logs_list().outcome.warnings]
