"""A ledger that came with a project is none, nor is what an archive adds to the user's own; a copy is adopted whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bae_source.errors import Refused
from bae_source.model.context import Context
from tests.trust.support import Machine, changed, picture, project, to_local

OFF = Context(reload="off")


@pytest.fixture
def stranger(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "stranger")


@pytest.fixture
def victim(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "victim")


def files(machine: Machine, root: Path) -> list[Path]:
    return sorted((machine.folders(root).base / "ledger").glob("0*.jsonl"))


def shown(machine: Machine, root: Path) -> list[tuple[str, str]]:
    return [(each.event, each.meta["who"]) for each in machine.run(root, "ledger_show", limit=100).found]


def test_a_ledger_that_came_along_is_not_believed_and_not_appended_to(stranger: Machine, victim: Machine) -> None:
    root = project(stranger.folder / "p", with_git=False)
    changed(stranger, root)
    assert len(shown(stranger, root)) == 4
    to_local(stranger, root)
    copy = victim.folder / "p"
    shutil.copytree(root, copy)
    before = picture(copy)
    assert shown(victim, copy) == []
    assert victim.run(copy, "ledger_head").text == "0" * 64
    assert victim.run(copy, "ledger_verify").text == "The ledger holds: it has no entries."
    error = victim.fails(copy, "edit", OFF, target="app.send", old="3", new="4")
    assert error is not None
    assert error.code == "forbidden"
    assert picture(copy) == before
    victim.run(copy, "forget", foreign=True)
    victim.run(copy, "edit", OFF, target="app.send", old="3", new="4")
    assert shown(victim, copy) == [("change_begun", "victim"), ("change_applied", "victim")]


@pytest.mark.parametrize("name", ["as it is", "with the next number", "with the same number"])
def test_what_an_archive_puts_into_ones_own_ledger_does_not_count(
    stranger: Machine, victim: Machine, name: str
) -> None:
    theirs, ours = project(stranger.folder / "p", with_git=False), project(victim.folder / "p", with_git=False)
    changed(stranger, theirs)
    changed(victim, ours)
    [planted], [own] = files(stranger, theirs), files(victim, ours)
    number = {"with the next number": "000002", "with the same number": "000001"}.get(name)
    place = own.with_name(planted.name if number is None else f"{number}{planted.name[6:]}")
    shutil.copy(planted, place)
    content = place.read_bytes()
    assert {who for _, who in shown(victim, ours)} == {"victim"}
    assert victim.run(ours, "ledger_verify").text.startswith("The ledger holds: 4 entries")
    victim.run(ours, "edit", OFF, target="app.send", old="3", new="4")
    assert len(shown(victim, ours)) == 6
    assert victim.run(ours, "ledger_verify").exit_code == 0
    assert place.read_bytes() == content


def test_an_archive_that_replaces_the_folder_by_its_own_shows_against_the_history(
    stranger: Machine, victim: Machine
) -> None:
    theirs, ours = project(stranger.folder / "p", with_git=False), project(victim.folder / "p", with_git=False)
    changed(stranger, theirs)
    changed(victim, ours)
    [entry] = victim.run(ours, "history", limit=1).found
    kept = victim.run(ours, "history", target=entry.entry.id).found[0].entry.request["ledger"]
    assert victim.run(ours, "ledger_verify", head=kept).exit_code == 0
    place = victim.folders(ours).base / "ledger"
    shutil.rmtree(place)
    shutil.copytree(stranger.folders(theirs).base / "ledger", place)
    assert shown(victim, ours) == []
    assert victim.run(ours, "ledger_verify", head=kept).exit_code == 1


@pytest.mark.parametrize("with_git", [True, False])
def test_a_copy_that_is_adopted_carries_its_ledger_on(victim: Machine, with_git: bool) -> None:
    root = project(victim.folder / "p", with_git=with_git)
    changed(victim, root)
    head = victim.run(root, "ledger_head").text
    copy = victim.folder / "copy"
    shutil.copytree(root, copy, symlinks=True)
    assert shown(victim, copy) == []
    [own] = files(victim, copy)
    shutil.copy(own, own.with_name(f"{own.name[:6]}-{'0' * 32}.jsonl"))  # came by an archive before that
    own.with_name(f"{own.name[:6]}-{'0' * 32}.jsonl").write_text("not of it\n")
    victim.service(copy).adopt(lambda _: True)
    assert victim.run(copy, "ledger_verify", head=head).exit_code == 0
    assert shown(victim, copy)[-2:] == [("change_applied", "victim"), ("state_adopted", "victim")]
    victim.run(copy, "edit", OFF, target="app.send", old="3", new="4")
    assert victim.run(copy, "ledger_verify", head=head).text.startswith("The ledger holds: 7 entries")
    assert len(shown(victim, root)) == 4


def test_to_adopt_what_was_adopted_half_can_be_done_again(victim: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(victim.folder / "p", with_git=False)
    changed(victim, root)
    head = victim.run(root, "ledger_head").text
    copy = victim.folder / "copy"
    shutil.copytree(root, copy)

    def fails(*_: object) -> None:
        raise OSError(5, "broken")

    with monkeypatch.context() as patched:
        patched.setattr("bae_source.history.record.adopting.replace_durably", fails)
        with pytest.raises(Refused) as caught:
            victim.service(copy).adopt(lambda _: True)
    assert caught.value.code == "forbidden"
    assert shown(victim, copy) == []
    victim.service(copy).adopt(lambda _: True)
    assert victim.run(copy, "ledger_verify", head=head).text.startswith("The ledger holds: 5 entries")


@pytest.mark.parametrize("away", ["the folder", "a file"])
def test_a_link_in_the_place_of_it_is_not_followed(victim: Machine, away: str) -> None:
    root = project(victim.folder / "p", with_git=False)
    changed(victim, root)
    [own] = files(victim, root)
    place = own.parent if away == "the folder" else own
    elsewhere = victim.folder / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    before = picture(victim.folder, leaving=lambda name: not name.startswith("elsewhere"))
    outcome = victim.run(root, "edit", OFF, target="app.send", old="3", new="4")
    assert [each.code for each in outcome.warnings] == ["ledger_unavailable"]
    assert picture(victim.folder, leaving=lambda name: not name.startswith("elsewhere")) == before
    assert victim.command(root, "doctor").returncode == 1
    victim.run(root, "forget")
    assert elsewhere.exists()
    assert picture(victim.folder, leaving=lambda name: not name.startswith("elsewhere")) == before
