"""Answers only requests with a valid token. The SDK reads the header, and answers requests without one.

Source: MCP specification, basic/authorization; RFC 6750, RFC 9728.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from starlette.authentication import AuthenticationError
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from mcpframe.frame.core.jsonrpc import INTERNAL_ERROR
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.error_answers import error_answer
from mcpframe.kit.edges.http.known_tokens import Tokens
from mcpframe.kit.edges.http.rate_limit import RateLimited

_RETRY_SECONDS = 5
_MAPPED_BITS = 96
"""The bits before an IPv4 address in its form of IPv6 (RFC 4291, section 2.5.5.2)."""


class _Either:
    """A `TokenVerifier` of several: a token is valid if one of them says so."""

    def __init__(self, verifiers: Sequence[TokenVerifier]) -> None:
        self._verifiers = verifiers

    async def verify_token(self, token: str) -> AccessToken | None:
        for verifier in self._verifiers:
            if access := await verifier.verify_token(token):
                return access
        return None


def guarded(app: ASGIApp, access: Access) -> ASGIApp:
    """Return an application that passes on the requests that may be answered, and refuses all others.

    Raises:
        ConfigError: As by `Access.check`.
        ExtraMissing: As by `Access.check`.
    """
    if access.is_authorized:
        settings = access.issuer.settings() if access.issuer else None
        metadata = settings and settings.resource_server_url
        where = build_resource_metadata_url(metadata) if metadata else None
        scopes = (settings and settings.required_scopes) or []
        app = AuthContextMiddleware(RequireAuthMiddleware(app, scopes, where))
    if access.rate is not None:
        app = RateLimited(app, access.rate)
    if access.is_authorized:
        app = AuthenticationMiddleware(app, BearerAuthBackend(_verifier(access)), on_error=_unavailable)
    if access.proxies:
        app = ProxyHeadersMiddleware(app, [form for each in access.proxies for form in _forms(each)])  # type: ignore[arg-type, assignment]
    return app


def _forms(proxy: str) -> list[str]:
    """Return a network as it is, and as a server on `::` sees one of IPv4."""
    network = ipaddress.ip_network(proxy)
    if isinstance(network, ipaddress.IPv6Network):
        return [proxy]
    return [proxy, f"::ffff:{network.network_address}/{_MAPPED_BITS + network.prefixlen}"]


def _verifier(access: Access) -> TokenVerifier:
    verifiers: list[TokenVerifier] = []
    if access.tokens:
        verifiers.append(Tokens(access.tokens, access.issuer.scopes if access.issuer else ()))
    if access.issuer is not None:
        from mcpframe.kit.edges.http.access_tokens import AccessTokens

        verifiers.append(AccessTokens(access.issuer))
    return verifiers[0] if len(verifiers) == 1 else _Either(verifiers)


def _unavailable(_: HTTPConnection, __: AuthenticationError) -> Response:
    text = "The authorization server cannot be asked for its keys: try again later."
    return error_answer(503, INTERNAL_ERROR, text, {"Retry-After": str(_RETRY_SECONDS)})


def metadata_routes(access: Access) -> Sequence[BaseRoute]:
    """Return the routes by which a client finds the authorization server."""
    if access.issuer is None:
        return []
    settings = access.issuer.settings()
    assert settings.resource_server_url is not None
    return create_protected_resource_routes(
        settings.resource_server_url, [settings.issuer_url], settings.required_scopes or None
    )
