"""A pure-Python stand-in for the part of `rpds` (rpds-py) that `referencing` and `jsonschema` use.

rpds-py is a Rust extension without a WebAssembly wheel on the package index; `sdk.prepare` puts this module in its
place inside Pyodide. It is not a trie: every change copies a dict, which is fine for a registry of a few dozen schemas.
Equality, errors and return types are those of rpds-py. The order of iteration is the order of insertion; rpds-py
promises none.
"""

from __future__ import annotations

from collections.abc import Hashable, ItemsView, Iterable, Iterator, KeysView, Mapping, Set, ValuesView
from typing import Any, TypeVar, cast

__all__ = ["HashTrieMap", "HashTrieSet", "List"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
T = TypeVar("T", bound=Hashable)
E = TypeVar("E")


class HashTrieMap(Mapping[K, V]):
    """An immutable mapping; every method that changes something returns a new one."""

    __slots__ = ("_dict",)
    _dict: dict[K, V]

    def __init__(self, value: Mapping[K, V] | Iterable[tuple[K, V]] = (), **kwds: V) -> None:
        self._dict = dict(value, **kwds)

    @classmethod
    def convert(cls, value: Mapping[K, V] | Iterable[tuple[K, V]]) -> HashTrieMap[K, V]:
        """Return `value` itself if it is already such a map, otherwise a map of its entries."""
        return value if isinstance(value, HashTrieMap) else cls(value)

    @classmethod
    def fromkeys(cls, keys: Iterable[K], value: V | None = None) -> HashTrieMap[K, V | None]:
        """Return a map from each of `keys` to the same `value`."""
        return HashTrieMap(dict.fromkeys(keys, value))

    def __getitem__(self, key: K) -> V:
        return self._dict[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._dict)

    def __len__(self) -> int:
        return len(self._dict)

    def __contains__(self, key: object) -> bool:
        return key in self._dict

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashTrieMap) and self._dict == other._dict

    def __hash__(self) -> int:
        return hash(frozenset(self._dict.items()))

    def __repr__(self) -> str:
        return f"HashTrieMap({self._dict!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return HashTrieMap, (self._dict,)

    def keys(self) -> KeysView[K]:
        return self._dict.keys()

    def values(self) -> ValuesView[V]:
        return self._dict.values()

    def items(self) -> ItemsView[K, V]:
        return self._dict.items()

    def insert(self, key: K, val: V) -> HashTrieMap[K, V]:
        """Return a map with `key` set to `val`."""
        return HashTrieMap({**self._dict, key: val})

    def remove(self, key: K) -> HashTrieMap[K, V]:
        """Return a map without `key`.

        Raises:
            KeyError: The key is missing.
        """
        changed = dict(self._dict)
        del changed[key]
        return HashTrieMap(changed)

    def discard(self, key: K) -> HashTrieMap[K, V]:
        """Return a map without `key`, which may be missing."""
        return self.remove(key) if key in self._dict else self

    def update(self, *maps: Mapping[K, V] | Iterable[tuple[K, V]], **kwds: V) -> HashTrieMap[K, V]:
        """Return a map with the entries of all `maps` and `kwds` added; the last one takes precedence."""
        changed = dict(self._dict)
        for each in maps:
            changed.update(each)
        changed.update(cast("dict[K, V]", kwds))
        return HashTrieMap(changed)


class HashTrieSet(Set[T]):
    """An immutable set; every method that changes something returns a new one."""

    __slots__ = ("_dict",)
    _dict: dict[T, None]

    def __init__(self, value: Iterable[T] = ()) -> None:
        self._dict = dict.fromkeys(value)

    def __contains__(self, value: object) -> bool:
        return value in self._dict

    def __iter__(self) -> Iterator[T]:
        return iter(self._dict)

    def __len__(self) -> int:
        return len(self._dict)

    def __hash__(self) -> int:
        return hash(frozenset(self._dict))

    def __repr__(self) -> str:
        return f"HashTrieSet({set(self._dict) or '{}'})"

    def insert(self, value: T) -> HashTrieSet[T]:
        """Return a set with `value` in it."""
        return HashTrieSet((*self._dict, value))

    def remove(self, value: T) -> HashTrieSet[T]:
        """Return a set without `value`.

        Raises:
            KeyError: if it is not in the set.
        """
        if value not in self._dict:
            raise KeyError(value)
        return self.discard(value)

    def discard(self, value: T) -> HashTrieSet[T]:
        """Return a set without `value`, which may be missing."""
        return HashTrieSet(each for each in self._dict if each != value)

    def update(self, *values: Iterable[T]) -> HashTrieSet[T]:
        """Return a set with all of `values` added."""
        return HashTrieSet(each for group in (self._dict, *values) for each in group)


class List(Iterable[E]):
    """An immutable list that grows at its front."""

    __slots__ = ("_items",)
    _items: tuple[E, ...]

    def __init__(self, *values: Any) -> None:
        self._items = tuple(values[0]) if len(values) == 1 else values

    def __iter__(self) -> Iterator[E]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __reversed__(self) -> List[E]:
        return List(self._items[::-1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, List) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return f"List({list(self._items)!r})"

    @property
    def first(self) -> E:
        """The first element; an empty list raises IndexError."""
        self._refuse_empty()
        return self._items[0]

    @property
    def rest(self) -> List[E]:
        """A list without the first element; empty for an empty list, as in rpds-py."""
        return List(self._items[1:])

    def push_front(self, value: E) -> List[E]:
        """Return a list with `value` in front of all others."""
        return List((value, *self._items))

    def drop_first(self) -> List[E]:
        """Return a list without its first element.

        Raises:
            IndexError: The list is empty.
        """
        self._refuse_empty()
        return self.rest

    def _refuse_empty(self) -> None:
        if not self._items:
            raise IndexError("empty list has no first element")
