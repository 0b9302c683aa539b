"""The measurement of transactions compares the same writes."""

from __future__ import annotations

from pathlib import Path

from benchmarks.transaction import NoHistory, bare, commit, lay_out, made, planned


def test_bare_writes_and_a_transaction_leave_the_same_files(tmp_path: Path) -> None:
    paths = lay_out(tmp_path, 6)
    old = {path: (tmp_path / path).read_bytes() for path in paths}
    new = {path: content + b"# new\n" for path, content in old.items()}
    commit(made(tmp_path, NoHistory()), planned(old, new))
    assert {path: (tmp_path / path).read_bytes() for path in paths} == new
    bare(tmp_path, old)
    assert {path: (tmp_path / path).read_bytes() for path in paths} == old
    assert len(list(tmp_path.glob("pkg*/*"))) == 6
