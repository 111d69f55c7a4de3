"""The user's controls: consent to calls, excluded pages, clients, and the log of calls."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.visible import visible
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core.background_tasks import BackgroundTasks
from mcpframe.hub.core.consent import Consent
from mcpframe.hub.core.errors import TabLoadError
from mcpframe.hub.core.hub import Hub
from mcpframe.hub.core.interfaces import CallRequest, KeyValues
from mcpframe.hub.core.names import origin_of
from mcpframe.hub.homes.extension.outside import NativeMessaging, OutsideClients
from mcpframe.hub.homes.extension.popup import POPUP_PORT, HubPopup, RecentLog, shown_tabs
from mcpframe.hub.homes.extension.runtime import ExtensionPort, Ports, Worker
from mcpframe.hub.serving.port_clients import HubClients
from mcpframe.hub.serving.server import HubServer

log = logging.getLogger(__name__)

CLIENT_PORT = "mcp"
"""Ports of MCP clients."""
NATIVE_PORT = "mcpframe-native"
"""The port of `mcpframe hub --native`, started by the service worker."""
CHOICES_KEY = "mcpframe:choices"
"""The storage key of the user's choices, as JSON text: whether to ask, and the excluded origins."""
_LOGGED = "mcpframe"


class Control:
    """The user's control over the hub.

    Args:
        asks: The default for asking before each call, until the user chooses.
        clients: The origins of clients that may connect.
    """

    def __init__(self, worker: Worker, store: KeyValues, clock: Clock, *, asks: bool, clients: Sequence[str]) -> None:
        self._worker = worker
        self._store = store
        self._clock = clock
        self._asks = asks
        self._allowed_clients = clients
        self._denied: set[str] = set()
        self._active: int | None = None
        self._active_origin: str | None = None
        self._background = BackgroundTasks(lambda error: log.warning("The service worker has failed: %s", error))
        actions = {"ask": self._set_ask, "site": self._set_site, "client": self._set_client, "native": self._start}
        self._popup = HubPopup(self._state, actions, self._open_window)
        self._consent = Consent(self._popup)
        self._recent = RecentLog(self._popup.changed)
        self._level = logging.NOTSET

    def serve(
        self, hub: Hub, server: HubServer, ports: Ports, sites: Callable[[], Sequence[str]], check: Callable[[], None]
    ) -> HubClients:
        """Serve clients and popups. Run the returned clients.

        Args:
            sites: Returns the origins whose pages are offered.
            check: Leaves the pages that are no longer offered.
        """
        self._hub, self._sites, self._check = hub, sites, check
        changed = self._popup.changed
        self._clients = HubClients(server, changed=changed)
        self._outside = OutsideClients(
            self._clients, self._store, self._clock, self._allowed_clients, changed, self._wants_decision
        )
        self._native = NativeMessaging(self._clients, self._clock, self._start_native, changed)
        ports.serve(CLIENT_PORT, self._take_own)
        ports.serve(CLIENT_PORT, self._outside.take, external=True)
        ports.serve(NATIVE_PORT, self._native.take, external=True)
        ports.serve(POPUP_PORT, self._popup.take)
        hub.subscribe(changed)
        logger = logging.getLogger(_LOGGED)
        logger.addHandler(self._recent)
        self._level = logger.level
        logger.setLevel(logging.INFO)
        return self._clients

    async def load(self) -> None:
        """Read the choices; call it before serving."""
        text = await self._store.get(CHOICES_KEY)
        try:
            choices = json.loads(text) if text else {}
        except ValueError:
            choices = {}
        if isinstance(choices, dict):
            self._asks = bool(choices.get("ask", self._asks))
            denied = choices.get("denied")
            self._denied = {str(each) for each in denied} if isinstance(denied, list) else set()
        await self._outside.load()

    def begin(self) -> None:
        """Start the program on this machine, if it is installed."""
        self._native.start()

    def end(self) -> None:
        """End all waits, and stop recording the log."""
        self._outside.end()
        self._native.end()
        logger = logging.getLogger(_LOGGED)
        logger.removeHandler(self._recent)
        logger.setLevel(self._level)

    def allows(self, url: str) -> bool:
        """Return whether the user has not excluded a page."""
        return origin_of(url) not in self._denied

    async def consents(self, request: CallRequest) -> bool:
        return not self._asks or await self._consent(request)

    def on_event(self, event: Mapping[str, Any]) -> None:
        if event.get("event") == "native":
            self._native.failed(visible(str(event.get("error") or "")))

    def activated(self, tab: int | None, url: str | None) -> None:
        """Note which tab the user looks at."""
        self._active, origin = tab, origin_of(url) if url else None
        self._active_origin = origin if origin and origin.startswith("http") else None
        self._popup.changed()

    def _state(self) -> dict[str, Any]:
        origin = self._active_origin
        sites = list(self._sites())
        return {
            "page": origin,
            "offered": origin is not None and origin not in self._denied and ("*" in sites or origin in sites),
            "excluded": sorted(self._denied),
            "sites": sites,
            "ask": self._asks,
            "tabs": shown_tabs(self._hub.entries, self._active),
            "clients": self._outside.shown(),
            "count": len(self._clients),
            "native": {**self._native.state, "error": self._native.error},
            "log": self._recent.lines,
        }

    # The user's actions

    async def _set_ask(self, message: Mapping[str, Any]) -> None:
        self._asks = message.get("on") is True
        await self._store_choices()

    async def _set_site(self, message: Mapping[str, Any]) -> None:
        origin = message.get("origin")
        if not isinstance(origin, str):
            return
        if message.get("on") is True:
            self._denied.discard(origin)
        else:
            self._denied.add(origin)
            self._check()
        await self._store_choices()

    async def _set_client(self, message: Mapping[str, Any]) -> None:
        if isinstance(origin := message.get("origin"), str):
            await self._outside.decide(origin, message.get("on") is True)

    async def _start(self, message: Mapping[str, Any]) -> None:
        self._native.start()

    async def _store_choices(self) -> None:
        choices = {"ask": self._asks, "denied": sorted(self._denied)}
        await self._store.set(CHOICES_KEY, payload.encode(choices))

    # Requests to the service worker

    async def _open_window(self) -> None:
        await self._worker.ask("window")

    def _wants_decision(self, wants: bool) -> None:
        self._background.start(self._worker.ask("badge", text="!" if wants else ""))

    def _start_native(self) -> None:
        self._background.start(self._ask_for_program())

    async def _ask_for_program(self) -> None:
        try:
            await self._worker.ask("native")
        except TabLoadError as error:  # no port will come, so no end of one will restart the program
            self._native.failed(visible(str(error)))
            self._native.later()

    def _take_own(self, port: ExtensionPort) -> None:
        """Take a port of a document of this extension; a content script is only as trusted as its page."""
        if port.sender.tab is not None and not port.sender.url.startswith("chrome-extension://"):
            port.close()
            return
        port.on_message = lambda text: self._clients.received(port, text)
        port.on_close = lambda: self._clients.closed(port)
        self._clients.connected(port, "this extension")
