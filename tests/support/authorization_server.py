"""A small OAuth authorization server, of the SDK's own parts: it asks nobody, and signs its access tokens."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.server.auth.provider import AuthorizationCode, AuthorizationParams, construct_redirect_uri
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from mcpframe.kit.web.serve import serve_app

USER = "ada"
_CALLBACK = "http://127.0.0.1:9/callback"


def rsa_key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def jwks(**keys: Any) -> dict[str, Any]:
    """Return the public parts of RSA keys by their names."""
    algorithm = jwt.algorithms.RSAAlgorithm
    return {
        "keys": [
            {**json.loads(algorithm.to_jwk(key.public_key())), "kid": name, "use": "sig"} for name, key in keys.items()
        ]
    }


@dataclass
class AuthorizationServer:
    """The SDK's `OAuthAuthorizationServerProvider`, as far as clients need it.

    Attributes:
        issuer: Its address.
        claims: What its tokens say besides, or instead.
        fetched: How often its keys were fetched.
    """

    key: RSAPrivateKey
    issuer: str = ""
    claims: Mapping[str, Any] = field(default_factory=dict)
    fetched: int = 0
    _clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    _codes: dict[str, AuthorizationCode] = field(default_factory=dict)

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self._clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self._clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_urlsafe(32)
        self._codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id or "",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, _: OAuthClientInformationFull, code: str) -> AuthorizationCode | None:
        return self._codes.get(code)

    async def exchange_authorization_code(self, _: OAuthClientInformationFull, code: AuthorizationCode) -> OAuthToken:
        del self._codes[code.code]
        claims = {
            "iss": self.issuer,
            "aud": code.resource,
            "sub": USER,
            "client_id": code.client_id,
            "scope": " ".join(code.scopes),
            "exp": int(time.time()) + 600,
            **self.claims,
        }
        token = jwt.encode(claims, self.key, "RS256", {"kid": "one"})
        return OAuthToken(access_token=token, expires_in=600, scope=" ".join(code.scopes))

    async def keys(self, _: Request) -> JSONResponse:
        self.fetched += 1
        return JSONResponse(jwks(one=self.key))


@contextmanager
def authorization_server(key: RSAPrivateKey, scopes: list[str]) -> Iterator[AuthorizationServer]:
    """Run one for the duration of the block."""
    server = AuthorizationServer(key)
    app = Starlette()
    with serve_app(app) as served:
        server.issuer = served.origin
        registration = ClientRegistrationOptions(enabled=True, valid_scopes=scopes, default_scopes=scopes)
        app.routes.extend(
            create_auth_routes(
                server,  # type: ignore[arg-type]
                AuthSettings.model_validate({"issuer_url": served.origin, "resource_server_url": None}).issuer_url,
                client_registration_options=registration,
            )
        )
        app.routes.append(Route("/jwks", server.keys))
        yield server


class Kept:
    """The SDK's `TokenStorage`, in memory."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def signing_in(address: str, kept: Kept) -> OAuthClientProvider:
    """Return the authorization of a client whose user agrees to everything."""
    answers: list[AuthorizationCodeResult] = []

    async def visit(url: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as browser:
            answer = await browser.get(url, follow_redirects=False)
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        issuer = query["iss"][0] if "iss" in query else None
        answers.append(AuthorizationCodeResult(code=query["code"][0], state=query["state"][0], iss=issuer))

    async def answered() -> AuthorizationCodeResult:
        return answers.pop()

    metadata = OAuthClientMetadata.model_validate({"redirect_uris": [_CALLBACK], "client_name": "test"})
    return OAuthClientProvider(address, metadata, kept, visit, answered)  # type: ignore[arg-type]
