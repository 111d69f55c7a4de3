"""The two outer frames under test in Chromium.

`JavaScriptOuter` is `static/host/host.js` in a host page. `PlaywrightOuter` is the connection in CPython over a
`PlaywrightWindow`. Both put one frame into a page of the host's origin and tell what happened as events.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from playwright.async_api import Frame

from mcpframe.frame.core.places import Framing, Place
from mcpframe.kit.browser.playwright_window import PlaywrightPlace, PlaywrightWindow
from tests.contract.outer import PATIENCE, Bounds, Connecting, Happening, Outer, SettingUp
from tests.contract.playing import say
from tests.contract.python_outer import PythonOuter, parsed


class JavaScriptOuter(Outer):
    """`FrameTransport` of host.js."""

    async def _connect(self, url: str, options: Connecting) -> None:
        given = {"url": url, "sandbox": options.sandbox, "opaque": options.opaque, **_bounds(options)}
        if options.unresponsive_after is not None:
            given["unresponsiveAfter"] = options.unresponsive_after * 1000
        await self.page.evaluate("options => lab.connect(options)", given)

    async def _set_up(self, url: str, options: SettingUp) -> None:
        given = {"url": url, "popup": options.popup, "permissions": list(options.permissions), "sandbox": None}
        given |= {"grants": options.grants, **_bounds(options)}
        await self.page.evaluate("options => lab.setUp(options)", given)

    async def give_up(self) -> None:
        await self.page.evaluate("lab.abort.abort(new DOMException('enough', 'AbortError'))")

    async def go_on(self) -> None:
        await self.page.evaluate("lab.goOn()")

    async def show(self, visible: bool) -> None:
        await self.page.evaluate("visible => visible ? lab.transport.show() : lab.transport.hide()", visible)

    async def next(self, kind: str) -> Happening:
        with anyio.fail_after(PATIENCE):
            happening: Happening = await self.page.evaluate("kind => lab.next(kind)", kind)
            return happening

    async def rest(self) -> list[str]:
        kinds: list[str] = await self.page.evaluate("lab.rest()")
        return kinds

    async def send(self, payload: Mapping[str, Any]) -> None:
        await self.page.evaluate("text => lab.send(text)", json.dumps(payload))

    async def failure(self, request: Mapping[str, Any]) -> str:
        return str(
            await self.page.evaluate("text => lab.send(text).catch((error) => error.message)", json.dumps(request))
        )

    async def watch(self) -> None:
        await self.page.evaluate("() => { lab.wires = [] }")

    async def wires(self) -> list[dict[str, Any]]:
        return [parsed(wire) for wire in await self.page.evaluate("lab.wires")]

    async def inner(self) -> Frame:
        element = (await self.page.evaluate_handle("lab.iframe")).as_element()
        assert element is not None
        frame = await element.content_frame()
        assert frame is not None
        return frame

    async def close(self) -> None:
        with anyio.fail_after(PATIENCE):
            await self.page.evaluate("lab.transport?.close()")


class PlaywrightOuter(PythonOuter):
    """A connection in CPython over a `PlaywrightWindow`."""

    async def _open_window(self, url: str, sandbox: str | None) -> Any:
        return await self._stack.enter_async_context(
            PlaywrightWindow(self.page, Framing(url, sandbox=sandbox, visible=True))
        )

    def _make_place(self, *, popup: bool) -> Place:
        return PlaywrightPlace(self.page, popup=popup)


class PlainOuter(PlaywrightOuter):
    """The same in plain MCP, whose page answers a `ping` to open the session."""

    dialect = "plain_mcp"
    answering = "plain"

    async def opened_by_hand(self, frame: Frame) -> None:
        await say(frame, {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}})
        await self.next("opened")


def _bounds(bounds: Bounds) -> dict[str, Any]:
    return {
        "timeout": {name: seconds * 1000 for name, seconds in bounds.deadlines.items()},
        "limits": {_camel(name): value for name, value in bounds.limits.items()},
    }


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


every_kind = pytest.mark.parametrize(
    "outer_kind", [JavaScriptOuter, PlaywrightOuter, PlainOuter], ids=["host.js", "python", "plain_mcp"]
)
"""For a rule of every dialect: each of the outer frames, and the one in Python in plain MCP, too."""


@pytest.fixture(name="outer_kind", params=[JavaScriptOuter, PlaywrightOuter], ids=["host.js", "python"])
def both_kinds(request: pytest.FixtureRequest) -> type[Outer]:
    """Each of the two outer frames, in the usual suite too: for a module that imports this."""
    kind: type[Outer] = request.param
    return kind
