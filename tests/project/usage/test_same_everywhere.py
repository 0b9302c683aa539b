"""An answer does not depend on the order in which a process happens to hold sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_CODE = """
import unknown, other
class A:
    def m(self, n=1): ...
class B(unknown.Base): ...
class C(other.Base): ...
x = B() if unknown.test() else C() if other.test() else other.make() if other.test() else other.Thing
x.m()
"""


def test_every_process_gives_the_same_reasons(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(_CODE)
    command = [sys.executable, "-m", "bae_source", "references", "app.A.m", "--root", str(tmp_path), "--json"]
    answers = {
        subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": str(seed)}
        ).stdout
        for seed in range(5)
    }
    [answer] = answers
    assert "app\\n  8: x.m()" in answer


def test_calls_are_found_in_functions_that_were_not_parsed_before(tmp_path: Path) -> None:
    made = "    @classmethod\n    def make(cls, values):\n        return [cls() for each in values if each]\n"
    (tmp_path / "app.py").write_text(f"class Kind:\n{made}")
    command = [sys.executable, "-m", "bae_source", "callers", "app.Kind", "--root", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "4: return [cls() for each in values if each]" in done.stdout
