"""Data files made, replaced and edited: what lies beside the code and is no Python.

    pkg:templates/page.html     <h1>Hello</h1>      old "Hello", new "Welcome"      ->      <h1>Welcome</h1>

Invariants:
- bytes outside the replaced text stay as they are, whatever the encoding is;
- nothing that Python reads, or git, or that is our own, is ever written through this door;
- a new data file lies below the project's root, where git does not ignore it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from unicodedata import normalize

from bae_source.errors import LookupFailed, Refused, RequestError, SourceError
from bae_source.model.address import DottedName, parse_name
from bae_source.model.call import Call
from bae_source.model.changeset import digest
from bae_source.model.closest import closest
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.project.data_files import DataFolder, find_data, folders_of, path_in
from bae_source.project.files.data_listing import NO_DATA, owner_of
from bae_source.project.files.ignored import is_ignored, never_entered
from bae_source.project.files.overlay import Planned
from bae_source.project.files.port import FileKind
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.extent import Extent, check_etag_of, check_way, extent_of, is_text
from bae_source.refactoring.planning.plan import planned_files, telling_etag
from bae_source.syntax.rewrite.textual import Piece, place_texts
from bae_source.syntax.text.source import codec_of, dominant_newline, kept_uniform

_LONGEST = 255


def edit_data(
    workspace: Workspace,
    target: str,
    *,
    source: str | None = None,
    pieces: Sequence[Piece] = (),
    if_match: str | None = None,
) -> Plan:
    """Plan the change of a data file that is there: of all of it, or of pieces of text in it.

    Parameters:
        target: `pkg:inner`.
        source: its whole text; or else `pieces`.

    Raises:
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`, for the file or for `old`.
        Refused: `stale`; `unsafe_change` if it is no text; `forbidden`.
        SourceError: `encoding_invalid` if its encoding has no such character.
    """
    extent = _file(workspace, target)
    check_etag_of(workspace, extent, if_match)
    [path] = extent.files
    before = workspace.content(path) or b""
    if source is not None:
        after, notices = _replaced(before, source, extent.address)
    else:
        with telling_etag(extent.etag):
            after, notices = _edited(before, pieces, extent.address)
    return _plan(workspace, extent.address, path, after, "Edited", seen=(extent.etag,), notices=notices)


def write_data(
    workspace: Workspace, target: str, source: str, *, overwrite: bool = False, if_match: str | None = None
) -> Plan:
    """Plan a new data file, or one that takes the place of another.

    Parameters:
        target: `pkg:inner`; the package is there, folders inside it need not be.
        source: its text; a new file is UTF-8.
        overwrite: whether a file that is there is replaced.

    Raises:
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`, for the package.
        Refused: `name_collision` if it is there already, or something else is; `stale`; `unsafe_change`; `forbidden`.
    """
    path, address = data_place(workspace, parse_name(target))
    if workspace.files.kind(path) is FileKind.FILE:
        if not overwrite:
            raise _taken(f"{address} is there already", [address])
        return edit_data(workspace, address, source=source, if_match=if_match)
    check_free(workspace, path, address)
    if if_match is not None:
        raise Refused("stale", f"{address} is not there any more.", hints=["Leave if_match out to make it anew."])
    return _plan(workspace, address, path, _encoded(source, "utf-8", address), "Wrote", seen=(), notices=())


def data_place(workspace: Workspace, name: DottedName) -> tuple[str, str]:
    """Return where a data file of some name belongs: its path, and its canonical address.

    Raises:
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`, for the package.
        RequestError: `invalid_name` for what is no data file's name.
        Refused: `forbidden` or `unsafe_change` if no data file may lie there.
    """
    assert name.resource is not None
    _check_name(name, name.resource)
    package = ".".join(segment.name for segment in name.segments)
    folders = list(dict.fromkeys(folders_of(workspace, package)))
    if len(folders) > 1:
        raise LookupFailed(
            "ambiguous_symbol",
            f"{package} lies in several source roots.",
            hints=["Open one source root as a project of its own (--root)."],
        )
    if not folders:
        raise _no_package(workspace, package)
    path = path_in(folders[0], name.resource)
    owner = owner_of(workspace.census, path.rpartition("/")[0])
    check_way(workspace, str(name), folders[0])
    if is_ignored(Planned(workspace.files, {path: b""}), path):
        raise Refused(
            "unsafe_change",
            f"{name} would be no part of the project: git ignores it, or it lies in a folder of build output.",
            hints=["Choose another name, or change .gitignore."],
        )
    return path, f"{owner[0]}:{path[len(owner[1]) + 1 :]}" if owner else f":{path}"


def check_free(workspace: Workspace, path: str, address: str) -> None:
    """Refuse the place of a new data file, or folder of data files, if anything is there, or in the way.

    Raises:
        Refused: `name_collision` or `unsafe_change`.
    """
    files = workspace.files
    here = ""
    for part in path.split("/"):
        names = files.names(here)
        full = f"{here}/{part}" if here else part
        kind = files.kind(full)
        if part not in names:
            if other := next((name for name in names if same_letters(name, part)), None):
                raise _taken(f"{address} differs from {other}, which is there, by its letters' case alone", [])
            if kind is not None:
                raise _taken(f"{address} is one with what is there, as the file system here sees it", [])
            return
        if full == path:
            what = "a folder" if kind is FileKind.FOLDER else "a file" if kind else "something that is no regular file"
            raise _taken(f"{address} is the name of {what} already", [address] if kind else [])
        if kind is not FileKind.FOLDER:
            raise _taken(f"{address} cannot lie in {part}, which is no folder", [])
        if part not in files.folder(here).folders:
            check_way(workspace, address, full)
        here = full


def same_letters(first: str, second: str) -> bool:
    """Return whether two names are one on a file system that does not tell letters' cases apart."""
    return _folded(first) == _folded(second)


def _file(workspace: Workspace, target: str) -> Extent:
    data = find_data(workspace, parse_name(target))
    if isinstance(data, DataFolder):
        raise Refused(
            "unsafe_change",
            f"{data.address} is a folder of data files, which is not edited as a whole.",
            hints=[Call("read", target=data.address, then="lists them.")],
        )
    extent = extent_of(workspace, str(data))
    assert extent is not None
    return extent


def _plan(
    workspace: Workspace,
    address: str,
    path: str,
    after: bytes,
    verb: str,
    *,
    seen: tuple[str, ...],
    notices: Iterable[Notice],
) -> Plan:
    if not is_text(path):
        raise Refused("unsafe_change", "The name of the data file is no UTF-8.", hints=["Rename it by hand first."])
    same = workspace.content(path) == after
    return planned_files(
        workspace,
        contents={path: after},
        summary=f"{address} is like that already." if same else f"{verb} {address}.",
        changed=(address,),
        seen=seen,
        warnings=notices,
    )


def _edited(before: bytes, pieces: Sequence[Piece], address: str) -> tuple[bytes, list[Notice]]:
    """Replace pieces of text; one that is not UTF-8 is taken byte by byte."""
    codec = codec_of(before)
    if codec is None:
        raise Refused(
            "unsafe_change",
            f"{address} is no text, so no piece of it can be replaced by another.",
            hints=["Give new_source to replace it as a whole."],
        )
    text = before.decode(codec)
    found = place_texts(text, pieces, newline=dominant_newline(text) or "\n", name=address)
    notices, chunks, position = list(found.notices), list[bytes](), 0
    for span, given in found.splices:
        piece = _encoded(given, codec, address)
        if codec != "utf-8" and not piece.isascii():
            notices.append(Notice("encoding_assumed", f"{address} is not UTF-8; the new text was written as Latin-1."))
        chunks += [text[position : span.start].encode(codec), piece]
        position = span.end
    after = b"".join([*chunks, text[position:].encode(codec)])
    return after, list(dict.fromkeys(notices))


def _replaced(before: bytes, source: str, address: str) -> tuple[bytes, list[Notice]]:
    """Replace a whole text; its line ends and its byte order mark are kept."""
    codec = codec_of(before)
    if codec != "utf-8":
        after = _encoded(source, "utf-8", address)
        was = "no text" if codec is None else "no UTF-8"
        notice = Notice("encoding_changed", f"{address} was {was}; it is UTF-8 now.")
        return after, [notice] if codec is None or not after.isascii() else []
    text = before.decode("utf-8")
    after = _encoded(kept_uniform(source, text), "utf-8", address)
    if before.startswith(codecs.BOM_UTF8) and not after.startswith(codecs.BOM_UTF8):
        after = codecs.BOM_UTF8 + after
    return after, []


def _encoded(text: str, codec: str, address: str) -> bytes:
    try:
        return text.encode(codec)
    except UnicodeEncodeError as error:
        name = "UTF-8" if codec == "utf-8" else "Latin-1"
        raise SourceError(
            "encoding_invalid",
            f"{address} is taken as {name}, which has no {text[error.start]!r}.",
            hints=["Write the character in another way, or replace the file as a whole."],
        ) from None


def _check_name(name: DottedName, inner: str) -> None:
    """Refuse what data files are not called."""
    if any(part.endswith(NO_DATA) for part in inner.split("/")):
        stem = re.sub(r"\.pyi?$", "", inner.removeprefix("src/")).replace("/", ".")
        meant = ".".join([*(segment.name for segment in name.segments), stem])
        hints = [f"Code is addressed by dotted name: {meant}."] if inner.endswith((".py", ".pyi")) else []
        raise RequestError(
            "invalid_name",
            f"{name} is no data file's name: Python reads what ends so.",
            hints=hints or ["Choose another ending."],
        )
    for part in inner.split("/"):
        if never_entered(part):
            raise Refused(
                "forbidden",
                f"{name} is out of reach: {part} belongs to other programs.",
                hints=["Change files of the project only."],
            )
        if len(part.encode("utf-8", "surrogatepass")) > _LONGEST:
            raise RequestError("invalid_name", "A part of the name is too long for a file.", hints=["Shorten it."])


def _no_package(workspace: Workspace, package: str) -> LookupFailed:
    owners = (owner_of(workspace.census, folder) for folder in workspace.census.folders)
    known = sorted({owner[0] for owner in owners if owner})
    return LookupFailed(
        "symbol_not_found",
        f"{package} is no package or folder of this project.",
        hints=["outline lists the packages; :dir/file.txt names a file below the project's root."],
        candidates=closest(package, known, n=5),
    )


def _taken(why: str, candidates: list[str]) -> Refused:
    return Refused(
        "name_collision",
        why,
        unchanged=True,
        hints=["Choose another name; edit changes a data file that is there, and overwrite replaces it."],
        candidates=candidates,
    )


def etag_of_data(workspace: Workspace, target: str) -> str | None:
    """Return the etag of a data file; None where there is none of that name."""
    data = find_data(workspace, parse_name(target))
    content = None if isinstance(data, DataFolder) else workspace.content(data.path)
    return None if content is None else digest(content)[:16]


def _folded(name: str) -> str:
    return normalize("NFC", normalize("NFC", name).casefold())
