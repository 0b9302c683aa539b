"""What a module says in words, and of which definition it says it."""

from __future__ import annotations

import msgspec
import pytest

from bae_source.errors import SourceError
from bae_source.syntax.outline.wording import Wording, wording_of
from bae_source.syntax.text.source import Source

CODE = '''#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""A module."""

# About nothing near.

# Connections
# are kept.
class Pool:
    """A pool.

    More.
    """

    # Never empty.

    size = 5  # of connections

    # Takes one.
    def take(self):
        # from the end
        return 1
        # below


# last
'''


def prose_of(wording: Wording) -> dict[str, tuple[str, str]]:
    names = [entry.names[0] for entry in wording.summary.entries]
    return {
        names[passage.index] if passage.index >= 0 else "": (passage.docstring, passage.comments)
        for passage in wording.passages
    }


def test_each_comment_belongs_to_the_definition_below_or_around_it() -> None:
    assert prose_of(wording_of(Source(CODE.encode()))) == {
        "": ('"""A module."""', "/usr/bin/env python\n-*- coding: utf-8 -*-\nAbout nothing near.\nlast"),
        "Pool": ('"""A pool.\n\n    More.\n    """', "Connections\nare kept.\nNever empty."),
        "size": ("", "of connections"),
        "take": ("", "Takes one.\nfrom the end\nbelow"),
    }


def test_a_module_that_says_nothing_has_no_passages() -> None:
    assert wording_of(Source(b"x = 1\n")).passages == ()
    assert wording_of(Source(b"")).passages == ()


def test_wording_comes_back_from_the_cache_as_it_was() -> None:
    wording = wording_of(Source(CODE.replace("\n", "\r\n").encode()))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(wording), type=Wording) == wording


def test_very_long_texts_are_cut() -> None:
    [passage] = wording_of(Source(f"'''{'a ' * 50_000}'''\n".encode())).passages
    assert len(passage.docstring) == 20_000


def test_what_does_not_parse_is_an_error() -> None:
    with pytest.raises(SourceError):
        wording_of(Source(b"def f(:\n"))
