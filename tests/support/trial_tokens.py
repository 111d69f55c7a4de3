"""Tokens of origin trials for tests, signed by a key of their own, which a Chromium can be told to trust."""

from __future__ import annotations

import base64
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
TRUSTED = base64.b64encode(_KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
"""The value of Chromium's option `--origin-trial-public-key`."""
FAR = 2_100_000_000
"""A time in the year 2036: browsers read a number of 31 bits."""


def trial_token(origin: str, feature: str = "WebMCP", expiry: int = FAR, version: int = 3, **more: Any) -> str:
    """Return a token."""
    payload = json.dumps({"origin": origin, "feature": feature, "expiry": expiry, **more}).encode()
    signed = len(payload).to_bytes(4) + payload
    head = bytes([version])
    return base64.b64encode(head + _KEY.sign(head + signed) + signed).decode()
