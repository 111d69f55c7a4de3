"""The request state of the SDK without cryptography, which a page lacks.

The SDK's default codec (`RequestStateSecurity.ephemeral`, which `MCPServer(...)` uses) encrypts the state into a token.
Here it issues opaque handles, and keeps the state itself.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.server.request_state import RequestStateSecurity


def hand_out_handles() -> None:
    """Set `HandleCodec` as the default security of request state."""
    from mcp.server.request_state import RequestStateSecurity

    def ephemeral(
        cls: type[RequestStateSecurity], *, ttl: float = 600.0, audience: str | None = None
    ) -> RequestStateSecurity:
        return handle_security(ttl=ttl, audience=audience)

    RequestStateSecurity.ephemeral = classmethod(ephemeral)  # type: ignore[method-assign, assignment]


def handle_security(*, ttl: float = 600.0, audience: str | None = None) -> RequestStateSecurity:
    """Return the policy for a framed server's request state: `HandleCodec`, with the SDK's defaults otherwise.

    Args:
        ttl: seconds that a state stays valid.
        audience: see `RequestStateSecurity`; by default the server's name.
    """
    from mcp.server.request_state import RequestStateSecurity

    return RequestStateSecurity(codec=HandleCodec(lifetime=ttl), ttl=ttl, audience=audience)


class HandleCodec:
    """A `RequestStateCodec` (a protocol of the SDK) that keeps the state in memory and issues handles to it.

    A handle is 256 random bits. The state never leaves the frame, so there is no key to keep and nothing to decrypt. A
    handle that was never issued, has expired or was evicted by newer ones is rejected.

    Args:
        max_entries: the most states that are kept; the oldest are dropped first.
        max_bytes: the most bytes of all states together; the oldest are dropped first, the newest always stays.
        lifetime: Seconds after which a state is forgotten.
        clock: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        *,
        max_entries: int = 1000,
        max_bytes: int = 16 * 1024 * 1024,
        lifetime: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._lifetime = lifetime
        self._clock = clock
        self._bytes = 0
        self._states: dict[bytes, tuple[float, bytes]] = {}  # oldest first

    def seal(self, payload: bytes) -> str:
        """Keep `payload` and return a new handle for it."""
        handle = secrets.token_urlsafe(32)
        self._states[_digest(handle)] = (self._clock() + self._lifetime, payload)
        self._bytes += len(payload)
        self._forget()
        return handle

    def unseal(self, token: str) -> bytes:
        """Return the payload that `seal` stored for this handle. A handle may be used again until it expires.

        Raises:
            InvalidRequestState: if the handle does not exist, or has expired.
        """
        from mcp.server.request_state import InvalidRequestState

        self._forget()
        kept = self._states.get(_digest(token))
        if kept is None:
            raise InvalidRequestState("unknown or expired handle")
        return kept[1]

    def _forget(self) -> None:
        now = self._clock()
        while self._states:
            digest, (expires, payload) = next(iter(self._states.items()))
            crowded = len(self._states) > self._max_entries or (self._bytes > self._max_bytes and len(self._states) > 1)
            if expires > now and not crowded:
                return
            del self._states[digest]
            self._bytes -= len(payload)


def _digest(handle: str) -> bytes:
    """Return the key of a handle in the table: the lookup time of a digest reveals nothing about the handles."""
    return hashlib.sha256(handle.encode("utf-8", "surrogatepass")).digest()
