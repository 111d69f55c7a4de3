"""The inspector's shell: adding servers, the list of them, what is remembered, and which of them is looked at."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from mcpframe import Page
from mcpframe.frame.errors import OriginError, StorageError
from mcpframe.frame.places import parse_address
from rebuilds import Rebuilt, news
from server_view import ServerView
from servers import ERAS, PLACES, SANDBOXES, TIMEOUT, Example, Server, Servers, read_examples
from toasts import Toasts

_KEY = "servers"


class Shell:
    """The inspector."""

    def __init__(self, page: Page) -> None:
        """Use this page, which shows `app.html`."""
        self._page = page
        self._servers = Servers()
        self._listed = asyncio.Event()
        self._views: dict[str, ServerView] = {}
        self._toasts = Toasts(page)
        self._origin = str(page.js.location.origin)
        self._stored: Any = None
        self._rebuilt: Rebuilt | None = None
        self._url = page.element("#insp-url")
        self._problem = page.element("#insp-url-problem")
        self._place = page.element("#insp-place")
        self._sandbox = page.element("#insp-sandbox")
        self._timeout = page.element("#insp-timeout")
        self._clear = page.element("#insp-clear")
        for select, choices in ((self._place, PLACES), (self._sandbox, SANDBOXES)):
            for value, text in choices.items():
                select.add("option", text, value=value)
        self._timeout.value = f"{TIMEOUT:g}"
        page.element("#insp-origin").text = self._origin
        page.element("#insp-add").on("submit", self._on_add)
        self._clear.on("click", self._on_clear)

    async def begin(self) -> None:
        """Show the examples and the servers that are remembered, and connect to them again."""
        try:
            stored = await self._page.storage.get(_KEY)
        except StorageError as error:
            self._toasts.show(f"What was remembered cannot be read: {error}")
            stored = None
        self._servers = Servers.from_json(stored)
        for server in self._servers:
            self._make_view(server)
        self._render()
        self._listed.set()
        for server in self._servers:
            if server.set_up and server.connect:
                await self._views[server.session_id].start()
        await self._take_address()
        await self._show_examples()

    # Adding

    async def add(self, url: str, *, title: str = "", era: str = "auto") -> None:
        """Add a server, set it up and connect to it.

        Args:
            url: its address.
            title: what to call it until its setup says better.
            era: one of `ERAS`.
        """
        server = Server(
            url=url,
            title=title,
            era=era,
            place=self._place.value,
            sandbox=self._sandbox.value,
            timeout=self._chosen_timeout(),
        )
        self._servers.add(server)
        self._servers.selected = server.session_id
        view = self._make_view(server)
        self._render()
        await view.start()

    async def _on_add(self) -> None:
        try:
            url, _ = parse_address(self._url.value)
        except OriginError as error:
            self._tell(str(error))
            self._url.focus()
            return
        self._tell("")
        self._url.value = ""
        await self._listed.wait()  # the list that is read would take the place of one with this server
        await self.add(url)

    async def _add_example(self, example: Example) -> None:
        url = str(self._page.js.defaultView.URL.new(example.url, self._page.js.baseURI).href)
        await self.add(url, title=example.title)

    def _tell(self, problem: str) -> None:
        self._problem.text = problem
        self._problem.hidden = not problem
        self._url.set("aria-invalid", "true" if problem else None)

    def _chosen_timeout(self) -> float:
        try:
            seconds = float(self._timeout.value)
        except ValueError:
            return TIMEOUT
        return seconds if 0 < seconds <= 600 else TIMEOUT

    async def _take_address(self) -> None:
        """Add the server that the inspector's own address names: `#add=ADDRESS&era=ERA`."""
        location = self._page.js.location
        asked = parse_qs(str(location.hash).removeprefix("#"))
        if "add" not in asked:
            return
        self._page.js.defaultView.history.replaceState(None, "", location.pathname + location.search)
        try:
            url, _ = parse_address(asked["add"][0])
        except OriginError as error:
            self._tell(str(error))
            return
        era = asked.get("era", ["auto"])[0]
        there = self._servers.with_url(url)
        if there is None:
            await self.add(url, era=era if era in ERAS else "auto")
        else:
            self._select(there)

    async def _show_examples(self) -> None:
        try:
            text = (await self._page.browser.fetch("examples.json")).decode("utf-8", "replace")
        except OSError:
            return  # none are offered
        examples, rebuilds = read_examples(text)
        place = self._page.element("#insp-example-list")
        for example in examples:
            button = place.add("li").add("button", example.title, type="button", title=example.url)
            button.on("click", lambda example=example: self._add_example(example))
        self._page.element("#insp-examples").hidden = not examples
        if rebuilds:
            self._page.run(lambda: self._follow(rebuilds), "Following the builds")

    async def _follow(self, address: str) -> None:
        """Connect anew to a server that is being worked on, whenever it was built; add it the first time."""
        before: str | None = None
        async for rebuilt in news(self._page.browser.fetch, address):
            views = [self._views[server.session_id] for server in self._servers if server.url == rebuilt.url]
            for view in views:
                await view.rebuilt(rebuilt.error, reconnect=rebuilt.is_new and before is not None)
            if not views and rebuilt.url and before == "":
                await self.add(rebuilt.url)
            before = rebuilt.url
            self._rebuilt = rebuilt
            self._tell_that_it_runs()

    def _tell_that_it_runs(self) -> None:
        """Tell `mcpframe dev` that its server is connected, once for a build."""
        rebuilt = self._rebuilt
        if rebuilt is None:
            return
        views = [self._views[server.session_id] for server in self._servers if server.url == rebuilt.url]
        if any(view.connection.state == "connected" for view in views):
            self._rebuilt = None
            self._page.run(lambda: self._report(rebuilt.running), "Telling that the server runs")

    async def _report(self, address: str) -> None:
        with suppress(OSError):  # it has stopped
            await self._page.browser.fetch(address)

    # The list

    def _make_view(self, server: Server) -> ServerView:
        view = ServerView(
            self._page,
            server,
            self._origin,
            changed=self._on_change,
            toast=self._toasts.show,
            remove=self._remove,
        )
        self._views[server.session_id] = view
        return view

    def _on_change(self) -> None:
        self._render()
        self._tell_that_it_runs()
        self._page.run(self._remember, "Remembering the servers")

    def _render(self) -> None:
        place = self._page.element("#insp-server-list")
        shown = {item.get("data-id") or "": item for item in place.elements("li")}
        for server in self._servers:
            item = shown.pop(server.session_id, None)
            if item is None:
                item = place.add("li", data_id=server.session_id)
                button = item.add("button", type="button")
                button.add("span", class_="insp-dot")
                button.add("span", class_="insp-name")
                button.add("span", class_="insp-hidden")
                button.on("click", lambda server=server: self._select(server))
            view = self._views.get(server.session_id)
            state = view.connection.state if view else "idle"
            item.set("data-state", state)
            for selector, text in ((".insp-name", server.name), (".insp-hidden", f", {state}")):
                if item.element(selector).text != text:
                    item.element(selector).text = text
            item.element("button").set("aria-current", "true" if server.session_id == self._servers.selected else None)
        for item in shown.values():
            item.remove()
        self._page.element("#insp-no-servers").hidden = bool(self._servers)
        self._page.element("#insp-welcome").hidden = bool(self._servers.selected)
        self._clear.hidden = not self._servers
        for session_id, view in self._views.items():
            view.select(session_id == self._servers.selected)

    def _select(self, server: Server) -> None:
        self._servers.selected = server.session_id
        self._on_change()

    async def _remove(self, server: Server) -> None:
        view = self._views.pop(server.session_id)
        self._servers.remove(server.session_id)
        self._on_change()
        self._url.focus()
        await view.close()

    async def _on_clear(self) -> None:
        views = list(self._views.values())
        self._views.clear()
        self._servers.clear()
        self._on_change()
        self._url.focus()
        for view in views:
            await view.close()

    async def _remember(self) -> None:
        """Store what changed. What is stored is read out before anything is waited for, so that the last one counts."""
        data = self._servers.to_json()
        if data == self._stored:
            return
        self._stored = data
        try:
            if len(self._servers):
                await self._page.storage.set(_KEY, data)
            else:
                await self._page.storage.clear()
        except StorageError as error:
            self._toasts.show(f"The servers are not remembered: {error}")
