"""Empty answers about what code outside of the project may call: they say so, and others do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.queries.support import laid

MAIN = """
import abc
import functools
import threading
from collections import OrderedDict

import click
import unknown
from app.own import Registry, keeping, keeping_as, logged, logged_as

registry = Registry()


class T(threading.Thread):
    def run(self): ...


class Below(T):
    def stop(self): ...


class View(unknown.make()):
    def get(self): ...


class Rows(list):
    def insert(self, row): ...

    def unheard(self): ...


class Failure(ValueError):
    def text(self): ...


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

    @property
    def name(self): ...

    @name.setter
    def name(self, value): ...


class Plain:
    @click.command()
    def command(self): ...

    def alone(self): ...


@click.command()
def command(): ...


@unknown.app.route("/")
def route(): ...


@registry.add
def added(): ...


@keeping
def kept(): ...


@keeping_as("name")
def kept_as(): ...


@functools.lru_cache(maxsize=1)
def cached(): ...


@functools.singledispatch
def visit(node): ...


@visit.register
def visit_int(node: int): ...


@logged
def wrapped(): ...


@logged_as("name")
def wrapped_as(): ...


@click.command()
def used(): ...


used()
"""
OWN = """
import functools

KEPT = {}


class Registry:
    def __init__(self):
        self.functions = []

    def add(self, function):
        self.functions.append(function)
        return function


def keeping(function):
    KEPT[function.__name__] = function
    return function


def keeping_as(name):
    def decorate(function):
        KEPT[name] = function
        return function

    return decorate


def logged(function):
    @functools.wraps(function)
    def wrapper(*given):
        return function(*given)

    return wrapper


def logged_as(name):
    def decorate(function):
        def wrapper(*given):
            return function(*given)

        return functools.update_wrapper(wrapper, function)

    return decorate
"""


@pytest.mark.parametrize("verb", ["references", "callers"])
@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("T.run", "threading.Thread, which its class is below, may use run"),
        ("Below.stop", "threading.Thread, which its class is below, may use stop"),
        ("View.get", "unknown.make"),
        ("Rows.insert", "builtins.list, which its class is below, may use insert"),
        ("Plain.command", "the decorator command is given it, and may hand it out"),
        ("command", "the decorator command is given it, and may hand it out"),
        ("route", "the decorator route is given it, and may hand it out"),
        ("added", "the decorator add is given it, and may hand it out"),
        ("kept", "the decorator keeping is given it, and may hand it out"),
        ("kept_as", "the decorator keeping_as is given it, and may hand it out"),
        ("visit_int", "the decorator register is given it, and may hand it out"),
    ],
)
def test_an_empty_answer_says_what_outside_code_may_call(tmp_path: Path, verb: str, target: str, why: str) -> None:
    source = laid(tmp_path, {"app/__init__.py": "", "app/main.py": MAIN, "app/own.py": OWN})
    outcome = getattr(source, verb)(f"app.main.{target}").outcome
    assert (outcome.found, outcome.complete) == ((), False)
    [notice] = outcome.warnings
    assert notice.code == "called_from_outside"
    assert notice.message.startswith(f"Nothing in the project names app.main.{target}, but ")
    assert why in notice.message or (target == "View.get" and "not known" in notice.message)


@pytest.mark.parametrize("verb", ["references", "callers"])
@pytest.mark.parametrize(
    "target",
    ["Rows.unheard", "Failure.text", "Shape.area", "Shape.name", "Plain.alone", "cached", "wrapped", "wrapped_as"],
)
def test_an_empty_answer_about_a_name_that_is_not_handed_out_is_complete(
    tmp_path: Path, verb: str, target: str
) -> None:
    source = laid(tmp_path, {"app/__init__.py": "", "app/main.py": MAIN, "app/own.py": OWN})
    outcome = getattr(source, verb)(f"app.main.{target}").outcome
    assert (outcome.complete, outcome.warnings) == (True, ())


def test_an_answer_that_found_something_is_complete(tmp_path: Path) -> None:
    source = laid(tmp_path, {"app/__init__.py": "", "app/main.py": MAIN, "app/own.py": OWN})
    outcome = source.references("app.main.used").outcome
    assert (len(outcome.found), outcome.complete) == (1, True)
