"""The reason of a page's failed request, which browsers deliberately withhold from the page.

Source: Content Security Policy level 3, 6.7.2 (which URLs a source list matches).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import SplitResult, urlsplit

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_LOCAL = ("localhost", "127.0.0.1", "::1")


def connect_sources(policy: str) -> list[str] | None:
    """Return the sources that a policy allows connections to; None if it does not limit them."""
    directives = [part.split() for part in policy.split(";") if part.strip()]
    by_name = {name.lower(): sources for name, *sources in reversed(directives)}  # the first directive of a name counts
    return by_name.get("connect-src", by_name.get("default-src"))


def is_allowed(url: str, sources: Iterable[str] | None, page: str) -> bool:
    """Return whether sources match an address.

    Args:
        url: the address.
        sources: the result of `connect_sources`.
        page: the origin of the page, which is `'self'`.
    """
    if sources is None:
        return True
    target, own = urlsplit(url), urlsplit(page)
    return any(_matches(source, target, own) for source in sources)


def _matches(source: str, target: SplitResult, own: SplitResult) -> bool:
    if source == "*":
        return target.scheme in _PORTS
    if source.lower() == "'self'":
        return _is_host(own, target)
    if source.endswith(":") and "/" not in source:
        return _is_scheme(source[:-1].lower(), target.scheme)
    if source.startswith("'"):
        return False
    return _is_host(urlsplit(source if "://" in source else f"{own.scheme}://{source}"), target)


def _is_scheme(allowed: str, scheme: str) -> bool:
    return allowed == scheme or (allowed, scheme) in (("http", "https"), ("ws", "wss"))


def _is_host(allowed: SplitResult, target: SplitResult) -> bool:
    host, requested = (allowed.hostname or "").lower(), (target.hostname or "").lower()
    if not _is_scheme(allowed.scheme, target.scheme):
        return False
    if not (requested.endswith(host[1:]) if host.startswith("*.") else requested == host):
        return False
    if not allowed.netloc.endswith(":*") and not _is_port(allowed, target):
        return False
    path = allowed.path
    return not path or target.path == path or (path.endswith("/") and (target.path or "/").startswith(path))


def _is_port(allowed: SplitResult, target: SplitResult) -> bool:
    default = _PORTS.get(allowed.scheme)
    ports = {allowed.port or default} | ({443} if default == 80 and allowed.port in (None, 80) else set())
    return (target.port or _PORTS.get(target.scheme)) in ports


def upgraded(url: str, contexts: Iterable[str]) -> str:
    """Return the address to send to: with https if the browser would block http as mixed content.

    Args:
        url: The address.
        contexts: The origins of the page and of the pages that embed it.
    """
    target = urlsplit(url)
    if target.scheme != "http" or _is_local(target) or not any(each.startswith("https:") for each in contexts):
        return url
    return target._replace(scheme="https", netloc=target.netloc.removesuffix(":80")).geturl()


def by_proxy(url: str, proxy: str, page: str) -> str:
    """Return the address to send to: through the visitor's `mcpframe proxy`, unless it is the page's own.

    Args:
        url: The address.
        proxy: The address of the proxy; empty for none.
        page: The origin of the page.
    """
    return f"{proxy.rstrip('/')}/{url}" if proxy and _origin(urlsplit(url)) not in (page, proxy.rstrip("/")) else url


def behind_proxy(url: str, proxy: str) -> str:
    """Return the address that an answer is of, from the one that `by_proxy` has made."""
    return url.removeprefix(f"{proxy.rstrip('/')}/") if proxy else url


def reason(url: str, *, policy: str, page: str, online: bool, proxy: str = "") -> str:
    """Return the probable reason of a request without an answer, with advice.

    Args:
        url: The address that it was sent to.
        policy: The Content Security Policy of the page.
        page: The origin of the page.
        online: Whether the browser reports to be online.
        proxy: As for `by_proxy`.
    """
    sources = connect_sources(policy)
    target = urlsplit(url)
    if not is_allowed(url, sources, page):
        return blocked(_origin(target), sources or ())
    if (behind := behind_proxy(url, proxy)) != url:
        return (
            f"The proxy {proxy} (MCPFRAME_CORS_PROXY) gave no answer that the page may see: start it with "
            f"`mcpframe proxy --allow-host {_origin(urlsplit(behind))}`, and with --allow-origin {page} if that is not "
            "an address of this machine."
        )
    if not online:
        return f"{_origin(target)} cannot be reached: the browser is offline."
    return (
        f"{_origin(target)} gave no answer that the page may see: there is no such server, or it does not allow pages "
        f"of {page} (CORS: its answer needs the header Access-Control-Allow-Origin; `mcpframe proxy` forwards to "
        "servers that do not send it), or it redirects to a server that does not, or that is not listed in "
        "csp.connect_src."
    )


def blocked(origin: str, sources: Sequence[str]) -> str:
    """Return advice about an origin that the policy does not allow, given the sources that it allows."""
    listed = ", ".join(f'"{source}"' for source in [*(item for item in sources if not item.startswith("'")), origin])
    return (
        f"The page's policy does not allow connections to {origin}: list it as csp.connect_src in [tool.mcpframe] of "
        f"pyproject.toml, `csp = {{ connect_src = [{listed}] }}`, and build again."
    )


def _is_local(url: SplitResult) -> bool:
    host = url.hostname or ""
    return host in _LOCAL or host.endswith(".localhost")


def _origin(url: SplitResult) -> str:
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}"
