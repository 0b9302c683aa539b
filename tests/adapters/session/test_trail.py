"""Going elsewhere replaces the way from the common ancestor."""

from __future__ import annotations

import pytest

from bae_source.adapters.session.places import PLACES, Place
from bae_source.adapters.session.trail import START, Spot, Trail, backward, going, labels, spot_named


def walked(*names: str) -> Trail:
    trail = START
    for name in names:
        trail = going(trail, spot_named(name))
    return trail


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), "home"),
        (("home",), "home"),
        (("source",), "home > source"),
        (("source", "source"), "home > source"),
        (("source.httpx._client",), "home > source > httpx._client"),
        (("source.httpx", "source.httpx._client"), "home > source > httpx > _client"),
        (("source.httpx", "source.httpx._client", "source.httpx._api"), "home > source > httpx > _api"),
        (("source.httpx", "source.flask.app"), "home > source > flask.app"),
        (("source.httpx._client", "source.httpx"), "home > source > httpx"),
        (("source.httpx", "source.httpxtra"), "home > source > httpxtra"),
        (("source.httpx._client", "home"), "home"),
    ],
)
def test_the_way_to_a_place_goes_on_from_the_common_ancestor(names: tuple[str, ...], expected: str) -> None:
    assert " > ".join(labels(walked(*names))) == expected


def test_a_place_beside_another_one_replaces_it(monkeypatch: pytest.MonkeyPatch) -> None:
    places = {**PLACES, **{name: Place(name=name, description="", above="source") for name in ("deps", "config")}}
    monkeypatch.setattr("bae_source.adapters.session.trail.PLACES", places)
    assert labels(walked("source.httpx", "config", "deps")) == ("home", "source", "deps")
    assert labels(walked("deps")) == ("home", "source", "deps")


def test_going_back_takes_the_last_step_off_and_stays_at_home() -> None:
    trail = walked("source.httpx", "source.httpx._client")
    assert labels(backward(trail)) == ("home", "source", "httpx")
    assert backward(START) == START


def test_a_spot_is_named_as_a_caller_writes_it_and_home_stands_before_no_call() -> None:
    spot = Spot(place=PLACES["source"], module="httpx._client")
    assert spot.name == spot.prefix == "source.httpx._client"
    assert spot_named(spot.name) == spot
    assert START[0].prefix == ""
