"""Fetches the page and the manifest of a published server over HTTP, without a browser."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin

from mcpframe.frame.core.allowed_origins import ANY, NOT_EXACT
from mcpframe.frame.core.places import parse_address
from mcpframe.frame.dialects.available import dialect, offered_names, offers
from mcpframe.kit.base.errors import NoFramedServer
from mcpframe.kit.base.limits import ANSWER_SECONDS

_ANY_HOST = "https://host.example"
_WHOLE = 4  # a whole response may take this many times the patience, also if a byte arrives now and then
_MOST_BYTES = 4 * 1024 * 1024
_CHUNK = 1 << 16
_URL_SAFE = "%/:=&?~#+!$,;'@()*[]"


@dataclass(frozen=True)
class Fetched:
    """A response of a web server.

    Attributes:
        url: The address after redirects.
        status: The HTTP status.
        headers: The headers by lower-case name.
        body: The body, not decompressed.
    """

    url: str
    status: int
    headers: dict[str, str]
    body: bytes


def fetch(
    url: str, *, headers: dict[str, str] | None = None, limit: int = _MOST_BYTES, patience: float = ANSWER_SECONDS
) -> Fetched:
    """Fetch an http or https URL.

    Args:
        url: The address.
        headers: Headers of the request.
        limit: The most bytes of the body that are read.
        patience: Seconds that the web server may be silent.

    Raises:
        NoFramedServer: No response arrives.
        OriginError: It is not an http or https URL.
    """
    address, _ = parse_address(url)
    request = urllib.request.Request(quote(address, safe=_URL_SAFE), headers=headers or {})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=patience) as answer:  # noqa: S310
            by_name = {name.lower(): value for name, value in answer.headers.items()}
            return Fetched(
                answer.url, answer.status, by_name, _read(answer, limit, time.monotonic() + _WHOLE * patience)
            )
    except urllib.error.HTTPError as error:
        return Fetched(url, error.code, {name.lower(): value for name, value in error.headers.items()}, b"")
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        reason = getattr(error, "reason", error) or type(error).__name__
        raise NoFramedServer(f"{url} does not answer ({reason}): is the address right, and the server up?") from error


def _read(answer: http.client.HTTPResponse, limit: int, deadline: float) -> bytes:
    body = bytearray()
    while len(body) < limit and (chunk := answer.read1(min(_CHUNK, limit - len(body)))):
        body += chunk
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
    if len(body) < limit and answer.length:
        raise http.client.IncompleteRead(bytes(body), answer.length)
    return bytes(body)


def read_manifest(url: str, *, patience: float = ANSWER_SECONDS) -> dict[str, Any] | None:
    """Return the manifest of the bundle whose page is at `url`; None if there is none. See `fetch`.

    Raises:
        NoFramedServer: No response arrives.
    """
    answer = fetch(urljoin(url, "manifest.json"), patience=patience)
    try:
        manifest = json.loads(answer.body) if answer.status == 200 else None
    except (ValueError, RecursionError):
        return None
    return manifest if isinstance(manifest, dict) and manifest.get("mcpframe_manifest") else None


def offered_by(manifest: Mapping[str, Any]) -> list[str]:
    """Return the dialects that a manifest's bundle offers; all for earlier manifests, which have no list."""
    listed = manifest.get("dialects")
    return [name for name in offered_names() if offers(listed if isinstance(listed, list) else (), name)]


def not_offered(manifest: Mapping[str, Any] | None, name: str | None = None) -> str | None:
    """Return an error text if a bundle does not offer a dialect; None if it does.

    Args:
        manifest: Its manifest; None for a page that was not built by mcpframe.
        name: The dialect; by default that of mcpframe's own commands.
    """
    name = name or dialect().name
    offered = offered_by(manifest or {})
    if name in offered:
        return None
    listed = ", ".join(offered) or "none"
    return f"does not offer the dialect {name!r}, only {listed}: add it to `dialects` of its [tool.mcpframe]"


def host_for(manifest: dict[str, Any] | None) -> str:
    """Return an origin that may frame the bundle of this manifest."""
    return host_in(_allowed(manifest or {}))


def host_in(allowed: Iterable[str]) -> str:
    """Return the first origin of a list, or any origin if the list has none."""
    return next((origin for origin in allowed if origin not in NOT_EXACT), _ANY_HOST)


def allows(manifest: Mapping[str, Any], origin: str) -> bool:
    """Return whether a page of this origin may frame the bundle of a manifest."""
    allowed = _allowed(manifest)
    return ANY in allowed or origin in allowed


def _allowed(manifest: Mapping[str, Any]) -> list[str]:
    allowed = manifest.get("allowed_origins")
    return [origin for origin in allowed if isinstance(origin, str)] if isinstance(allowed, list) else []
