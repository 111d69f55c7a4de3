"""Checks of a bundle's files on the wire: complete, unchanged, with type, compression and caching."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote, urljoin

from mcpframe.kit.base.progress import count
from mcpframe.kit.publish.bundle_checks.findings import COMPRESSION, HEADERS, Finding, error, warning
from mcpframe.kit.servers.published import Fetched, fetch

_TYPES = {
    "js": ("text/javascript", "application/javascript"),
    "mjs": ("text/javascript", "application/javascript"),
    "wasm": ("application/wasm",),
    "css": ("text/css",),
    "html": ("text/html",),
}
_GZIP = 16 + zlib.MAX_WBITS  # zlib's number for the format of gzip
_WORTH = 100_000  # bytes: less saved by compression is not worth a warning
HASHED_NAME = re.compile(r"[.-][0-9a-f]{8,}([./]|$)")
"""The paths of files that never change."""
_AT_ONCE = 6  # connections, as browsers have to one host
_LIMIT = 512 * 1024 * 1024


def check_files(url: str, manifest: Mapping[str, Any]) -> Iterator[Finding]:
    """Fetch every file that the manifest lists, and check the responses.

    Args:
        url: The address of the bundle's page.
        manifest: The bundle's manifest.

    Raises:
        NoFramedServer: The web server stops answering.
    """
    root = urljoin(url, "../")
    urls = {entry["path"]: urljoin(root, quote(entry["path"])) for entry in manifest["files"]}
    # The manifest of a stranger could otherwise have this machine ask others.
    entries = [entry for entry in manifest["files"] if urls[entry["path"]].startswith(root)]
    for path in sorted(urls.keys() - {entry["path"] for entry in entries}):
        yield error(path, "The manifest names it, but it is outside of the site.", "Upload the folder that was built.")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = pool.map(lambda entry: _get(urls[entry["path"]]), entries)
        for done, (entry, answer) in enumerate(zip(entries, answers, strict=True), 1):
            count(done, len(entries))
            yield from check_file(entry, answer)


def _get(url: str) -> Fetched:
    return fetch(url, headers={"Accept-Encoding": "gzip"}, limit=_LIMIT)


def check_file(entry: Mapping[str, Any], answer: Fetched) -> Iterator[Finding]:
    """Check the response for one file.

    Args:
        entry: The file's entry in the manifest.
        answer: The response to a request that accepts gzip.
    """
    path, headers = entry["path"], answer.headers
    if answer.status != 200:
        yield error(
            path, f"The web server answers with status {answer.status}.", "Upload the whole folder that was built."
        )
        return
    encoding = headers.get("content-encoding", "")
    try:
        body = zlib.decompress(answer.body, _GZIP) if encoding == "gzip" else answer.body
    except zlib.error:
        yield error(
            path, "Its Content-Encoding is gzip, but it is not compressed.", "Send that header with the .gz files only."
        )
        return
    if hashlib.sha256(body).hexdigest() != entry["sha256"]:
        yield error(
            path,
            f"It is not the file that was built ({len(body):,} bytes, {entry['bytes']:,} were built).",
            "Upload the whole folder again, and keep the web server from changing files.",
        )
    yield from _type(path, headers.get("content-type", "").partition(";")[0].strip().lower())
    if headers.get("access-control-allow-origin") != "*":
        yield warning(
            path,
            "It cannot be read from a sandboxed page, as Access-Control-Allow-Origin is not *.",
            f"Set that header: {HEADERS}.",
        )
    packed = entry.get("gzip_bytes")
    if packed is not None and not encoding and entry["bytes"] - packed > _WORTH:
        yield warning(
            path,
            f"It is sent uncompressed: {entry['bytes'] / 1e6:.1f} MB rather than {packed / 1e6:.1f} MB.",
            COMPRESSION,
        )
    if HASHED_NAME.search(path) and "immutable" not in headers.get("cache-control", ""):
        yield warning(
            path,
            "Browsers ask for it again on every visit, though it never changes.",
            f"Send it with Cache-Control: public, max-age=31536000, immutable: {HEADERS}.",
        )


def _type(path: str, kind: str) -> Iterator[Finding]:
    ending = path.rpartition(".")[2]
    allowed = _TYPES.get(ending)
    if allowed is None or kind in allowed:
        return
    message = f"It is sent as {kind or 'nothing'}, not as {allowed[0]}."
    remedy = f"Set the Content-Type of .{ending} files to {allowed[0]}."
    if ending == "wasm":  # the loader falls back to a slower way
        yield warning(path, message, remedy)
    else:
        yield error(path, message, remedy)
