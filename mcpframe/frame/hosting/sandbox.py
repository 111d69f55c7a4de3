"""The sandbox proxy of a host: a small page of another origin that frames HTML text and relays its messages."""

from __future__ import annotations

import sys
from typing import Final

from mcpframe.frame.core.errors import OriginError, StateError
from mcpframe.frame.session.places import parse_address

PROXY_SANDBOX: Final = "allow-scripts allow-same-origin allow-forms"
"""The sandbox of the proxy: it keeps its origin, which is checked."""


def parse_sandbox_proxy(sandbox: str | None) -> tuple[str, str]:
    """Return the address of the sandbox proxy, and its origin.

    Args:
        sandbox: the address; None for the proxy that this page was built with.

    Raises:
        OriginError: for an address that is none, or is of this page's own origin.
        StateError: if there is no sandbox proxy.
    """
    if sys.platform == "emscripten":
        from mcpframe.frame.browser import frames

        address, origin = parse_address(frames.absolute(sandbox) if sandbox else frames.sandbox_address())
        if origin == frames.own_origin():
            raise OriginError(f"{address} is of this page's own origin: serve the sandbox on another one.")
        return address, origin
    if sandbox is None:
        raise StateError("Outside of a browser's page pass AppHost the address of a sandbox.html.")
    return parse_address(sandbox)


def find_sandbox_proxy(sandbox: str | None) -> tuple[str, str] | None:
    """Return the address of the sandbox proxy and its origin; None for none outside of a browser's page.

    There the host's page may have no policy, so that HTML text works in it; a bundle's forbids its scripts and styles.

    Raises:
        OriginError: for an address that is none, or is of this page's own origin.
        StateError: if there is no sandbox proxy, in a browser's page.
    """
    if sandbox is None and sys.platform != "emscripten":
        return None
    return parse_sandbox_proxy(sandbox)
