"""The authorization server whose access tokens are accepted, as a file of TOML says.

    issuer = "https://login.example"
    keys = "https://login.example/jwks"          # or a file with a public key, in PEM
    resource = "https://mcp.example/mcp"         # the address at which clients reach this server
    scopes = ["mcp"]                             # each is needed; by default none
    audience = "https://mcp.example/mcp"         # what tokens are issued for; by default the resource

Source: MCP specification, basic/authorization; RFC 8707, RFC 9728.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from mcp.server.auth.settings import AuthSettings
from pydantic import BaseModel, ConfigDict, ValidationError

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.base.extras import need
from mcpframe.kit.web.serve import is_loopback

_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
"""A scope: RFC 6749, section 3.3. None of its characters ends a quoted string of a header."""


@dataclass(frozen=True)
class Issuer:
    """An authorization server.

    Attributes:
        url: Its name in tokens (`iss`), which is the address of its metadata, too.
        keys: The address of its keys (JWKS), or the path of a file with its public key.
        resource: The address at which clients reach this server.
        audience: What a token has to be issued for (`aud`).
        scopes: The scopes that a token needs.
    """

    url: str
    keys: str
    resource: str
    audience: str
    scopes: Sequence[str] = ()

    def check(self) -> None:
        """Raise an error for what cannot be used.

        Raises:
            ConfigError: An address, a scope or the key cannot be used.
            ExtraMissing: The packages for this are not installed.
        """
        need("public", "Authorization by OAuth")
        for what, address in (("issuer", self.url), ("resource", self.resource)):
            _check_address(what, address)
        for scope in self.scopes:
            if not _SCOPE.fullmatch(scope):
                raise ConfigError(f"{scope[:80]!r} is not a scope: use one word for each.")
        if self.has_address:
            _check_address("keys", self.keys, query=True)
        else:
            from mcpframe.kit.edges.http.public_key import read_key

            read_key(Path(self.keys))

    @property
    def has_address(self) -> bool:
        """Whether the keys are fetched."""
        return "://" in self.keys

    def settings(self) -> AuthSettings:
        """Return the SDK's settings, which keep the addresses as they are written."""
        given = {
            "issuer_url": self.url,
            "resource_server_url": self.resource,
            "required_scopes": list(self.scopes),
            "validate_token_resource": False,  # the audience is checked with the signature
        }
        return AuthSettings.model_validate(given)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    issuer: str
    keys: str
    resource: str
    audience: str = ""
    scopes: list[str] = []


def read_issuer(file: Path) -> Issuer:
    """Return the authorization server that a file describes. Paths in it are relative to its folder.

    Raises:
        ConfigError: The file cannot be read, or a value is missing or of a wrong type.
    """
    try:
        read = _File.model_validate(tomllib.loads(file.read_text("utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}.") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"The authorization server in {file} cannot be read: {error}.") from error
    keys = read.keys if "://" in read.keys else str(file.absolute().parent / read.keys)
    return Issuer(read.issuer, keys, read.resource, read.audience or read.resource, tuple(read.scopes))


def _check_address(what: str, address: str, *, query: bool = False) -> None:
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.username is not None or parts.fragment or (parts.query and not query):
        raise ConfigError(f"{what} = {address[:200]!r}: has to be an address, such as https://login.example.")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise ConfigError(f"{what} = {address[:200]!r}: has to begin with https://, unless it is on this machine.")
