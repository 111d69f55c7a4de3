"""Who may send requests to a server over HTTP: its address and names, tokens and limits, checked before it starts.

TLS is a balancer's task: behind it the server listens on a private address, and is known by the balancer's name.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from mcp.server.transport_security import TransportSecuritySettings

from mcpframe.frame.core.allowed_origins import parse_allowed_origins
from mcpframe.kit.base.errors import ConfigError, ServeError
from mcpframe.kit.edges.http.issuer import Issuer
from mcpframe.kit.edges.http.rate_limit import parse_rate
from mcpframe.kit.web.serve import bracketed, is_loopback

PATH = "/mcp"
"""The path of MCP's endpoint."""
HOST = "127.0.0.1"
_THIS_MACHINE = (HOST, "localhost", "[::1]")
_EVERY_ADDRESS = ("0.0.0.0", "[::]")  # noqa: S104  compared only


@dataclass(frozen=True)
class Access:
    """The options of whatever serves MCP over HTTP. They are passed to worker processes as they are.

    Attributes:
        host: The address to listen on.
        names: The host names of the public address, besides those of this machine.
        allowed_origins: The origins of web pages that may send requests.
        tokens: The users by their bearer tokens.
        issuer: The authorization server whose tokens are accepted, too.
        rate: How many requests a client may send, such as `120/minute`; None for any number.
        proxies: The addresses or networks of proxies whose `X-Forwarded-For` names the client.
    """

    host: str = HOST
    names: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    issuer: Issuer | None = None
    rate: str | None = None
    proxies: Sequence[str] = ()

    @property
    def is_authorized(self) -> bool:
        """Whether requests need a token."""
        return bool(self.tokens) or self.issuer is not None

    def check(self) -> None:
        """Raise an error for what cannot be served.

        Raises:
            ServeError: Other machines could use the server, and there is no authorization.
            OriginError: An origin can never match.
            ConfigError: The issuer's keys, the rate or a proxy's address cannot be used.
            ExtraMissing: The packages for this are not installed.
        """
        if not self.is_authorized and not is_loopback(self.host):
            raise ServeError(
                f"Anyone who reaches {self.host} could use this server: name a file of bearer tokens with --tokens or "
                "an authorization server with --oauth, or listen on 127.0.0.1."
            )
        if self.allowed_origins:
            parse_allowed_origins(self.allowed_origins)
        if self.issuer is not None:
            self.issuer.check()
        if self.rate is not None:
            parse_rate(self.rate)
        for proxy in self.proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError as error:
                raise ConfigError(f"{proxy[:80]!r} is not the address or network of a proxy: {error}.") from None

    def address(self, port: int) -> str:
        """Return the address of the endpoint on this machine."""
        return f"http://{bracketed(self.host)}:{port}{PATH}"

    def security(self, port: int | None = None) -> TransportSecuritySettings:
        """Return the hosts and origins that are answered: others may be names that lead here by DNS rebinding.

        Args:
            port: The port of names of this machine; None for any one, as where a container's is passed on.
        """
        if not is_loopback(self.host):
            port = None
        own = dict.fromkeys((*_THIS_MACHINE, bracketed(self.host)))
        here = _with_port([name for name in own if name not in _EVERY_ADDRESS], port)
        public = [name.lower() for name in self.names]  # as clients write it into the header
        if self.issuer is not None:
            public.append(bracketed(urlsplit(self.issuer.resource).hostname or ""))
        return TransportSecuritySettings(
            allowed_hosts=[*here, *_with_port(public, None)],
            allowed_origins=[
                *_with_port([f"http://{name}" for name in _THIS_MACHINE], port),
                *_with_port([f"https://{name}" for name in public], None),
                *self.allowed_origins,
            ],
        )


def _with_port(names: Sequence[str], port: int | None) -> list[str]:
    if port is None:
        return [form for name in names for form in (name, f"{name}:*")]
    return [*(f"{name}:{port}" for name in names), *(names if port == 80 else ())]
