"""The view: a preview while the arguments arrive, the chart of the result, and what the user can do with it.

What a host of MCP Apps says of the tool call comes from `session.host.tool_events`. Under any other host the page draws
what this server's own tools answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import ValidationError

from chart import draw, draw_waiting, icon
from mcpframe import (
    FrameSession,
    Host,
    HostContext,
    Storage,
    ToolCancelled,
    ToolInput,
    ToolInputPartial,
    ToolResult,
    errors,
)
from weather import MAX_DAYS, SOURCE, Day, Forecast, degrees, describe

ABOUT = "https://modelcontextprotocol.io/extensions/apps/overview"
NARROWEST = 260

Own = Callable[[str, int, int], Awaitable[Forecast]]


class ForecastPage:
    """The page. Outside of a browser it shows nothing."""

    def __init__(self) -> None:
        """Start without a page."""
        self._page: Any = None
        self._host = Host()
        self._own: Own | None = None
        self._kept: Storage | None = None
        self._forecast: Forecast | None = None
        self._expected = 7
        self._chosen = 0
        self._width = 0

    async def run(self, session: FrameSession, own: Own) -> None:
        """Draw, until the session ends.

        Args:
            session: The session.
            own: Makes a forecast here, for hosts without a server behind them.
        """
        await session.page.show("view.html")
        self._page, self._host, self._own = session.page, session.host, own
        chart = self._page.element("#chart")
        chart.on("click", self._choose)
        chart.on("keydown", self._choose)
        self._page.element("#refresh").on("click", self._refresh)
        self._page.element("#ask").on("click", self._ask)
        self._page.element("#mode").on("click", self._change_mode)
        self._page.element("#link").on("click", self._open_link)
        self._page.on("resize", self._draw)
        if self._forecast is None:
            self._draw()
        else:
            self._show(self._forecast)
        try:
            await self._follow()
        except errors.HostLacks:
            if self._forecast is None:
                self._about("Ask for a forecast: it is drawn here.")

    def answered(self, forecast: Forecast) -> None:
        """Show what one of this server's tools answers, once there is a page: a tool may be called before."""
        if self._page is None:
            self._forecast = forecast
        else:
            self._show(forecast)

    async def _follow(self) -> None:
        """Follow the tool call that a host of MCP Apps shows here, and the host's own changes."""
        events, contexts = self._host.tool_events(), self._host.context_changes()
        self._host.on_teardown(self._end)
        self._offer()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow_context(contexts))
            async for event in events:
                if isinstance(event, ToolInputPartial):
                    self._expect(event.arguments, "Preparing a forecast")
                elif isinstance(event, ToolInput):
                    self._expect(event.arguments, "Fetching the forecast")
                elif isinstance(event, ToolResult):
                    self._take(event)
                    await self._restore()
                elif isinstance(event, ToolCancelled):
                    self._state("cancelled")
                    self._about(f"The forecast was cancelled{': ' + event.reason if event.reason else ''}.")

    async def _restore(self) -> None:
        """Choose the day that the user had chosen in an earlier frame of this call: some hosts make one per showing."""
        self._kept = await self._host.view_storage()
        if self._forecast is not None:
            self._chosen = min(await self._kept.get("chosen", 0), len(self._forecast.days) - 1)
            self._draw()

    async def _follow_context(self, contexts: Any) -> None:
        # Colours and fonts have changed already: mcpframe applies them.
        async for context in contexts:
            self._offer_mode(context)
            self._draw()

    async def _end(self, reason: str) -> None:
        self._state("closed")
        self._host.log("info", f"The forecast is closed: {reason or 'no reason given'}", "forecast")

    # What the host tells

    def _expect(self, arguments: Mapping[str, Any], doing: str) -> None:
        """Show what is known while the arguments arrive: the last one may be half a word."""
        place, days = arguments.get("place"), arguments.get("days")
        if isinstance(days, int) and 2 <= days <= MAX_DAYS:
            self._expected = days
        self._state("waiting")
        self._page.element("#place").text = place if isinstance(place, str) and place else "Forecast"
        self._about(f"{doing} …")
        self._draw()

    def _take(self, result: ToolResult) -> None:
        try:
            if result.is_error:
                raise ValueError(result.text)
            self._show(Forecast.model_validate(result.structured))
        except (ValidationError, ValueError) as error:
            self._state("failed")
            self._about(result.text or str(error), bad=True)

    def _show(self, forecast: Forecast) -> None:
        if self._forecast is None or self._forecast.place != forecast.place:
            self._chosen = 0
        self._forecast = forecast
        self._chosen = min(self._chosen, len(forecast.days) - 1)
        today = forecast.days[0]
        self._page.element("#place").text = forecast.place
        self._about(f"{len(forecast.days)} days · {SOURCE}")
        self._page.element("#now").unsafe_html = f"{icon(today.sky)}<span>{degrees(today.high)}</span>"
        self._page.element("#now").hidden = self._page.element("#controls").hidden = False
        self._state("shown")
        self._draw()

    # What the user does

    async def _choose(self, event: Any) -> None:
        if self._forecast is None or (event.kind == "keydown" and event.key not in ("Enter", " ")):
            return
        day = event.target.js.closest("[data-day]") if event.target else None
        if not getattr(day, "tagName", None):
            return
        if event.kind == "keydown":
            event.js.preventDefault()
        self._chosen = int(day.dataset.day)
        self._draw()
        self._page.element(f'[data-day="{self._chosen}"]').focus()
        if self._kept is not None:
            await self._kept.set("chosen", self._chosen)
        chosen = self._day
        text = f"The user looks at {chosen.date:%A %d %B} in {self._forecast.place}: {describe(chosen)}."
        await self._try(self._host.update_model_context(text, chosen.model_dump(mode="json")), quietly=True)

    async def _refresh(self) -> None:
        assert self._forecast is not None
        before, button = self._forecast, self._page.element("#refresh")
        arguments = {"place": before.place, "days": len(before.days), "run": before.run + 1}
        button.disabled = True
        self._say("Refreshing …")
        try:
            self._show(await self._fresh(arguments))
            self._say(f"Run {before.run + 1} of the model.")
        except (errors.HostError, ValueError) as error:
            self._say(str(error), bad=True)
        finally:
            button.disabled = False

    async def _fresh(self, arguments: dict[str, Any]) -> Forecast:
        assert self._own is not None
        try:
            result = await self._host.call_tool("refresh_forecast", arguments)
        except errors.HostLacks:
            return await self._own(**arguments)
        if result.is_error:
            raise ValueError("The server has no newer forecast.")
        return Forecast.model_validate(result.structured_content)

    async def _ask(self) -> None:
        assert self._forecast is not None
        day = self._day
        question = f"What can I do on {day.date:%A %d %B} in {self._forecast.place}, with {describe(day)}?"
        await self._try(self._host.send_message(question), "Asked.")

    async def _open_link(self) -> None:
        await self._try(self._host.open_link(ABOUT))

    async def _change_mode(self) -> None:
        mode = "inline" if self._host.context.display_mode == "fullscreen" else "fullscreen"
        await self._try(self._host.request_display_mode(mode))

    async def _try(self, request: Awaitable[Any], done: str = "", *, quietly: bool = False) -> None:
        try:
            await request
            if not quietly:
                self._say(done)
        except errors.HostError as error:
            if not quietly:
                self._say(str(error), bad=True)

    # The page

    @property
    def _day(self) -> Day:
        assert self._forecast is not None
        return self._forecast.days[self._chosen]

    def _offer(self) -> None:
        """Show the buttons of what this host can do."""
        self._page.element("#ask").hidden = "message" not in self._host.capabilities
        self._page.element("#link").hidden = "openLinks" not in self._host.capabilities
        self._offer_mode(self._host.context)

    def _offer_mode(self, context: HostContext) -> None:
        button = self._page.element("#mode")
        button.hidden = "fullscreen" not in context.display_modes
        button.text = "Leave full screen" if context.display_mode == "fullscreen" else "Full screen"

    def _draw(self) -> None:
        chart = self._page.element("#chart")
        width = max(NARROWEST, int(chart.js.clientWidth))
        if self._forecast is None:
            chart.unsafe_html = draw_waiting(self._expected, width)
            return
        chart.unsafe_html = draw(self._forecast, width, self._chosen)
        detail = self._page.element("#day")
        detail.hidden = False
        detail.text = f"{self._day.date:%A %d %B}: {describe(self._day)}"

    def _state(self, state: str) -> None:
        if state == "waiting":
            self._forecast = None
            for name in ("#now", "#controls", "#day"):
                self._page.element(name).hidden = True
        self._page.element(".forecast").set("data-state", state)

    def _about(self, text: str, *, bad: bool = False) -> None:
        about = self._page.element("#about")
        about.text = text
        about.classes.set("bad", bad)

    def _say(self, text: str, *, bad: bool = False) -> None:
        status = self._page.element("#status")
        status.text = text
        status.classes.set("bad", bad)
