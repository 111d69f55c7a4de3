"""Several dialects at once over real windows: who answers first is adopted, what the others post is noise."""

from __future__ import annotations

import json

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse
from playwright.async_api import Page, Route

from mcpframe.frame.core.connection import Candidate, Connection, parse_allowed_origins
from mcpframe.frame.core.places import Framing
from mcpframe.frame.dialects.sep.offers import HostOffer
from mcpframe.frame.dialects.sep.roles import OUTER_TRANSPORT
from mcpframe.frame.session.session import open_session
from mcpframe.kit.browser.playwright_window import PlaywrightWindow
from tests.browser.conftest import Origins
from tests.support.second_dialect import BODIES, DIRECTED, HELLO, PLAIN, READY, from_peer, role_of

PATIENCE = 30.0

PAGE = """<!doctype html><title>Two dialects</title><script>
const scripts = SCRIPTS;
const order = ORDER;
const say = (message) => parent.postMessage(message, "*");
addEventListener("message", ({ data }) => {
  const body = data.payload ?? data;
  if (data.type === "MCP_TRANSPORT_HANDSHAKE_REPLY") {
    say({ type: "MCP_TRANSPORT_ACCEPTED", sessionId: data.sessionId });
  } else if (body.id === "hello") {
    for (const message of scripts[data.channel ?? "plain"].ready) say(message);
  }
  if (!body.method) return;
  // To a request it says what begins the other dialects, and answers in each of them.
  for (const name of order.slice(1)) {
    for (const message of [...scripts[name].opening, ...scripts[name].ready]) say(message);
  }
  const answer = { jsonrpc: "2.0", id: body.id, result: { tools: [] } };
  say(answer);
  say({ channel: "directed", way: "to host", payload: answer });
  say({ type: "MCP_MESSAGE", payload: answer });
});
for (const name of order) for (const message of scripts[name].opening) say(message);
</script>"""


def page(order: list[str]) -> str:
    plain, directed = (role_of(dialect, "outer") for dialect in (PLAIN, DIRECTED))
    scripts = {
        "sep": {"opening": [{"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"}], "ready": []},
        "plain": {"opening": [BODIES[HELLO]], "ready": [from_peer(plain, READY)]},
        "directed": {"opening": [from_peer(directed, HELLO)], "ready": [from_peer(directed, READY)]},
    }
    return PAGE.replace("SCRIPTS", json.dumps(scripts)).replace("ORDER", json.dumps(order))


@pytest.mark.parametrize("first", ["sep", "plain", "directed"])
async def test_the_first_is_adopted_and_the_others_are_noise(host_page: Page, origins: Origins, first: str) -> None:
    order = [first, *(name for name in ("sep", "plain", "directed") if name != first)]

    async def answer(route: Route) -> None:
        await route.fulfill(body=page(order), content_type="text/html")

    await host_page.context.route("**/two-dialects.html", answer)
    allowed = parse_allowed_origins([origins.bundle])
    connection = Connection(
        [
            Candidate(OUTER_TRANSPORT, allowed, HostOffer(session_id="a session")),
            *(Candidate(role_of(dialect, "outer"), allowed) for dialect in (PLAIN, DIRECTED)),
        ]
    )
    async with PlaywrightWindow(host_page, Framing(f"{origins.bundle}/two-dialects.html", visible=True)) as window:
        with anyio.fail_after(PATIENCE):
            async with open_session(connection, window) as session:
                assert (session.started.dialect, session.origin) == (first, origins.bundle)
                assert session.id == ("a session" if first == "sep" else "")
                read, write = session.streams
                await write.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/list")))
                received = await read.receive()
                assert isinstance(received, SessionMessage)
                assert isinstance(received.message, JSONRPCResponse)
                assert received.message.id == 1
                assert connection.adopted is not None
                assert connection.adopted.dialect == first
        assert connection.dropped["noise"] >= 4  # what begins the others, twice
