"""Paths that a change waits for wherever a policy is in force, and paths that no change may have.

    tests/conftest.py            waits: pytest runs it
    .github/workflows/ci.yml     waits: it is a job of continuous integration
    .git/hooks/pre-commit        never
    .GIT/config                  never, since some file systems take that for the same

Names are compared as the most lenient file system does: without regard to case, to how letters are composed, to
characters that are not seen, to dots and spaces at the end, and to the streams and short names of Windows.

A caller chooses the root, so it is the place that counts as well, with all links followed:

    --root /repo/.git                     hooks/pre-commit, though no path below that root names git
    --root /home/me                       .config/bae-source/settings.toml, the user's own settings
    pyproject.toml -> config/tools.toml   config/tools.toml, which holds the policy
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from unicodedata import normalize

from bae_source.approval.policy import Subject
from bae_source.engine.approving.looking import NAME, between
from bae_source.project.files.settings import place_of_user_settings
from bae_source.state.binding import place_of_user
from bae_source.state.folders import folders_upwards

_GIT = "it lies in git's own folder"
_OURS = "it lies in the engine's own state"
_NEVER = ((r"\.git|git~\d+", _GIT), (r"\.bae-source|bae-so~\d+", _OURS))
"""Expressions of the names of folders and files below which nothing may change."""

_PYTEST = "pytest runs it with the tests"
_START = "Python runs it whenever it starts"
_BUILD = "it is run when the project is built or installed"
_CI = "continuous integration goes by it"
_HOOKS = "git hooks run what it names"
_GIT_GOES = "git goes by it"
_AGENTS = "coding agents go by it"
_EDITOR = "editors run what it names"
_SHELL = "shells run it, or take their environment from it"
_TASKS = "it says which commands are run"
_INSTALLED = "installers go by it"
_RUNNER = "test runners go by it"
_CONTAINER = "containers are made by it"
_DOCS = "Sphinx runs it"

_REQUIREMENTS = r"(?:[\w.-]*[._-])?(?:requirements|constraints)(?:[._-][\w.-]*)?\.(?:txt|in)"
_FILES = {
    r"conftest\.py": _PYTEST,
    r"\.?pytest\.(?:ini|toml)|tox\.(?:ini|toml)|noxfile\.py|\.coveragerc|\.?nose2?\.cfg": _RUNNER,
    r".+\.pth|(?:site|user)customize\.py|pyvenv\.cfg|\.python-versions?": _START,
    r"setup\.(?:py|cfg)|hatch_build\.py|hatch\.toml|pdm_build\.py|meson\.build|cmakelists\.txt|package\.json|cargo\.toml"
    r"|build\.rs|manifest\.in": _BUILD,
    r"uv\.toml|poetry\.toml|\.?pdm\.toml|pip\.(?:conf|ini)|\.pypirc|\.netrc|\.npmrc|pipfile|[\w.-]+\.lock"
    r"|pylock\.(?:[\w-]+\.)?toml|environment\.ya?ml": _INSTALLED,
    _REQUIREMENTS: _INSTALLED,
    r"\.gitlab-ci\.ya?ml|\.travis\.ya?ml|azure-pipelines(?:[.-][\w.-]+)?\.ya?ml|jenkinsfile(?:\..+)?|\.?appveyor\.ya?ml"
    r"|\.cirrus\.(?:ya?ml|star)|\.drone\.(?:ya?ml|star|jsonnet)|bitbucket-pipelines\.ya?ml|\.woodpecker\.ya?ml"
    r"|buildspec\.ya?ml|cloudbuild\.(?:ya?ml|json)|\.readthedocs\.ya?ml|codecov\.ya?ml|renovate\.json5?": _CI,
    r"\.pre-commit-(?:config|hooks)\.ya?ml|\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)|\.huskyrc(?:\..+)?"
    r"|\.lintstagedrc(?:\..+)?|\.overcommit\.ya?ml|(?:pre|post)-(?:commit|push|merge|checkout|rewrite|applypatch)"
    r"|prepare-commit-msg|commit-msg": _HOOKS,
    r"\.git(?:attributes|modules|config)": _GIT_GOES,
    r"\.mcp\.json|mcp\.json|(?:claude|agents|gemini)(?:\.local)?\.md|\.cursorrules|\.windsurfrules|\.clinerules"
    r"|\.aider\.conf\.ya?ml": _AGENTS,
    r".+\.code-workspace|\.vimrc|\.exrc|\.nvim\.lua|\.nvimrc|\.dir-locals(?:-2)?\.el": _EDITOR,
    r"\.envrc|\.env(?:\..+)?|\.?(?:bash|zsh)(?:rc|env|_profile|_login|_logout)|\.z?profile|\.zlogin": _SHELL,
    r"(?:gnu)?makefile(?:\..+)?|.+\.mk|\.?justfile|taskfile\.ya?ml|procfile(?:\..+)?|rakefile|vagrantfile"
    r"|\.?mise\.toml|\.tool-versions": _TASKS,
    r"(?:.+\.)?(?:dockerfile|containerfile)(?:\..+)?|(?:docker-)?compose(?:\..+)?\.ya?ml|docker-bake\..+": _CONTAINER,
}
"""Expressions of the names of files, in whatever folder, and why a change of them waits."""
_FOLDERS = {
    r"\.github|\.gitlab|\.circleci|\.buildkite|\.azure-pipelines|\.woodpecker|\.teamcity|\.forgejo|\.gitea": _CI,
    r"\.husky|\.?githooks|\.git-hooks|\.lefthook": _HOOKS,
    r"\.claude|\.cursor|\.windsurf|\.codex|\.gemini|\.continue|\.clinerules|\.aider|\.roo": _AGENTS,
    r"\.vscode|\.idea|\.zed|\.fleet|\.vim|\.nvim": _EDITOR,
    r"\.devcontainer": _CONTAINER,
    r"\.direnv": _SHELL,
    r"\.mise|\.cargo": _TASKS,
    r"\.venv|site-packages|dist-packages|.+\.(?:dist|egg)-info": "Python runs what lies in environments",
    r"\.ssh|\.gnupg|\.aws|\.docker|\.kube": "other programs get their rights from it",
}
"""Expressions of the names of folders, and why a change of what lies in them waits."""
_AT_THE_TOP = {r"(?:tasks|fabfile|dodo)\.py": _TASKS, r"build\.py": _BUILD}
"""Expressions of the names of files that only mean this in the project's own folder."""
_BELOW_DOCS = {r"conf\.py": _DOCS}
"""Expressions of the names of files that only mean this in a folder of documentation, or below one."""
_DOC_FOLDERS = frozenset({"doc", "docs"})
_TESTS = "tests"
_LONGEST = 1000
"""Characters of a name that is looked at; no file system has as long a one."""
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Invisible characters, some of which file systems leave out."""

_ROOT_IN_GIT = "its root lies in git's own folder"
_GITS = "a link makes it git's own folder"
_SETTINGS = "it holds the user's own settings of this engine"
_POLICY = "a link makes it the file that holds a policy"
_GIT_HAS = ("HEAD", "objects", "refs")
_USUAL = {(".config", "bae-source", "settings.toml"): _SETTINGS, (".local", "state", "bae-source"): _OURS}
"""Ends of places that count wherever the environment, which the caller chooses as well, says that ours are."""


def out_of_reach(
    root: Path, environment: Mapping[str, str], paths: Iterable[str], alters: Callable[[str], bool]
) -> Iterator[Subject]:
    """Yield those files of a change that no request may change because of where they lie.

    Parameters:
        root: links followed.
        environment: says where the user's own settings and state are.
        paths: of the files, relative to the root.
        alters: says whether the change of a file, as settings, alters those of ours.
    """
    paths = tuple(paths)
    reason = _why_not_there(root)
    places = dict(_places(root, environment, paths))
    folders: dict[str, str] = {}
    for path in paths:
        folder, _, name = f"{root}/{path}".rpartition("/")
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        found = reason or _why(components(os.path.realpath(f"{folders[folder]}/{name}")), places)
        if found and (found != _POLICY or alters(path)):
            yield Subject(kind="data", name=f":{path}", never=found)


def _why_not_there(root: Path) -> str:
    """Return why nothing below a root may change, as a clause; "" where it may."""
    if reason := why_never(root.as_posix()):
        return reason
    for folder in (root, *root.parents):
        if os.path.lexists(folder / ".git"):
            return ""  # a working tree, which may lie in a bare repository
        if all(os.path.lexists(folder / name) for name in _GIT_HAS):
            return _ROOT_IN_GIT
    return ""


def _why(place: tuple[str, ...], places: Mapping[tuple[str, ...], str]) -> str:
    for length in range(1, len(place) + 1):
        if reason := places.get(place[:length], ""):
            return reason
    return next((reason for end, reason in _USUAL.items() if _has(place, end)), "")


def _has(place: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(place[start : start + len(part)] == part for start in range(len(place)))


def _places(root: Path, environment: Mapping[str, str], paths: Iterable[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield files and folders that are out of reach, by the components of their names, and why."""
    settings, state = place_of_user_settings(environment)[1], place_of_user(environment)
    if settings is not None:
        yield components(os.path.realpath(settings)), _SETTINGS
        yield components(os.path.realpath(os.path.dirname(settings))), _SETTINGS
    if state:
        yield components(os.path.realpath(state)), _OURS
    inner = (root / folder for folder in dict.fromkeys(each for path in paths for each in between(path)))
    for folder in (*folders_upwards(root), *inner):
        for name, reason in ((NAME, _POLICY), (".git", _GITS)):
            if os.path.islink(folder / name):
                yield components(os.path.realpath(folder / name)), reason


def why_never(path: str, *, git_folder: str | None = None) -> str:
    """Return, as a clause, why no change may have a path; "" where one may.

    Parameters:
        git_folder: the folder that a `.git` which is a file names, where it lies in the project.
    """
    parts = components(path)
    for part in dict.fromkeys(parts):
        for expression, reason in _NEVER:
            if _compiled(expression).fullmatch(part):
                return reason
    folder = components(git_folder) if git_folder else ()
    return _GIT if folder and parts[: len(folder)] == folder else ""


def why_waits(path: str) -> str:
    """Return, as a clause, why a change of a file waits wherever a policy is in force; "" where it need not."""
    *folders, name = components(path) or ("",)
    for folder in dict.fromkeys(folders):
        if reason := _reason(_FOLDERS, folder):
            return reason
    tables = [_FOLDERS, _FILES]
    tables += [] if folders else [_AT_THE_TOP]
    tables += [] if _DOC_FOLDERS.isdisjoint(folders) else [_BELOW_DOCS]
    named = next((reason for table in tables if (reason := _reason(table, name))), "")
    return named or (_INSTALLED if is_requirements(path) else "")


def is_called(path: str, name: str) -> bool:
    """Return whether the file at a path has a name, for one file system or another."""
    return (components(path) or ("",))[-1] == name


def is_among_tests(path: str) -> bool:
    """Return whether a file lies in a folder of tests: `tests` anywhere, `test` at the top of the project alone.

    A package `app.test` may be code for those who test with it.
    """
    *folders, _ = components(path) or ("",)
    return _TESTS in folders or folders[:1] == ["test"]


def is_of_tests_or_docs(path: str) -> bool:
    """Return whether a file lies in a folder of tests or of docs."""
    return is_among_tests(path) or not _DOC_FOLDERS.isdisjoint(components(path)[:-1])


def is_requirements(path: str) -> bool:
    """Return whether pip is given the file at a path, to go by its name or its folder."""
    *folders, name = components(path) or ("",)
    if len(name) > _LONGEST:
        return False
    is_listed = name.endswith((".txt", ".in")) and folders[-1:] in (["requirements"], ["reqs"])
    return is_listed or _compiled(_REQUIREMENTS).fullmatch(name) is not None


@lru_cache(maxsize=4096)
def components(path: str) -> tuple[str, ...]:
    """Return the components of a path as all file systems together compare them.

    src/.GIT ./config::$DATA    ("src", ".git", "config")
    """
    return tuple(filter(None, map(_plain_part, re.split(r"[/\\]", path))))


def folded(text: str) -> str:
    """Return a text as readers and file systems take it: without case, forms of letters, and what is not seen."""
    seen = _UNSEEN.sub("", normalize("NFKC", text))
    return _UNSEEN.sub("", normalize("NFKC", seen.casefold()))


def _plain_part(part: str) -> str:
    text = folded(part.partition(":")[0])
    return text.rstrip(". \t") or text


def _reason(table: Mapping[str, str], text: str) -> str:
    several = table.items() if len(text) <= _LONGEST else ()
    return next((reason for expression, reason in several if _compiled(expression).fullmatch(text)), "")


@lru_cache(maxsize=64)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.DOTALL)
