"""The inspector's shell: adds servers, lists and stores them, and shows the selected one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from inspector.app.links import RUN, Link, agrees, read_link
from inspector.app.server_view import ServerView
from inspector.session.rebuilds import Rebuilt, Terminal, news
from inspector.session.servers import (
    DIALECTS,
    PLACES,
    PREFERRED,
    SANDBOXES,
    TIMEOUT,
    Example,
    Offered,
    Server,
    Servers,
    read_offered,
)
from inspector.widgets.dialogs import Toasts
from mcpframe import Element, Page, errors
from mcpframe.hosts import parse_address

_KEY = "servers"


class Shell:
    """The inspector."""

    def __init__(self, page: Page) -> None:
        """Use a page that shows `app.html`."""
        self._page = page
        self._servers = Servers()
        self._listed = asyncio.Event()
        self._views: dict[str, ServerView] = {}
        self._toasts = Toasts(page)
        self._origin = str(page.js.location.origin)
        self._stored: Any = None
        self._alone = False  # shows a run of the playground, and remembers nothing
        self._offered = Offered()
        self._example_items: dict[str, Element] = {}
        self._rebuilt: Rebuilt | None = None
        self._built: set[str] = set()
        self._terminal = Terminal(page.browser.fetch)
        self._url = page.element("#insp-url")
        self._problem = page.element("#insp-url-problem")
        self._dialect = page.element("#insp-dialect")
        self._place = page.element("#insp-place")
        self._sandbox = page.element("#insp-sandbox")
        self._timeout = page.element("#insp-timeout")
        self._clear = page.element("#insp-clear")
        for select, choices in (
            (self._dialect, DIALECTS),
            (self._place, PLACES),
            (self._sandbox, SANDBOXES),
        ):
            for value, text in choices.items():
                select.add("option", text, value=value)
        self._timeout.value = f"{TIMEOUT:g}"
        page.element("#insp-origin").text = self._origin
        page.element("#insp-add").on("submit", self._on_add)
        self._clear.on("click", self._on_clear)
        self._adding = page.element("#insp-adding")
        self._adding.on("click", lambda: self._show_adding(self._adding.get("aria-expanded") != "true"))

    async def begin(self) -> None:
        """Show the examples and the stored servers, and reconnect to these; or a run of the playground by itself."""
        link = self._read_address()
        if link is not None and await self._is_run(link.url):
            self._alone = True
            self._page.element("#insp").set("data-alone", "")
            self._listed.set()
            await self.add(link.url, title=link.title, dialect=PREFERRED)
            return
        self._forget_address()
        try:
            stored = await self._page.storage.get(_KEY)
        except errors.StorageError as error:
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
        with suppress(OSError):  # then there are no examples
            self._offered = await self._read_offered()
        self._show_examples()
        if link is not None:
            await self._add_linked(link)
        if self._offered.rebuilds:
            self._page.run(self._follow, "Following the builds")

    # Adding

    async def add(self, url: str, *, title: str = "", era: str = "auto", dialect: str = "") -> Server:
        """Add a server, set it up and connect to it.

        Args:
            title: its title until its setup reports one.
            era: one of `ERAS`.
            dialect: one of `DIALECTS`; empty for the chosen one.
        """
        server = Server(
            url=url,
            title=title,
            era=era,
            dialect=dialect or self._dialect.value,
            place=self._place.value,
            sandbox=self._sandbox.value,
            timeout=self._chosen_timeout(),
        )
        self._show_adding(False)
        self._servers.add(server)
        self._servers.selected = server.session_id
        view = self._make_view(server)
        self._render()
        await view.start()
        return server

    def _show_adding(self, shown: bool) -> None:
        """Show or hide what adds a server, on a phone: beside a server there is no room for it."""
        self._adding.set("aria-expanded", "true" if shown else "false")
        if shown:
            self._url.focus()

    async def _on_add(self) -> None:
        try:
            url, _ = parse_address(self._url.value)
        except errors.OriginError as error:
            self._tell(str(error))
            self._url.focus()
            return
        self._tell("")
        self._url.value = ""
        await self._listed.wait()  # the stored list would replace one with this server
        await self.add(url)

    async def _add_example(self, example: Example) -> None:
        await self.add(self._address_of(example), title=example.title)

    def _address_of(self, example: Example) -> str:
        return self._absolute(example.url)

    def _absolute(self, url: str) -> str:
        return str(self._page.js.defaultView.URL.new(url, self._page.js.baseURI).href)

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

    def _read_address(self) -> Link | None:
        """Return the link in the inspector's address; None if there is none, or one that cannot be framed."""
        try:
            return read_link(str(self._page.js.location.hash))
        except errors.OriginError as error:
            self._tell(str(error))
            return None

    def _forget_address(self) -> None:
        location = self._page.js.location
        if location.hash:
            self._page.js.defaultView.history.replaceState(None, "", location.pathname + location.search)

    async def _is_run(self, url: str) -> bool:
        """Return whether an address is of a run that the playground beside the inspector keeps.

        It is shown alone and without a question: other pages cannot make one, and the playground's user has started it.
        """
        address, kept, _ = url.partition(RUN)
        if not kept:
            return False
        with suppress(OSError):
            self._offered = await self._read_offered()
        return bool(self._offered.runs) and address == self._absolute(self._offered.runs)

    async def _add_linked(self, link: Link) -> None:
        """Add the server of a link, if `examples.json` names it, too, or the user confirms."""
        known = self._is_known(link.url)
        there = self._servers.with_url(link.url)
        if there is None and (known or await agrees(self._page, link.url)):
            there = await self.add(link.url, era=link.era, dialect=link.dialect or PREFERRED)
        elif there is not None:
            self._select(there)
            if known and link.dialect:
                await self._views[there.session_id].speak(link.dialect)
        if known and there is not None:
            self._put_first(there)

    async def _read_offered(self) -> Offered:
        return read_offered((await self._page.browser.fetch("examples.json")).decode("utf-8", "replace"))

    def _show_examples(self) -> None:
        place = self._page.element("#insp-example-list")
        for example in self._offered.examples:
            item = place.add("li")
            button = item.add("button", example.title, type="button", title=example.url)
            button.on("click", lambda example=example: self._add_example(example))
            self._example_items[self._address_of(example)] = item
        self._hide_added_examples()

    def _hide_added_examples(self) -> None:
        """List an example only while it is not among the servers; the focus moves to its new entry there."""
        for url, item in self._example_items.items():
            server = self._servers.with_url(url)
            if server and item.js.contains(self._page.js.activeElement):
                self._page.element(f'#insp-server-list [data-id="{server.session_id}"] button').focus()
            item.hidden = server is not None
        listed = any(not item.hidden for item in self._example_items.values())
        self._page.element("#insp-examples").hidden = not listed

    async def _find_rebuilds(self) -> str:
        with suppress(OSError):
            self._offered = await self._read_offered()
        return self._offered.rebuilds

    async def _follow(self) -> None:
        """Reconnect to a server under development after each build; add it the first time."""
        before: str | None = None
        async for rebuilt in news(self._page.browser.fetch, self._find_rebuilds):
            self._built.add(rebuilt.url)
            self._terminal.address = rebuilt.said
            views = [self._views[server.session_id] for server in self._servers if server.url == rebuilt.url]
            for view in views:
                await view.rebuilt(rebuilt.error, reconnect=rebuilt.is_new and before is not None)
            self._show_broken("" if rebuilt.url else rebuilt.error)
            if not views and rebuilt.url and before == "":
                self._put_first(await self.add(rebuilt.url))
            before = rebuilt.url
            self._rebuilt = rebuilt
            self._tell_that_it_runs()

    def _show_broken(self, error: str) -> None:
        """Show the error of a server without a page, instead of another server."""
        self._page.element("#insp-broken").hidden = not error
        self._page.element("#insp-broken-text").text = error
        if error and self._servers.selected:
            self._servers.selected = ""
            self._render()

    def _tell_that_it_runs(self) -> None:
        """Notify `mcpframe dev` that its server is connected, once per build."""
        rebuilt = self._rebuilt
        if rebuilt is None:
            return
        views = [self._views[server.session_id] for server in self._servers if server.url == rebuilt.url]
        if any(view.connection.state == "connected" for view in views):
            self._rebuilt = None
            self._page.run(lambda: self._report(rebuilt.running), "Telling that the server runs")

    async def _report(self, address: str) -> None:
        with suppress(OSError):  # `mcpframe dev` has stopped
            await self._page.browser.fetch(address)

    # The list

    def _make_view(self, server: Server) -> ServerView:
        view = ServerView(
            self._page,
            server,
            self._origin,
            sandbox=lambda: self._offered.sandbox,
            is_own=self._is_own,
            sample=lambda: self._offered.samples.get(server.url, {}),
            changed=self._on_change,
            toast=self._toasts.show,
            remove=self._remove,
            said=lambda text: self._tell_terminal(server, text),
        )
        self._views[server.session_id] = view
        return view

    def _tell_terminal(self, server: Server, text: str) -> None:
        """Show what the server under development says in the terminal of `mcpframe dev`."""
        if server.url in self._built:
            self._page.run(lambda: self._terminal.say(text), "Telling what the server says")

    def _is_own(self, url: str) -> bool:
        return self._is_known(url) and url not in self._offered.hubs

    def _is_known(self, url: str) -> bool:
        return url in self._built or url in self._offered.named or url in map(self._address_of, self._offered.examples)

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
            if view and view.connection.unresponsive:
                state = "failed"
            item.set("data-state", state)
            for selector, text in ((".insp-name", server.name), (".insp-hidden", f", {state}")):
                if item.element(selector).text != text:
                    item.element(selector).text = text
            item.element("button").set("aria-current", "true" if server.session_id == self._servers.selected else None)
        for item in shown.values():
            item.remove()
        self._hide_added_examples()
        self._page.element("#insp-no-servers").hidden = bool(self._servers)
        self._page.element("#insp-welcome").hidden = bool(self._servers.selected)
        self._clear.hidden = not self._servers
        for session_id, view in self._views.items():
            view.select(session_id == self._servers.selected)

    def _select(self, server: Server) -> None:
        self._servers.selected = server.session_id
        self._on_change()

    def _put_first(self, server: Server) -> None:
        self._servers.put_first(server.session_id)
        place = self._page.element("#insp-server-list").js
        item = place.querySelector(f'[data-id="{server.session_id}"]')
        if item:
            place.prepend(item)
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
        """Store the list. Its data is read before the first await, so that the last call wins."""
        data = self._servers.to_json()
        if self._alone or data == self._stored:
            return
        self._stored = data
        try:
            if len(self._servers):
                await self._page.storage.set(_KEY, data)
            else:
                await self._page.storage.clear()
        except errors.StorageError as error:
            self._toasts.show(f"The servers are not remembered: {error}")
