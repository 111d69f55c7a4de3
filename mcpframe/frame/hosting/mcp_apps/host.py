"""A host of MCP Apps: it shows the views of a server's tools, and talks with them.

    app = AppHost(client, "forecast", sandbox="https://sandbox.example/sandbox.html", on_link=ask_and_open)
    async with app.show("#view") as view:
        result = await view.call({"place": "Vienna"})

A view is HTML text of a server that the host does not trust, so it runs in a sandbox: the host frames a page of another
origin, or of none, the sandbox proxy (`static/app/sandbox.html`), which frames the view with the policy that the host
derives from the view's declaration, and relays messages. A view reaches its own server and no other, and calls only
tools that are for views; for everything else the host's functions are called.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.allowed_origins import OPAQUE, parse_allowed_origins
from mcpframe.frame.core.connection import Candidate, Options
from mcpframe.frame.core.errors import AppError
from mcpframe.frame.core.events import Closed, Event
from mcpframe.frame.core.limits import TEARDOWN_SECONDS, VIEW_HANDSHAKE_SECONDS, VIEW_PENDING_REQUESTS
from mcpframe.frame.core.object_results import tool_with_object
from mcpframe.frame.core.places import Framing, allow_attribute
from mcpframe.frame.dialects.mcp_apps.further_roles import HOST, AppsHostOffer, ViewCalled
from mcpframe.frame.hosting.mcp_apps.requests import Hooks
from mcpframe.frame.hosting.mcp_apps.view import RunningView
from mcpframe.frame.hosting.policy import ViewPolicy, content_policy, granted, public_suffixes
from mcpframe.frame.hosting.sandbox_proxy import VIEW_OPAQUE, VIEW_OWN_ORIGIN, parse_sandbox_proxy, proxy_sandbox
from mcpframe.frame.hosting.shown_frame import ShownFrame, find_place
from mcpframe.frame.hosting.view_server import MIME_TYPE, ViewResource, ViewServer
from mcpframe.frame.session.session import WireHook

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client.extension import ClientExtension

    from mcpframe.frame.hosting.mcp_apps.host_profiles import HostProfile

log = logging.getLogger(__name__)

Json = Mapping[str, Any]
_OPTIONS = Options(handshake_timeout=VIEW_HANDSHAKE_SECONDS, max_pending=VIEW_PENDING_REQUESTS)
_AS_WIDE_AS_ITS_PLACE = 100_000
"""Any number above a screen's width: a place makes a frame no wider than itself."""


class AppHost:
    """The host of one view, which can be shown repeatedly.

    Attributes:
        sandbox: the address of the sandbox proxy.
    """

    def __init__(
        self,
        client: Client,
        tool: str,
        *,
        sandbox: str | None = None,
        own_origin: bool = False,
        context: Json | None = None,
        name: str = "mcpframe",
        version: str = "0",
        permissions: Iterable[str] = (),
        wasm: bool = False,
        profile: HostProfile | None = None,
        allow_domain: Callable[[str, str], bool] = lambda kind, domain: True,
        teardown: float = TEARDOWN_SECONDS,
        options: Options | None = None,
        on_event: Callable[[Event], None] | None = None,
        on_wire: WireHook | None = None,
        **hooks: Any,
    ) -> None:
        """Describe the view; it is read by `show`.

        Args:
            client: a connected client of the view's server. The view reaches no other.
            tool: the name of the tool whose view is shown, or the `ui://` address of a view.
            sandbox: the address of the sandbox proxy, on another origin than this page. A page that was built with
                `sandbox_origin` has one, which is used by default.
            own_origin: whether the sandbox's origin belongs to this server alone, so that its views may have it as
                theirs, with storage. By default a view's origin is opaque.
            context: the host's context in the names of MCP Apps: `theme`, `locale`, `containerDimensions`, ….
            name: the name of this host.
            version: its version.
            permissions: the permissions that a view gets if it asks for them: see `policy.PERMISSIONS`.
            wasm: whether the view may run WebAssembly in its own page, which a bundle in its inline form needs.
            profile: shows the view under the policy of this host, rather than under `AppHost`'s own, and with what else
                that host does to a view's document. One of `HOST_PROFILES`; it grants no origin.
            allow_domain: called with the kind and the source of each domain that the view declares, such as
                `("connectDomains", "https://api.example.com")`; false refuses it. By default all that are valid stand.
            teardown: seconds that the view may take before it is removed.
            options: deadlines and limits.
            on_event: called with every event of a connection but `Received`.
            on_wire: called with every message that is sent, received or rejected.
            hooks: the functions that are called, by name; each may be async; those left out are not offered.
                `on_link(url)`: open a link, of http, https or mailto. `on_message(blocks)`: add a message of the user
                to the conversation. `on_download(blocks)`: offer a file. `on_model_context(blocks, structured)`:
                replace the view's context for the model. Each returns False to decline.
                `on_display_mode(mode)`: returns the display mode that is set. `on_sampling(params)`: returns a
                `CreateMessageResult`. `on_log(level, data, logger)`, `on_tools_changed()` and
                `on_teardown_request()` are notifications.

        Raises:
            OriginError: for an invalid address, or one of this page's own origin.
            StateError: if there is no sandbox.
            TypeError: for an unknown function name.
            ValueError: for a permission that no view can have.
        """
        self.sandbox, self._origin = parse_sandbox_proxy(sandbox)
        self._server = ViewServer(client)
        self._tool = tool
        self._own_origin = own_origin
        self._context = dict(context or {})
        self._info = {"name": name, "version": version}
        self._permissions = tuple(permissions)
        granted(ViewPolicy(), self._permissions)
        self._wasm = wasm
        self._profile = profile
        self._allow_domain = allow_domain
        self._teardown = teardown
        self._options = options or _OPTIONS
        self._on_event = on_event
        self._on_wire = on_wire
        self._hooks = Hooks(**hooks)

    @staticmethod
    def extension() -> ClientExtension:
        """Return the client extension that announces views: `Client(..., extensions=[AppHost.extension()])`.

        Some servers have views only for such clients.
        """
        from mcpframe.frame.compat.sdk import views_extension

        return views_extension(MIME_TYPE)

    @asynccontextmanager
    async def show(self, place: Any, *, reason: str = "The host removes the view.") -> AsyncIterator[RunningView]:
        """Read the view and show it for the duration of the block. It is ready later: see `RunningView.initialized`.

        At the end the view is asked to prepare for its removal, and is removed once it has answered or takes too long.

        Args:
            place: where to put it: a selector, an element, or a `Place`.
            reason: the reason for its removal, which the view gets.

        Yields:
            The view.

        Raises:
            AppError: if the tool has no view, or its resource is not a view.
            StateError: if there is no such place.
        """
        definition, uri = (None, self._tool) if self._tool.startswith("ui://") else await self._named()
        resource = await self._server.read_view(uri)
        policy = ViewPolicy.read(resource.ui, self._allow_domain)
        if policy.refused:
            log.warning("These domains that %s declares are refused: %s", uri, ", ".join(policy.refused))
            if "*." in "".join(policy.refused) and public_suffixes() is None:
                log.warning("Wildcards need the package publicsuffixlist: add it to the host's requirements.")
        permissions = granted(policy, self._permissions)
        framing = Framing(
            url=self.sandbox,
            title=str((definition or {}).get("title") or (definition or {}).get("name") or uri),
            sandbox=proxy_sandbox(self._origin),
            allow=allow_attribute(permissions.values()),
            visible=True,
        )
        info = {"tool": tool_with_object(definition)} if definition else None
        modes = {"displayMode": "inline", "availableDisplayModes": ["inline"]}
        context = {**modes, **({"toolInfo": info} if info else {}), **self._context}
        frame = ShownFrame()
        view = RunningView(frame, self._server, self._hooks, resource, policy, definition, context)
        offer = AppsHostOffer(
            info=self._info,
            capabilities=self._capabilities(policy, permissions),
            context=view.context,
            resource=self._resource(resource, policy, permissions),
        )
        opaque = self._origin == OPAQUE
        allowed = parse_allowed_origins([] if opaque else [self._origin], opaque=opaque)
        candidate = Candidate(HOST, allowed, offer)
        async with frame.open(
            find_place(place),
            framing,
            candidate,
            options=self._options,
            on_event=lambda event: self._note(view, event),
            on_wire=self._on_wire,
            intercept=view.messages,
            once=opaque,
            before_removal=lambda: view.tear_down(reason, self._teardown),
        ):
            frame.resize(_AS_WIDE_AS_ITS_PLACE, None)
            yield view

    async def _named(self) -> tuple[Json, str]:
        return await self._server.view_of(self._tool)

    def _note(self, view: RunningView, event: Event) -> None:
        if isinstance(event, ViewCalled):
            view.called(event)
        elif isinstance(event, Closed):
            view.over()
        if self._on_event:
            self._on_event(event)

    def _capabilities(self, policy: ViewPolicy, permissions: Json) -> dict[str, Any]:
        sandbox = {"csp": policy.csp, "permissions": {name: {} for name in permissions}}
        return {**self._server.capabilities, **self._hooks.capabilities, "sandbox": sandbox}

    def _resource(self, resource: ViewResource, policy: ViewPolicy, permissions: Mapping[str, str]) -> dict[str, Any]:
        """Return the parameters of `sandbox-resource-ready`; `policy` and `allow` are for our own proxy."""
        profile, html = self._profile, resource.html
        own_origin = self._own_origin and (profile is None or profile.same_origin)
        policies: str | list[str] = content_policy(policy, wasm=self._wasm)
        if profile is not None:
            html = profile.document(html, policy.csp)
            policies = [*filter(None, profile.policies(policy.csp)), "form-action 'none'"]
        return {
            "html": html,
            "sandbox": VIEW_OWN_ORIGIN if own_origin else VIEW_OPAQUE,
            "csp": policy.csp,
            "permissions": {name: {} for name in permissions},
            "policy": policies,
            "allow": allow_attribute(permissions.values()),
        }


__all__ = ["AppError", "AppHost", "RunningView"]
