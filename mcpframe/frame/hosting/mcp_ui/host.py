"""A host of mcp-ui: it shows the UI resources that tools return, and handles the actions of their pages.

    host = UiHost(block, client=client, on_link=ask_and_open, render_data={"theme": "dark"})
    async with host.show("#board") as shown:
        ...

HTML text runs at an opaque origin, a page of another origin at its own. A page of this page's origin gets an opaque
one, as it could otherwise reach everything here. HTML text inherits the policy of the page around it, which for a
bundle forbids inline scripts and styles. So it is framed through the sandbox proxy of another origin
(`static/app/sandbox.html`), which a page has if it was built with `sandbox_origin`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.core.allowed_origins import OPAQUE, parse_allowed_origins
from mcpframe.frame.core.connection import Candidate, Options
from mcpframe.frame.core.errors import OriginError, UnexpectedOrigin
from mcpframe.frame.core.events import Closed, Event, Refused
from mcpframe.frame.core.limits import VIEW_PENDING_REQUESTS
from mcpframe.frame.core.places import FramedWindow, Framing, allow_attribute, parse_address
from mcpframe.frame.dialects.mcp_ui.further_roles import EMBEDDER, EmbedderOffer
from mcpframe.frame.hosting.mcp_ui.actions import Actions, ShownUi, UiAction
from mcpframe.frame.hosting.mcp_ui.resource import read_ui_resource, waiting_address
from mcpframe.frame.hosting.sandbox_proxy import ProxiedWindow, find_sandbox_proxy, proxy_sandbox
from mcpframe.frame.hosting.shown_frame import AXES, find_place
from mcpframe.frame.session.host_messages import plain
from mcpframe.frame.session.session import WireHook

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger(__name__)

Json = Mapping[str, Any]

_SAME_ORIGIN = "allow-same-origin"
_OPTIONS = Options(max_pending=VIEW_PENDING_REQUESTS)
_ELSEWHERE = (
    "%s was framed from %s, but is now a page of %s, which is neither heard nor sent anything: name that address."
)
_SIZE = ("100%", "100%")


class UiHost:
    """The host of one UI resource, which can be shown repeatedly.

    Attributes:
        content: the content of the resource.
        data: the render data for its page; None for none.
    """

    def __init__(
        self,
        resource: Any,
        *,
        client: Client | None = None,
        render_data: Json | None = None,
        auto_resize: bool | Literal["width", "height"] = False,
        sandbox: str = "",
        proxy: str | None = None,
        permissions: Iterable[str] = (),
        title: str = "",
        options: Options | None = None,
        on_event: Callable[[Event], None] | None = None,
        on_wire: WireHook | None = None,
        **actions: Any,
    ) -> None:
        """Read the resource; it is shown by `show`.

        Args:
            resource: the content block of a tool's result, or the resource in it: an object, or a model of the SDK.
            client: a connected client, whose tools the page may call, but for those that are for models only (MCP Apps,
                `visibility`); without it `on_tool` is asked.
            render_data: the data for the page to draw; it replaces members of the resource's own data.
            auto_resize: whether the frame follows the size that its page reports, in both dimensions or in one.
            sandbox: further tokens of the `sandbox` attribute, such as `"allow-popups"`.
            proxy: the address of the sandbox proxy, on another origin than this page, for HTML text. A page that was
                built with `sandbox_origin` has one, which is used by default. Over Playwright, HTML text without one is
                in the host's page, whose policy holds for it.
            permissions: names of the Permissions Policy features that are granted.
            title: the frame's accessible name; by default the URI of the resource.
            options: deadlines and limits.
            on_event: called with every event of a connection but `Received`.
            on_wire: called with every message that is sent, received or rejected.
            actions: the functions that handle actions, by name; each may be async; its result is the answer,
                its exception the error. `on_tool(name, arguments)`, `on_intent(intent, params)`, `on_prompt(prompt)`,
                `on_link(url)` with http, https or mailto, `on_notify(message)`, `on_data(kind, params)`;
                `on_action(action)` with a `UiAction` handles those without a function of their own. A `UiError` is sent
                as it is. A page whose host has none of them, and no client, gets no answer.

        Raises:
            UiError: for a resource that cannot be shown; the message says why.
            OriginError: for a sandbox, a permission or an address that cannot be used.
            StateError: for HTML text in a page that has no sandbox proxy.
            TypeError: for an unknown action name.
        """
        self.content = read_ui_resource(resource)
        tokens = sandbox.lower().split()
        if self.content.html is not None and _SAME_ORIGIN in tokens:
            raise OriginError("HTML text with allow-same-origin would have this page's origin: leave that out.")
        self._tokens = tokens
        self._proxy = find_sandbox_proxy(proxy) if self.content.html is not None else None
        self._allow = allow_attribute(permissions)
        both = {**_object(self.content.data), **_object(plain(render_data))}
        self.data: Any = both if both or render_data is not None or self.content.data is not None else None
        self._axes = AXES if auto_resize is True else (auto_resize,) if isinstance(auto_resize, str) else ()
        self._title = title or self.content.uri
        self._actions = Actions(client=client, **actions)
        self._options = options or _OPTIONS
        self._on_event = on_event
        self._on_wire = on_wire

    @asynccontextmanager
    async def show(self, place: Any) -> AsyncIterator[ShownUi]:
        """Show the page for the duration of the block.

        Args:
            place: where to put it: a selector, an element, or a `Place`.

        Yields:
            The page, which may not have loaded yet.

        Raises:
            StateError: if there is no such place.
        """
        shown = ShownUi(self._actions, self._axes)
        framing, origin = self._framing(_own_origin(place))
        framing = replace(framing, on_load=shown.loaded)
        opaque = origin == OPAQUE
        candidate = Candidate(
            EMBEDDER,
            parse_allowed_origins([] if opaque else [origin], opaque=opaque),
            EmbedderOffer(origin=origin, data=self.data),
        )

        def proxied(window: FramedWindow) -> ProxiedWindow:
            return ProxiedWindow(window, origin, self._resource(), shown.loaded)

        def note(event: Event) -> None:
            if isinstance(event, Closed):
                shown.close()
            elif isinstance(event, Refused) and isinstance(event.error, UnexpectedOrigin):
                log.warning(_ELSEWHERE, self.content.uri, origin, event.origin)
            if self._on_event:
                self._on_event(event)

        try:
            async with shown.frame.open(
                find_place(place),
                framing,
                candidate,
                options=self._options,
                on_event=note,
                on_wire=self._on_wire,
                intercept=shown,
                through=proxied if self._proxy is not None else None,
                once=opaque or self._proxy is not None,
            ):
                yield shown
        finally:
            shown.close()

    def _framing(self, own_origin: str) -> tuple[Framing, str]:
        """Return the framing in a host page of that origin, and the origin of the framed page."""
        size = self.content.size or _SIZE
        framing = Framing(url="", title=self._title, allow=self._allow, visible=True, size=size)
        if self._proxy is not None:
            url, origin = self._proxy
            return replace(framing, url=url, sandbox=proxy_sandbox(origin)), origin
        if self.content.html is not None:
            return replace(framing, html=self.content.html, sandbox=self._sandbox("allow-scripts")), OPAQUE
        url, origin = parse_address(self.content.url)
        if self.data is not None:
            url = waiting_address(url)
        if origin == own_origin:
            tokens = [token for token in self._sandbox("allow-scripts").split() if token != _SAME_ORIGIN]
            return replace(framing, url=url, sandbox=" ".join(tokens)), OPAQUE
        return replace(framing, url=url, sandbox=self._sandbox("allow-scripts", _SAME_ORIGIN)), origin

    def _sandbox(self, *tokens: str) -> str:
        return " ".join(dict.fromkeys([*self._tokens, *tokens]))

    def _resource(self) -> dict[str, Any]:
        """Return the page for the proxy to frame. Its policy allows everything, as if it had none."""
        anything = "default-src * data: blob: 'unsafe-inline' 'unsafe-eval'; base-uri *"
        framed = {"html": self.content.html, "sandbox": self._sandbox("allow-scripts"), "allow": self._allow}
        return {**framed, "policy": anything, "reports": True}


def _own_origin(place: Any) -> str:
    """Return the origin of the host's page; outside of a browser, its `Place` provides it."""
    if in_pyodide():
        from mcpframe.frame.browser.frame_places import own_origin

        return own_origin()
    return str(getattr(place, "host_origin", ""))


def _object(data: Any) -> Json:
    return data if isinstance(data, dict) else {}


__all__ = ["ShownUi", "UiAction", "UiHost"]
