"""Changes of the policy itself, and of what else only a person sets, by every way that leads to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from bae_source.engine.approving.gate import Gate
from tests.adapters.meta.support import Installed
from tests.trust.approval.conftest import Laid
from tests.trust.approval.support import DENY, OPEN, PYPROJECT, READ_ONLY, REVIEW, Answer, Case, Place, check, of

FILE = ":pyproject.toml"
LOOSE = '[tool.bae-source.policy]\npreset = "open"\n'
OLD, NEW = "change.deny", "change.approve"


def calls(*words: str, given: str = "") -> Callable[[Place], Answer]:
    """Return a call of the command line."""
    return lambda place: place.call(*words, given=given)


def writes(name: str, content: str = LOOSE, *more: str) -> Callable[[Place], Answer]:
    """Return the writing of a data file."""
    return calls("write", f":{name}", "--source", "-", *more, given=content)


def edits(name: str, old: str = OLD, new: str = NEW) -> Callable[[Place], Answer]:
    """Return the replacing of a piece of text in a data file."""
    return calls("edit", f":{name}", "--old", old, "--new", new)


def applies(*requests: dict[str, object]) -> Callable[[Place], Answer]:
    """Return several changes that are made together."""
    return calls("apply", "-", given=json.dumps({"requests": requests}))


def patches(text: str) -> Callable[[Place], Answer]:
    """Return a patch."""
    return calls("apply", "--patch", "-", given=text)


def moved_to(name: str) -> Callable[[Place], None]:
    """Return the moving of the project's settings to another place, to which a link leads."""

    def move(place: Place) -> None:
        (place.root / name).parent.mkdir(exist_ok=True)
        (place.root / "pyproject.toml").rename(place.root / name)
        (place.root / "pyproject.toml").symlink_to(name)

    return move


HEADER = "--- a/pyproject.toml\n+++ b/pyproject.toml\n"
DENIED = DENY.replace("\n", "")
FILES = [
    Case(name="config set", do=calls("config", "set", "tool.bae-source.policy.preset", '"open"')),
    Case(name="config set of a quoted key", do=calls("config", "set", 'tool."bae-source"."policy".preset', '"open"')),
    Case(name="config set of the whole tool", do=calls("config", "set", "tool", "{}"), code="invalid_arguments"),
    Case(name="config add", do=calls("config", "add", "tool.bae-source.policy.change.allow", '"**"')),
    Case(name="config remove", do=calls("config", "remove", "tool.bae-source.policy.preset")),
    Case(name="config remove of the table", do=calls("config", "remove", "tool.bae-source")),
    Case(name="config remove of the whole tool", do=calls("config", "remove", "tool")),
    Case(name="config rename", do=calls("config", "rename", "tool.bae-source", "other")),
    Case(name="config rename of the whole tool", do=calls("config", "rename", "tool", "other")),
    Case(name="another table renamed to ours", do=calls("config", "rename", "tool.x", "bae-source"),
         before=lambda place: place.write("pyproject.toml", PYPROJECT + '[tool.x.policy]\npreset = "open"\n')),
    Case(name="edit", do=edits("pyproject.toml"), policy=DENY),
    Case(name="edit that breaks the file", do=edits("pyproject.toml", 'version = "1"', "version ="), policy=DENY),
    Case(name="edit that makes its table a comment", do=edits("pyproject.toml", "[tool.bae", "# [tool.bae"),
         policy=DENY),
    Case(name="edit that opens a text around it", policy=DENY,
         do=edits("pyproject.toml", "dependencies = []", 'dependencies = []\nx = """')),
    Case(name="edit that says it twice", policy=DENY,
         do=edits("pyproject.toml", "[project]", 'tool.bae-source.policy.preset = "open"\n[project]')),
    Case(name="edit with an escaped key", policy=OPEN,
         do=edits("pyproject.toml", "[project]", '[tool."b\\u0061e-source".policy]\npreset = "open"\n[project]')),
    Case(name="edit with an inline table", policy=OPEN,
         do=edits("pyproject.toml", "[project]", 'tool = {bae-source = {policy = {preset = "open"}}}\n[project]')),
    Case(name="write over it", do=writes("pyproject.toml", PYPROJECT, "--overwrite"), policy=DENY),
    Case(name="delete", do=calls("delete", FILE), policy=DENY),
    Case(name="move", do=calls("move", FILE, ":old.toml"), policy=DENY),
    Case(name="move of another file onto it", do=calls("move", ":x.toml", FILE), policy=DENY, code="name_collision",
         before=lambda place: place.write("x.toml", PYPROJECT)),
    Case(name="move of another file to its name", do=calls("move", ":x.toml", FILE), policy=DENY,
         before=lambda place: (place.root / "pyproject.toml").rename(place.root / "x.toml")),
    Case(name="replace in it", do=calls("replace", OLD, NEW, "--scope", FILE), policy=DENY, code=("forbidden",
         "invalid_arguments")),
    Case(name="replace in all text files", do=calls("replace", OLD, NEW), policy=DENY),
    Case(name="replace by a regular expression", do=calls("replace", "change.d.ny", NEW, "--regex"), policy=DENY),
    Case(name="apply, behind an innocent change", policy=DENY,
         do=applies({"do": "edit", "target": ":notes.txt", "old": "notes", "new": "n"},
                    {"do": "edit", "target": FILE, "old": OLD, "new": NEW})),
    Case(name="apply, in two halves", policy=DENY,
         do=applies({"do": "edit", "target": FILE, "old": "[tool.bae-source", "new": "[tool.x"},
                    {"do": "edit", "target": FILE, "old": DENIED, "new": ""})),
    Case(name="apply, by way of another file", policy=DENY,
         do=applies({"do": "delete", "target": FILE}, {"do": "write", "target": FILE, "source": PYPROJECT})),
    Case(name="apply of what is no change", do=applies({"do": "approve", "task": "code_mod_11111111"}),
         code="unknown_operation"),
    Case(name="apply of a command", do=applies({"do": "forget"}), code="unknown_operation"),
    Case(name="a patch", do=patches(f"{HEADER}@@ -7,1 +7,1 @@\n-{DENIED}\n+change.deny = []\n"), policy=DENY),
    Case(name="a patch that renames it", policy=DENY,
         do=patches("diff --git a/pyproject.toml b/x.toml\nsimilarity index 100%\n"
                    "rename from pyproject.toml\nrename to x.toml\n")),
    Case(name="a patch that deletes it", policy=DENY,
         do=patches("*** Begin Patch\n*** Delete File: pyproject.toml\n*** End Patch\n")),
    Case(name="a patch below it", policy=OPEN,
         do=patches(f"*** Begin Patch\n*** Add File: app/pyproject.toml\n+{LOOSE.splitlines()[0]}\n*** End Patch\n")),
    Case(name="a patch of git's folder", policy=OPEN, code=("forbidden", "invalid_arguments", "invalid_name"),
         do=patches("--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+x\n")),
    Case(name="a patch of what lies outside", policy=OPEN, code=("invalid_arguments", "invalid_name",
         "outside_project"),
         do=patches("--- /dev/null\n+++ b/../outside/n\n@@ -0,0 +1 @@\n+x\n")),
    Case(name="a patch of an absolute path", policy=OPEN, code=("invalid_arguments", "invalid_name", "outside_project"),
         do=patches("--- /dev/null\n+++ /etc/n\n@@ -0,0 +1 @@\n+x\n")),
    Case(name="a patch that makes a link", policy=OPEN, code=("invalid_arguments", "unsafe_change", "forbidden"),
         do=patches("diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n"
                    "+../outside/victim.py\n\\ No newline at end of file\n")),
    Case(name="a link to it", before=lambda place: (place.root / "docs/l.toml").symlink_to("../pyproject.toml"),
         do=edits("docs/l.toml"), policy='change.deny = ["app.secrets"]'),
    Case(name="a hard link to it", before=lambda place: os.link(place.root / "pyproject.toml", place.root / "h.toml"),
         do=edits("h.toml"), policy=DENY, code=("unsafe_change", "forbidden")),
    Case(name="the file that it is a link to", before=moved_to("config/tools.toml"), do=edits("config/tools.toml"),
         policy=DENY),
    Case(name="the folder of that file", before=moved_to("config/tools.toml"), do=calls("move", ":config", ":gone"),
         policy=DENY),
    Case(name="that file, deleted", before=moved_to("config/tools.toml"), do=calls("delete", ":config/tools.toml"),
         policy=DENY),
    *(Case(name=f"{name!r} below it", do=writes(f"app/{name}"), policy=OPEN, code=("forbidden", "name_collision"))
      for name in ("pyproject.toml", "PYPROJECT.TOML", "pyproject.toml.", "pyproject.toml ", "pyproject\u200b.toml",
                   "\uff50yproject.toml", "Pyproject.toml\u00ad")),
    Case(name="a package with a policy of its own, moved", do=calls("move", "app", "app2"), policy=OPEN,
         before=lambda place: place.write("app/pyproject.toml", LOOSE.replace("open", "review"))),
    Case(name="what a policy in a folder below keeps", policy=OPEN, do=calls("edit", "app.core.LIMIT", "--code",
         "LIMIT = 4"),
         before=lambda place: place.write("app/pyproject.toml", LOOSE.replace("open", "read-only"))),
    Case(name="what a policy in a folder above keeps", policy=OPEN, do=calls("edit", "app.core.LIMIT", "--code",
         "LIMIT = 4"),
         before=lambda place: (place.folder / "pyproject.toml").write_text(LOOSE.replace("open", "read-only"))),
    Case(name="a policy that cannot be parsed", code="syntax_invalid", do=calls("edit", "app.core.LIMIT", "--code",
         "LIMIT = 4"),
         before=lambda place: place.write("pyproject.toml",
         f"{PYPROJECT}[tool.bae-source.policy\npreset = 'review'\n")),
    Case(name="a policy with a misspelt key", do=calls("edit", "app.core.LIMIT", "--code", "LIMIT = 4"),
         policy='chance.deny = ["app"]'),
    Case(name="a policy with a wrong preset", do=calls("edit", "app.core.LIMIT", "--code", "LIMIT = 4"),
         policy='preset = "Open"'),
    Case(name="a policy with a pattern that is a path", do=calls("edit", "app.core.LIMIT", "--code", "LIMIT = 4"),
         policy='change.deny = ["app/core.py"]'),
    Case(name="deps add of what is kept", do=calls("deps", "add", "Evil>1", "--files-only"), policy=DENY),
    Case(name="a requirement that is kept, by edit", policy=DENY,
         do=edits("pyproject.toml", "dependencies = []", 'dependencies = ["E.v-i_l", "EVIL[x]>1"]')),
    Case(name="a setting that is kept, by edit", policy=DENY,
         do=edits("pyproject.toml", "dependencies = []", 'scripts.x = "app:x"')),
    Case(name="a requirement in a file for pip", policy='change.deny = ["deps evil"]',
         do=writes("requirements-dev.txt", "evil==1\n")),
]  # fmt: skip
SETTINGS = 'policy.change.deny = ["app.secrets"]\n'


def at_settings(
    *words: str, root: Callable[[Place], object], given: str = "", **variables: str
) -> Callable[[Place], Answer]:
    """Return a call at a root that has the user's own settings in it."""
    return lambda place: place.call(*words, root=root(place), given=given, variables=variables)  # type: ignore[arg-type]


def at_config(place: Place) -> object:
    return place.home / ".config/bae-source"


def at_home(place: Place) -> object:
    return place.home


IN_HOME = ":.config/bae-source/settings.toml"
LESS = ("--old", "app.secrets", "--new", "x")


def with_settings_in(place: Place) -> None:
    """Move the user's own settings into the project, and make a link to them."""
    settings = place.home / ".config/bae-source/settings.toml"
    settings.rename(place.root / "mine.toml")
    settings.symlink_to(place.root / "mine.toml")


USERS = [
    Case(name="in their folder", do=at_settings("edit", ":settings.toml", *LESS, root=at_config), policy=OPEN),
    Case(name="in the home", do=at_settings("edit", IN_HOME, *LESS, root=at_home), policy=OPEN),
    Case(name="with the place of settings elsewhere", policy=OPEN,
         do=at_settings("edit", IN_HOME, *LESS, root=at_home, XDG_CONFIG_HOME="/nowhere")),
    Case(name="new ones", do=at_settings("write", IN_HOME, "--source", "-", root=at_home, given='notify = ["sh"]\n'),
         before=lambda place: (place.home / ".config/bae-source/settings.toml").unlink(), policy=OPEN),
    Case(name="deleted", do=at_settings("delete", IN_HOME, root=at_home), policy=OPEN),
    Case(name="moved", do=at_settings("move", IN_HOME, ":x.toml", root=at_home), policy=OPEN),
    Case(name="the file in the project that they are a link to", policy=OPEN, do=calls("edit", ":mine.toml", *LESS),
         before=lambda place: with_settings_in(place)),
    Case(name="what they keep", do=calls("edit", "app.secrets.KEY", "--code", "KEY = 1"), policy=OPEN),
    Case(name="what they keep, in a project that allows it", do=calls("edit", "app.secrets.KEY", "--code", "KEY = 1"),
         policy='preset = "open"\nchange.allow = ["**"]'),
    Case(name="when others may write them", do=calls("edit", "app.core.LIMIT", "--code", "LIMIT = 4"), policy=OPEN,
         before=lambda place: (place.home / ".config/bae-source/settings.toml").chmod(0o666)),
    Case(name="when they cannot be parsed", do=calls("edit", "app.core.LIMIT", "--code", "LIMIT = 4"), policy=OPEN,
         before=lambda place: place.users("policy.change.deny = [")),
    Case(name="our own records of whose state is whose", policy=OPEN,
         before=lambda place: place.proposed(),
         do=at_settings("write", ":.local/state/bae-source/bound/x", "--source", "-", given="1 2 3 4", root=at_home)),
]  # fmt: skip


@pytest.mark.parametrize(**of(FILES))
def test_no_way_leads_to_the_policy(case: Case, laid: Laid) -> None:
    check(case, laid(case.policy))


@pytest.mark.parametrize(**of(USERS))
def test_nor_to_the_users_own_settings(case: Case, laid: Laid) -> None:
    place = laid(case.policy)
    place.users(SETTINGS)
    check(case, place)


@pytest.mark.parametrize("verb", ["redo", "undo"])
def test_undo_and_redo_are_judged_as_any_change(verb: str, laid: Laid) -> None:
    place = laid(OPEN)
    place.call("edit", "app.secrets.KEY", "--code", 'KEY = "x"')
    if verb == "redo":
        place.call("undo")
    place.write("pyproject.toml", f"{PYPROJECT}[tool.bae-source.policy]\n{DENY}\n")
    before = place.files()
    assert place.call(verb).code == "forbidden"
    assert place.files() == before


def test_an_undo_of_an_older_change_does_not_loosen_the_policy(laid: Laid) -> None:
    """What was changed before a person tightened the policy is taken back, and the policy stays."""
    place = laid(OPEN)
    file = place.root / "pyproject.toml"
    place.call("edit", FILE, "--old", 'version = "1"', "--new", 'version = "2"')
    file.write_text(f"{file.read_text()}[tool.bae-source.policy]\n{REVIEW}\n")
    before = place.files()
    assert place.call("undo").code == "pending"
    assert place.files() == before
    file.write_text(file.read_text().replace('version = "2"', 'version = "3"'))
    before = place.files()
    assert place.call("undo").code in ("undo_conflict", "pending", "conflict")
    assert place.files() == before


@pytest.mark.parametrize(
    ("earlier", "later", "code"), [(OPEN, DENY, "forbidden"), (OPEN, REVIEW, "pending"), (OPEN, READ_ONLY, "forbidden")]
)
def test_a_policy_that_is_tightened_counts_before_the_write(
    earlier: str, later: str, code: str, laid: Laid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program changes the file once a change was judged, and before it is written."""
    place = laid(earlier)
    judge = Gate.judge

    def judged(gate: Gate, *given: object, **named: object) -> object:
        found = judge(gate, *given, **named)  # type: ignore[arg-type]
        place.write("pyproject.toml", f"{PYPROJECT}[tool.bae-source.policy]\n{later}\n")
        return found

    monkeypatch.setattr(Gate, "judge", judged)
    answer = place.call("edit", "app.secrets.KEY", "--code", 'KEY = "x"', "--reload", "off")
    assert answer.code == code, answer
    assert (place.root / "app/secrets.py").read_text().startswith('KEY = "k"')


def test_a_policy_that_is_tightened_counts_for_what_waits(laid: Laid) -> None:
    place = laid(REVIEW)
    waits = place.proposed("edit", "app.secrets.KEY", "--code", 'KEY = "x"')
    place.write("pyproject.toml", f"{PYPROJECT}[tool.bae-source.policy]\n{DENY}\n")
    before = place.picture()
    answer = place.approve(waits)
    assert answer.code == "forbidden"
    assert place.picture() == before


META = [
    ("bae_source.approval.policy.fits", "forbidden"),
    ("bae_source.engine.approving.gate.Gate.judge", "forbidden"),
    ("bae_source.engine.approving.touching.paths.why_never", "forbidden"),
    ("bae_source.engine.changing.Changing.commit", "forbidden"),
    ("bae_source.engine.making.Making.make", "forbidden"),
    ("bae_source.engine.travelling.travel", "forbidden"),
    ("bae_source.adapters.deciding.terminal.check_terminal", "forbidden"),
    ("bae_source.engine.meta.installation.PROTECTED", "forbidden"),
    ("bae_source.state.binding.user", "forbidden"),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("target", "code"), META)
def test_what_judges_changes_is_not_changed_by_one(target: str, code: str, installed: Installed) -> None:
    comment = ("meta", "edit", target, "--comment", "# It judges nothing.", "--reload", "off")
    assert installed.code(*comment) == code
