"""The view that frames a published bundle: its text and its `_meta`, from the bundle's URL.

A view of MCP Apps is HTML text, in which relative URLs do not resolve. This view, the shim, is a few kilobytes that
frame the page of a bundle by its URL and relay messages between it and the host. So the bundle runs under its own
policy, WebAssembly included; the host only has to allow the frame (`frameDomains`).

The shim's source is `static/app`; `bundle_page_shim.py` is generated from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, Final

PERMISSIONS: Final = ("camera", "microphone", "geolocation", "clipboardWrite")
"""The permissions that a view can request in `_meta.ui.permissions`."""


def framing_html(url: str) -> str:
    """Return the HTML text of the view that frames a bundle.

    Args:
        url: the bundle's page, such as `"https://tools.example/forecast/"`.

    Raises:
        ValueError: if it is not an absolute address with http or https, or has a fragment, user or password.
    """
    from mcpframe.views.bundle_page_shim import SHIM

    origin = url_origin(url)
    return SHIM.replace("BUNDLE_ORIGIN", escape(origin)).replace("BUNDLE_URL", escape(url))


def framing_meta(
    url: str, *, prefers_border: bool | None = None, permissions: Iterable[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return the `_meta` of that view's resource: an object with the member `ui`.

    Args:
        url: the bundle's page; see `framing_html`.
        prefers_border: whether to ask the host for a border and a background; None leaves that to the host.
        permissions: the browser permissions that the bundle asks for, of `PERMISSIONS`.

    Raises:
        ValueError: if `framing_html` does not accept the URL, or a permission is unknown.
    """
    return view_meta({"frameDomains": [url_origin(url)]}, prefers_border=prefers_border, permissions=permissions)


def view_meta(
    csp: dict[str, Any], *, prefers_border: bool | None = None, permissions: Iterable[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return the `_meta` of a view's resource.

    Args:
        csp: the sources that the view may use, as in `_meta.ui.csp`.
        prefers_border: see `framing_meta`.
        permissions: see `framing_meta`.

    Raises:
        ValueError: if a permission is unknown.
    """
    names = list(permissions)
    if unknown := [name for name in names if name not in PERMISSIONS]:
        raise ValueError(f"{unknown[0]!r} is not a permission; possible are {', '.join(PERMISSIONS)}.")
    ui: dict[str, Any] = {"csp": csp}
    if names:
        ui["permissions"] = {name: {} for name in PERMISSIONS if name in names}
    if prefers_border is not None:
        ui["prefersBorder"] = prefers_border
    return {"ui": ui}


def url_origin(url: str) -> str:
    """Return the origin of a bundle's URL, as a browser serializes it.

    Raises:
        ValueError: if it is not an absolute address with http or https, or has a fragment, user or password.
    """
    from mcpframe.frame.session.places import parse_address

    if any(character <= " " or character in "\"'<>#" for character in url):
        raise ValueError(f"{url!r} is not the address of a bundle: it has characters that belong in no URL.")
    return parse_address(url)[1]
