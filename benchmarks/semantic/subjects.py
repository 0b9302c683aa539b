"""The packages whose names are changed: small ones of five kinds, with tests that reach most of their code."""

from __future__ import annotations

from msgspec import Struct

from benchmarks.corpus import Release


class Subject(Struct, frozen=True, kw_only=True):
    """A package whose names are changed.

    Parameters:
        source: the folder that stands on `sys.path`.
        package: the folder of the package itself.
        tests: what pytest is given.
        options: of pytest, which leave out tests that are drawn at random, or that only repeat each other.
    """

    release: Release
    source: str
    package: str
    tests: str
    options: tuple[str, ...] = ()


SUBJECTS = (
    Subject(
        release=Release(
            name="pluggy",
            version="1.7.0",
            sha256="d1eaa46ebb595891b860ab086b4d09c8588af65ebd4361b8e8f4bb8920b90ba8",
        ),
        source="src",
        package="src/pluggy",
        tests="testing",
    ),
    Subject(
        release=Release(
            name="packaging",
            version="26.4",
            sha256="c4b671c41ddb9bf26e543c37723610d28fb6bf7affc4da17cf048d419d2c062a",
        ),
        source="src",
        package="src/packaging",
        tests="tests",
        options=("--ignore=tests/property", "-k", "not test_comparison_true and not test_comparison_false"),
    ),
    Subject(
        release=Release(
            name="tomlkit",
            version="0.15.2",
            sha256="83e32755ba1d20d9340bd069ee97e9f6232ba2346b63ffcba425de01f7e327a6",
        ),
        source="",
        package="tomlkit",
        tests="tests",
    ),
    Subject(
        release=Release(
            name="itsdangerous",
            version="2.2.0",
            sha256="e0050c0b7da1eea53ffaf149c0cfbb5c6e2e2b69c4bef22c81fa6eb73e5f6173",
        ),
        source="src",
        package="src/itsdangerous",
        tests="tests",
    ),
    Subject(
        release=Release(
            name="more-itertools",
            version="11.2.1",
            sha256="cbf08fd0af284dc69718b9b76a8e6203df624d70209ea511e4219d350c856f63",
        ),
        source="",
        package="more_itertools",
        tests="tests",
    ),
)
