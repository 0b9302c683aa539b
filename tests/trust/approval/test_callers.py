"""Names of callers: no name loosens anything, be it one's own or another's."""

from __future__ import annotations

import pytest

from tests.trust.approval.conftest import Laid
from tests.trust.approval.support import OPEN, READ_ONLY, REVIEW, Case, check

EDIT = ("edit", "app.core.send", "--old", "return 1", "--new", "return 2", "--reload", "off")
NAMES = ("ana", "root", "bae-source", "*", "[a-z]*", "ci-1", "a.b", "'", '"', "x]\ny", "ANA", "\uff21na", "person")
NONE = (" ", "\t", "a\nb", "a\0b", "\x1b[2J", "a\u200bb", "\u202eana", "a" * 201, "a" * 1_000_000, "x\udcff", "\u2028")
OPENING = """\
callers."ana".preset = "open"
callers."ana".change.allow = ["**", ":**", "config **", "deps **"]
callers."*".preset = "open"
"""


@pytest.mark.parametrize("policy", [REVIEW, READ_ONLY])
@pytest.mark.parametrize("who", NAMES)
def test_no_name_loosens_a_policy(who: str, policy: str, laid: Laid) -> None:
    """Tables of callers tighten the one for all, whatever they say."""
    code = "forbidden" if policy == READ_ONLY else "pending"
    place = laid(f"{policy}\n{OPENING}")
    case = Case(name=who, do=lambda place: place.call(*EDIT, "--who", who), code=(code, "invalid_arguments"))
    check(case, place)
    assert ("\n" in who) is ("invalid_arguments" in str(place.call(*EDIT, "--who", who).code))


@pytest.mark.parametrize("who", NONE)
def test_what_is_no_name_is_refused(who: str, laid: Laid) -> None:
    check(Case(name=who, do=lambda place: place.call(*EDIT, "--who", who), code="invalid_arguments"), laid(OPEN))


@pytest.mark.parametrize("name", ["BAE_SOURCE_WHO", "USER", "USERNAME"])
@pytest.mark.parametrize("who", ["ana", "a\nb\x1b[2J\u202e", "a" * 100_000, "\udcff"])
def test_nor_does_the_environment(who: str, name: str, laid: Laid) -> None:
    place = laid(f"{REVIEW}\n{OPENING}")
    variables = {"USER": "", name: who}
    check(Case(name=who, do=lambda place: place.call(*EDIT, variables=variables), code="pending"), place)
    [waits] = place.plans.listed()
    assert waits.who.isprintable()
    assert len(waits.who) <= 200


TIGHT = [
    ("bot", "forbidden"), ("BOT", "forbidden"), ("bot-7", "forbidden"), ("\uff42\uff4f\uff54", "forbidden"), ("Bot x",
        "forbidden"),
    ("robot", "pending"),
]  # fmt: skip


@pytest.mark.parametrize(("who", "code"), TIGHT)
def test_a_callers_table_tightens_under_any_spelling(who: str, code: str, laid: Laid) -> None:
    place = laid(f'{REVIEW}\ncallers."bot*".preset = "read-only"')
    check(Case(name=who, do=lambda place: place.call(*EDIT, "--who", who), code=code), place)


def test_a_proposal_of_another_is_not_withdrawn_by_a_name(laid: Laid) -> None:
    place = laid(REVIEW)
    waits = place.proposed()
    for verb in ("reject", "expire"):
        answer = place.process(verb, waits.id, "--who", "agent", *(("--reason", "x") if verb == "reject" else ()))
        assert answer.code == "forbidden"
    assert place.plans.get(waits.id) == waits
