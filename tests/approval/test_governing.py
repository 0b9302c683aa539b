"""The policies that govern a request, whatever root its caller chooses."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from bae_source.approval.policy import Answer, Subject
from bae_source.engine.approving.governing import Governed, Governing
from bae_source.engine.approving.looking import may_be_around
from bae_source.engine.approving.names import Names
from bae_source.engine.approving.seeing import Seeing
from bae_source.engine.registry import request
from bae_source.engine.service import Service
from bae_source.errors import Refused
from bae_source.model.settings import Settings, UserSettings, problems
from tests.adapters.support import run
from tests.adapters.test_functions import contents
from tests.approval.hidden import answer

TABLE = "[tool.bae-source.policy]\n"
REVIEW = f'{TABLE}preset = "review"\n'
SECRETS = f'{TABLE}change.deny = ["app.secrets"]\n'


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = tmp_path / "repo"
    for path in ("src/app/__init__.py", "src/app/secrets.py", "src/app/core.py", "packages/a/a/core.py"):
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text("KEY = 1\n")
    return repo


def governing(root: Path, **environment: str) -> Governing:
    home = str(next(each for each in (root, *root.parents) if each.name == "repo").parent)
    return Governing(Path(os.path.realpath(root)), {"HOME": home, **environment})


def users(repo: Path, text: str, mode: int = 0o600) -> Path:
    path = repo.parent / ".config/bae-source/settings.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def rules(found: list[Governed], path: str) -> list[str]:
    """Return the rules by which a change of a file is decided."""
    ruled = []
    for each in found:
        inner = each.path(path)
        assert inner is not None
        for kind, name in each.names.of(inner):
            ruled += [ruling.rule for ruling in each.policy.change([Subject(kind=kind, name=name)], "agent")]
    return ruled


def test_where_there_is_no_policy_nothing_governs_and_that_is_found_at_once(repo: Path) -> None:
    (repo / "pyproject.toml").write_text('[project]\nname = "app"\n[tool.bae-source]\nlogs = "x"\n')
    seeing = Seeing(repo, {"HOME": str(repo.parent)})
    assert seeing.policies(["src/app/core.py"]) == []
    assert governing(repo).policies(["src/app/core.py"]) == []
    begun = time.perf_counter()
    for _ in range(100):
        seeing.policies(["src/app/core.py"])
    assert (time.perf_counter() - begun) / 100 < 0.002  # 0.1 ms on a machine at rest


@pytest.mark.parametrize(
    ("root", "path"),
    [
        ("", "src/app/secrets.py"),
        ("src", "app/secrets.py"),
        ("src/app", "secrets.py"),
        ("..", "repo/src/app/secrets.py"),
    ],
)
def test_the_table_of_a_project_is_about_its_own_names_from_every_root(root: str, path: str, repo: Path) -> None:
    (repo / "pyproject.toml").write_text(SECRETS)
    found = governing(repo / root).policies([path]) if root != ".." else Governing(repo.parent, {}).policies([path])
    [each] = found
    assert each.names.of(each.path(path) or "")[0] == ("code", "app.secrets")
    [rule] = dict.fromkeys(rules(found, path))
    assert rule.endswith("[tool.bae-source.policy] change.deny = 'app.secrets'")


def test_tables_of_folders_between_the_root_and_a_file_count_for_what_is_below_them(repo: Path) -> None:
    (repo / "packages/a/pyproject.toml").write_text(f'{TABLE}change.deny = ["a.core"]\n')
    found = governing(repo)
    assert found.policies(["src/app/core.py"]) == []
    assert rules(found.policies(["packages/a/a/core.py"]), "packages/a/a/core.py") == [
        "packages/a/pyproject.toml [tool.bae-source.policy] change.deny = 'a.core'"
    ]
    [outer] = governing(repo / "packages/a/a").policies(["core.py"])
    assert outer.policy.change([Subject(kind="code", name="a.core.KEY")], "x")[0].answer is Answer.DENY


def test_all_tables_count_together(repo: Path) -> None:
    (repo / "pyproject.toml").write_text(REVIEW)
    (repo / "packages/a/pyproject.toml").write_text(f'{TABLE}change.deny = ["a.core"]\n')
    users(repo, '[policy]\nchange.approve = ["a"]\n')
    ruled = rules(governing(repo / "packages/a").policies(["a/core.py"]), "a/core.py")
    assert {each.partition("] ")[2] for each in ruled} >= {'preset = "review"', "change.deny = 'a.core'"}
    [own] = [each for each in governing(repo).policies(["src/app/core.py"]) if each.folder == repo]
    assert [each.title for each in own.policy.tables] == [
        "~/.config/bae-source/settings.toml [policy]",
        "[tool.bae-source.policy]",
    ]


def test_the_users_rules_are_about_names_from_each_project_around_the_root(repo: Path) -> None:
    (repo / "pyproject.toml").write_text("")
    users(repo, '[policy]\nchange.deny = ["app.secrets"]\n')
    for root, path in (("", "src/app/secrets.py"), ("src", "app/secrets.py"), ("src/app", "secrets.py")):
        ruled = rules(governing(repo / root).policies([path]), path)
        assert "~/.config/bae-source/settings.toml [policy] change.deny = 'app.secrets'" in ruled, root
    [own] = Governing(repo, {"XDG_CONFIG_HOME": str(repo.parent / ".config")}).policies()
    assert own.policy.tables[0].title == "$XDG_CONFIG_HOME/bae-source/settings.toml [policy]"


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'{TABLE}preset = "opne"\n', "policy.preset is wrong: invalid enum value 'opne'"),
        (f"{TABLE}change.alow = []\n", "has no policy.change.alow; there are allow, approve, deny"),
        (f'{TABLE}read.deny = "app"\n', "policy.read.deny is wrong: expected `array`, got `str`"),
        (f'{TABLE}read.deny = ["app/secrets.py"]\n', "'app/secrets.py' is no pattern of names"),
        (f'{TABLE}change.deny = ["./x"]\n', "'./x' is no pattern of names"),
        (f'{TABLE}callers.ci.read.denny = ["x"]\n', "has no policy.callers.*.read.denny"),
        ("[tool.bae-source]\npolicy = 3\n", "policy is wrong: expected `object`, got `int`"),
        ('[tool.bae-source.polcy]\npreset = "policy"\n', "there is no table 'polcy'"),
        (f"{TABLE}preset = \n", "does not parse: Invalid value (at line 2, column 10)"),
        (f"{REVIEW}x = '\xff'\n".encode("latin-1"), "does not parse"),
        ("tool = 1\n# bae-source policy\n[tool.bae-source.policy]\n", "does not parse"),
        (f"{TABLE}# {'x' * 2_100_000}\n", "it has more than 2,000,000 bytes"),
        ('[tool."b\\u0061e-source".policy]\npreset = 1\n', "policy.preset is wrong"),
    ],
    ids=range(13),
)
@pytest.mark.parametrize("where", ["repo", "src", "packages/a"])
def test_a_policy_that_is_wrong_refuses_changes_and_reading(
    where: str, text: str | bytes, expected: str, repo: Path
) -> None:
    folder = repo / ("" if where == "repo" else where)
    (folder / "pyproject.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    path = "packages/a/a/core.py" if where == "packages/a" else "src/app/core.py"
    with pytest.raises(Refused) as caught:
        governing(repo).policies([path])
    assert caught.value.code == "forbidden"
    assert expected in caught.value.message
    assert "pyproject.toml" in caught.value.message + "".join(caught.value.hints)
    assert caught.value.message.endswith("nothing was changed.")
    service = Service(repo, environment={"HOME": str(repo.parent)})
    found = answer(service, "read", {"target": f"{path}:1"} if "/a/" in path else {"target": "app.core"})
    assert "KEY = 1" not in found
    if len(text) < 1_000:
        assert expected.split(" ")[0] in answer(service, "doctor", {})


def test_a_file_that_cannot_hold_a_policy_has_none_be_it_broken_or_not(repo: Path) -> None:
    for text in ("x = \n", "[tool.bae-source\n", "[tool.other.policy]\npreset = 1\n", "", "\xff policy"):
        (repo / "pyproject.toml").write_bytes(text.encode("latin-1"))
        assert governing(repo).policies(["src/app/core.py"]) == []
        assert not may_be_around(repo, {})


@pytest.mark.parametrize("spelt", ['tool."bae-source".policy', '"t\\u006fol".bae-source.policy', "tool.bae-source"])
def test_however_a_policy_is_spelt_it_counts(spelt: str, repo: Path) -> None:
    inline = 'policy = { preset = "read-only" }' if spelt == "tool.bae-source" else 'preset = "read-only"'
    (repo / "pyproject.toml").write_text(f"[{spelt}]\n{inline}\n")
    assert rules(governing(repo).policies(), "src/app/core.py")[0].endswith('preset = "read-only"')


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_the_users_file_that_others_may_write_refuses_where_it_may_hold_a_policy(mode: int, repo: Path) -> None:
    users(repo, '[policy]\npreset = "review"\n', mode)
    with pytest.raises(Refused) as caught:
        governing(repo).policies()
    assert "~/.config/bae-source/settings.toml others may write" in caught.value.message
    assert "chmod" in caught.value.hints[0]
    users(repo, 'logs = ["/var/log"]\n', mode)
    assert governing(repo).policies() == []


def test_a_wrong_policy_of_the_user_refuses_and_names_the_file(repo: Path) -> None:
    before = contents(repo)
    for text, expected in (("[policy]\nchange.alow = 1\n", "policy.change.alow"), ("[policy\n", "does not parse")):
        users(repo, text)
        called = run("read", "app.core", folder=repo, HOME=str(repo.parent), XDG_CONFIG_HOME="")
        assert called.status == 5, called.out
        assert expected in called.err_text
        assert "~/.config/bae-source/settings.toml" in called.err_text
        with pytest.raises(Refused):
            governing(repo).policies()
    assert contents(repo) == before


def test_a_link_to_a_policy_counts_and_one_that_leads_nowhere_does_not(repo: Path) -> None:
    (repo.parent / "shared.toml").write_text(REVIEW)
    (repo / "pyproject.toml").symlink_to("../shared.toml")
    assert len(governing(repo).policies()) == 1
    (repo.parent / "shared.toml").unlink()
    assert governing(repo).policies() == []


def test_a_change_of_a_file_counts_for_the_next_question(repo: Path) -> None:
    found = governing(repo)
    for text, count in ((REVIEW, 1), ("", 0), (SECRETS, 1)):
        (repo / "pyproject.toml").write_text(text)
        assert len(found.policies()) == count
    assert found.policy_of_root.tables[0].rules.change.deny == ("app.secrets",)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("src/app/core.py", [("code", "app.core"), ("code", ":src/app/core.py")]),
        ("src/app/__init__.py", [("code", "app"), ("code", ":src/app/__init__.py")]),
        ("src/app/core.pyi", [("code", "app.core@stub"), ("code", ":src/app/core.pyi")]),
        ("tests/test_core.py", [("tests", "tests.test_core"), ("tests", ":tests/test_core.py")]),
        ("tests/conftest.py", [("tests", "tests.conftest"), ("tests", ":tests/conftest.py")]),
        (".env", [("data", ":.env")]),
        ("src/app/d/a.csv", [("data", "app.d:a.csv"), ("data", "app:d/a.csv"), ("data", ":src/app/d/a.csv")]),
        ("var/log/app.log", [("data", "var.log:app.log"), ("data", "var:log/app.log"), ("data", ":var/log/app.log"),
                             ("logs", "app.log")]),
    ],
)  # fmt: skip
def test_the_names_of_a_file(path: str, names: list[tuple[str, str]], repo: Path) -> None:
    (repo / "pyproject.toml").write_text('[tool.bae-source]\nlogs = "var/log"\n')
    assert list(Names(repo).of(path)) == names


def test_the_doctor_says_which_policies_are_in_force(repo: Path) -> None:
    (repo / "pyproject.toml").write_text(f'{REVIEW}read.deny = ["app.secrets"]\ncallers."ci-*".preset = "read-only"\n')
    users(repo, '[policy]\napprove-risk = "high"\n')
    output = run("doctor", "--root", "src", folder=repo, HOME=str(repo.parent), XDG_CONFIG_HOME="").out.decode()
    assert "../pyproject.toml [tool.bae-source.policy]: review, read.deny 1, callers ci-*" in output
    assert "~/.config/bae-source/settings.toml [policy]: open, approve-risk high" in output
    assert "1 kept back by the policy" in output
    assert "not_parsed" not in output


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ({"change": {"alow": []}}, "policy.change.alow"),
        ({"chnge": {}}, "policy.chnge"),
        ({"read": {"deny": [1]}}, "policy.read.deny[0]"),
        ({"callers": {"ci": {"presett": "open"}}}, "policy.callers.*.presett"),
        (3, "policy"),
    ],
)
@pytest.mark.parametrize("kind", [Settings, UserSettings])
def test_what_is_wrong_in_a_policy_is_named_by_its_way(table: Any, name: str, kind: Any) -> None:
    [problem] = problems({"policy": table}, kind)
    assert problem.name == name
    assert name in problem.message


def test_reading_goes_on_while_a_policy_only_asks_for_approval(repo: Path) -> None:
    (repo / "pyproject.toml").write_text(REVIEW)
    service = Service(repo, environment={"HOME": str(repo.parent)})
    assert "KEY = 1" in service.run(request("read", {"target": "app.secrets"})).text
