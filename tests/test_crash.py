"""A seeded sample of what `python -m benchmarks.crash` does in full: kills, failing calls, power cuts."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bae_source import Source
from benchmarks.crash import __main__ as everything
from benchmarks.crash import calls, kills, power
from benchmarks.crash.arena import Arena
from benchmarks.crash.faults import in_child, killed
from benchmarks.crash.judge import found_in, verdict
from benchmarks.crash.scenario import Scenario, commit, digests, lay_out, scenario

SEED = 20261122


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    with Arena(tmp_path) as made:
        yield made
        assert made.bad == []


@pytest.fixture(scope="module")
def change() -> Scenario:
    """Two files of which one is edited and one is moved or new, so that every kind of call occurs."""
    return next(made for made in (scenario(seed, 3) for seed in range(SEED, SEED + 99)) if _has_everything(made))


def _has_everything(made: Scenario) -> bool:
    edited = any(path in made.after and made.after[path] != old for path, old in made.before.items())
    return edited and bool(made.origins) and any(path.startswith(("new/", "moved/")) for path in made.after)


def test_a_change_that_is_killed_anywhere_is_whole_after_recovery(arena: Arena, change: Scenario) -> None:
    trials = calls.kill_changes(arena, change, "change", share=0.25, seed=SEED)
    assert trials > 30
    assert set(arena.verdicts) == {"before", "after"}


def test_a_rollback_that_is_killed_anywhere_is_finished_by_recovery(arena: Arena, change: Scenario) -> None:
    assert calls.kill_changes(arena, change, "rollback", rolls_back=True, share=0.18, seed=SEED) > 19
    assert set(arena.verdicts) == {"before"}


def test_a_recovery_that_is_killed_anywhere_is_recovered_again(arena: Arena, change: Scenario) -> None:
    assert calls.kill_recoveries(arena, change, "recovery", random.Random(SEED), 0.16) > 13
    assert set(arena.verdicts) == {"before", "after"}


def test_any_failing_call_leaves_whole_files_or_says_that_it_does_not(arena: Arena, change: Scenario) -> None:
    assert calls.fail_changes(arena, change, "change", share=0.055, seed=SEED) > 26
    assert calls.fail_changes(arena, change, "rollback", rolls_back=True, share=0.055, seed=SEED) > 26


def test_any_failing_call_of_a_recovery_is_made_good_by_the_next(arena: Arena, change: Scenario) -> None:
    assert calls.fail_recoveries(arena, change, "recovery", random.Random(SEED), 0.1) > 13


def test_a_power_cut_anywhere_leaves_whole_files_after_recovery(arena: Arena, change: Scenario) -> None:
    assert power.cut_everywhere(arena, change, "change", random.Random(SEED), share=0.25) > 26
    assert set(arena.verdicts) == {"before", "after"}


def test_a_power_cut_during_a_rollback_leaves_everything_as_before(arena: Arena, change: Scenario) -> None:
    assert power.cut_everywhere(arena, change, "rollback", random.Random(SEED), rolls_back=True, share=0.25) > 19
    assert set(arena.verdicts) == {"before"}


OLD = {"pkg/a.py": b"A = 1\n" * 200, "gone/only.py": b"G = 1\n", "other.py": b""}
SINGLES = {
    "edited": {**OLD, "pkg/a.py": b"A = 2\n" * 300},
    "created": {**OLD, "new/deep/c.py": b"C = 1\n"},
    "deleted": {path: content for path, content in OLD.items() if path != "gone/only.py"},
}


SAME = {"a.py": b"A = 1\n", "pkg/b.py": b"B = 1\n"}
DRESSED = {
    "mode alone": Scenario(before=SAME, after=SAME, origins={}, looks={"a.py": (0o644, 0o750)}),
    "several modes": Scenario(
        before=SAME, after=SAME, origins={}, looks={"a.py": (0o644, 0o750), "pkg/b.py": (0o755, 0o600)}
    ),
    "mode beside an edit": Scenario(
        before=SAME, after={**SAME, "pkg/b.py": b"B = 2\n"}, origins={}, looks={"a.py": (0o644, 0o750)}
    ),
}


@pytest.fixture(params=DRESSED)
def dressed(request: pytest.FixtureRequest) -> Scenario:
    """Files that get other modes, and of which at least one keeps its bytes."""
    return DRESSED[request.param]


def test_a_mode_that_changes_is_whole_wherever_its_change_is_killed(arena: Arena, dressed: Scenario) -> None:
    assert calls.kill_changes(arena, dressed, "modes", share=0.14, seed=SEED) > 2
    assert calls.kill_recoveries(arena, dressed, "recovery", random.Random(SEED), 0.35) > 2
    assert set(arena.verdicts) == {"before", "after"}


def test_a_mode_that_is_taken_back_is_so_wherever_that_is_killed(arena: Arena, dressed: Scenario) -> None:
    assert calls.kill_changes(arena, dressed, "rollback", rolls_back=True, share=0.14, seed=SEED) > 2
    assert set(arena.verdicts) == {"before"}


def test_a_mode_that_changes_is_whole_whatever_call_fails(arena: Arena, dressed: Scenario) -> None:
    assert calls.fail_changes(arena, dressed, "modes", share=0.035, seed=SEED) > 3
    assert calls.fail_changes(arena, dressed, "rollback", rolls_back=True, share=0.03, seed=SEED) > 3
    assert calls.fail_recoveries(arena, dressed, "recovery", random.Random(SEED), 0.35) > 2


@pytest.fixture(params=SINGLES)
def single(request: pytest.FixtureRequest) -> Scenario:
    """One file, whose replacement is all that there is to do."""
    return Scenario(before=OLD, after=SINGLES[request.param], origins={})


def test_one_file_is_whole_wherever_its_change_is_killed(arena: Arena, single: Scenario) -> None:
    chance = random.Random(SEED)
    assert calls.kill_changes(arena, single, "single", share=0.3) > 6
    assert calls.kill_changes(arena, single, "interrupted", rolls_back=True, share=0.2) > 6
    assert calls.kill_recoveries(arena, single, "recovery", chance, 0.4) > 6
    assert set(arena.verdicts) == {"before", "after"}


def test_one_file_is_whole_whatever_call_fails(arena: Arena, single: Scenario) -> None:
    chance = random.Random(SEED)
    assert calls.fail_changes(arena, single, "single", share=0.05) > 9
    assert calls.fail_changes(arena, single, "interrupted", rolls_back=True, share=0.035) > 5
    assert calls.fail_recoveries(arena, single, "recovery", chance, 0.6) > 8


def test_one_file_is_whole_after_a_power_cut_anywhere(arena: Arena, single: Scenario) -> None:
    chance = random.Random(SEED)
    assert power.cut_everywhere(arena, single, "single", chance, share=0.7) > 30
    assert set(arena.verdicts) == {"before", "after"}
    assert power.cut_everywhere(arena, single, "taken back", chance, rolls_back=True, share=0.5) > 25


def test_random_kills_of_changes_and_recoveries_leave_whole_files(arena: Arena) -> None:
    kills.kill_commits(arena, 20, SEED)
    assert sum(arena.verdicts.values()) >= 20


def test_killed_apply_commands_leave_whole_files_and_a_history_of_just_what_was_made(arena: Arena) -> None:
    kills.kill_applies(arena, 10, SEED)
    kills.kill_applies(arena, 1, SEED, fresh=True)


def test_the_longest_recovery_has_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def kill(arena: Arena, number: int, seed: int) -> int:
        arena.seconds += [0.001] * 199 + [0.25]
        return number - seed

    monkeypatch.setattr(kills, "kill_commits", kill)
    monkeypatch.setattr(sys, "argv", ["crash", "--kills=7", "--applies=0", "--fresh=0", "--scenarios=0"])
    assert everything.main() == 0
    told = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()[-2:]]
    assert told == [
        "recovery 200 times, ms: p50 1.0, p90 1.0, p99 1.0 (limit 100)",
        "longest 250.0 ms; 1 beyond the limit",
    ]


def test_the_judge_tells_apart_what_can_go_wrong(tmp_path: Path) -> None:
    before = {"a.py": b"1", "pkg/b.py": b"1"}
    after = {"a.py": b"2", "pkg/b.py": b"2", "c.py": b"2"}
    found = {
        "before": before,
        "after": after,
        "mixed a.py": {**before, "a.py": b"2"},
        "torn a.py": {**before, "a.py": b""},
        "lost pkg/b.py": {"a.py": b"1"},
        "stray d.py": {**before, "d.py": b"1"},
    }
    for expected, files in found.items():
        lay_out(tmp_path / "p", {**files, ".bae-source/journal": b"ours"})
        assert verdict(found_in(str(tmp_path / "p")), digests(before), digests(after)) == expected


def test_the_next_command_recovers_even_if_it_only_reads_and_says_so(tmp_path: Path) -> None:
    made = Scenario(before={"pkg.py": b"A = 1\n", "other.py": b""}, after={"pkg.py": b"A = 2\n"}, origins={})
    for door in ("command line", "api"):
        root = tmp_path / door
        lay_out(root, made.before)
        assert in_child(partial(commit, root, made, None, killed)) == signal.SIGKILL
        assert (root / "pkg.py").read_bytes() == b"A = 2\n"
        if door == "api":
            text = Source(root).read("pkg.A")
            told = [notice.message for notice in text.outcome.warnings]
            assert text == "A = 1\n"
        else:
            words = [sys.executable, "-m", "bae_source", "read", "pkg.A", "--root", str(root)]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            told = [done.stderr]
            assert done.stdout == "A = 1\n"
        assert "was interrupted, and was taken back: other, pkg." in told[0]
        assert (root / "pkg.py").read_bytes() == b"A = 1\n"
