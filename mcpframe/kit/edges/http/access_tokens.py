"""Access tokens of an authorization server: signed claims, which are checked here without asking the server.

Which algorithms count is decided by `public_key` and by the key, never by a token.

Source: RFC 7519, RFC 8725 (best practices), RFC 9068 (access tokens).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jwt
from mcp.server.auth.provider import AccessToken
from starlette.authentication import AuthenticationError

from mcpframe.kit.edges.http.issuer import Issuer
from mcpframe.kit.edges.http.public_key import ALGORITHMS, read_key

log = logging.getLogger(__name__)

_CLOCKS_SECONDS = 30
"""How far the clocks of the issuer and of this machine may be apart."""
_FETCH_SECONDS = 10
_KEPT_SECONDS = 600
"""Fetched keys are used for so long, unless a token names one that is not among them."""
_PAUSE_SECONDS = 5.0
"""After keys could not be fetched: until then nobody waits for another attempt."""
_LONGEST_NAME = 255
"""Characters of a user's name (`sub`): OpenID Connect Core, section 2."""


class AccessTokens:
    """The SDK's `TokenVerifier` for the tokens of an authorization server.

    Raises:
        ConfigError: The file with its key cannot be used.
    """

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self._keys = _FetchedKeys(issuer.keys) if issuer.has_address else _KeyOfFile(Path(issuer.keys))

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return whose token it is; None if it is not valid here.

        Raises:
            AuthenticationError: The keys cannot be fetched.
        """
        try:
            key, algorithms = await self._keys.find(token)
            claims = jwt.decode(
                token,
                key,
                algorithms,
                issuer=self._issuer.url,
                audience=self._issuer.audience,
                leeway=_CLOCKS_SECONDS,
                options={"require": ["iss", "aud", "exp", "sub"], "enforce_minimum_key_length": True},
            )
            return _access(token, claims)
        # the issuer's claims of a wrong type, such as an infinite `exp`, are not all errors of the library
        except (jwt.PyJWTError, ArithmeticError, RecursionError, TypeError, ValueError):
            return None


def _access(token: str, claims: Mapping[str, Any]) -> AccessToken | None:
    subject = claims["sub"]
    if not subject or len(subject) > _LONGEST_NAME:
        return None
    client = claims.get("client_id") or claims.get("azp") or subject
    given = claims.get("scope", claims.get("scp", ""))
    scopes = given.split() if isinstance(given, str) else [each for each in given if isinstance(each, str)]
    return AccessToken(
        token=token,
        client_id=str(client),
        scopes=scopes,
        expires_at=int(claims["exp"]),
        subject=subject,
        claims={"iss": claims["iss"]},
    )


class _KeyOfFile:
    def __init__(self, file: Path) -> None:
        self._key = read_key(file)

    async def find(self, _: str) -> tuple[Any, Sequence[str]]:
        """Return the key and its algorithms."""
        return self._key


class _FetchedKeys:
    """Keys at an address. A token that names an unknown one has them fetched again, at most every 30 seconds.

    One request is made at a time: many tokens do not become as many requests.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._client = jwt.PyJWKClient(address, timeout=_FETCH_SECONDS, lifespan=_KEPT_SECONDS)
        self._one = asyncio.Lock()
        self._pause_ends = 0.0

    async def find(self, token: str) -> tuple[jwt.PyJWK, Sequence[str]]:
        """Return the key that a token names. It has one algorithm of its own.

        Raises:
            AuthenticationError: The keys cannot be fetched.
            PyJWTError: The token names none of them.
        """
        name = jwt.get_unverified_header(token).get("kid")
        if not isinstance(name, str):
            raise jwt.InvalidTokenError("The token does not name its key.")
        key = self._known(name)
        if key is None:  # so no token of a known key waits for others' keys
            async with self._one:
                key = self._known(name) or await self._fetched(name)
        return key, ALGORITHMS

    def _known(self, name: str) -> jwt.PyJWK | None:
        kept = self._client.jwk_set_cache and self._client.jwk_set_cache.get()
        keys = kept.keys if isinstance(kept, jwt.PyJWKSet) else []
        return self._client.match_kid([key for key in keys if key.public_key_use in ("sig", None)], name)

    async def _fetched(self, name: str) -> jwt.PyJWK:
        if time.monotonic() < self._pause_ends:
            raise AuthenticationError
        try:
            return await asyncio.to_thread(self._client.get_signing_key, name)
        except (jwt.PyJWKClientConnectionError, jwt.PyJWKSetError, ValueError, OSError) as error:
            self._pause_ends = time.monotonic() + _PAUSE_SECONDS
            log.warning("The keys at %s cannot be fetched: %s", self._address, error)
            raise AuthenticationError from error
