"""The Content Security Policy of a view of MCP Apps, its permissions, and the links it may open.

Pure functions of the server's declaration (`_meta.ui` of the resource) and of the host's grants. Everything is denied
unless it is declared. Declarations are checked: the policy accepts only a plain domain, which can neither end its
directive nor match every site.

Sources: MCP Apps (SEP-1865), "UI Resource Format" and "Security Implications"; Content Security Policy Level 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mcpframe.frame.core.places import parse_address

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

Json = Mapping[str, Any]

PERMISSIONS: Final = {
    "camera": "camera",
    "microphone": "microphone",
    "geolocation": "geolocation",
    "clipboardWrite": "clipboard-write",
}
"""The permissions that a view can declare, with their names in the Permissions Policy."""

DOMAINS: Final = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
LINK_SCHEMES: Final = ("http", "https", "mailto")
"""The schemes of links that a host may open. Others could run code, or read files."""

MOST_DOMAINS = 100
"""The most domains of a kind that are accepted."""
LONGEST_LINK = 8192

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_DOMAIN = re.compile(
    rf"(?:(?P<scheme>https?|wss?)://)?(?P<wild>\*\.)?(?P<host>{_LABEL}(?:\.{_LABEL})*)(?::(?P<port>\d{{1,5}}))?"
    r"(?P<path>(?:/[A-Za-z0-9._~%@+-]*)*)",
    re.IGNORECASE | re.ASCII,  # without ASCII, [a-z] matches the Kelvin sign
)
_LINK = re.compile(
    r"(?:https?://[^/?#]+|(?P<mail>mailto:)(?=.))(?P<rest>[^\x00-\x20\x7f\\]*)", re.IGNORECASE | re.ASCII
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class ViewPolicy:
    """The valid part of a view's declaration.

    Attributes:
        connect: the sources that it may fetch from.
        resources: the sources of its scripts, styles, images, fonts and media.
        frames: the sources that it may frame.
        bases: the sources of its base address.
        permissions: the permissions that it asks for, by their names in `PERMISSIONS`.
        prefers_border: whether it prefers a border around it; None if it does not say.
        domain: the origin that it asks for, in the host's own form; empty for none.
        refused: rejected declarations of domains, as `kind: text`.
    """

    connect: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    prefers_border: bool | None = None
    domain: str = ""
    refused: tuple[str, ...] = ()

    @classmethod
    def read(cls, ui: Any, allow: Callable[[str, str], bool] = lambda kind, domain: True) -> ViewPolicy:
        """Read the `_meta.ui` of a resource. Anything malformed counts as not declared.

        Args:
            ui: the JSON value.
            allow: called with a kind of `DOMAINS` and with each valid domain; false refuses it.
        """
        given = ui if isinstance(ui, Mapping) else {}
        csp, asked = given.get("csp"), given.get("permissions")
        lists: dict[str, tuple[str, ...]] = {}
        refused: list[str] = []
        for kind in DOMAINS:
            declared = csp.get(kind) if isinstance(csp, Mapping) else None
            domains: dict[str, None] = {}
            for number, text in enumerate(declared if isinstance(declared, list | tuple) else ()):
                domain = parse_domain(text)
                if domain is None or number >= MOST_DOMAINS or not allow(kind, domain):
                    refused.append(f"{kind}: {str(text)[:200]}")
                else:
                    domains[domain] = None
            lists[kind] = tuple(domains)
        border, domain = given.get("prefersBorder"), given.get("domain")
        return cls(
            connect=lists["connectDomains"],
            resources=lists["resourceDomains"],
            frames=lists["frameDomains"],
            bases=lists["baseUriDomains"],
            permissions=tuple(name for name in PERMISSIONS if isinstance(asked, Mapping) and _declared(asked, name)),
            prefers_border=border if isinstance(border, bool) else None,
            domain=domain if isinstance(domain, str) else "",
            refused=tuple(refused),
        )

    @property
    def csp(self) -> dict[str, list[str]]:
        """The valid domains, in the form of `_meta.ui.csp`."""
        lists = (self.connect, self.resources, self.frames, self.bases)
        return {kind: list(domains) for kind, domains in zip(DOMAINS, lists, strict=True) if domains}


def parse_domain(text: Any) -> str | None:
    """Return a source expression for a declared domain; None if it is not one.

    Args:
        text: such as `https://api.example.com`, `https://*.example.com`, `wss://live.example.com:8443`, or
            `api.example.com`, which stands for https. A path is allowed. `*`, `https:` and `data:` are not domains,
            nor is a wildcard under a public suffix, such as `https://*.co.uk` or `https://*.github.io`.
    """
    match = _DOMAIN.fullmatch(text) if isinstance(text, str) and len(text) <= 300 else None
    if match is None:
        return None
    host, port = match["host"].lower(), match["port"]
    if match["wild"] and is_public_suffix(host):
        return None
    if port is not None and not 0 < int(port) < 65536:
        return None
    scheme = (match["scheme"] or "https").lower()
    return f"{scheme}://{match['wild'] or ''}{host}{f':{port}' if port else ''}{match['path']}"


def is_public_suffix(host: str) -> bool:
    """Return whether a host is a public suffix, under which anyone can have a site, such as `co.uk` or `github.io`.

    Without the package `publicsuffixlist`, every host counts as one.
    """
    suffixes = public_suffixes()
    return suffixes is None or suffixes.is_public(host)


@cache
def public_suffixes() -> PublicSuffixList | None:
    """Return the public suffix list; None if its package is missing, as it may be in a page."""
    try:
        from publicsuffixlist import PublicSuffixList
    except ModuleNotFoundError:
        return None
    return PublicSuffixList()


def content_policy(policy: ViewPolicy, *, wasm: bool = False) -> str:
    """Return the Content Security Policy of a view.

    Args:
        policy: the valid part of its declaration.
        wasm: whether it may run WebAssembly, such as Pyodide, in its own page.
    """
    resources = list(policy.resources)
    directives = {
        "default-src": ["'none'"],
        "script-src": ["'unsafe-inline'", *(["'wasm-unsafe-eval'"] if wasm else []), *resources],
        "style-src": ["'unsafe-inline'", *resources],
        "img-src": ["data:", "blob:", *resources],
        "font-src": ["data:", *resources],
        "media-src": ["data:", "blob:", *resources],
        "connect-src": list(policy.connect) or ["'none'"],
        "frame-src": list(policy.frames) or ["'none'"],
        "worker-src": ["blob:", *resources],
        "base-uri": list(policy.bases) or ["'none'"],
        "form-action": ["'none'"],
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in directives.items())


def granted(policy: ViewPolicy, permissions: Iterable[str]) -> dict[str, str]:
    """Return the permissions that a view asks for and its host grants, each with its name in the Permissions Policy.

    Args:
        policy: the valid part of its declaration.
        permissions: the permissions that the host grants, by either name.

    Raises:
        ValueError: for one that no view can have.
    """
    names = {**{name: name for name in PERMISSIONS}, **{feature: name for name, feature in PERMISSIONS.items()}}
    granted = list(permissions)
    if unknown := [name for name in granted if name not in names]:
        raise ValueError(f"{unknown[0]!r} is not a permission of a view; they are {', '.join(PERMISSIONS)}.")
    allowed = {names[name] for name in granted}
    return {name: PERMISSIONS[name] for name in policy.permissions if name in allowed}


def parse_link(url: Any) -> str:
    """Return a link that a host may be asked to open: in ASCII, with the host that browsers read.

    Raises:
        ValueError: for other schemes than `LINK_SCHEMES`, for a link with a user in it, and for one that browsers and
            Python might read differently.
    """
    if not isinstance(url, str) or len(url) > LONGEST_LINK:
        raise ValueError("The link must be a text of at most 8,192 characters.")
    match = _LINK.fullmatch(url)
    if match is None:
        raise ValueError(f"{url[:200]!r} is not a link that a host opens: write an http, https or mailto address.")
    try:
        start = match["mail"] or parse_address(url)[1]
        return start.lower() + _NOT_ASCII.sub(lambda text: quote(text[0]), match["rest"])
    except ValueError as error:
        raise ValueError(f"{url[:200]!r} is not a link that a host opens: {error}") from None


def is_model_only(tool: Json) -> bool:
    """Return whether a tool is not for views: its `_meta.ui.visibility` lacks `app`, or is not a list.

    Without a `visibility` it is for both.
    """
    visibility = ui_of(tool).get("visibility")
    return visibility is not None and not (isinstance(visibility, list) and "app" in visibility)


def ui_of(described: Json) -> Json:
    """Return the `_meta.ui` of a tool or a resource; empty for none."""
    meta = described.get("_meta")
    ui = meta.get("ui") if isinstance(meta, Mapping) else None
    return ui if isinstance(ui, Mapping) else {}


def resource_uri(tool: Json) -> str | None:
    """Return the `ui://` address of a tool's view, also from the key used before 2026; None for none."""
    meta = tool.get("_meta")
    uri = ui_of(tool).get("resourceUri") or (meta.get("ui/resourceUri") if isinstance(meta, Mapping) else None)
    return uri if isinstance(uri, str) and uri.startswith("ui://") else None


def _declared(asked: Json, name: str) -> bool:
    return isinstance(asked.get(name), Mapping)
