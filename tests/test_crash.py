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
from tests.trials import Trials

pytestmark = pytest.mark.sampled

SEED = 20261122


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    with Trials(tmp_path_factory.mktemp("crash")) as made:
        yield made


@pytest.fixture
def arena(process: Trials) -> Iterator[Trials]:
    process.verdicts.clear()
    yield process
    assert process.bad == []


@pytest.fixture(scope="module")
def change() -> Scenario:
    """Two files of which one is edited and one is moved or new, so that every kind of call occurs."""
    return next(made for made in (scenario(seed, 3) for seed in range(SEED, SEED + 99)) if _has_everything(made))


def _has_everything(made: Scenario) -> bool:
    edited = any(path in made.after and made.after[path] != old for path, old in made.before.items())
    return edited and bool(made.origins) and any(path.startswith(("new/", "moved/")) for path in made.after)


def test_a_change_that_is_killed_anywhere_is_whole_after_recovery(arena: Trials, change: Scenario) -> None:
    trials = arena.run(calls.kill_changes, change, "change", share=0.25, seed=SEED)
    assert trials > 30
    assert set(arena.verdicts) == {"before", "after"}


def test_a_rollback_that_is_killed_anywhere_is_finished_by_recovery(arena: Trials, change: Scenario) -> None:
    assert arena.run(calls.kill_changes, change, "rollback", rolls_back=True, share=0.18, seed=SEED) > 19
    assert set(arena.verdicts) == {"before"}


def test_a_recovery_that_is_killed_anywhere_is_recovered_again(arena: Trials, change: Scenario) -> None:
    assert arena.run(calls.kill_recoveries, change, "recovery", random.Random(SEED), 0.1) > 13
    assert set(arena.verdicts) == {"before", "after"}


def test_any_failing_call_leaves_whole_files_or_says_that_it_does_not(arena: Trials, change: Scenario) -> None:
    assert arena.run(calls.fail_changes, change, "change", share=0.055, seed=SEED) > 26
    assert arena.run(calls.fail_changes, change, "rollback", rolls_back=True, share=0.055, seed=SEED) > 26


def test_any_failing_call_of_a_recovery_is_made_good_by_the_next(arena: Trials, change: Scenario) -> None:
    assert arena.run(calls.fail_recoveries, change, "recovery", random.Random(SEED), 0.07) > 13


def test_a_power_cut_anywhere_leaves_whole_files_after_recovery(arena: Trials, change: Scenario) -> None:
    assert arena.run(power.cut_everywhere, change, "change", random.Random(SEED), share=0.25) > 26
    assert set(arena.verdicts) == {"before", "after"}


def test_a_power_cut_during_a_rollback_leaves_everything_as_before(arena: Trials, change: Scenario) -> None:
    assert arena.run(power.cut_everywhere, change, "rollback", random.Random(SEED), rolls_back=True, share=0.25) > 19
    assert set(arena.verdicts) == {"before"}


OLD = {"pkg/a.py": b"A = 1\n" * 200, "gone/only.py": b"G = 1\n", "other.py": b""}
SINGLES = {
    "edited": {**OLD, "pkg/a.py": b"A = 2\n" * 300},
    "created": {**OLD, "new/deep/c.py": b"C = 1\n"},
    "deleted": {path: content for path, content in OLD.items() if path != "gone/only.py"},
}


SAME = {"a.py": b"A = 1\n", "pkg/b.py": b"B = 1\n"}
DRESSED = {
    "mode alone": Scenario(before=SAME, after=SAME, origins={}, permissions={"a.py": (0o644, 0o750)}),
    "several modes": Scenario(
        before=SAME, after=SAME, origins={}, permissions={"a.py": (0o644, 0o750), "pkg/b.py": (0o755, 0o600)}
    ),
    "mode beside an edit": Scenario(
        before=SAME, after={**SAME, "pkg/b.py": b"B = 2\n"}, origins={}, permissions={"a.py": (0o644, 0o750)}
    ),
}


@pytest.fixture(params=DRESSED)
def dressed(request: pytest.FixtureRequest) -> Scenario:
    """Files that get other modes, and of which at least one keeps its bytes."""
    return DRESSED[request.param]


def test_a_mode_that_changes_is_whole_wherever_its_change_is_killed(arena: Trials, dressed: Scenario) -> None:
    assert arena.run(calls.kill_changes, dressed, "modes", share=0.14, seed=SEED) > 2
    assert arena.run(calls.kill_recoveries, dressed, "recovery", random.Random(SEED), 0.25) > 2
    assert set(arena.verdicts) == {"before", "after"}


def test_a_mode_that_is_taken_back_is_so_wherever_that_is_killed(arena: Trials, dressed: Scenario) -> None:
    assert arena.run(calls.kill_changes, dressed, "rollback", rolls_back=True, share=0.14, seed=SEED) > 2
    assert set(arena.verdicts) == {"before"}


def test_a_mode_that_changes_is_whole_whatever_call_fails(arena: Trials, dressed: Scenario) -> None:
    assert arena.run(calls.fail_changes, dressed, "modes", share=0.035, seed=SEED) > 3
    assert arena.run(calls.fail_changes, dressed, "rollback", rolls_back=True, share=0.03, seed=SEED) > 3
    assert arena.run(calls.fail_recoveries, dressed, "recovery", random.Random(SEED), 0.2) > 2


@pytest.fixture(params=SINGLES)
def single(request: pytest.FixtureRequest) -> Scenario:
    """One file, whose replacement is all that there is to do."""
    return Scenario(before=OLD, after=SINGLES[request.param], origins={})


def test_one_file_is_whole_wherever_its_change_is_killed(arena: Trials, single: Scenario) -> None:
    assert arena.run(calls.kill_changes, single, "single", share=0.3) > 6
    assert arena.run(calls.kill_changes, single, "interrupted", rolls_back=True, share=0.2) > 6
    assert arena.run(calls.kill_recoveries, single, "recovery", random.Random(SEED), 0.3) > 6
    assert set(arena.verdicts) == {"before", "after"}


def test_one_file_is_whole_whatever_call_fails(arena: Trials, single: Scenario) -> None:
    assert arena.run(calls.fail_changes, single, "single", share=0.05) > 9
    assert arena.run(calls.fail_changes, single, "interrupted", rolls_back=True, share=0.035) > 5
    assert arena.run(calls.fail_recoveries, single, "recovery", random.Random(SEED), 0.25) > 8


def test_one_file_is_whole_after_a_power_cut_anywhere(arena: Trials, single: Scenario) -> None:
    assert arena.run(power.cut_everywhere, single, "single", random.Random(SEED), share=0.7) > 30
    assert set(arena.verdicts) == {"before", "after"}
    assert arena.run(power.cut_everywhere, single, "taken back", random.Random(SEED), rolls_back=True, share=0.5) > 25


def test_random_kills_of_changes_and_recoveries_leave_whole_files(arena: Trials) -> None:
    arena.run(kills.kill_commits, 20, SEED)
    assert sum(arena.verdicts.values()) >= 20


def test_killed_apply_commands_leave_whole_files_and_a_history_of_just_what_was_made(arena: Trials) -> None:
    arena.run(kills.kill_applies, 10, SEED)
    arena.run(kills.kill_applies, 1, SEED, fresh=True)


def test_the_longest_recovery_has_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def kill(arena: Arena, number: int, seed: int) -> int:
        arena.seconds += [0.001] * 199 + [0.25]
        return number - seed

    monkeypatch.setattr(kills, "kill_commits", kill)
    monkeypatch.setattr(sys, "argv", ["crash", "--kills=7", "--applies=0", "--fresh=0", "--scenarios=0"])
    assert everything.main() == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()[-2:]]
    assert lines == [
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
            messages = [notice.message for notice in text.outcome.warnings]
            assert text == "A = 1\n"
        else:
            words = [sys.executable, "-m", "bae_source", "read", "pkg.A", "--root", str(root)]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            messages = [done.stderr]
            assert done.stdout == "A = 1\n"
        assert "was interrupted, and was taken back: other, pkg." in messages[0]
        assert (root / "pkg.py").read_bytes() == b"A = 1\n"
