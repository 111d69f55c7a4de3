"""The matrix of bad input and attacks for a page framed by a host of mcp-ui, as far as its connection decides.

    line                                                        what must happen
    strangers, before the host speaks and after                 dropped unread; they choose no host and no data
    messages of any shape, prototype keys, depth                refused or nothing; the page goes on
    answers with ids of others, guessed, twice, late            nobody's
    answers and errors of any shape                             a result, or one exception
    floods of render data, of acknowledgements                  the newest data is drawn
    openings of other dialects, once this one is adopted        nothing

Nothing is posted to `*` after the host is known.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult

from mcpframe.frame.core.connection import Candidate, parse_allowed_origins
from mcpframe.frame.core.errors import HandshakeTimeout, HostError, HostTimeout
from mcpframe.frame.core.events import Closed, Departure, Inbound
from mcpframe.frame.dialects.available import inner_candidates
from mcpframe.frame.dialects.mcp_ui.offers import EmbeddedOffer
from mcpframe.frame.dialects.mcp_ui.roles import EMBEDDED
from mcpframe.frame.host_api.mcp_ui import EmbeddingHost
from tests.hostile.page_side import HOST, PAGE, PageSide
from tests.hostile.values import ODD, POISON, Record, strangers, strangers_are_dropped, unread
from tests.support.fake_window import STRANGER
from tests.support.sep import MESSAGES as SEP
from tests.support.ui import MESSAGES

Json = dict[str, Any]
DATA = "ui-lifecycle-iframe-render-data"
TO_FRAME = (DATA, "ui-message-received", "ui-message-response")


class Framed(PageSide):
    """A page whose host speaks mcp-ui."""

    async def open(self, data: Any = None) -> EmbeddingHost:
        self.tell({"type": DATA, "payload": {"renderData": data}})
        await self.session.begun()
        self.posted.clear()
        assert isinstance(self.messages.handler, EmbeddingHost)
        return self.messages.handler

    async def works(self, host: EmbeddingHost) -> None:
        """Ask the host something, and get its answer."""
        asking = asyncio.ensure_future(host.intent("good"))
        await anyio.wait_all_tasks_blocked()
        asked, _ = self.posted[-1]
        self.tell({"type": "ui-message-response", "messageId": asked["messageId"], "payload": {"response": "good"}})
        assert await asking == "good"
        assert {target for _, target in self.posted} == {HOST}
        assert not len(self.session.streams[0]), "nothing of it is for a server"


@pytest.fixture
async def framed() -> AsyncIterator[Framed]:
    framed = Framed(Candidate(EMBEDDED, parse_allowed_origins([HOST])))
    yield framed
    framed.close()


def odd_messages() -> list[Any]:
    lines: list[Any] = [*ODD, [MESSAGES[DATA]], json.dumps(MESSAGES[DATA])]
    for odd in ODD:
        lines += [{"type": odd, "payload": {"renderData": 1}}, {"type": [DATA]}, {"type": {"toString": DATA}}]
        for kind in TO_FRAME:
            lines += [
                {"type": kind, "messageId": odd, "payload": [odd]},
                {"type": kind, "messageId": [odd], "payload": {"renderData": 1, "response": 1}},
                {"type": kind, "messageId": {"x": odd}, "payload": {"error": odd}},
                {"type": kind, "messageId": "x", "payload": "text"},
            ]
    for key in (*POISON, "\ud800"):
        lines += [{"type": kind, "payload": {"renderData": key, "response": key}} for kind in TO_FRAME]
        lines += [{"type": kind, "messageId": key} for kind in TO_FRAME]
    lines += [MESSAGES[kind] for kind in MESSAGES if kind not in TO_FRAME]
    return lines


@pytest.mark.parametrize("early", [True, False])
async def test_odd_messages_draw_nothing(framed: Framed, early: bool, record_property: Record) -> None:
    """Before the host has spoken they choose no host, either: acknowledgements and answers of any id do."""
    lines = odd_messages()
    host = None if early else await framed.open({"a": 1})
    for message in lines:
        if not early or not isinstance(message, dict) or message.get("type") not in TO_FRAME[1:]:
            framed.tell(message)
    if host is None:
        assert not framed.session.connection.origin
        assert {target for _, target in framed.posted} == {"*"}
        host = await framed.open({"a": 1})
    assert await host.render_data() == {"a": 1}
    await framed.works(host)
    record_property("lines", len(lines))


async def test_strangers_choose_no_host_and_no_data(framed: Framed, record_property: Record) -> None:
    async def unharmed() -> None:
        assert framed.session.connection.origin is None
        host = await framed.open({"a": 1})
        await framed.works(host)

    lines = await strangers_are_dropped(framed.deliver, unharmed, origin=HOST, host=PAGE)
    host = framed.messages.handler
    assert isinstance(host, EmbeddingHost)
    asking = asyncio.ensure_future(host.request_data("payment-methods"))
    await anyio.wait_all_tasks_blocked()
    forged = {"type": "ui-message-response", "messageId": framed.posted[-1][0]["messageId"]}
    framed.tell(forged, {"type": DATA, "payload": {"renderData": {"forged": 1}}}, origin=STRANGER)

    async def still_waits() -> None:
        await anyio.wait_all_tasks_blocked()
        assert not asking.done()
        assert await host.render_data() == {"a": 1}
        asking.cancel()
        await framed.works(host)

    lines += await strangers_are_dropped(framed.deliver, still_waits, origin=HOST, host=PAGE)
    record_property("lines", lines + 2)


async def test_who_waits_for_data_takes_it_from_the_host_only(record_property: Record) -> None:
    """With `?waitForRenderData=true`: an acknowledgement is not enough, and at the deadline it is over."""
    waiting = Candidate(EMBEDDED, parse_allowed_origins([HOST]), EmbeddedOffer(waits=True))
    framed = Framed(waiting, handshake_timeout=0.2, accept_timeout=0.2)
    for origin, from_peer in strangers(HOST, PAGE):
        framed.deliver(Inbound(origin, from_peer, unread))
    framed.tell({"type": DATA, "payload": {"renderData": {"forged": 1}}}, origin=STRANGER)
    for id_ in (None, "1", "mcpframe/1"):
        framed.tell({"type": "ui-message-received", "messageId": id_})
    framed.tell({"type": "ui-message-response", "messageId": "guessed", "payload": {"response": {"renderData": 1}}})
    closed = await framed.session.ended()
    assert isinstance(closed.error, HandshakeTimeout)
    assert framed.messages.handler is None
    framed.close()
    record_property("lines", 10)


async def test_answers_with_other_ids_are_nobodys(framed: Framed, record_property: Record) -> None:
    host = await framed.open()
    asking = [asyncio.ensure_future(host.intent(name)) for name in ("one", "two")]
    await anyio.wait_all_tasks_blocked()
    one, two = (message["messageId"] for message, _ in framed.posted)
    prefix = one.rpartition("/")[0]
    guessed = [f"{prefix}/{text}" for text in ("", "0", "3", "01", "1 ", "-1", "1.0", "[", "1/1", "x" * 5000)]
    ids = [*guessed, prefix, one.upper(), one[:-1], "mcpframe/1", "mcpframe/render-data", "mcpframe-ping-", *ODD]
    for id_ in ids:
        framed.tell({"type": "ui-message-received", "messageId": id_})
        framed.tell({"type": "ui-message-response", "messageId": id_, "payload": {"response": "forged"}})
        framed.tell({"type": "ui-message-response", "messageId": id_, "payload": {"error": "forged"}})
        if id_ is not None:
            framed.tell({"type": DATA, "messageId": id_, "payload": {"error": "forged"}})
    await anyio.wait_all_tasks_blocked()
    assert not any(task.done() for task in asking)
    for id_, response in ((two, 2), (two, "twice"), (one, 1), (one, "twice")):
        framed.tell({"type": "ui-message-response", "messageId": id_, "payload": {"response": response}})
        framed.tell({"type": "ui-message-received", "messageId": id_})
    assert [await task for task in asking] == [1, 2]
    assert len(prefix) > 40
    await framed.works(host)
    record_property("lines", 4 * len(ids) + 4)


async def test_answers_and_errors_of_any_shape(framed: Framed, record_property: Record) -> None:
    """A tool call has a result, an error is one exception; whoever asked is not left waiting."""
    host = await framed.open()
    nested: list[Any] = [[[[{"a": [[odd]]}]]] for odd in ODD]
    contents = [{"content": odd} for odd in ODD] + [{"content": [odd], "isError": odd} for odd in ODD]
    lines: list[Json] = [{"response": odd} for odd in (*ODD, *nested, *contents)]
    lines += [{"error": odd} for odd in (*ODD, *nested)]
    lines += [{"error": {"message": odd, "code": odd, "name": odd}} for odd in (*ODD, *nested)]
    lines += [{"error": {"code": 10**300, "message": "x"}}, {"error": {"code": -32601.0}}, {}, {"error": None}]
    unlike: list[Any] = [{"response": {"__proto__": 1}}, {"response": "\ud800"}, "text", 7, [1], True]
    for payload in [*lines, *unlike]:
        calling = asyncio.ensure_future(host.call_tool("any"))
        await anyio.wait_all_tasks_blocked()
        id_ = framed.posted[-1][0]["messageId"]
        framed.tell({"type": "ui-message-response", "messageId": id_, "payload": payload})
        with suppress(HostError):
            assert isinstance(await calling, CallToolResult), payload
    await framed.works(host)
    record_property("lines", len(lines) + len(unlike))


async def test_floods_of_data_and_a_host_that_only_acknowledges(framed: Framed, record_property: Record) -> None:
    host = await framed.open()
    drawn: list[Any] = []
    host.on_render_data(drawn.append)
    host.timeout = 0.2
    asking = asyncio.ensure_future(host.call_tool("slow"))
    await anyio.wait_all_tasks_blocked()
    id_ = framed.posted[-1][0]["messageId"]
    for number in range(3000):
        framed.tell({"type": DATA, "payload": {"renderData": {"theme": number % 7, "n": number // 100}}})
        framed.tell({"type": "ui-message-received", "messageId": id_})
    for odd in ODD:
        framed.tell({"type": DATA, "payload": {"renderData": {"theme": odd, "locale": odd}}})
    with pytest.raises(HostTimeout):
        await asking
    framed.tell({"type": "ui-message-response", "messageId": id_, "payload": {"response": "late"}})
    framed.tell({"type": DATA, "payload": {"renderData": {"last": 1}}})
    assert drawn[-1] == await host.render_data() == {"last": 1}
    assert host.context.theme is None
    host.timeout = 10
    await framed.works(host)
    record_property("lines", 3 + len(ODD))


async def test_other_dialects_are_noise_once_this_one_is_spoken(record_property: Record) -> None:
    """A host, or a script in it, that speaks several: no second session, and no way to what the first one has."""
    own = [{"jsonrpc": "2.0", "id": id_, "result": {"hostInfo": {"name": "x", "version": "1"}}} for id_ in (0, 1, "a")]
    others: list[Json] = [*SEP.values(), *own, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]
    others += [
        {"channel": channel, "type": "mcp", "direction": direction, "payload": payload}
        for channel in ("mcp-default", "mcp-iframe")
        for direction in ("client-to-server", "server-to-client")
        for payload in ("mcp-check-ready", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    ]
    candidates = inner_candidates("transport", parse_allowed_origins([HOST]))
    framed = Framed(*candidates)
    host = await framed.open({"a": 1})
    framed.tell(*others)
    assert framed.posted == []
    await framed.works(host)
    framed.close()
    record_property("lines", len(others))


async def test_a_host_that_is_gone_in_mid_request_fails_it(framed: Framed) -> None:
    host = await framed.open()
    asking = asyncio.ensure_future(host.intent("go"))
    await anyio.wait_all_tasks_blocked()
    framed.gone(Departure.REMOVED)
    with pytest.raises(HostError):
        await asking
    assert isinstance(framed.events[-1], Closed)
    before = len(framed.posted)
    with pytest.raises(HostError):
        await host.open_link("https://a.example/")
    assert len(framed.posted) == before
