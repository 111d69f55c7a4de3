"""Files of a bundle, with a hash of their content in their names, so that they can be cached for ever."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

SHARED = "_mcpframe"
"""The folder of the output root that all its bundles share."""
INSPECTOR = "inspector"
"""The folder of the inspector beside the bundles of a site."""
_HASH_LENGTH = 16  # 64 bits: no two versions of a file share a name by chance
# Compressed already: a .gz file would save nothing.
_DENSE = (".whl", ".bin", ".png", ".jpg", ".webp", ".woff2", ".gz")
_WORTH = 0.95  # a second file on the static host is not worth a saving of 5 %


@dataclass(frozen=True)
class Asset:
    """One file of a bundle.

    Attributes:
        path: Its path below the output root.
        data: Its content.
        sha256: The SHA-256 of its content, in hex.
    """

    path: str
    data: bytes
    sha256: str

    @property
    def integrity(self) -> str:
        """Its hash in the form that browsers check (Subresource Integrity)."""
        return _integrity(bytes.fromhex(self.sha256))


def integrity(data: bytes) -> str:
    """Return the hash of a file in the form of Subresource Integrity, which a policy also uses to name a script."""
    return _integrity(hashlib.sha256(data).digest())


def _integrity(digest: bytes) -> str:
    return "sha256-" + base64.b64encode(digest).decode()


def asset(path: str, data: bytes) -> Asset:
    """Return a file at a fixed path below the output root."""
    return _asset(path, data, hashlib.sha256(data).digest())


def hashed(path: str, data: bytes) -> Asset:
    """Return a file with a hash in its name: `_mcpframe/loader.js` becomes `_mcpframe/loader.0123….js`."""
    stem, dot, ending = path.rpartition(".")
    digest = hashlib.sha256(data).digest()
    return _asset(f"{stem}.{_name_of(digest)}{dot}{ending}", data, digest)


def content_hash(*parts: bytes) -> str:
    """Return the hash of contents, for names."""
    return _name_of(b"".join(hashlib.sha256(part).digest() for part in parts))


def _name_of(digests: bytes) -> str:
    return hashlib.sha256(digests).hexdigest()[:_HASH_LENGTH]


def _asset(path: str, data: bytes, digest: bytes) -> Asset:
    # A build with nothing to compile spends most of its time hashing, so each file is hashed once.
    return Asset(path, data, digest.hex())


def gzipped(item: Asset) -> bytes:
    """Return the content of a file as gzip; the same bytes each time."""
    return gzip.compress(item.data, 9, mtime=0)


def packed(assets: Iterable[Asset], compress: Callable[[Asset], bytes] = gzipped) -> dict[str, bytes | None]:
    """Return the files of a bundle as gzip, by path; None where that saves too little."""
    gzips: dict[str, bytes | None] = {}
    for item in assets:
        data = None if item.path.endswith(_DENSE) else compress(item)
        gzips[item.path] = data if data is not None and len(data) < len(item.data) * _WORTH else None
    return gzips
