"""Who is answered over HTTP: a bridge in this process, with the SDK's client and by hand."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
import jwt
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.authorization import guarded
from mcpframe.kit.edges.http.issuer import Issuer
from mcpframe.kit.edges.http.principal import current_user
from mcpframe.kit.web.serve import bind
from tests.support.authorization_server import USER, Kept, authorization_server, rsa_key, signing_in
from tests.support.bridged import HttpBridge, Place, http_bridge

ADA, BOB = "a" * 32, "b" * 32
TOKENS = {ADA: "ada", BOB: "bob"}
PATIENCE = 60.0
ERAS = ("2026-07-28", "legacy")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
ACCEPT = {"accept": "application/json, text/event-stream"}


def bearer(token: str) -> dict[str, str]:
    return {**ACCEPT, "authorization": f"Bearer {token}"}


@asynccontextmanager
async def bridged(access: Access) -> AsyncIterator[tuple[HttpBridge, httpx2.AsyncClient]]:
    async with (
        asyncio.timeout(PATIENCE),
        http_bridge(Place().open_page, access) as bridge,
        httpx2.AsyncClient(timeout=PATIENCE, trust_env=False) as http,
    ):
        yield bridge, http


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_with_a_token_is_answered(era: str) -> None:
    async with bridged(Access(tokens=TOKENS)) as (bridge, http):
        http.headers["authorization"] = f"Bearer {ADA}"
        async with Client(streamable_http_client(bridge.url, http_client=http), mode=era) as client:
            assert (await client.call_tool("echo", {"text": "hi"})).content[0].text == "hi"  # type: ignore[union-attr]


async def test_no_other_request_reaches_a_page(caplog: Any, capsys: Any) -> None:
    place = Place()
    with caplog.at_level(logging.DEBUG):
        async with http_bridge(place.open_page, Access(tokens=TOKENS)) as bridge, httpx2.AsyncClient() as http:
            for given in (
                "",
                "Bearer",
                f"Bearer {ADA[:-1]}",
                f"Bearer {ADA}x",
                f"Basic {ADA}",
                f"Bearer {ADA.upper()}",
            ):
                for method in ("POST", "GET", "DELETE", "PUT"):
                    headers = {**ACCEPT, "authorization": given} if given else ACCEPT
                    answer = await http.request(method, bridge.url, json=INITIALIZE, headers=headers)
                    assert answer.status_code == 401
                    assert answer.headers["www-authenticate"].startswith('Bearer error="invalid_token"')
            for path, status in (
                ("/healthz", 200),
                ("/readyz", 200),
                ("/.well-known/oauth-protected-resource/mcp", 404),
            ):
                assert (await http.get(bridge.url.replace("/mcp", path))).status_code == status
        assert not place.heard("initialize")
    assert ADA[:-1] not in caplog.text + "".join(capsys.readouterr())


async def test_a_session_is_its_users_alone() -> None:
    async with bridged(Access(tokens=TOKENS)) as (bridge, http):
        begun = await http.post(bridge.url, json=INITIALIZE, headers=bearer(ADA))
        id_ = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        for method in ("POST", "GET", "DELETE"):
            answer = await http.request(method, bridge.url, json=ping, headers={**bearer(BOB), **id_})
            assert (answer.status_code, "Session not found" in answer.text) == (404, True)
        assert (await http.post(bridge.url, json=ping, headers={**bearer(ADA), **id_})).status_code == 200


async def test_an_origin_may_read_why_it_is_refused() -> None:
    origin = {"origin": "https://chat.example"}
    async with bridged(Access(tokens=TOKENS, allowed_origins=["https://chat.example"])) as (bridge, http):
        answer = await http.post(bridge.url, json=INITIALIZE, headers=origin)
        assert answer.status_code == 401
        assert answer.headers["access-control-allow-origin"] == "https://chat.example"
        assert "www-authenticate" in answer.headers["access-control-expose-headers"].lower()
        asking = {**origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}
        assert (await http.options(bridge.url, headers=asking)).status_code == 200


async def said_user(app: ASGIApp, address: str = "192.0.2.1", **headers: str) -> httpx2.Response:
    transport = httpx2.ASGITransport(app, client=(address, 1))
    async with httpx2.AsyncClient(transport=transport, base_url="http://x") as http:
        return await http.post("/", headers=headers)


async def user(scope: Any, receive: Any, send: Any) -> None:
    await PlainTextResponse(f"{current_user()} {scope['client'][0]}")(scope, receive, send)


async def test_a_user_has_a_rate_and_others_theirs() -> None:
    app = guarded(user, Access(tokens=TOKENS, rate="2/hour"))
    ada, bob = ({"authorization": f"Bearer {token}"} for token in (ADA, BOB))
    assert [(await said_user(app, f"192.0.2.{n}", **ada)).status_code for n in range(3)] == [200, 200, 429]
    refused = await said_user(app, **ada)
    assert 1 <= int(refused.headers["retry-after"]) <= 7200
    assert [(await said_user(app, **bob)).text, (await said_user(app, "::1", **bob)).status_code] == [
        "bob 192.0.2.1",
        200,
    ]
    # without a valid token, an address
    assert [(await said_user(app, "192.0.2.9")).status_code for _ in range(3)] == [401, 401, 429]
    assert (await said_user(app, "192.0.2.8", authorization="Bearer x")).status_code == 401


async def test_without_authorization_an_address_has_a_rate() -> None:
    app = guarded(user, Access(rate="1/hour"))
    of_one = ["192.0.2.1", "::ffff:192.0.2.1"]
    of_another = ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2"]
    for same in (of_one, of_another):
        assert [(await said_user(app, each)).status_code for each in same] == [200, 429]
    assert (await said_user(app, "2001:db8:0:2::1")).text == "local 2001:db8:0:2::1"


async def test_a_rate_is_over_after_its_time() -> None:
    app = guarded(user, Access(rate="1/second"))
    assert (await said_user(app)).status_code == 200
    refused = await said_user(app)
    await asyncio.sleep(int(refused.headers["retry-after"]))  # the limit's clock is the system's
    assert (await said_user(app)).status_code == 200


@pytest.mark.parametrize(
    ("proxies", "peer", "forwarded", "client"),
    [
        ((), "10.0.0.1", "192.0.2.7", "10.0.0.1"),  # nobody is believed unasked
        (("10.0.0.1",), "10.0.0.2", "192.0.2.7", "10.0.0.2"),
        (("10.0.0.1",), "10.0.0.1", "192.0.2.7", "192.0.2.7"),
        (("10.0.0.1",), "10.0.0.1", "127.0.0.1, 192.0.2.7", "192.0.2.7"),  # the client's own lines come first
        (("10.0.0.0/8",), "10.0.0.1", "192.0.2.7, 10.9.9.9", "192.0.2.7"),
        (("10.0.0.0/8",), "::ffff:10.0.0.1", "192.0.2.7, 10.9.9.9", "192.0.2.7"),  # as a server on `::` sees it
        (("10.0.0.0/8",), "::ffff:11.0.0.1", "192.0.2.7", "::ffff:11.0.0.1"),
    ],
)
async def test_only_a_named_proxy_names_the_client(proxies: Any, peer: str, forwarded: str, client: str) -> None:
    app = guarded(user, Access(proxies=proxies))
    assert (await said_user(app, peer, **{"x-forwarded-for": forwarded})).text == f"local {client}"


def free_port() -> int:
    with bind("127.0.0.1", 0) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("era", ERAS)
async def test_the_sdks_client_signs_in(era: str, caplog: Any) -> None:
    """From the first 401 over the metadata, the registration and the user's consent to the answer of a tool."""
    caplog.set_level(logging.DEBUG, "mcpframe")
    key = rsa_key()
    with authorization_server(key, ["mcp"]) as server:
        # the address is known only once the bridge listens: that of a balancer is known before
        resource = f"http://127.0.0.1:{free_port()}/mcp"
        issuer = Issuer(server.issuer, f"{server.issuer}/jwks", resource, resource, ("mcp",))
        access = Access(tokens=TOKENS, issuer=issuer)
        access.check()
        async with bridged(access) as (bridge, http):
            metadata = (await http.get(bridge.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp"))).json()
            assert (metadata["resource"], metadata["authorization_servers"]) == (resource, [server.issuer])
            kept = Kept()
            provider = signing_in(resource, kept)
            async with (
                httpx2.AsyncClient(transport=_At(bridge.url, resource), auth=provider, timeout=PATIENCE) as of_client,
                Client(streamable_http_client(resource, http_client=of_client), mode=era) as client,
            ):
                assert (await client.call_tool("echo", {"text": "hi"})).content[0].text == "hi"  # type: ignore[union-attr]
            assert kept.tokens is not None
            claims = jwt.decode(kept.tokens.access_token, options={"verify_signature": False})
            assert (claims["aud"], claims["sub"], claims["scope"]) == (resource, USER, "mcp")
            assert server.fetched == 1

            # tokens of the same server for something else, and its own static ones
            now = int(time.time())
            for change, status in (
                ({}, 200),
                ({"aud": "https://other.example/mcp"}, 401),
                ({"scope": "other"}, 403),
                ({"exp": now - 1}, 401),
            ):
                token = jwt.encode({**claims, **change}, key, "RS256", {"kid": "one"})
                answer = await http.post(bridge.url, json=INITIALIZE, headers=bearer(token))
                assert answer.status_code == status, change
                assert token not in caplog.text
            assert "resource_metadata=" in answer.headers["www-authenticate"]
            assert (await http.post(bridge.url, json=INITIALIZE, headers=bearer(ADA))).status_code == 200
            valid = jwt.encode(claims, key, "RS256", {"kid": "one"})
            answer = await said_user(guarded(user, access), authorization=f"Bearer {valid}")
            assert answer.text == f"{server.issuer} ada 192.0.2.1"  # no name in a file of tokens has a space
            unknown = jwt.encode(claims, key, "RS256", {"kid": "two"})
            assert (await http.post(bridge.url, json=INITIALIZE, headers=bearer(unknown))).status_code == 401
        away = replace(issuer, keys=f"http://127.0.0.1:{free_port()}/jwks")
        async with bridged(Access(issuer=away)) as (bridge, http):
            answer = await http.post(bridge.url, json=INITIALIZE, headers=bearer(unknown))
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


class _At(httpx2.AsyncBaseTransport):
    """A balancer: what is sent to one address arrives at another."""

    def __init__(self, real: str, public: str) -> None:
        self._real, self._public = httpx2.URL(real), httpx2.URL(public)
        self._transport = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.port == self._public.port:
            request.url = request.url.copy_with(port=self._real.port)
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        await self._transport.aclose()
