"""Bearer tokens that are known beforehand: lines of a user's name and a token.

Source: MCP specification, basic/authorization; RFC 6750.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mcp.server.auth.provider import AccessToken

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.edges.http.principal import LOCAL

VARIABLE = "MCPFRAME_BEARER_TOKENS"
"""The environment variable with lines like those of a file."""
LEAST_TOKEN = 24
"""The shortest bearer token, in characters."""
HOW_TO_MAKE_ONE = 'python -c "import secrets; print(secrets.token_urlsafe(32))"'

_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")


class Tokens:
    """The SDK's `TokenVerifier` for these tokens.

    Args:
        tokens: The users by their tokens.
        scopes: What each of them may do.
    """

    def __init__(self, tokens: Mapping[str, str], scopes: Sequence[str] = ()) -> None:
        self._scopes = list(scopes)
        self._users = [(_digest(token), user) for token, user in tokens.items()]

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return whose token it is; None if nobody's. The time it takes does not depend on the token."""
        given, owner = _digest(token), None
        for digest, user in self._users:
            if hmac.compare_digest(digest, given):
                owner = user
        if owner is None:
            return None
        return AccessToken(token=token, client_id=owner, subject=owner, scopes=self._scopes)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def read_tokens(file: Path) -> dict[str, str]:
    """Return the users by their tokens, from a file; see `parse_tokens`.

    Raises:
        ConfigError: The file cannot be read, or one of its lines is not a user and a token.
    """
    try:
        text = file.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"The tokens in {file} cannot be read: {error}.") from error
    return parse_tokens(text, str(file))


def parse_tokens(text: str, source: str) -> dict[str, str]:
    """Return the users by their tokens, from lines of a user's name and a token.

    Empty lines, and those that begin with `#`, are ignored. A user may have several tokens.

    Args:
        source: Where the lines are from, for errors. These never show a line.

    Raises:
        ConfigError: A line is not a user and a token, or there is none.
    """
    users: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{source}, line {number}"
        user, _, token = line.strip().partition(" ")
        token = token.strip()
        if not _USER.fullmatch(user) or user == LOCAL or not token or not token.isascii() or " " in token:
            raise ConfigError(f"{where}: has to be the name of a user, a space, and a token without spaces.")
        if len(token) < LEAST_TOKEN:
            raise ConfigError(f"{where}: a token needs {LEAST_TOKEN} characters. A new one: {HOW_TO_MAKE_ONE}")
        if users.setdefault(token, user) != user:
            raise ConfigError(f"{where}: another user has this token.")
    if not users:
        raise ConfigError(f"{source} has no tokens: write a line with the name of a user and a token for each.")
    return users
