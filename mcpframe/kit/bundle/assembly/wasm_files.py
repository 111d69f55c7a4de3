"""The WebAssembly files of a bundle: each in two, if it has a profile; see `kit.bundle.wasm.split`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mcpframe.kit.bundle.assembly.assets import Asset
from mcpframe.kit.bundle.assembly.index_page import link
from mcpframe.kit.bundle.wasm.profile import WasmProfile, profile_of
from mcpframe.kit.bundle.wasm.split import Pair, split


@dataclass(frozen=True)
class WasmFile:
    """A WebAssembly file of a bundle.

    Attributes:
        first: What a page starts with.
        second: What it loads later; None if the file is not split.
    """

    first: Asset
    second: Asset | None = None

    @property
    def all(self) -> list[Asset]:
        """Its files."""
        return [self.first, *([self.second] if self.second else [])]

    def entry(self, folder: str) -> dict[str, Any]:
        """Return its entry in the boot config.

        Args:
            folder: The folder of the page.
        """
        return {**link(self.first, folder), **({"second": link(self.second, folder)} if self.second else {})}


def in_two(data: bytes) -> Pair:
    """Return the two files of a module; the second is empty if it has no profile."""
    profile = profile_of(hashlib.sha256(data).hexdigest())
    return _split_once(data, profile) if profile else Pair(data, b"")


@lru_cache(maxsize=4)
def _split_once(data: bytes, profile: WasmProfile) -> Pair:
    """Split a module once: a build assembles its files repeatedly."""
    return split(data, profile.later, profile.tables)


def wasm_file(pair: Pair, name: Callable[[str, bytes], Asset], path: str) -> WasmFile:
    """Return the files of a module.

    Args:
        name: Makes the asset at a path.
        path: The path of the first.
    """
    second = name(path.replace(".wasm", ".second.wasm"), pair.second) if pair.second else None
    return WasmFile(name(path, pair.first), second)


def lent_file(entry: Mapping[str, Any], lent: Callable[[Mapping[str, Any]], Asset]) -> WasmFile:
    """Return the files of an entry in the boot config of another bundle.

    Args:
        lent: Returns the file of a link.
    """
    return WasmFile(lent(entry), lent(entry["second"]) if "second" in entry else None)
