"""Downloads over HTTP, and copies of local files, by URL."""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from pathlib import Path

from mcpframe.kit.base.errors import DownloadError

_TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 1 << 20
_NOT_TRUSTED = re.compile(
    r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|invalid peer certificate|SELF_SIGNED_CERT|"
    r"UNABLE_TO_(VERIFY_LEAF|GET_ISSUER)",
    re.IGNORECASE,
)
"""Texts that Python, pip, uv and npm print of a certificate that they do not trust."""
_HOST = re.compile(r"https://([^/\s'\"`)]+)|host='([^']+)'")


def not_trusted(output: str, variable: str = "SSL_CERT_FILE") -> DownloadError | None:
    """Return the error for a certificate that is not trusted, if that is why a program failed.

    Args:
        output: What the program printed.
        variable: The variable that names further certificates to it.
    """
    if not _NOT_TRUSTED.search(output):
        return None
    match = _HOST.search(output)
    host = f" of {(match[1] or match[2]).rpartition('@')[2]}" if match else ""
    return DownloadError(
        f"The certificate{host} is not trusted: set {variable} to a file with the certificate of the authority that "
        "signed it, as a company's proxy or index has one of its own."
    )


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
        if untrusted := not_trusted(f"{url} {error}"):
            raise untrusted from error
        raise DownloadError(f"{url}: {getattr(error, 'reason', None) or error}") from error
