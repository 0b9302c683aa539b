"""SHA-256 is the same whoever works it out."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest

from bae_source.system.hashing import sha1, sha256

CONTENTS = (b"", b"x", b"\xff" * 1000, b"y" * 1_000_001)


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: str(len(content)))
def test_a_digest_is_that_of_the_library(content: bytes) -> None:
    assert sha256(content) == hashlib.sha256(content).hexdigest()
    assert sha1(content) == hashlib.sha1(content, usedforsecurity=False).hexdigest()


def test_a_process_that_hashes_little_does_not_load_openssl() -> None:
    program = (
        "import sys; from bae_source.system.hashing import sha256\n"
        "print(sha256(b'x'), 'hashlib' in sys.modules)\n"
        "print(sha256(b'y' * 1_000_001), 'hashlib' in sys.modules)\n"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert output == [
        hashlib.sha256(b"x").hexdigest(), "False", hashlib.sha256(b"y" * 1_000_001).hexdigest(), "True",
    ]  # fmt: skip


def test_a_process_that_hashes_much_little_by_little_loads_it_too() -> None:
    program = (
        "import sys; from bae_source.system.hashing import sha256\n"
        "for number in range(1000): sha256(bytes([number % 256]) * 1000)\n"
        "print(sha256(b'x'), 'hashlib' in sys.modules)\n"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert output == [hashlib.sha256(b"x").hexdigest(), "True"]
