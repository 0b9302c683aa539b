"""Files that are too long to be parsed: every answer that they could belong to names them, and is not complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source.errors import SourceError
from tests.queries.support import laid

USER = "from pk.a import f\nf(1)\n#"
FILES: dict[str, str | bytes] = {"pk/__init__.py": "", "pk/a.py": "def f(x): ...\n"}
SAID = "20,000,001 characters, more than 20,000,000"


@pytest.mark.parametrize("end", [b"", b"\xff"])
def test_a_file_that_is_too_long_is_refused_before_it_is_decoded_or_parsed(tmp_path: Path, end: bytes) -> None:
    length = 20_000_001 - len(USER) - len(end)
    source = laid(tmp_path, {**FILES, "pk/big.py": USER.encode() + b"x" * length + end})
    for found in (source.references("pk.a.f"), source.callers("pk.a.f"), source.find("f(1)"), source.search("f")):
        assert not found.complete
        assert "pk.big:2" not in found
        [message] = [each.message for each in found.outcome.warnings if "pk.big" in each.message]
        assert SAID in message
    for ask in (source.read, source.outline):
        with pytest.raises(SourceError, match=SAID) as refused:
            ask("pk.big")
        assert refused.value.code == "not_lossless"


def test_bytes_are_not_counted_as_characters(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "pk/big.py": USER + "é" * 11_000_000})
    for found in (source.references("pk.a.f"), source.find("f(1)")):
        assert found.complete
        assert "pk.big:2" in found or "pk.big\n  1: from pk.a import f    [import]\n  2: " in found
