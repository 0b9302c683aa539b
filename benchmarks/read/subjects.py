"""What is asked for: six symbols of django, each with the place of its definition, and places as every tool's answer.

Invariants:
- a `Place` counts lines and columns from 1, columns in characters, and stands on the first character of a name;
- the place of an import is that of the imported name, not of its alias.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct


class Place(Struct, frozen=True, order=True):
    """A spot in a file of the project; `path` is relative to the root, with forward slashes."""

    path: str
    line: int
    column: int


class Subject(Struct, frozen=True, kw_only=True):
    """A symbol to ask for.

    Parameters:
        target: its canonical dotted name.
        path: the file that defines it.
        anchor: text that holds the name where it is defined, and occurs once in the file.
    """

    target: str
    path: str
    anchor: str

    @property
    def name(self) -> str:
        """The last part of the dotted name."""
        return self.target.rpartition(".")[2]

    def definition(self, root: Path) -> Place:
        """Return the place of the name in its own definition."""
        text = (root / self.path).read_text(encoding="utf-8")
        assert text.count(self.anchor) == 1, f"{self.anchor!r} does not occur once in {self.path}"
        before = re.split(rf"\b{self.name}\b", self.anchor)[0]
        lines = text[: text.index(self.anchor) + len(before)].split("\n")
        return Place(self.path, len(lines), len(lines[-1]) + 1)


SUBJECTS = (
    # a function, a class and a method that no tool can decide
    Subject(
        target="django.utils.safestring.mark_safe",
        path="django/utils/safestring.py",
        anchor="def mark_safe(",
    ),
    Subject(
        target="django.core.exceptions.ImproperlyConfigured",
        path="django/core/exceptions.py",
        anchor="class ImproperlyConfigured(",
    ),
    Subject(
        target="django.db.models.query.QuerySet.values_list",
        path="django/db/models/query.py",
        anchor="def values_list(",
    ),
    # a class that has subclasses and is mostly imported through a re-export
    Subject(target="django.http.response.HttpResponse", path="django/http/response.py", anchor="class HttpResponse("),
    # a function that is mostly imported through a re-export, and shares its name with unrelated attributes
    Subject(target="django.urls.base.reverse", path="django/urls/base.py", anchor="def reverse("),
    # a method that is called on `self` in subclasses all over the project
    Subject(
        target="django.test.testcases.SimpleTestCase.assertRedirects",
        path="django/test/testcases.py",
        anchor="def assertRedirects(",
    ),
)
