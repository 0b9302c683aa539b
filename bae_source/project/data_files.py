"""The meaning of a data file's name, and the file's content.

    pkg/__init__.py
    pkg/templates/css/site.css     pkg:templates/css/site.css; pkg.templates:css/site.css is understood too
    pkg/templates/css              pkg:templates/css, a folder of data files
    docs/logo.svg                  :docs/logo.svg, since docs holds no Python; docs:logo.svg is understood too
    pkg/templates/page.html        pkg:templates/page.html, also where :pkg/templates/page.html is asked for

Which files are data files, and which package each belongs to, `project.files.data_listing` says.

Invariants:
- a path with `..` or from the root never comes here (`model.address` refuses it), and a link that leaves the project
  leads to nothing;
- a file that is binary, or too large to be read, is described and not shown; it is never held in memory whole.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from msgspec import Struct

from bae_source.errors import LookupFailed, Refused
from bae_source.model.address import DottedName
from bae_source.model.closest import closest
from bae_source.project.facts.index import named
from bae_source.project.files.data_listing import DataFile, data_files, owner_of
from bae_source.project.files.port import gone
from bae_source.project.files.unseen import behind_unseen
from bae_source.project.workspace import Workspace


class DataFolder(Struct, frozen=True, kw_only=True):
    """A folder of data files.

    Parameters:
        address: canonical.
        inner: its path inside the package, or below the root.
        files: the data files in it and below it, sorted by path.
    """

    address: str
    inner: str
    files: tuple[DataFile, ...]

    @property
    def dotted(self) -> str:
        """The name that it would have as a package."""
        return self.address.replace(":", ".").replace("/", ".").lstrip(".")


def find_data(workspace: Workspace, name: DottedName) -> DataFile | DataFolder:
    """Return the data file, or folder of data files, that a name means.

    Raises:
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`, with candidates.
    """
    assert name.resource is not None
    package = ".".join(segment.name for segment in name.segments)
    everything = data_files(workspace)
    folders = set(folders_of(workspace, package))
    wanted = {path_in(folder, name.resource) for folder in folders}
    found = [file for file in everything if file.path in wanted]
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        raise LookupFailed(
            "ambiguous_symbol",
            f"{name} is a file in several source roots.",
            hints=["Rename one of them, or open one source root as a project of its own (--root)."],
        )
    inside = [file for file in everything if any(file.path.startswith(f"{path}/") for path in wanted)]
    packages = {owner[0] for path in wanted if (owner := owner_of(workspace.census, path)) and owner[1] == path}
    if packages:
        raise LookupFailed(
            "symbol_not_found",
            f"{name} is a package, and no folder of data files.",
            hints=["A package is addressed by its dotted name."],
            candidates=sorted(packages),
        )
    if inside:
        return _folder(inside, wanted)
    raise _not_found(workspace, name, package, folders, everything)


def path_in(folder: str, inner: str) -> str:
    """Return the path of a file that lies in a folder; the root's own is empty."""
    return f"{folder}/{inner}" if folder else inner


def folders_of(workspace: Workspace, package: str) -> Iterator[str]:
    """Yield the folders that a dotted name means: packages, and any folders inside them; the root for an empty one."""
    if not package:
        yield ""
        return
    parts = tuple(package.split("."))
    for item in workspace.layout.prefixes(parts):
        if item.length == len(parts) and item.folder:
            yield item.folder


def entries(files: Iterable[DataFile], inner: str = "") -> list[str]:
    """Return a line for each data file directly in a folder of one package, and for each folder in it.

    Parameters:
        inner: the folder's path inside the package; empty for the package's own.
    """
    lead = f"{inner}/" if inner else ""
    counts: dict[str, int] = {}
    lines: list[str] = []
    for file in files:
        name, below, _ = file.inner.removeprefix(lead).partition("/")
        if below:
            address = f"{file.package}:{lead}{name}"
            counts[address] = counts.get(address, 0) + 1
        else:
            lines.append(f"{file} ({_bytes(file.size)})")
    folders = [f"{address} ({count} data file{'' if count == 1 else 's'})" for address, count in counts.items()]
    return sorted(folders) + sorted(lines)


def _folder(inside: list[DataFile], wanted: set[str]) -> DataFolder:
    package = min((file.package for file in inside), key=len)
    files = tuple(file for file in inside if file.package == package)
    path = next(path for path in sorted(wanted) if files[0].path.startswith(f"{path}/"))
    inner = path.removeprefix(files[0].path.removesuffix(files[0].inner))
    return DataFolder(address=f"{package}:{inner}", inner=inner, files=files)


def _not_found(
    workspace: Workspace, name: DottedName, package: str, folders: set[str], everything: Iterable[DataFile]
) -> LookupFailed:
    path = name.resource or ""
    for full in (path_in(folder, path) for folder in folders):
        module = workspace.census.module(full) if full in workspace.census.stamps else None
        if module is not None:
            message = f"{name} is a module; code is addressed by dotted name."
            return LookupFailed("symbol_not_found", message, candidates=[module.name])
    if hidden := behind_unseen(workspace, f"{package}.{path.replace('/', '.')}".lstrip("."), given=str(name)):
        return hidden
    if any(workspace.files.kind(path_in(folder, path)) is not None for folder in folders):
        message = f"{name} is no part of the project: git ignores it, or it belongs to other programs."
        return LookupFailed("symbol_not_found", message, hints=["Only what git does not ignore is read."])
    known = [str(file) for file in everything]
    near = closest(str(name), known, n=5, cutoff=0.7)
    same = [str(file) for file in everything if posixpath.basename(file.inner) == posixpath.basename(path)]
    what = "has no data file" if folders else "is no package of this project, and has no data file"
    hint = "outline of a package lists its data files." if package else "glob ':**' lists the project's text files."
    return LookupFailed(
        "symbol_not_found",
        f"{package or 'The project'} {what} {path}.",
        hints=[hint],
        candidates=list(dict.fromkeys([*near, *same]))[:5],
    )


def _bytes(size: int) -> str:
    return f"{size:,} byte{'' if size == 1 else 's'}"


_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\x7fELF", "ELF binary"),
    (b"\0asm", "WebAssembly"),
    (b"wOFF", "WOFF font"),
    (b"wOF2", "WOFF2 font"),
    (b"\0\1\0\0", "TrueType font"),
    (b"OTTO", "OpenType font"),
    (b"\xde\x12\x04\x95", "gettext catalogue"),
    (b"\x95\x04\x12\xde", "gettext catalogue"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)
LARGEST_SHOWN = 1_000_000
"""Bytes of a text that is shown without being asked for in full."""
LARGEST_FULL = 20_000_000
"""Bytes of a text that is shown at all."""


class Content(Struct, frozen=True, kw_only=True):
    """The content of a data file.

    Parameters:
        text: its text; None where it is no UTF-8 text, or too much of it.
        described: its kind, its size and its digest.
        digest: SHA-256 of its bytes, in hexadecimal.
        reason: why it is not shown, as a clause; empty where it is.
        in_full: whether it may be shown where it is asked for in full.
    """

    text: str | None
    described: str
    digest: str
    reason: str = ""
    in_full: bool = False


def content_of(workspace: Workspace, data: DataFile, *, full: bool) -> Content:
    """Read a data file.

    Parameters:
        full: whether a large text is shown too.

    Raises:
        Refused: `stale` if it has gone meanwhile, `forbidden` if it may not be read.
    """
    limit = LARGEST_FULL if full else LARGEST_SHOWN
    from hashlib import sha256  # 4 ms, which reading code need not pay

    head, kept, size, digest = b"", [], 0, sha256()
    try:
        workspace.check_readable(data.path)
        for piece in workspace.files.pieces(data.path):
            head = head or piece[:16]
            digest.update(piece)
            size += len(piece)
            if size <= limit:
                kept.append(piece)
    except FileNotFoundError:
        raise gone().altered(subject=str(data)) from None
    except Refused as error:
        raise named(error, str(data)) from None
    text = _decoded(b"".join(kept)) if size <= limit else None
    kind = next((kind for signature, kind in _SIGNATURES if head.startswith(signature)), None)
    described = f"{kind or ('file' if size > limit else 'binary file')}, {_bytes(size)}, sha256 {digest.hexdigest()}"
    in_full = kind is None and LARGEST_SHOWN < size <= LARGEST_FULL and not full
    reason = "" if text is not None else _reason(size, limit)
    return Content(text=text, described=described, digest=digest.hexdigest(), reason=reason, in_full=in_full)


def _reason(size: int, limit: int) -> str:
    """Return why a file is not shown."""
    if size <= limit:
        return "it is no text in UTF-8"
    if size > LARGEST_FULL:
        return f"it has {_bytes(size)}, and more than {LARGEST_FULL:,} are never shown"
    return f"it has {_bytes(size)}, and more than {limit:,} are shown only if the full text is asked for"


def _decoded(content: bytes) -> str | None:
    """Return a file's text; None where it is no UTF-8, or holds NUL, which no text does."""
    try:
        return None if b"\0" in content else content.decode("utf-8")
    except UnicodeDecodeError:
        return None
