"""The user whose request is handled."""

from __future__ import annotations

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext, authorization_context
from mcp.server.auth.provider import AccessToken, principal_components
from starlette.types import Scope

LOCAL = "local"
"""The user of a server without authorization."""


def user_of(token: AccessToken) -> str:
    """Return the name of a token's user: that of the file of tokens, or an issuer with its name for the user.

    The latter has a space, and so is never one of the former.
    """
    client, issuer, subject = principal_components(token)
    return client if issuer is None else f"{issuer} {subject}"


def current_user() -> str:
    """Return the user whose request is handled."""
    token = get_access_token()
    return LOCAL if token is None else user_of(token)


def sender_of(scope: Scope) -> str | None:
    """Return the name of the user who sends a request, as `user_of`; None without authorization."""
    user = scope.get("user")
    return user_of(user.access_token) if isinstance(user, AuthenticatedUser) else None


def owner_of(scope: Scope) -> AuthorizationContext | None:
    """Return who sends a request, to compare with who began its session; None without authorization."""
    user = scope.get("user")
    return authorization_context(user) if isinstance(user, AuthenticatedUser) else None
