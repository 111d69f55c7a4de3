"""Origin-trial tokens: what a token says, by Chromium's format (docs/origin_trials_integration, "Token Format").

A token is base64 of a version (2 or 3), an Ed25519 signature of 64 bytes, the payload's length in 4 bytes, and the
payload in JSON. The signature is not checked: only the browser that made the trial has its key.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from mcpframe.frame.core.allowed_origins import parse_origin
from mcpframe.frame.core.errors import OriginError

WEBMCP = "WebMCP"
"""The trial of `document.modelContext`, as Chromium 156 names it."""
_HEAD = 1 + 64 + 4
_NEVER = 2**31
"""The first time that Chromium does not read."""
_LONGEST = 4096
"""The longest payload that Chromium reads."""


@dataclass(frozen=True)
class TrialToken:
    """The content of a token.

    Attributes:
        text: The token.
        origin: The origin for which it was given.
        feature: The name of the trial.
        expires: When it ends.
        subdomains: Whether it is for the subdomains of its origin, too.
        third_party: Whether it is for scripts of its origin in other sites' pages: a page's own markup cannot use it.
    """

    text: str
    origin: str
    feature: str
    expires: datetime
    subdomains: bool
    third_party: bool

    def is_for(self, origin: str) -> bool:
        """Return whether a browser accepts it in a page of this origin."""
        if self.third_party:
            return False
        if origin == self.origin:
            return True
        own, other = urlsplit(self.origin), urlsplit(origin)
        is_below = (other.hostname or "").endswith(f".{own.hostname}")
        return self.subdomains and is_below and (own.scheme, own.port) == (other.scheme, other.port)


def read_token(text: str) -> TrialToken:
    """Return what a token says.

    Raises:
        ValueError: It is not a token; the message says why.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("must be a token of an origin trial, which is base64: copy all of it") from None
    if len(data) <= _HEAD or data[0] not in (2, 3):
        raise ValueError("must be a token of an origin trial of version 2 or 3: copy all of it")
    size = int.from_bytes(data[_HEAD - 4 : _HEAD])
    if size != len(data) - _HEAD or size > _LONGEST:
        raise ValueError("is not a complete token of an origin trial: copy all of it")
    try:
        said = json.loads(data[_HEAD:])
        origin, feature, expiry = said["origin"], said["feature"], said["expiry"]
        parsed = parse_origin(origin.removesuffix(":443") if origin.startswith("https:") else origin)
    except (ValueError, KeyError, TypeError, AttributeError, OriginError):
        raise ValueError("is a token without an origin, a feature and an end: get it anew from the trial") from None
    if not isinstance(feature, str) or type(expiry) is not int or not 0 < expiry < _NEVER:
        raise ValueError("is a token without an origin, a feature and an end: get it anew from the trial")
    ends = datetime.fromtimestamp(expiry, UTC)
    return TrialToken(text, parsed, feature, ends, bool(said.get("isSubdomain")), bool(said.get("isThirdParty")))


def token_problems(token: TrialToken, now: datetime, origin: str | None = None) -> list[str]:
    """Return why browsers ignore a token, as ends of a sentence that begins with it.

    Args:
        now: The time.
        origin: The origin of the page; None if it is unknown.
    """
    problems = []
    if token.expires <= now:
        problems.append(f"has ended on {token.expires:%Y-%m-%d}")
    if token.third_party:
        problems.append("is a third party's, which only a script can add")
    elif origin is not None and not token.is_for(origin):
        problems.append(f"is for {token.origin}, not for {origin}")
    return problems
