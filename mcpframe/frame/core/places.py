"""The place of a framed page: `Framing` describes the page, a `Place` creates a `FramedWindow` for it.

A place is a function from a `Framing` to a `FramedWindow`: `browser/frame_places.py` has the browser's, `mcpframe.kit`
has Playwright's, tests have a fake one. Every phase gets a fresh window, because changing only the hash of a URL does
not load the page again.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, Protocol
from urllib.parse import urlsplit

from mcpframe.frame.core.allowed_origins import parse_origin
from mcpframe.frame.core.errors import OriginError
from mcpframe.frame.core.events import Port, Window

SANDBOX = {
    "standard": "allow-scripts allow-same-origin allow-forms allow-downloads",
    "popups": "allow-scripts allow-same-origin allow-forms allow-downloads allow-popups "
    "allow-popups-to-escape-sandbox allow-modals",
    "strict": "allow-scripts",
}
"""The `sandbox` attribute by preset. `popups` is for pages that sign in elsewhere; `strict` makes the origin opaque."""

POPUP_SIZE = (800, 600)
"""Width and height of a popup in CSS pixels."""

_FEATURE = re.compile(r"[a-z][a-z0-9-]*\Z")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")


class Popup(Enum):
    """The type of `POPUP`."""

    POPUP = "popup"


POPUP: Final = Popup.POPUP
"""The place for a popup window; browsers allow one only after a click."""


@dataclass(frozen=True, slots=True)
class Framing:
    """A page to frame, and how to frame it.

    Attributes:
        url: the address to load.
        name: the name of the window; by default a new, unguessable one.
        title: the accessible name of the frame.
        sandbox: the `sandbox` attribute of the iframe; None for none. A popup has no sandbox.
        allow: the `allow` attribute of the iframe (Permissions Policy). In a popup the browser asks the user.
        visible: whether the iframe is initially shown.
        html: HTML text to show instead of the address; None for none.
        size: the width and height of the iframe in CSS; None leaves them to the page's style.
        on_load: called when the page has loaded. Another document in its place is a `Departure`.
    """

    url: str
    name: str = field(default_factory=lambda: f"mcpframe-{uuid.uuid4().hex}")
    title: str = ""
    sandbox: str | None = None
    allow: str = ""
    visible: bool = False
    html: str | None = None
    size: tuple[str, str] | None = None
    on_load: Callable[[], None] | None = None


class FramedWindow(Window, AbstractAsyncContextManager["FramedWindow"], Protocol):
    """The window of one framed page. Entering creates it, listening loads the page, leaving removes it.

    Entering raises `PopupBlocked` if the browser blocks the popup.
    """

    def show(self, visible: bool) -> None:
        """Show or hide the iframe, without reloading it; bring a popup to the front. A popup cannot be hidden."""
        ...

    def resize(self, width: int | None, height: int | None) -> None:
        """Set the size of the iframe in CSS pixels; None leaves it as it is. It is at most as wide as its place.

        It has no border then. A popup keeps its size.
        """
        ...


class HandingWindow(FramedWindow, Protocol):
    """The window of a framed page that can be handed a port: the browser's, and Playwright's."""

    def hand_over(self, text: str, target_origin: str) -> Port:
        """Create a channel, post a message with one of its ports, as `post`, and return the other one."""
        ...


Place = Callable[[Framing], FramedWindow]


@dataclass(frozen=True, slots=True)
class VisibilityChanged:
    """The host showed or hid the framed page."""

    visible: bool


@dataclass(frozen=True, slots=True)
class NoHandshake:
    """The framed page has loaded but sent no handshake: another page, or one that may not be framed here.

    Attributes:
        hint: advice on the cause, as a sentence.
    """

    hint: str


HINT_AFTER = 2.0
"""Seconds from a page's load until `NoHandshake`: a bundle sends its handshake before it has loaded."""


def parse_address(url: str) -> tuple[str, str]:
    """Check the address of a page to frame.

    Args:
        url: absolute, of http or https.

    Returns:
        The address, and the origin that a browser reports for it.

    Raises:
        OriginError: for another scheme, and for addresses that browsers and Python might parse differently.
    """
    address = url.strip()
    if not address or _UNSAFE.search(address):
        raise OriginError(f"{url!r} is not the address of a page; write one such as 'https://tools.example/pi/'.")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise OriginError(f"{url!r} is not the address of a page: {error}.") from None
    if parts.scheme not in ("http", "https"):
        raise OriginError(f"{url!r}: only pages of http and https can be framed.")
    if parts.username is not None or parts.password is not None:
        raise OriginError(f"{url!r}: leave user and password out of the address; browsers do not frame it otherwise.")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    shown_port = "" if port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{port}"
    return address, parse_origin(f"{parts.scheme}://{host}{shown_port}")


def parse_sandbox(sandbox: str | None, *, opaque: bool) -> str | None:
    """Return the `sandbox` attribute for a preset or an attribute's text.

    Args:
        sandbox: one of `SANDBOX`, an attribute's text, or None for no sandbox.
        opaque: whether the page is meant to have no origin.

    Raises:
        OriginError: if the two contradict each other.
    """
    attribute = None if sandbox is None else SANDBOX.get(sandbox, sandbox)
    tokens = None if attribute is None else attribute.lower().split()
    if tokens is not None and "allow-scripts" not in tokens:
        raise OriginError(f"The sandbox {sandbox!r} lacks allow-scripts: no page in it could answer.")
    is_opaque = tokens is not None and "allow-same-origin" not in tokens
    if is_opaque and not opaque:
        raise OriginError(
            f"The sandbox {sandbox!r} lacks allow-same-origin, so that the page has no origin to check: "
            "add it, or pass opaque=True."
        )
    if opaque and not is_opaque:
        raise OriginError("opaque=True is only for a sandbox without allow-same-origin, such as 'strict'.")
    return attribute


def allow_attribute(permissions: Iterable[str]) -> str:
    """Return the `allow` attribute that grants these permissions to the framed page's own origin, and to no other.

    Args:
        permissions: names of Permissions Policy features, such as `"clipboard-read"`.

    Raises:
        OriginError: for a text that is no such name, and could add another one.
    """
    names = sorted(set(permissions))
    for name in names:
        if not _FEATURE.match(name):
            raise OriginError(f"{name!r} is not the name of a permission, such as 'clipboard-read'.")
    return "; ".join(names)


Phase = Literal["setup", "transport"]
