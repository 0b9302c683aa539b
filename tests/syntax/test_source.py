"""A file's bytes as text: how much of them is decoded."""

from __future__ import annotations

from codecs import BOM_UTF8

import pytest

from bae_source.errors import SourceError
from bae_source.syntax.text import source


def test_what_is_too_long_to_be_parsed_is_not_decoded_where_its_bytes_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_CHARACTERS", 20)
    for short in (b"x" * 20, BOM_UTF8 + b"x" * 20, "é".encode() * 20, b"#coding:utf-7\n+AOkA6Q-"):
        assert len(source.parsable(short).text) <= 20
    for long in (b"x" * 20 + b"\xff", BOM_UTF8 + b"x" * 21, "é".encode() * 21, b"#coding:ascii\nxxxxxxx"):
        with pytest.raises(SourceError, match=r"has 21 characters, more than 20\."):
            source.parsable(long)
