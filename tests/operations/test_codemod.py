"""Codemods of LibCST: which one is run, with what, on which files, and what comes of it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from msgspec.structs import replace

from bae_source import Source
from bae_source.approval.proposals import State
from bae_source.engine.registry import request
from bae_source.engine.service import Context
from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError
from bae_source.model.outcome import Outcome
from tests.adapters.support import run
from tests.approval.project import approved
from tests.codemods import FILES, USUAL, contents, laid, ran, service

pytestmark = pytest.mark.sampled

FORMAT = "libcst.codemod.commands.convert_format_to_fstring:ConvertFormatStringCommand"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return laid(tmp_path / "project")


def refused(root: Path, codemod: str, context: Context = USUAL, **arguments: object) -> ResourceError:
    """Return what a codemod is refused with, once it is seen that nothing changed."""
    before = contents(root)
    with pytest.raises(ResourceError) as caught:
        ran(root, codemod, context, **arguments)
    assert contents(root) == before
    return caught.value


def test_a_codemod_of_the_project_is_one_change_with_one_undo(root: Path) -> None:
    before = contents(root)
    outcome = ran(root, "tools.mods:Rename", settings=("old=x", "new=z"))
    assert outcome.status == "applied"
    assert outcome.text.startswith("Rename changed 2 of 4 files: app.core, app.use.")
    assert outcome.report == {
        "changed": [{"address": "app.core", "places": 2}, {"address": "app.use", "places": 2}],
        "probable": [], "unsure": [], "mentions": [], "unparsed": [], "complete": True,
    }  # fmt: skip
    assert (root / "app/core.py").read_text() == "def f(z):\n    return z\n\n\ndef g(y):\n    return y\n"
    assert (root / "app/use.py").read_text() == "from app.core import f\n\n\ndef go(z):\n    return f(z)\n"
    assert outcome.diff.count("diff --git") == 2
    service(root).run(request("undo", {"operation_id": outcome.operation_id}))
    assert contents(root) == before


def test_an_installed_codemod_runs_on_the_whole_project_and_imports_are_added_by_scratch(root: Path) -> None:
    (root / "app/other.py").write_text('A = "{} b".format(1)\n')
    outcome = ran(root, FORMAT, scope=None)
    assert [each.address for each in outcome.changed] == ["app.other"]
    assert (root / "app/other.py").read_text() == 'A = f"{1} b"\n'
    ran(root, "tools.mods:Rename", scope="app.core", settings=("old=y", "imported=os.path"))
    assert (root / "app/core.py").read_text().startswith("import os.path\n")


def test_the_only_codemod_of_a_module_needs_no_name_and_a_plain_one_runs_too(root: Path) -> None:
    (root / "app/other.py").write_text('A = "{} b".format(1)\n')  # its helpers are codemods as well, and no commands
    outcome = ran(root, FORMAT.partition(":")[0], scope="app.other")
    assert outcome.text.startswith("ConvertFormatStringCommand changed 1 of 1 file: app.other.")
    outcome = ran(root, "tools.one", scope="app.core")
    assert outcome.text.startswith("Only changed 1 of 1 file: app.core.")
    assert (root / "app/core.py").read_text().startswith("# plain\ndef f(x):")


def test_settings_are_read_by_the_codemods_own_parser(root: Path) -> None:
    settings = ("old=x", "old=y", "times=2", "new=w", "kinds=a", "kinds=b", "loud=true")
    ran(root, "tools.mods:Rename", scope="app.core", settings=settings)
    assert "def f(wwab_loud):" in (root / "app/core.py").read_text()
    assert "def g(wwab_loud):" in (root / "app/core.py").read_text()
    settings = ("old=x", "t=3", "loud=false", "new=-")  # which a parser might take for an option
    assert "Name '---' is not a valid identifier" in refused(root, "tools.mods:Rename", settings=settings).message
    ran(root, "tools.mods:Rename", scope="app.use", settings=(*settings[:3], "new=q"))
    assert "def go(qqq):" in (root / "app/use.py").read_text()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (("olde=x",), "olde is no setting of it"),
        ((), "the following arguments are required: --old"),
        (("old=x", "times=many"), "argument -t/--times: invalid int value: 'many'"),
        (("old=x", "kinds=c"), "invalid choice: 'c'"),
        (("old=x", "loud=perhaps"), "loud is true or false, not 'perhaps'"),
        (("old=x", "new=a", "new=b"), "new is given more than once"),
    ],
)
def test_wrong_settings_are_refused_with_those_that_there_are(
    settings: tuple[str, ...], expected: str, root: Path
) -> None:
    error = refused(root, "tools.mods:Rename", settings=settings)
    assert (type(error), error.code) == (RequestError, "invalid_arguments")
    assert expected in error.message
    [hint] = [each for each in error.hints if each.startswith("It takes")]
    assert hint == (
        "It takes old (text several times, needed), new (text), times (int), kinds (one of a, b), "
        "loud (true or false), imported (text)."
    )


def test_a_setting_without_a_value_and_one_of_a_codemod_that_takes_none_are_refused(root: Path) -> None:
    assert "'old' sets nothing" in refused(root, "tools.mods:Rename", settings=("old",)).message
    error = refused(root, "tools.mods:Plain", settings=("a=b",))
    assert ("a is no setting of it" in error.message, error.hints[0]) == (True, "It takes no settings.")


@pytest.mark.parametrize(
    ("codemod", "code", "expected"),
    [
        ("tools.mods", "ambiguous_symbol", "tools.mods defines 4 codemods"),
        ("tools.mods:Nothing", "symbol_not_found", "tools.mods has no Nothing"),
        ("tools.nothing:Rename", "symbol_not_found", "There is no module tools.nothing"),
        ("app.core", "symbol_not_found", "app.core defines no codemod"),
        ("tools.mods:helper", "invalid_arguments", "tools.mods:helper is a function, and no codemod"),
        ("tools.mods:made", "invalid_arguments", "tools.mods:made is an instance of Plain, and a class is needed"),
        ("tools.mods:Unfinished", "invalid_arguments", "it lacks transform_module_impl"),
        ("tools.mods:Typed", "invalid_arguments", "needs TypeInferenceProvider, which asks a server of Pyre"),
        ("tools/mods.py", "invalid_arguments", "'tools/mods.py' is no module with a class"),
        ("tools.mods:", "invalid_arguments", "'tools.mods:' is no module with a class"),
    ],
)
def test_what_is_no_codemod_is_refused_with_what_it_is(codemod: str, code: str, expected: str, root: Path) -> None:
    error = refused(root, codemod)
    assert error.code == code
    assert expected in error.message
    if isinstance(error, LookupFailed) and codemod.startswith("tools.mods"):
        assert "tools.mods:Rename" in error.candidates


@pytest.mark.parametrize("codemod", ["tools/mods.py:Rename", "tools.mods.Rename"])
def test_another_spelling_of_a_codemod_gets_its_own_spelling_as_a_hint(codemod: str, root: Path) -> None:
    assert "tools.mods:Rename" in str(refused(root, codemod).hints[0])


def test_a_module_that_does_not_import_is_named_with_the_line(root: Path) -> None:
    (root / "tools/broken.py").write_text("import libcst\n\nraise ValueError('no')\n")
    error = refused(root, "tools.broken:X")
    assert error.code == "verify_failed"
    assert "tools.broken does not import: ValueError: no (tools.broken:3)" in error.message
    (root / "tools/broken.py").write_text("import os\nos._exit(7)\n")
    error = refused(root, "tools.broken:X")
    assert "tools.broken ended the process that imported it (status 7)" in error.message
    (root / "tools/broken.py").write_text("while True: pass\n")
    error = refused(root, "tools.broken:X", time_limit=1)
    assert (error.code, "Importing tools.broken took too long" in error.message) == ("timed_out", True)


def test_full_metadata_is_there_by_the_source_root(tmp_path: Path) -> None:
    root = laid(tmp_path, {**{f"src/{name}": text for name, text in FILES.items() if name.startswith("app")},
                           **{name: text for name, text in FILES.items() if not name.startswith("app")}})  # fmt: skip
    ran(root, "tools.mods:Names", scope="app.core")
    assert "# app.core.f\ndef f(x)" in (root / "src/app/core.py").read_text()


def test_what_goes_is_named_where_it_is_still_used(root: Path) -> None:
    outcome = ran(root, "tools.mods:Cuts", scope="app.core")
    assert outcome.status == "applied"
    assert "def f" not in (root / "app/core.py").read_text()
    messages = [each.message for each in outcome.warnings if each.code == "still_used"]
    assert any("app.use" in each for each in messages), outcome.warnings


def test_check_changes_nothing_and_says_by_status_and_data_if_it_would(root: Path) -> None:
    before = contents(root)
    called = run("codemod", "tools.mods:Rename", "app", "--set", "old=x", "--check", "--json", folder=root)
    assert (called.status, called.json["status"], called.json["operation_id"]) == (1, "planned", None)
    assert called.json["report"]["changed"][0] == {"address": "app.core", "places": 2}
    called = run("codemod", "tools.mods:Rename", "app", "--set", "old=nowhere", "--check", folder=root)
    assert (called.status, called.out) == (0, b"")
    outcome = Source(root).codemod("tools.mods:Rename", "app", settings=("old=x",), check=True)
    assert (outcome.status, outcome.exit_code, outcome.report["changed"][0]["address"]) == ("planned", 1, "app.core")
    assert contents(root) == before
    with pytest.raises(RequestError, match="check makes nothing"):
        service(root).run(request("apply", {"requests": [{"do": "codemod", "codemod": "tools.one", "check": True}]}))
    with pytest.raises(RequestError, match="check makes nothing"), Source(root).transaction("x") as tx:
        tx.codemod("tools.one", "app", check=True)
    assert contents(root) == before


def test_a_dry_run_without_check_ends_well(root: Path) -> None:
    outcome = ran(root, "tools.one", replace(USUAL, dry_run=True))
    assert (outcome.status, outcome.exit_code) == ("planned", 0)


def test_a_part_of_a_module_is_no_scope(root: Path) -> None:
    error = refused(root, "tools.one", scope="app.core.f")
    assert (error.code, error.hints) == ("invalid_arguments", ("codemod tools.one app.core runs it on the module.",))


def test_bytes_that_are_not_its_business_stay(root: Path) -> None:
    (root / "app/core.py").write_bytes(b"\xef\xbb\xbfdef f(x):\r\n    return 'a'\r\n")
    (root / "app/use.py").write_bytes(b"# coding: latin-1\ny = '\xe9'\nx = 1\n")
    (root / "app/other.py").write_bytes(b"x = 1\n\x0cdef f(): pass\n")  # libcst drops the form feed
    (root / "app/mixed.py").write_bytes(b"x = 1\r\ny = 2\nz = 3")
    error = refused(root, "tools.mods:Rename", settings=("old=x", "new=long"))
    assert "app.other:1: the codemod fails on it: libcst does not give the file's text back as it is" in error.message
    outcome = ran(root, "tools.mods:Rename", settings=("old=x", "new=long"), unsure="leave")
    assert [each.address for each in outcome.changed] == ["app.core", "app.mixed", "app.use"]
    assert (root / "app/core.py").read_bytes() == b"\xef\xbb\xbfdef f(long):\r\n    return 'a'\r\n"
    assert (root / "app/use.py").read_bytes() == b"# coding: latin-1\ny = '\xe9'\nlong = 1\n"
    assert (root / "app/mixed.py").read_bytes() == b"long = 1\r\ny = 2\nz = 3"
    assert (root / "app/other.py").read_bytes() == b"x = 1\n\x0cdef f(): pass\n"


def test_a_file_that_libcst_would_alter_by_itself_is_no_change(root: Path) -> None:
    (root / "app/other.py").write_bytes(b"q = 1\n\x0cdef h(): pass\n")
    outcome = ran(root, "tools.mods:Rename", settings=("old=nowhere",))
    assert (outcome.status, outcome.diff) == ("unchanged", "")


def test_what_is_planned_is_what_it_gets_and_the_codemod_may_be_planned_itself(root: Path) -> None:
    before = contents(root)
    with Source(root).transaction("rename all") as tx:
        tx.edit("app.core.f", old="return x", new="return x + 1")
        tx.write("app.new", source="x = 5\n")
        tx.edit("tools.one", old="pass", new="def more(self): pass")
        tx.write("tools.late", source="from tools.mods import Plain\n\n\nclass Late(Plain):\n    pass\n")
        tx.codemod("tools.mods:Rename", "app", settings=("old=x", "new=z"))
        tx.codemod("tools.late", "app.new")
        assert contents(root) == before
    assert "def f(z):\n    return z + 1\n" in (root / "app/core.py").read_text()
    assert (root / "app/new.py").read_text() == "# plain\nz = 5\n"
    Source(root).undo()
    assert contents(root) == before


def test_generated_files_stubs_and_blacklisted_ones_are_left_as_by_libcst(root: Path) -> None:
    (root / "app/made.py").write_text("# @generated\nx = 1\n")
    (root / "app/core.pyi").write_text("def f(x): ...\n")
    (root / ".libcst.codemod.yaml").write_text("blacklist_patterns: ['.*/use\\.py']\n")
    arguments = {"settings": ("old=x", "new=z")}
    outcome = ran(root, "tools.mods:Rename", **arguments)
    assert [each.address for each in outcome.changed] == ["app.core"]
    messages = [each.message for each in outcome.warnings if each.code == "skipped"]
    assert messages == [
        "1 file skipped, since a program writes it: app.made.",
        "1 file skipped, since blacklist_patterns has '.*/use\\\\.py': app.use.",
    ]
    outcome = ran(root, "tools.mods:Rename", generated=True, stubs=True, **arguments)
    assert [each.address for each in outcome.changed] == ["app.core@stub", "app.made"]
    (root / ".libcst.codemod.yaml").write_text("blacklist_patterns: ['(']\n")
    error = refused(root, "tools.mods:Rename", **arguments)
    assert "blacklist_patterns has '(', which is no regular expression" in error.message


def test_a_codemod_is_found_in_the_modules_that_libcsts_settings_name(root: Path) -> None:
    (root / ".libcst.codemod.yaml").write_text("modules: ['tools']\n")
    assert ran(root, "one:Only", scope="app.core").status == "applied"


def test_a_file_that_does_not_parse_is_said_and_the_others_change(root: Path) -> None:
    (root / "app/other.py").write_text("def f(:\n")
    outcome = ran(root, "tools.one")
    assert [each.address for each in outcome.changed] == ["app", "app.core", "app.use"]
    assert outcome.report is not None
    assert not outcome.report["complete"]
    assert "app.other: The file cannot be read by libcst: ParserSyntaxError" in outcome.report["unparsed"][0]


def test_a_link_to_a_file_is_changed_once(root: Path) -> None:
    (root / "app/linked.py").symlink_to("core.py")
    outcome = ran(root, "tools.one")
    assert (root / "app/core.py").read_text().count("# plain") == 1
    assert (root / "app/linked.py").is_symlink()
    assert "changed 4 of 4 files" in outcome.text


def test_it_shows_how_far_it_is(root: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    engine = service(root)
    engine.progress = lambda *step: steps.append(step)
    engine.run(request("codemod", {"codemod": "tools.one", "scope": "app"}), replace(USUAL, dry_run=True))
    assert [step[:2] for step in steps] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert {step[2] for step in steps} == {"app", "app.core", "app.use", "app.other"}


def test_the_projects_own_python_runs_it_with_our_libcst_where_it_has_none(root: Path) -> None:
    venv.create(root / ".venv", symlinks=True)
    packages = next((root / ".venv/lib").iterdir()) / "site-packages"
    (packages / "only_here.py").write_text("NAME = 'z'\n")
    text = FILES["tools/one.py"].replace("class Only", "import only_here, sys\nprint(sys.prefix)\n\n\nclass Only")
    (root / "tools/one.py").write_text(text)
    outcome = ran(root, "tools.one", scope="app.core")
    assert outcome.status == "applied"
    [printed] = [each.message for each in outcome.warnings if each.code == "printed"]
    assert printed == "tools.one printed as it was imported: .venv"
    (root / "pyproject.toml").write_text('[tool.bae-source]\npython = "no/such/python"\n')
    error = refused(root, "tools.one")
    assert (error.code, "cannot be started" in error.message) == ("verify_failed", True)


def peer(root: Path, codemod: str, *words: str) -> None:
    """Run a codemod on a project by LibCST's own program."""
    command = [sys.executable, "-m", "libcst.tool", "codemod", codemod, "-x", *words, "--no-format", "-j", "2", "app"]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("module", "kind", "settings"),
    [
        ("libcst.codemod.commands.convert_format_to_fstring", "ConvertFormatStringCommand", {}),
        ("libcst.codemod.commands.remove_unused_imports", "RemoveUnusedImportsCommand", {}),
        ("libcst.codemod.commands.rename", "RenameCommand", {"old_name": "re", "new_name": "regex"}),
        ("tools.mods", "Names", {}),
    ],
)
def test_it_comes_to_what_libcsts_own_program_comes_to(
    module: str, kind: str, settings: dict[str, str], tmp_path: Path
) -> None:
    files = {
        **FILES,
        "app/odd.py": "# coding: latin-1\nimport os, sys\nfrom os import path as p\n\n"
        "def f(*a, **k):\n    return '{} {!r}'.format(p, os.path), f'{a}'\nx = '\xe9 {}'.format(1)\n".encode("latin-1"),
        "app/crlf.py": "import os\r\nimport re\r\nx = '{}'.format(os)\r\n",
        "app/made.py": "# @generated\nimport os\n",
        "app/nested.py": "class A:\n    def f(self):\n        import json\n        def g(): return '{a}'.format(a=1)\n",
    }  # fmt: skip
    ours, theirs = laid(tmp_path / "ours", files), laid(tmp_path / "theirs", files)
    outcome: Outcome = ran(ours, f"{module}:{kind}", settings=tuple(f"{k}={v}" for k, v in settings.items()))
    words = [word for k, v in settings.items() for word in (f"--{k}", v)]
    peer(theirs, f"{module}.{kind}", *words)
    assert outcome.status == "applied"
    assert contents(ours) == contents(theirs)


def test_the_settings_of_a_policy_hide_files_from_it(root: Path) -> None:
    (root / "tools/say.py").write_text(
        "from libcst.codemod import Codemod\n\n\nclass Says(Codemod):\n    def transform_module_impl(self, tree):\n"
        "        print(tree.code)\n        return tree\n"
    )
    (root / "app/secret.py").write_text("KEY = 'CANARY'\n")
    policy = '[tool.bae-source.policy]\nread.deny = ["app.secret", "tools.hidden"]\n'
    (root / "pyproject.toml").write_text(policy)
    outcome = ran(root, "tools.say")
    assert "CANARY" not in str(outcome)
    assert "def go(x)" in str(outcome.warnings)
    assert outcome.report is not None
    assert "app.secret" in str(outcome.report["unparsed"])
    assert not outcome.report["complete"]
    (root / "tools/hidden.py").write_text("CANARY = print('CANARY')\n")
    error = refused(root, "tools.hidden:CANARY")
    assert (type(error), error.code) == (Refused, "forbidden")


def test_where_nothing_may_be_changed_it_is_not_even_run(root: Path) -> None:
    (root / "tools/one.py").write_text(f"open({str(root.parent / 'ran')!r}, 'w')\n")
    (root / "pyproject.toml").write_text('[tool.bae-source.policy]\npreset = "read-only"\n')
    error = refused(root, "tools.one", replace(USUAL, dry_run=True))
    assert (error.code, "read-only" in error.message) == ("forbidden", True)
    assert not (root.parent / "ran").exists()
    (root / "pyproject.toml").write_text("")
    refused(root, "tools.one")
    assert (root.parent / "ran").exists(), "it would have been seen"


def test_an_approved_proposal_makes_the_planned_bytes_and_runs_nothing_again(root: Path, tmp_path: Path) -> None:
    (root / "app/use.py").write_bytes(b"# coding: latin-1\ny = '\xe9'\nx = 1\n")
    proposed = ran(root, "tools.one", Context(reload="off", propose="try it", who="bot"))
    assert proposed.status == "pending"
    assert proposed.task_id is not None
    assert "# plain" not in (root / "app/core.py").read_text()
    (root / "tools/one.py").write_text("raise SystemExit('it ran again')\n")
    assert approved(root, proposed.task_id).state is State.APPLIED
    assert (root / "app/use.py").read_bytes() == b"# plain\n# coding: latin-1\ny = '\xe9'\nx = 1\n"
    assert (root / "app/core.py").read_text().startswith("# plain\ndef f(x)")


def test_ours_runs_it_where_the_projects_python_is_another_without_libcst(root: Path) -> None:
    other = root / "other-python"
    code = "import sys; sys.implementation.cache_tag = chr(120); code = sys.argv[2]; sys.argv[1:3] = []; exec(code)"
    other.write_text(f'#!/bin/sh\nexec {sys.executable} -S -c "{code}" "$@"\n')
    other.chmod(0o755)
    (root / "pyproject.toml").write_text('[tool.bae-source]\npython = "./other-python"\n')
    outcome = ran(root, "tools.one", scope="app.core")
    assert outcome.status == "applied"
    [message] = [each.message for each in outcome.warnings if each.code == "other_python"]
    assert "has no libcst, so the codemod ran in bae_source's own" in message


def test_it_is_formatted_and_verified_as_any_change(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.ruff]\n")
    (root / "tests").mkdir()
    (root / "tests/test_core.py").write_text("from app.core import f\n\n\ndef test_f():\n    assert f(1) == 1\n")
    (root / "app/core.py").write_text("def f( x ):\n    return  x\ndef g( y ):\n    return  y\n")
    outcome = ran(root, "tools.mods:Rename", replace(USUAL, format=True, verify=("tests",)), settings=("old=x",))
    assert outcome.status == "applied"
    assert [(each.name, each.result) for each in outcome.checks] == [("tests", "passed")]
    expected = "def f(renamed):\n    return renamed\ndef g( y ):\n    return  y\n"
    assert (root / "app/core.py").read_text() == expected
    before = contents(root)
    with pytest.raises(ResourceError, match="tests"):
        ran(root, "tools.mods:Cuts", replace(USUAL, verify=("tests",)), scope="app.core")
    assert contents(root) == before
