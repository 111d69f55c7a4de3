"""Files of a bundle under names that carry a hash of their content, so that they can be cached for ever."""

from __future__ import annotations

import base64
import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

from mcpframe.kit.bundle.compile import cache_key, cached
from mcpframe.kit.cache import write_file

_HASH_LENGTH = 16
# Already compressed: a .gz beside it would gain nothing.
_DENSE = (".whl", ".bin", ".png", ".jpg", ".webp", ".woff2", ".gz")
_WORTH = 0.95


@dataclass(frozen=True)
class Asset:
    """One file of a bundle.

    Attributes:
        path: Its path below the output root.
        data: Its content.
        packed: Its content as gzip, where that is worth it.
    """

    path: str
    data: bytes
    packed: bytes | None

    @property
    def sha256(self) -> str:
        """The SHA-256 of its content, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def integrity(self) -> str:
        """Its hash as browsers check it (Subresource Integrity)."""
        return "sha256-" + base64.b64encode(hashlib.sha256(self.data).digest()).decode()

    @property
    def wire_bytes(self) -> int:
        """What a first visit transfers of it."""
        return len(self.packed if self.packed is not None else self.data)


def asset(path: str, data: bytes) -> Asset:
    """A file at a fixed path below the output root."""
    return Asset(path, data, None if path.endswith(_DENSE) else _packed(data))


def hashed(path: str, data: bytes) -> Asset:
    """A file whose name is given a hash: `_mcpframe/loader.js` becomes `_mcpframe/loader.0123….js`."""
    stem, dot, ending = path.rpartition(".")
    return asset(f"{stem}.{content_hash(data)}{dot}{ending}", data)


def content_hash(*parts: bytes) -> str:
    """The hash that names carry."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:_HASH_LENGTH]


def _packed(data: bytes) -> bytes | None:
    path: Path = cached("gzip", cache_key("9", data) + ".gz")
    if path.is_file():
        packed = path.read_bytes()
    else:
        packed = gzip.compress(data, 9, mtime=0)
        if len(data) > 65536:  # smaller ones are compressed in no time
            write_file(path, packed)
    return packed if len(packed) < len(data) * _WORTH else None
