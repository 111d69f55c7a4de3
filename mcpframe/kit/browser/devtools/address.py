"""The address of a browser's DevTools, which may contain a token: it is never shown whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_SECURE = {"https": True, "wss": True, "http": False, "ws": False}
_VERSION = "/json/version"
HOW = "write http://127.0.0.1:9222, or the ws:// or wss:// address that the browser's owner names"


@dataclass(frozen=True)
class DevToolsAddress:
    """Where a browser's DevTools are.

    Attributes:
        secure: whether the connection is encrypted (TLS).
        host: the host name or IP address.
        port: the port.
        path: the path of the WebSocket; empty if the browser has to be asked for it (`version_path`).
        version_path: where it is asked for.
        query: the query, with a token perhaps; empty for none.
    """

    secure: bool
    host: str
    port: int
    path: str
    version_path: str
    query: str

    @classmethod
    def parse(cls, text: str) -> DevToolsAddress:
        """Parse an address.

        Args:
            text: `http://` or `https://` and a host, whose `/json/version` has the address of the WebSocket; or that
                address, `ws://` or `wss://`.

        Raises:
            ValueError: it is no such address. The message does not contain it.
        """
        if re.search(r"[^!-~]", text):
            raise ValueError(f"an address has no spaces and no letters beyond ASCII: {HOW}")
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ValueError(f"this is not an address: {HOW}") from None
        if parts.scheme not in _SECURE or not host or port == 0:
            raise ValueError(f"this is not the address of a browser's DevTools: {HOW}")
        if parts.username is not None or parts.fragment:
            raise ValueError("an address of DevTools has neither a user nor a fragment: write a token into its query")
        secure, asks = _SECURE[parts.scheme], parts.scheme.startswith("http")
        base = parts.path.removesuffix(_VERSION).rstrip("/")
        path = "" if asks else parts.path or "/"
        if path == "/" and not parts.query:  # services have their WebSocket there, with a token in the query
            raise ValueError(f"the address of a WebSocket has a path: {HOW}")
        return cls(secure, host, port or (443 if secure else 80), path, f"{base}{_VERSION}", parts.query)

    @property
    def authority(self) -> str:
        """Host and port, as in the header `Host`."""
        return authority(self.host, self.port, secure=self.secure)

    def __str__(self) -> str:
        """Return the address without its path and query, which may be secret."""
        return f"{'wss' if self.secure else 'ws'}://{self.authority}"

    def with_query(self, path: str) -> str:
        """Return a path with the query, unless it has one of its own."""
        return f"{path}?{self.query}" if self.query and "?" not in path else path


def authority(host: str, port: int, *, secure: bool) -> str:
    """Return host and port as in the header `Host`: without the usual port."""
    name = f"[{host}]" if ":" in host else host
    return name if port == (443 if secure else 80) else f"{name}:{port}"
