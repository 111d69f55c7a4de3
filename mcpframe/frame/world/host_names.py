"""Addresses of host names, for code that looks one up before it fetches, to refuse a server's own network.

A page cannot look names up: the browser does, when it fetches, and `connect_src` of the bundle's policy bounds where
to. Pyodide makes up a private address for each name, so that such code would refuse every host. Names that can be
public get a public one here; numbers, and names that can only be of a local network, keep theirs. A request to that
address, with the header Host, goes to the name: see `browser.http_exchange`.
"""

from __future__ import annotations

import socket
from typing import Any, Final

from mcpframe.frame.core.allowed_origins import MADE_UP_ADDRESS, ends_in_number

_LOCAL: Final = ("localhost", "local", "internal", "lan", "home", "corp", "intranet", "private", "home.arpa")


def replace() -> None:
    """Replace the functions of `socket`. Does nothing when repeated."""
    if getattr(socket.getaddrinfo, "__module__", "") != __name__:
        module: Any = socket
        module.getaddrinfo = _addresses
        module.gethostbyname = _address
        module.gethostbyname_ex = _address_and_names


def looked_up(host: Any) -> Any:
    """Return `MADE_UP_ADDRESS` for a name that can be public, and otherwise the host itself."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else host
    if not isinstance(name, str) or not is_public(name):
        return host
    return MADE_UP_ADDRESS


def is_public(name: str) -> bool:
    """Return whether a name can be of a public host: it has a dot, is not a number, and ends in no local domain."""
    name = name.rstrip(".").lower()
    if "." not in name or ":" in name or ends_in_number(name):
        return False  # of the visitor's machine or network, or a number
    return not name.endswith(tuple(f".{end}" for end in _LOCAL))


_getaddrinfo = socket.getaddrinfo
_gethostbyname = socket.gethostbyname


def _addresses(host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> list[Any]:  # noqa: A002
    return _getaddrinfo(looked_up(host), port, family, type, proto, flags)


def _address(hostname: str) -> str:
    return _gethostbyname(looked_up(hostname))


def _address_and_names(hostname: str) -> tuple[str, list[str], list[str]]:
    return hostname, [], [_address(hostname)]
