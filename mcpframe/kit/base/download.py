"""Downloads over HTTP, and copies of local files, by URL."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from pathlib import Path

from mcpframe.kit.base.errors import DownloadError

_TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 1 << 20


def download(url: str, file: Path, *, most: int | None = None) -> None:
    """Write the content of a URL to a file.

    Args:
        most: The largest allowed number of bytes.

    Raises:
        DownloadError: It cannot be fetched, or is larger.
    """
    size = 0
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer, file.open("wb") as out:  # noqa: S310 the caller's
            while chunk := answer.read(_CHUNK):
                size += len(chunk)
                if most is not None and size > most:
                    raise DownloadError(f"{url}: more than {most} bytes")
                out.write(chunk)
    except (urllib.error.URLError, TimeoutError, http.client.HTTPException, ConnectionError) as error:
        raise DownloadError(f"{url}: {getattr(error, 'reason', None) or error}") from error
