"""Checks of the page: its address, headers, Content Security Policy, and allowed origins. No I/O."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from mcpframe.frame.core.allowed_origins import ANY, NOT_EXACT, OPAQUE, SELF
from mcpframe.kit.bundle.assembly.built_manifest import origins_of
from mcpframe.kit.bundle.assembly.offered import embedders, without_use
from mcpframe.kit.publish.bundle_checks.findings import HEADERS, Finding, error, warning
from mcpframe.kit.servers.published import offered_by

_LARGE = 15_000_000
_HOUR = 3600


def check_page(url: str, headers: Mapping[str, str], manifest: Mapping[str, Any]) -> Iterator[Finding]:
    """Check the response for a bundle's page.

    Args:
        headers: Its headers, by lower-case name.
        manifest: The bundle's manifest.
    """
    yield from check_framing(url, headers)
    app = manifest.get("app")
    if app and app["url"] != url:
        yield warning(
            "app",
            f"Its views (app.html, app-inline.html) show the bundle at {app['url']}, not this one.",
            f"Build with --url {url}, or set tool.mcpframe.url to it.",
        )
    if headers.get("x-content-type-options", "").lower() != "nosniff":
        yield warning("X-Content-Type-Options", "The header is missing.", f"Set it to nosniff: {HEADERS}.")
    origins = origins_of(manifest)
    built = manifest.get("csp")
    opaque = built is not None and "frame-ancestors" not in built
    offered = offered_by(manifest)
    yield from _policy(headers.get("content-security-policy"), embedders(offered, origins), opaque=opaque)
    age = re.search(r"max-age=(\d+)", headers.get("cache-control", ""))
    if age and int(age[1]) > _HOUR and "no-cache" not in headers["cache-control"]:
        yield warning(
            "Cache-Control",
            f"Browsers keep the page for {int(age[1]) // _HOUR} hours, and get an update only then.",
            f"Send the page with no-cache: {HEADERS}.",
        )
    yield from check_origins(origins.common, published=not is_local(url))
    for dialect, own in origins.own.items():
        if dialect in offered:
            yield from check_origins(own, published=not is_local(url), dialect=dialect)
    for dialect in without_use(offered, origins):
        yield warning(
            f"allowed_origins.{dialect}",
            f"The bundle does not offer the dialect {dialect!r}, so the hosts there cannot use it.",
            f"Add {dialect!r} to tool.mcpframe.dialects, or remove tool.mcpframe.allowed_origins.{dialect}.",
        )
    first = manifest["sizes"]["first_visit"]
    if first > _LARGE:
        yield warning(
            "size",
            f"A first visit fetches {first / 1e6:.1f} MB.",
            "Move large requirements into tool.mcpframe.lazy, and load them when they are used.",
        )


def check_framing(url: str, headers: Mapping[str, str]) -> Iterator[Finding]:
    """Check what keeps hosts from framing a page, be it a bundle's or another one; see `check_page`."""
    if url.startswith("http:") and not is_local(url):
        yield error(
            "address",
            "The page is served over http: browsers block it in https hosts.",
            "Serve it over https.",
        )
    kind = headers.get("content-type", "")
    if not kind.startswith("text/html"):
        yield error(
            "page", f"It is sent as {kind or 'nothing'}, not as text/html.", "Set its Content-Type to text/html."
        )
    if "x-frame-options" in headers:
        yield error(
            "X-Frame-Options",
            f"The header {headers['x-frame-options']!r} keeps hosts from framing the page.",
            "Remove it: frame-ancestors of the Content-Security-Policy lists who may frame the page.",
        )


def check_origins(allowed: Sequence[str], *, published: bool, dialect: str = "") -> Iterator[Finding]:
    """Check the origins that may embed the server.

    Args:
        published: Whether the server is on a public address.
        dialect: The dialect of the list; empty for the list of all dialects.
    """
    subject = f"allowed_origins.{dialect}" if dialect else "allowed_origins"
    where = f"in tool.mcpframe.{subject}"
    if ANY in allowed:
        yield warning(
            subject, "Any page on the web may embed the server and call its tools.", f"Name the hosts {where}."
        )
    if OPAQUE in allowed:
        yield warning(subject, "Any sandboxed frame may embed the server.", f"Name the hosts {where}.")
    for origin in allowed:
        if origin in NOT_EXACT:
            continue
        host = urlsplit(origin).hostname or ""
        if _is_loopback(host):
            if published or len(allowed) == 1:
                yield warning(
                    subject,
                    f"{origin} is on the user's own machine, for development.",
                    f"Put the origin of the real host {where} before you publish.",
                )
        elif origin.startswith("http:"):
            yield warning(subject, f"{origin} is not encrypted.", "Use the https origin of that host.")


def _policy(policy: str | None, allowed: Sequence[str], *, opaque: bool) -> Iterator[Finding]:
    subject = "Content-Security-Policy"
    if policy is None:
        yield warning(
            subject,
            "The header is missing; the policy in the page cannot restrict who may frame it.",
            f"Send the policy in the manifest's csp: {HEADERS}.",
        )
        return
    directives = directives_of(policy)
    scripts = directives.get("script-src", directives.get("default-src"))
    if scripts is not None and not {"'wasm-unsafe-eval'", "'unsafe-eval'"} & set(scripts):
        yield error(
            subject,
            "Its script-src does not allow WebAssembly, so Python cannot start.",
            f"Add 'wasm-unsafe-eval' to it: {HEADERS}.",
        )
    ancestors = directives.get("frame-ancestors")
    if opaque:  # covered by the findings about the origins
        if ancestors is not None:
            yield error(
                subject,
                "Its frame-ancestors keep pages from framing it that allowed_origins allows.",
                f"Send the policy in the manifest's csp: {HEADERS}.",
            )
    elif ancestors is None:
        yield warning(subject, "It does not restrict who may frame the page.", f"Add frame-ancestors: {HEADERS}.")
    elif ANY not in ancestors:
        for origin in allowed:
            if origin not in (ANY, OPAQUE) and (f"'{SELF}'" if origin == SELF else origin) not in ancestors:
                yield error(
                    subject,
                    f"Its frame-ancestors keep {origin} from framing the page, although allowed_origins has it.",
                    f"Send the policy in the manifest's csp: {HEADERS}.",
                )


def directives_of(policy: str) -> dict[str, list[str]]:
    """Return the sources of each directive of a Content-Security-Policy."""
    return {part.split()[0].lower(): part.split()[1:] for part in policy.split(";") if part.strip()}


def is_local(url: str) -> bool:
    """Return whether an address is one of this machine, where a bundle is tried before it is published."""
    return _is_loopback(urlsplit(url).hostname or "")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
