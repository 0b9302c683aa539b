"""The outcome's JSON, compared with golden files through the API and through the command line.

A golden file holds the call and what it comes to; operation ids stand as `op_…`. The keys and their order count too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bae_source.engine.registry import request
from bae_source.engine.service import Context, Service
from bae_source.errors import ResourceError
from bae_source.model.outcome import failed, to_json

GOLDEN = sorted((Path(__file__).resolve().parent.parent / "fixtures" / "contracts").glob("outcome_*.json"))
ENVIRONMENT = {**os.environ, "USER": "golden"}


def anonymous(text: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(re.sub(r"op_[0-9a-f]{12}", "op_…", text))
    return shown


def made(folder: Path, golden: dict[str, Any]) -> Path:
    for name, content in golden["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode())
    return folder


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_api_comes_to_the_golden_outcome(path: Path, tmp_path: Path) -> None:
    golden = json.loads(path.read_text())
    service = Service(made(tmp_path, golden), environment=ENVIRONMENT)
    given = dict(golden["request"])
    try:
        asked = request(given.pop("do"), given)
        outcome = service.run(asked, Context(reload="off", dry_run=golden.get("dry_run", False)))
    except ResourceError as error:
        outcome = failed(error)
    shown = anonymous(to_json(outcome))
    assert shown == golden["outcome"]
    assert list(shown) == list(golden["outcome"])


@pytest.mark.sampled
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_command_line_prints_the_golden_outcome(path: Path, tmp_path: Path) -> None:
    golden = json.loads(path.read_text())
    command = [sys.executable, "-m", "bae_source", *golden["command"], "--root", str(made(tmp_path, golden)), "--json"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False)
    assert anonymous(done.stdout.decode()) == golden["outcome"]
    assert done.returncode == golden["exit"]
    assert done.stdout.count(b"\n") == 1


def test_there_are_golden_outcomes() -> None:
    assert len(GOLDEN) >= 5
