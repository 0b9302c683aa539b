"""Logs are read from folders that the project has, or that the user's own settings name; no project chooses others."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from bae_source import LookupFailed, Refused, Source, functions
from bae_source.model.outcome import Notice
from tests.adapters.support import run

NAME = "$XDG_CONFIG_HOME/bae-source/settings.toml"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project without settings, beside a folder with a secret."""
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret.log").write_text("secret\n")
    return root


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own settings, which name that folder."""
    folder = tmp_path / "config/bae-source"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent))
    folder.mkdir(mode=0o700, parents=True)
    file = folder / "settings.toml"
    file.write_text(f'logs = ["{tmp_path}/elsewhere"]\n')
    file.chmod(0o600)
    return file


def test_the_users_own_settings_name_folders_anywhere(root: Path, settings: Path) -> None:
    assert Source(root).logs_read("elsewhere/secret.log").splitlines()[1:] == ["secret"]
    assert sorted(path.name for path in settings.parent.iterdir()) == ["settings.toml"]


def test_a_link_of_the_user_to_their_settings_is_followed(root: Path, settings: Path) -> None:
    settings.rename(root.parent / "dotfile.toml")
    settings.symlink_to(root.parent / "dotfile.toml")
    assert "secret" in Source(root).logs_read("elsewhere/secret.log")


def not_believed(root: Path, why: str) -> None:
    """See that settings do not count, with a notice that says why, and that the project's own logs are read still."""
    with pytest.raises(LookupFailed, match=r"^No folder of logs is set\.$"):
        Source(root).logs_read("elsewhere/secret.log")
    (root / "log").mkdir()
    (root / "log/app.log").write_text("x\n")
    (root / "pyproject.toml").write_text('[tool.bae-source]\nlogs = "log"\n')
    notice = Notice("settings_not_believed", f"{NAME} {why}, so nothing in it counts.")
    for text in (Source(root).logs_list(), Source(root).logs_read("app.log")):
        assert text.outcome.warnings == (notice,)
    assert f"settings_not_believed: {notice.message}" in Source(root).doctor()


@pytest.mark.parametrize(
    ("mode", "of_folder", "why"),
    [
        (0o620, 0o700, "others may write"),
        (0o602, 0o700, "others may write"),
        (0o600, 0o770, "lies in a folder that others may write"),
        (0o600, 0o707, "lies in a folder that others may write"),
    ],
)
def test_settings_that_others_may_write_are_not_believed(
    root: Path, settings: Path, mode: int, of_folder: int, why: str
) -> None:
    settings.chmod(mode)
    settings.parent.chmod(of_folder)
    not_believed(root, why)


@as_root
@pytest.mark.parametrize("which", ["file", "folder"])
def test_settings_of_another_user_are_not_believed(root: Path, settings: Path, which: str) -> None:
    given = settings if which == "file" else settings.parent
    os.chown(given, 1234, 1234)
    where = "" if which == "file" else "lies in a folder that "
    not_believed(root, f"{where}belongs to another user")


def test_settings_that_are_no_file_are_not_waited_for(root: Path, settings: Path) -> None:
    settings.unlink()
    os.mkfifo(settings)
    not_believed(root, "is no regular file")


def test_settings_are_looked_for_where_the_user_has_them_and_never_made(root: Path, settings: Path) -> None:
    home = root.parent / "home"
    shutil.copytree(settings.parent, home / ".config/bae-source")
    words = ("logs", "read", "elsewhere/secret.log")
    assert b"secret" in run(*words, folder=root, XDG_CONFIG_HOME="", HOME=str(home)).out
    for around in ({"XDG_CONFIG_HOME": ""}, {"XDG_CONFIG_HOME": "config"}, {"XDG_CONFIG_HOME": str(root / "none")}):
        ran = run(*words, folder=root, HOME=str(root), **around)
        assert (ran.status, ran.out) == (3, b"")
    assert not (root / ".config").exists()
    assert not (root / "none").exists()


def test_a_project_brings_no_settings_of_the_user(root: Path, tmp_path: Path) -> None:
    for name in ("settings.toml", "bae-source/settings.toml", ".config/bae-source/settings.toml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f'logs = ["{tmp_path}/elsewhere"]\n')
    with pytest.raises(LookupFailed, match=r"^No folder of logs is set\.$"):
        Source(root).logs_list()


def test_no_setting_name_or_link_of_a_project_leads_out_of_it(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (root / "log").mkdir()
    (root / "log/link.log").symlink_to(elsewhere / "secret.log")
    (root / "log/folder").symlink_to(elsewhere)
    (root / "out").symlink_to(elsewhere)
    found = functions.access(root)
    for folder in ("log", "out", "../elsewhere", str(elsewhere), "log/../../elsewhere", "log/folder"):
        (root / "pyproject.toml").write_text(f'[tool.bae-source]\nlogs = "{folder}"\n')
        for name in ("secret.log", "link.log", "folder/secret.log", "../../elsewhere/secret.log", str(elsewhere)):
            with pytest.raises((Refused, LookupFailed)) as caught:
                Source(root).logs_read(name)
            assert "secret\n" not in str(caught.value.details)
            assert found.handlers["read_logs"](name)["success"] is False
    functions.close()


def test_a_link_that_is_put_there_while_a_log_is_opened_is_not_followed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "log/web").mkdir(parents=True)
    (root / "log/web/secret.log").write_text("mine\n")
    (root / "pyproject.toml").write_text('[tool.bae-source]\nlogs = "log"\n')
    real = os.path.realpath

    def followed(path: Any, **how: Any) -> Any:
        found = real(path, **how)
        if str(path).endswith("secret.log") and not (root / "log/web").is_symlink():
            shutil.rmtree(root / "log/web")
            (root / "log/web").symlink_to(tmp_path / "elsewhere")
        return found

    monkeypatch.setattr(os.path, "realpath", followed)
    with pytest.raises(Refused, match=r"^web/secret\.log cannot be opened: ") as caught:
        Source(root).logs_read("web/secret.log")
    assert caught.value.code == "forbidden"
