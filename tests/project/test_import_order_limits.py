"""How far imports are followed through a project, and what is said past that: nothing."""

from __future__ import annotations

import pytest

from tests.project.circles import circle_told


def test_a_chain_that_is_too_long_to_follow_is_not_reported() -> None:
    chain = {f"p/m{n}.py": f"from . import m{n + 1}\n" for n in range(400)}
    files = {**chain, "p/m400.py": "from p import LATER\n", "p/n.py": "from . import m0\n"}
    assert (
        circle_told({**files, "p/__init__.py": ""}, {**files, "p/__init__.py": "from . import n\nLATER = 1\n"}) is None
    )


def test_a_chain_of_packages_in_packages_is_no_deeper_than_one_of_modules() -> None:
    inner = ("a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/d/e")
    chain = {f"q{n}/__init__.py": f"import q{n + 1}.a.b.c.d.e\n" for n in range(110)}
    chain |= {f"q{n}/{each}/__init__.py": "" for n in range(111) for each in inner}
    files = {**chain, "q110/__init__.py": "from p import LATER\n", "p/n.py": "import q0\n"}
    circle = circle_told({**files, "p/__init__.py": ""}, {**files, "p/__init__.py": "from . import n\nLATER = 1\n"})
    assert circle is not None
    assert circle.startswith("q110 imports LATER from p")


def test_many_ways_into_a_large_circle_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"p/m{n}.py": f"import p.m{2 * n + 1}, p.m{2 * n + 2}, p.s\n" for n in range(200)}
    files |= {"p/__init__.py": "", "p/z.py": "from p.s import Z\nB = Z\n"}
    files["p/s/n.py"] = "import p.m0\nfrom p.z import B\n"
    before, after = {**files, "p/s/__init__.py": "Z = 1\n"}, {**files, "p/s/__init__.py": "Z = 1\nfrom . import n\n"}
    expected = "p.s.n imports B from p.z before p.z has bound it (p.z -> p.s -> p.s.n -> p.z)"
    assert circle_told(before, after, "p/s/") == expected
    monkeypatch.setattr("bae_source.project.importing.order.MOST_FOLLOWED", 1_000)
    assert circle_told(before, after, "p/s/") is None


def test_a_caller_that_stands_deep_gets_an_answer_too() -> None:
    chain = {f"p/m{n}.py": f"from . import m{n + 1}\n" for n in range(100)}
    files = {**chain, "p/m100.py": "from p import LATER\n", "p/n.py": "from . import m0\n"}

    def deep(levels: int) -> str | None:
        if levels:
            return deep(levels - 1)
        return circle_told({**files, "p/__init__.py": ""}, {**files, "p/__init__.py": "from . import n\nLATER = 1\n"})

    assert deep(0) is not None
    assert deep(700) is None
