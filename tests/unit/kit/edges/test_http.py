"""The bridge over HTTP, with clients that leave, cancel and lie: nobody else notices, and nothing is left of them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from mcpframe.kit.edges.http import sessions as http_sessions
from mcpframe.kit.edges.http import stateless as http_requests
from mcpframe.kit.edges.link.messages import Unread
from tests.support.bridged import PATIENCE, HttpBridge, Place, http_bridge
from tests.support.foreign_requests import refused_before_their_bodies
from tests.support.polling import until

JSON = dict[str, Any]
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
BOTH = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


async def test_a_foreign_request_is_refused_before_its_body(bridge: HttpBridge) -> None:
    await refused_before_their_bodies(bridge.url, PATIENCE)


class Legacy:
    """A client of 2025-11-25, by hand."""

    def __init__(self, bridge: HttpBridge, http: httpx2.AsyncClient) -> None:
        self.url = bridge.url
        self.http = http
        self.head = {**BOTH, "mcp-protocol-version": "2025-11-25"}

    async def begin(self) -> Legacy:
        answer = await self.post({"id": 0, "method": "initialize", "params": INITIALIZE})
        self.head["mcp-session-id"] = answer.headers["mcp-session-id"]
        assert (await self.post({"method": "notifications/initialized"})).status_code == 202
        return self

    async def post(self, message: JSON | bytes) -> httpx2.Response:
        body = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        return await self.http.post(self.url, content=body, headers=self.head)

    async def ask(self, id_: Any, method: str, **params: Any) -> JSON:
        return events(await self.post({"id": id_, "method": method, "params": params}))[-1]

    async def call(self, id_: Any, tool: str, **arguments: Any) -> JSON:
        return await self.ask(id_, "tools/call", name=tool, arguments=arguments)


def events(response: httpx2.Response) -> list[JSON]:
    """The messages of a response, which is an event stream or one message."""
    if "event-stream" not in response.headers["content-type"]:
        return [response.json()]
    return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]


async def stateless(
    bridge: HttpBridge, http: httpx2.AsyncClient, id_: Any, method: str, **params: Any
) -> httpx2.Response:
    head = {**BOTH, "mcp-protocol-version": "2026-07-28", "mcp-method": method}
    if "name" in params:
        head["mcp-name"] = params["name"]
    meta = {**META, **params.pop("_meta", {})}
    message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": {**params, "_meta": meta}}
    return await http.post(bridge.url, content=json.dumps(message).encode(), headers=head)


async def test_a_session_that_is_ended_in_the_middle_of_a_call_ends_no_other_one(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient
) -> None:
    other = await Legacy(bridge, http).begin()
    ending = await Legacy(bridge, http).begin()
    call = asyncio.create_task(ending.call(1, "wait", name="x"))
    await until(lambda: place.heard("tools/call", name="wait"))
    ended = await http.delete(bridge.url, headers=ending.head)
    assert ended.status_code == 200
    answer = await call
    assert (answer["id"], answer["error"]["code"]) == (1, -32000)
    assert (await other.call(1, "echo", text="still here"))["result"]["content"][0]["text"] == "still here"
    again = await Legacy(bridge, http).begin()
    assert (await again.call(1, "echo", text="new"))["result"]["content"][0]["text"] == "new"
    assert (await ending.post({"id": 2, "method": "ping"})).status_code == 404


async def test_a_cancellation_that_is_none_ends_nothing(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient
) -> None:
    client = await Legacy(bridge, http).begin()
    call = asyncio.create_task(client.call(1, "wait", name="x"))
    await until(lambda: place.heard("tools/call", name="wait"))
    ids: list[Any] = [[1], {}, None]
    for params in (None, [1], 5, "x", {}, *({"requestId": id_} for id_ in ids)):
        status = (await client.post({"method": "notifications/cancelled", "params": params})).status_code
        assert status in (202, 400), params
    assert (await client.call(2, "echo", text="on"))["result"]["content"][0]["text"] == "on"
    await client.post({"method": "notifications/cancelled", "params": {"requestId": 1}})
    assert (await call)["error"]["code"] == -32800


WRONG = [{"result": 5}, {"result": None}, {"error": {}}, {"error": "no"}, {"error": {"code": "x", "message": "y"}}]
WRONG += [{"result": {}, "error": {"code": 1, "message": ""}}, {"result": {"content": [{"text": "\ud800"}]}}, {}]


async def test_an_answer_that_is_none_is_an_error_for_who_waits(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient
) -> None:
    client = await Legacy(bridge, http).begin()
    for number, lie in enumerate(WRONG):
        place.lies["prompts/list"] = [lie]
        answer = await client.ask(f"legacy {number}", "prompts/list")
        assert (answer["id"], answer["error"]["code"]) == (f"legacy {number}", -32603), lie
        modern = await stateless(bridge, http, "modern", "prompts/list")
        expected = (200, "modern", -32603)
        assert (modern.status_code, modern.json()["id"], modern.json()["error"]["code"]) == expected, lie


@pytest.mark.parametrize(
    "server_message", [{"method": 5}, {"method": "x", "params": 5}, {"id": [], "result": {}}, {"id": 1}]
)
async def test_what_is_no_message_of_the_server_is_dropped(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient, server_message: JSON
) -> None:
    client = await Legacy(bridge, http).begin()
    for page in place.pages:
        page.say({"jsonrpc": "2.0", **server_message})
    assert (await client.call(1, "echo", text="on"))["result"]["content"][0]["text"] == "on"


async def test_no_id_of_a_client_is_one_of_the_bridges_own(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient
) -> None:
    ids = ["bridge-1", "bridge-2", "mcpframe-bridge-1", 0, 1, 2, "1", -1, ""]
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
        calls = [
            tasks.create_task(stateless(bridge, http, id_, "tools/call", name="echo", arguments={"text": repr(id_)}))
            for id_ in ids * 3
        ]
    for id_, call in zip(ids * 3, calls, strict=True):
        answer = call.result().json()
        assert (answer["id"], answer["result"]["content"][0]["text"]) == (id_, repr(id_))
    assert bridge.requests.pending == 0


async def test_a_late_answer_reaches_nobody_else(bridge: HttpBridge, place: Place, http: httpx2.AsyncClient) -> None:
    place.lies["prompts/list"] = []
    leaving = asyncio.create_task(stateless(bridge, http, 7, "prompts/list"))
    await until(lambda: place.heard("prompts/list"))
    page = place.last
    late = page.heard[-1]["id"]
    leaving.cancel()
    await asyncio.wait([leaving])
    await until(lambda: place.heard("notifications/cancelled", requestId=late))
    second = asyncio.create_task(stateless(bridge, http, 7, "prompts/list"))
    await until(lambda: place.heard("prompts/list") == 2)
    page.say({"jsonrpc": "2.0", "id": late, "result": {"prompts": [{"name": "of the first"}]}})
    page.say({"jsonrpc": "2.0", "id": page.heard[-1]["id"], "result": {"prompts": []}})
    assert (await second).json() == {"jsonrpc": "2.0", "id": 7, "result": {"prompts": []}}
    assert bridge.requests.pending == 0


async def test_progress_and_subscriptions_have_the_clients_own_ids(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient
) -> None:
    answers = events(
        await stateless(
            bridge, http, "c", "tools/call", name="count", arguments={"to": 2}, _meta={"progressToken": ["odd"]}
        )
    )
    assert answers[-1]["id"] == "c" or "error" in answers[-1]
    answers = events(
        await stateless(bridge, http, "c", "tools/call", name="count", arguments={"to": 2}, _meta={"progressToken": 0})
    )
    assert [each["params"]["progressToken"] for each in answers[:-1]] == [0, 0]
    assert answers[-1]["id"] == "c"
    key = "io.modelcontextprotocol/subscriptionId"
    place.lies["subscriptions/listen"] = []
    listening = asyncio.create_task(stateless(bridge, http, "mine", "subscriptions/listen", notifications={}))
    await until(lambda: place.heard("subscriptions/listen"))
    page = place.last
    number = page.heard[-1]["id"]
    page.say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {key: number}}})
    page.say({"jsonrpc": "2.0", "id": number, "result": {"_meta": {key: number}}})
    changed, ended = events(await listening)
    assert changed["params"]["_meta"][key] == ended["result"]["_meta"][key] == ended["id"] == "mine"


@pytest.mark.parametrize(
    "page",
    [
        {"tools": [], "nextCursor": "again"},
        {"tools": 5, "nextCursor": 5},
        {"tools": [5, {"name": 5}]},
        {},
    ],
)
async def test_a_list_of_tools_that_does_not_end_ends_for_the_bridge(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient, page: JSON
) -> None:
    place.lies["tools/list"] = [{"result": page}]
    answer = await stateless(bridge, http, 1, "tools/call", name="echo", arguments={"text": "on"})
    assert answer.json()["result"]["content"][0]["text"] == "on"
    assert bridge.requests.pending == 0


async def test_a_server_that_never_lists_its_tools(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpframe.kit.edges.http.stateless._SCHEMA_SECONDS", 0.05)
    place.lies["tools/list"] = []
    answer = await stateless(bridge, http, 1, "tools/call", name="echo", arguments={"text": "on"})
    assert (answer.json()["id"], answer.json()["error"]["code"]) == (1, -32603)
    assert bridge.requests.pending == 0


DEEP = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
BAD = [DEEP, b"[" * 100_000, b"{", b"\xff", b"5", b"[]", b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', b""]
BAD += [
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
]
BAD += [b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"\\udfff"}']
BAD += [b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\\ud800":1}}']
BAD += [b'{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1}}']
BAD += [b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', b'{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}']


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", "none"])
async def test_a_body_that_is_no_message_is_refused(bridge: HttpBridge, http: httpx2.AsyncClient, version: str) -> None:
    head = {**BOTH, "mcp-method": "ping"} | ({"mcp-protocol-version": version} if version != "none" else {})
    client = await Legacy(bridge, http).begin()
    for body in BAD:
        answer = await http.post(bridge.url, content=body, headers=head)
        assert answer.status_code == 400, body[:100]
        assert answer.json()["error"]["code"] in (-32700, -32600), body[:100]
        if version == "2025-11-25":
            assert (await client.post(body)).status_code == 400, body[:100]
    assert (await client.call(1, "echo", text="on"))["result"]["content"][0]["text"] == "on"


async def test_a_last_event_id_begins_a_new_stream(bridge: HttpBridge, place: Place, http: httpx2.AsyncClient) -> None:
    client = await Legacy(bridge, http).begin()
    for event in ("x", "é", "-1", "'", "a" * 5000, "{}", "0"):
        head = [*client.head.items(), ("last-event-id", event.encode())]
        async with http.stream("GET", bridge.url, headers=head) as answer:
            kind = answer.headers["content-type"].split(";")[0]
            assert (answer.status_code, kind) == (200, "text/event-stream"), event


async def test_an_id_that_is_in_use_is_refused(bridge: HttpBridge, place: Place, http: httpx2.AsyncClient) -> None:
    client = await Legacy(bridge, http).begin()
    call = asyncio.create_task(client.call(1, "wait", name="x"))
    await until(lambda: place.heard("tools/call", name="wait"))
    for id_ in (1, 1.0, "1", "_GET_stream"):
        refused = await client.post({"id": id_, "method": "ping"})
        assert refused.status_code == 400
        assert (refused.json()["id"], refused.json()["error"]["code"]) == (id_, -32600)
    await client.post({"method": "notifications/cancelled", "params": {"requestId": 1}})
    assert (await call)["error"]["code"] == -32800


@pytest.mark.parametrize(("written", "id_"), [(b"1.0", 1), (b"1e3", 1000)])
async def test_an_id_that_is_written_as_a_fraction_is_answered(
    bridge: HttpBridge, http: httpx2.AsyncClient, written: bytes, id_: int
) -> None:
    client = await Legacy(bridge, http).begin()
    call = (
        b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"_meta":%s}}'
    )
    answers = [events(await client.post(call % (written, b"{}")))[-1]]
    head = {**BOTH, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo"}
    content = call % (written, json.dumps(META).encode())
    answers.append((await http.post(bridge.url, content=content, headers=head)).json())
    for answer in answers:
        assert (answer["id"], answer["result"]["content"][0]["text"]) == (id_, "a")
        assert type(answer["id"]) is int


async def test_a_client_that_leaves_before_its_session_has_begun_leaves_none(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient
) -> None:
    place.lies["initialize"] = []
    leaving = asyncio.create_task(Legacy(bridge, http).begin())
    await until(lambda: place.heard("initialize"))
    leaving.cancel()
    await asyncio.wait([leaving])
    await until(lambda: not bridge.sessions.count)
    assert [page.closed for page in place.pages if page.heard] == [True]


def session_and_page(bridge: HttpBridge, place: Place, client: Legacy) -> tuple[Any, Any]:
    """Return a client's session in the bridge, and the page that serves it."""
    [session] = [each for each in bridge.sessions._sessions.values() if each.id == client.head["mcp-session-id"]]
    return session, next(page for page in place.pages if page.link is session._link)


async def test_a_session_that_fails_ends_no_other_one(
    bridge: HttpBridge, place: Place, http: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    failing, other = await Legacy(bridge, http).begin(), await Legacy(bridge, http).begin()
    session, page = session_and_page(bridge, place, failing)

    async def fail(*_: object) -> None:
        raise RuntimeError("of the test")

    call = asyncio.create_task(failing.call(1, "wait", name="x"))
    await until(lambda: place.heard("tools/call", name="wait"))
    session._outgoing.receive = fail  # type: ignore[attr-defined]
    session._to_send.receive = fail  # type: ignore[method-assign]
    page.say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}})
    page.say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}})
    await asyncio.wait([call])
    assert (await other.call(1, "echo", text="still here"))["result"]["content"][0]["text"] == "still here"
    await until(lambda: bridge.sessions.count == 1)
    assert "A session has failed" in caplog.text


async def test_a_client_that_does_not_read_loses_its_session_only(
    bridge: HttpBridge,
    place: Place,
    http: httpx2.AsyncClient,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = await Legacy(bridge, http).begin()
    monkeypatch.setattr(http_sessions, "Unread", lambda: Unread(limit=4_000_000))
    deaf = await Legacy(bridge, http).begin()
    _, page = session_and_page(bridge, place, deaf)
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 1_000_000}}
    async with http.stream("GET", bridge.url, headers=deaf.head):  # and nothing is read of it
        for _ in range(100):
            page.say(log)
            await asyncio.sleep(0)
        await until(lambda: bridge.sessions.count == 1)
    assert "does not read" in caplog.text
    assert (await other.call(1, "echo", text="still here"))["result"]["content"][0]["text"] == "still here"


async def test_a_client_that_does_not_read_loses_its_request_only(
    bridge: HttpBridge,
    place: Place,
    http: httpx2.AsyncClient,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_requests, "Unread", lambda: Unread(limit=4_000_000))
    params = {"name": "wait", "arguments": {"name": "x"}, "_meta": {**META, "progressToken": "t"}}
    asking = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    head = {**BOTH, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "wait"}
    progress = {"jsonrpc": "2.0", "method": "notifications/progress"}
    message = {"progress": 1, "message": "x" * 1_000_000}

    async def say() -> None:
        await until(lambda: place.heard("tools/call", name="wait"))
        page = place.last
        token = page.heard[-1]["params"]["_meta"]["progressToken"]
        while bridge.requests.pending:
            page.say({**progress, "params": {"progressToken": token, **message}})
            await asyncio.sleep(0)

    saying = asyncio.create_task(say())
    async with http.stream("POST", bridge.url, content=json.dumps(asking), headers=head):  # and nothing is read of it
        await saying
    assert "does not read" in caplog.text
    await until(lambda: place.heard("notifications/cancelled"))
    answer = await stateless(bridge, http, 2, "tools/call", name="echo", arguments={"text": "still here"})
    assert events(answer)[-1]["result"]["content"][0]["text"] == "still here"


async def test_a_bridge_that_ends_answers_the_open_requests(
    place: Place, http: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    async with asyncio.timeout(PATIENCE * 3):
        async with http_bridge(place.open_page) as bridge:
            client = await Legacy(bridge, http).begin()
            of_legacy = asyncio.create_task(client.call(1, "wait", name="legacy"))
            call: JSON = {"name": "wait", "arguments": {"name": "modern"}}
            of_modern = asyncio.create_task(stateless(bridge, http, 2, "tools/call", **call))
            streaming = http.stream("GET", bridge.url, headers={**client.head, "accept": "text/event-stream"})
            async with streaming as stream:
                await until(lambda: place.heard("tools/call", name="wait") == 2)
                ending = asyncio.create_task(bridge.end())
                assert await stream.aread() == b""
            await ending
        legacy, modern = await of_legacy, await of_modern
        assert (legacy["id"], legacy["error"]["code"]) == (1, -32000)
        assert (modern.json()["id"], modern.json()["error"]["code"]) == (2, -32000)
    assert not [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")]


async def test_a_bridge_that_drains_serves_its_sessions_and_takes_no_others(
    place: Place, http: httpx2.AsyncClient
) -> None:
    browsers = [True]
    async with asyncio.timeout(PATIENCE * 3):
        running = http_bridge(
            place.open_page,
            ready=lambda: all(browsers),
            drain_seconds=PATIENCE * 3,
        )
        async with running as bridge:

            async def status(path: str) -> int:
                return (await http.get(bridge.url.replace("/mcp", path))).status_code

            client = await Legacy(bridge, http).begin()
            for browsers[0], code in ((False, 503), (True, 200)):
                assert (await status("/healthz"), await status("/readyz")) == (200, code)
            ending = asyncio.create_task(bridge.end())
            while await status("/readyz") == 200:
                pass
            assert await status("/healthz") == 200
            assert (await client.call(1, "echo", text="on"))["result"]["content"][0]["text"] == "on"
            other = Legacy(bridge, http)
            refused = await other.post({"id": 0, "method": "initialize", "params": INITIALIZE})
            assert (refused.status_code, (await stateless(bridge, http, 1, "tools/list")).status_code) == (503, 503)
            assert (await http.delete(bridge.url, headers=client.head)).status_code == 200
            await ending
