"""What a module exports, as far as its `__all__` says so."""

from __future__ import annotations

from collections.abc import Sequence

from bae_source.model.text import is_text


class Exports:
    """What `__all__` comes to, while its statements are met one after the other.

    Attributes:
        bindings: how many of the statements bind it.
    """

    def __init__(self) -> None:
        self.bindings = 0
        self._is_read = True
        self._names: list[str] | None = None
        self._taken: list[int] = []

    @property
    def known(self) -> bool:
        """True where it is static, or absent."""
        return self._is_read and not self._taken

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names; None where there is no `__all__`, or it cannot be read off."""
        return tuple(self._names) if self.known and self._names is not None else None

    @property
    def listed(self) -> tuple[tuple[str, ...], tuple[int, ...]] | None:
        """The names, and what stands for the lists of other modules, where it is made of these; else None."""
        return (tuple(self._names or ()), tuple(self._taken)) if self._is_read and self._taken else None

    def bind(self, names: Sequence[str] | None, *, more: bool, taken: Sequence[int] = ()) -> None:
        """Note a statement that binds `__all__`; parameters as those of `add`."""
        self.bindings += 1
        if self.bindings > 1 and not more:
            names = None  # in another branch, perhaps: nobody can say which of the lists it is
        self.add(names, more=more or self.bindings > 1, taken=taken)

    def add(self, names: Sequence[str] | None, *, more: bool, taken: Sequence[int] = ()) -> None:
        """Note an assignment to `__all__`.

        Parameters:
            names: None where its value is not static; what is no text, as half a pair of surrogates, names nothing.
            more: whether the names are added to those before.
            taken: numbers of what stands for the lists of other modules, all of whose names it lists as well.
        """
        if names is not None and not all(map(is_text, names)):
            names = None
        self._is_read = names is not None and (self._is_read or not more)
        self._names = [*((self._names or ()) if more else ()), *(names or ())]
        self._taken = [*(self._taken if more else ()), *taken]
