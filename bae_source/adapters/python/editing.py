"""The part of the Python API that changes code; what a transaction takes, too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, TypedDict, Unpack

from bae_source.model.outcome import Outcome
from bae_source.model.plan import ReloadMode


class How(TypedDict, total=False):
    """How a change is made; every changing method takes these by name.

    Parameters:
        dry_run: plan and show the change, write nothing.
        reload: verify it by loading: `auto`, in this `process`, in a `child`, or `off`; `patch` is `auto` where
            functions and classes that are loaded here stay the same objects and take the new code.
        verify: what else it is judged by: `import`, `cycles` (of imports), `tests` (those that reach what changed),
            `types` (the project's type checker), `command …` (a program with its arguments); nothing is changed unless
            all of them agree.
        cascade: load again what is loaded here and imports the changed modules, too.
        why: the reason, for the history.
    """

    dry_run: bool
    reload: ReloadMode
    verify: Sequence[str]
    cascade: bool
    why: str | None


class Editing:
    """Changes code by name; every method takes what `How` says, beside its own parameters, and returns an `Outcome`."""

    @abstractmethod
    def _change(self, verb: str, given: dict[str, Any], how: How) -> Outcome:
        """Make a changing request and return what it comes to."""

    def edit(
        self,
        target: str,
        new_source: str | None = None,
        *,
        old: str | None = None,
        new: str | None = None,
        imports: Sequence[str] = (),
        comment: str | None = None,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Replace a symbol, a part of it, or one piece of text inside it; or a data file, or text in one.

        Parameters:
            target: dotted name of the symbol or part, or `pkg:file.txt`.
            new_source: its new source, at any indentation; of a data file, its whole text.
            old, new: instead: text that occurs exactly once inside it, and what shall stand there.
            imports: import statements that the module shall have.
            comment: the comment block above the symbol; "" removes it, None keeps it.
            if_match: etag that the symbol must still have.
        """
        given = {
            "target": target,
            "new_source": new_source,
            "old": old,
            "new": new,
            "imports": imports,
            "comment": comment,
            "if_match": if_match,
        }
        return self._change("edit", given, how)

    def insert(
        self,
        target: str,
        new_source: str,
        *,
        position: Literal["before", "after", "first", "last"] = "after",
        imports: Sequence[str] = (),
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Insert new source beside or inside a symbol or module.

        Parameters:
            target: dotted name of the symbol or module.
            new_source: what to insert, at any indentation.
            position: `before` or `after` the symbol, or `first` or `last` inside it; in a module, `first` is behind its
                docstring and imports.
            imports: import statements that the module shall have.
            if_match: etag that the target must still have.
        """
        given = {
            "target": target,
            "new_source": new_source,
            "position": position,
            "imports": imports,
            "if_match": if_match,
        }
        return self._change("insert", given, how)

    def delete(
        self,
        target: str | Sequence[str],
        *,
        recursive: bool = False,
        with_imports: bool = False,
        force: bool = False,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Delete a symbol with its decorators and comments, or those alone; a module, a package or a data file.

        Parameters:
            target: dotted name of the symbol, part, module or package, or `pkg:file.txt`; or of several.
            recursive: delete a package, or a folder of data files, with all that is in it.
            with_imports: take imports of it, and its names in `__all__`, along.
            force: delete it though it is still used.
            if_match: etag that it must still have.
        """
        given = {
            "target": target,
            "recursive": recursive,
            "with_imports": with_imports,
            "force": force,
            "if_match": if_match,
        }
        return self._change("delete", given, how)

    def move(
        self,
        target: str | Sequence[str],
        to: str,
        *,
        merge: bool = False,
        as_name: str | None = None,
        shim: bool = False,
        local_imports: bool = False,
        unsure: Literal["refuse", "leave"] = "refuse",
        text: Literal["none", "exact"] = "none",
        skip_generated: bool = False,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Move a definition to another module, with all that uses it; or give a module, a package or data another name.

        Parameters:
            target: dotted name of the definition, module or package, or `pkg:file.txt`; or of several definitions.
            to: the module that a definition goes to, made if it is not there; or the name that the rest is to have.
            merge: take all that a module defines into another module that is there, and delete its file.
            as_name: the name that the definition is to have there.
            shim: have its old name go on to work; a function or class that is taken by it warns, if possible.
            local_imports: import in functions what one of the modules needs of the other, which breaks a circle.
            unsure: what comes of places that may mean a definition: the move is refused, or they stay.
            text: which comments, docstrings and text files change: none, or those with its dotted name.
            skip_generated: whether files that a program writes stay as they are; their places are listed then.
            if_match: etag that it must still have.
        """
        given = {"target": target, "to": to, "merge": merge, "as_name": as_name, "shim": shim}
        given |= {"local_imports": local_imports, "unsure": unsure, "text": text, "skip_generated": skip_generated}
        given |= {"if_match": if_match}
        return self._change("move", given, how)

    def rename(
        self,
        target: str,
        new_name: str,
        *,
        unsure: Literal["refuse", "leave", "change"] = "refuse",
        include: Sequence[str] = (),
        text: Literal["none", "exact", "words"] = "none",
        skip_generated: bool = False,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Rename a symbol wherever the project names it; `.report` of the outcome says what changed and what stays.

        Parameters:
            target: dotted name of the symbol, a parameter or local variable included (`app.net.send.timeout`).
            new_name: the identifier that it is to have.
            unsure: what comes of places that may mean it: the rename is refused, or they stay, or they change, too.
            include: places that change though they are unsure or mentions, as `ADDRESS:LINE` or `ADDRESS:LINE:COLUMN`.
            text: which comments, docstrings and text files change: none, those with its dotted name, or every word.
            skip_generated: whether files that a program writes stay as they are; their places are listed then.
            if_match: etag that it must still have.
        """
        given = {
            "target": target,
            "new_name": new_name,
            "unsure": unsure,
            "include": include,
            "text": text,
            "skip_generated": skip_generated,
            "if_match": if_match,
        }
        return self._change("rename", given, how)

    def write(
        self,
        target: str,
        source: str,
        *,
        overwrite: bool = False,
        package: bool = False,
        export: bool | Sequence[str] | None = None,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Write a new module or package, replace one as a whole, or write a data file.

        Parameters:
            target: dotted name of the module, or `pkg:file.txt`.
            source: its whole source.
            overwrite: replace what is there.
            package: write the `__init__` of a package; `pkg.__init__` as the target says the same.
            export: expose its public names in the package around it, or these names; False for none. If left out, a
                new public module is exposed where the package exposes all others beside it.
            if_match: etag that what is replaced must still have.
        """
        given = {
            "target": target,
            "source": source,
            "overwrite": overwrite,
            "package": package,
            "export": export,
            "if_match": if_match,
        }
        return self._change("write", given, how)

    def exports_add(
        self, target: str, names: Sequence[str] | None = None, *, to: str | None = None, **how: Unpack[How]
    ) -> Outcome:
        """Expose names of a module in its package, in the style that its `__init__` has.

        Parameters:
            target: dotted name of the module.
            names: what to expose of it; left out for what it has for the public.
            to: the package that exposes them, if it is not the one directly around the module.
        """
        return self._change("exports_add", {"target": target, "names": names, "to": to}, how)

    def exports_mend(self, target: str, names: Sequence[str] | None = None, **how: Unpack[How]) -> Outcome:
        """Take out of a module's `__all__` the names that the module does not have, and those that stand there twice.

        Parameters:
            target: dotted name of the module.
            names: which names to look at; left out for all.
        """
        return self._change("exports_mend", {"target": target, "names": names}, how)

    def exports_remove(
        self, target: str, names: Sequence[str] | None = None, *, to: str | None = None, **how: Unpack[How]
    ) -> Outcome:
        """Withdraw names of a module from its package.

        Parameters:
            target: dotted name of the module.
            names: what to withdraw of it; left out for all that the package exposes of it.
            to: the package that exposes them, if it is not the one directly around the module.
        """
        return self._change("exports_remove", {"target": target, "names": names, "to": to}, how)
