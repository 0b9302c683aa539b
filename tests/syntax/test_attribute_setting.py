"""What code sets attributes of by names that do not stand in it."""

from __future__ import annotations

import pytest

from bae_source.syntax.importing.attribute_setting import set_by_unknown_names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("setattr(app.state, name, 1)", {"app.state"}),
        ("setattr(state, 'db', 1)", set()),
        ("partial(setattr, state)", {"state"}),
        ("state.__setattr__(name, 1)", {"state"}),
        ("object.__setattr__(state, name, 1)", {"state"}),
        ("object.__setattr__(state, 'db', 1)", set()),
        ("vars(state).update(new)", {"state"}),
        ("vars()[name] = 1", set()),
        ("exec(code, vars(state))", {"state"}),
        ("state.__dict__ |= new", {"state"}),
        ("state.__dict__[name] = 1", {"state"}),
        ("state.__dict__['db'] = 1", set()),
        ("x = state.__dict__[name], name in vars(state), sorted(vars(state)), vars(state).items()", set()),
        ("for each in (a.b, c):\n    setattr(each, name, 1)", {"each", "a.b", "c"}),
        ("a = b.c\nb = a.c\nsetattr(a.d, name, 1)", {"a.d", "b.c.d"}),
        ("a = b\nb = a\nsetattr(a, name, 1)", {"a", "b"}),
        ("setattr(f(), name, 1)", set()),
    ],
)
def test_what_is_set_by_names_that_are_not_there_is_told(text: str, found: set[str]) -> None:
    assert {".".join(chain) for chain in set_by_unknown_names(text)} == found
