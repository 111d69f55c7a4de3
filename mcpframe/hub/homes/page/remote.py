"""The hub of several tabs, in any of them: an MCP client on its own port, with the interface of `hub.Hub`.

When another tab leads, a new session begins: calls in flight fail, as they may have run. Later calls wait for the new
hub, and until the tab of their tool has registered with it.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.limits import MESSAGE_BYTES
from mcpframe.frame.waiting.changes import Changes, Listeners
from mcpframe.frame.waiting.clock import Clock
from mcpframe.frame.waiting.peer import Peer
from mcpframe.hub.core import limits
from mcpframe.hub.core.codec import progress_of
from mcpframe.hub.core.errors import HubChanged, HubError, HubNotFound
from mcpframe.hub.core.interfaces import UNNAMED, Caller, OnProgress
from mcpframe.hub.core.messages import LIST_CHANGES, LISTS
from mcpframe.hub.homes.page.dialing import Dialled
from mcpframe.hub.homes.page.tab_browser import TabBrowser
from mcpframe.hub.homes.page.wire import ChannelNames

log = logging.getLogger(__name__)

_VERSION = "2025-11-25"


class RemoteHub:
    """The hub of several tabs (`server.ServedHub`)."""

    def __init__(self) -> None:
        self._port: Dialled | None = None
        self._clock: Clock | None = None
        self._begun = 0.0
        self._peer: Peer[str, Mapping[str, Any]] = Peer(str(number) for number in itertools.count(1))
        self._lists: dict[str, list[dict[str, Any]]] = {member: [] for member in LISTS.values()}
        self._browser: dict[str, bool] = {}
        self._before: frozenset[str] = frozenset()
        """The names of tools that earlier hubs had."""
        self._listed = False
        self._working: asyncio.Task[None] | None = None
        self._again = False
        self._changes: Changes | None = None
        self._listeners = Listeners()

    def begin(self, place: TabBrowser, names: ChannelNames) -> Dialled:
        """Return the port; its owner starts and stops it."""
        port = self._port = Dialled(place, names, "client")
        self._clock, self._begun = place.clock, place.clock.now()
        self._changes = Changes(place.clock)
        port.on_open = self._opened
        port.on_message = self._heard
        port.on_lost = self._lost
        return port

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """All tools, as `tools/list` has them; the previous hub's until there is a new one."""
        return self._lists["tools"]

    @property
    def resources(self) -> list[dict[str, Any]]:
        """All resources, as `resources/list` has them."""
        return self._lists["resources"]

    @property
    def templates(self) -> list[dict[str, Any]]:
        """All templates of resources, as `resources/templates/list` has them."""
        return self._lists["resourceTemplates"]

    @property
    def browser(self) -> dict[str, bool]:
        """The hub's `browser` capabilities at the start of the session."""
        return self._browser

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a function whenever the lists may have changed. The returned function ends that."""
        return self._listeners.add(listener)

    async def settled(self) -> None:
        """Return once the leading tab has listed all tools, or after a few seconds."""
        if self._clock is not None and (seconds := self._begun + limits.FIRST_LIST_SECONDS - self._clock.now()) > 0:
            await self.ready(seconds)

    async def ready(self, seconds: float = limits.LEADER_SECONDS) -> bool:
        """Wait for a hub and its list of tools. Returns whether there is one."""
        return await self._until(lambda: self._listed, seconds)

    async def call(
        self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress | None = None, client: Caller = UNNAMED
    ) -> Any:
        """Call a tool. Cancelling this cancels the call in its page.

        Args:
            name: The tool's name, as clients see it.
            on_progress: Called with the call's progress; None to ignore it.
            client: Ignored: the hub asks for consent on behalf of this tab, whose page decides on its clients.

        Returns:
            The `CallToolResult`, unchanged.

        Raises:
            HubNotFound: No tab leads.
            HubChanged: The tab that led has ended, or does not respond. The tool may have been executed.
            HubError: The hub's own error, with its `code` and `data`.
        """
        await self._led()
        if name in self._before and not self._has(name):
            await self._until(lambda: self._has(name), limits.RETURN_SECONDS)
        return await self._result("tools/call", {"name": name, "arguments": dict(arguments)}, on_progress)

    async def read(self, uri: str, on_progress: OnProgress | None = None, client: Caller = UNNAMED) -> Any:
        """Read a resource; see `call`.

        Args:
            uri: Its address, as clients see it.
        """
        await self._led()
        return await self._result("resources/read", {"uri": uri}, on_progress)

    async def _led(self) -> None:
        """Wait for a hub. Raises `HubNotFound` if there is none."""
        if not await self.ready():
            raise HubNotFound("No open tab has the hub: open one that runs Python.")

    async def _result(self, method: str, params: Mapping[str, Any], on_progress: OnProgress | None) -> Any:
        answer = await self._ask(method, params, on_progress)
        if "result" in answer:
            return answer["result"]
        error = answer["error"]
        raise HubError(error["message"], error.get("data"), code=error["code"])

    def close(self) -> None:
        """End the session: pending requests fail."""
        if self._port is not None:
            self._port.stop()
            self._port = None
        self._lost()

    def _has(self, name: str) -> bool:
        return any(each.get("name") == name for each in self.definitions)

    # The session

    def _post(self, message: dict[str, Any]) -> bool:
        return self._port is not None and self._port.post(payload.encode({"jsonrpc": "2.0", **message}, exact=True))

    async def _ask(
        self, method: str, params: Mapping[str, Any], on_progress: OnProgress | None = None
    ) -> Mapping[str, Any]:
        """Send a request and return the response.

        Raises:
            HubNotFound: There is no hub.
            HubChanged: The hub has ended.
            HubError: The arguments have no form in JSON.
        """

        def send(id_: str) -> None:
            meta = {} if on_progress is None else {"_meta": {"progressToken": id_}}
            try:
                posted = self._post({"id": id_, "method": method, "params": {**params, **meta}})
            except (TypeError, ValueError, RecursionError) as error:
                raise HubError(f"The arguments have no form in JSON: {error}", code=jsonrpc.INVALID_PARAMS) from None
            if not posted:
                raise HubNotFound("The tab that had the hub has ended just now: try again.")

        def cancel(id_: str, reason: str) -> None:
            self._post({"method": "notifications/cancelled", "params": {"requestId": id_, "reason": reason}})

        return await self._peer.ask(send, cancel=cancel, on_progress=on_progress)

    def _opened(self) -> None:
        self._working = asyncio.get_running_loop().create_task(self._work(begins=True))

    async def _work(self, *, begins: bool) -> None:
        """Begin the session if necessary, and read the lists: again, if they change meanwhile."""
        try:
            if begins:
                await self._begin()
            self._again = True
            while self._again:
                self._again = False
                results = {method: (await self._ask(method, {})).get("result", {}) for method in LISTS}
                lists = {member: results[method].get(member) for method, member in LISTS.items()}
                if isinstance(lists["tools"], list):
                    self._lists = {member: each if isinstance(each, list) else [] for member, each in lists.items()}
                    self._changed()
        except HubError as error:
            log.debug("The hub's lists could not be read: %s", error)
        finally:
            if self._working is asyncio.current_task():
                self._working = None

    async def _begin(self) -> None:
        info = {"name": "mcpframe-tab", "version": "1"}
        params = {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": info}
        begun = (await self._ask("initialize", params)).get("result", {})
        browser = begun.get("capabilities", {}).get("browser")
        self._browser = browser if isinstance(browser, dict) else {}
        self._post({"method": "notifications/initialized"})

    def _changed(self) -> None:
        self._listed = True
        if self._changes is not None:
            self._changes.changed()
        self._listeners.call()

    def _heard(self, text: str) -> None:
        try:
            message = payload.decode(text, max_bytes=MESSAGE_BYTES, max_nesting=limits.HUB_MESSAGE_NESTING)
            id_ = jsonrpc.request_id(message)
        except MessageError as error:
            log.warning("A message of the hub is ignored: %s", error)
            return
        method = message.get("method")
        if method is None:
            self._peer.answered(id_, message)
        elif id_ is not None:
            self._post(jsonrpc.error_response(id_, jsonrpc.METHOD_NOT_FOUND, "A tab does not do that."))
        elif method in LIST_CHANGES:
            if self._working is not None:
                self._again = True
            else:
                self._working = asyncio.get_running_loop().create_task(self._work(begins=False))
        elif method == "notifications/progress":
            self._progressed(message.get("params") or {})

    def _progressed(self, params: Mapping[str, Any]) -> None:
        token = params.get("progressToken")
        if (on_progress := self._peer.progressed(token)) is not None:
            try:
                on_progress(progress_of(token, params))
            except MessageError as error:
                log.warning("Progress is ignored: %s", error)

    def _lost(self) -> None:
        self._listed = False
        self._before |= {str(each.get("name")) for each in self.definitions}
        ended = "The tab that had the hub has ended before it answered: the tool may have run."
        self._peer.fail_all(lambda: HubChanged(ended))

    async def _until(self, ready: Callable[[], bool], seconds: float) -> bool:
        """Wait for a condition, checked at each change of the list. Returns whether it holds within these seconds."""
        if self._changes is None:
            return ready()
        return bool(await self._changes.until(lambda: ready() or None, seconds))
