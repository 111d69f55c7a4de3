"""`mcpframe proxy`: what it forwards, for whom, and where to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from mcpframe.kit.web import cors_proxy
from mcpframe.kit.web.cors_proxy import CorsProxy, origin_of
from mcpframe.kit.web.serve import serve_app

PAGE = "http://localhost:8000"
API = "https://api.example"


class Api:
    """The server behind the proxy: keeps what it is asked."""

    def __init__(self, answer: Callable[[httpx2.Request], httpx2.Response]) -> None:
        self.asked: list[httpx2.Request] = []
        self._answer = answer

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        return self._answer(request)


async def ask(api: Api, target: str, method: str = "GET", page: str | None = PAGE, **options: Any) -> httpx2.Response:
    pages = options.pop("pages", ())
    headers = httpx2.Headers(options.pop("headers", {}))
    if page:
        headers["origin"] = page
    behind = httpx2.AsyncClient(transport=httpx2.MockTransport(api))
    app = CorsProxy([API], pages, behind)
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8719")
    async with client, behind:
        return await client.request(method, f"/{target}", headers=headers, **options)


def ok(_: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(200, json={"a": 1}, headers={"set-cookie": "s=1", "x-rate": "9"})


async def test_a_request_goes_on_without_what_the_browser_adds() -> None:
    api = Api(ok)
    headers = {"cookie": "a=1", "authorization": "Bearer k", "referer": "http://localhost/", "accept": "text/plain"}
    answer = await ask(api, f"{API}/v1/a%2Fb?q=1&r=x", headers=headers)
    [asked] = api.asked
    assert str(asked.url) == f"{API}/v1/a%2Fb?q=1&r=x"
    assert (asked.headers["authorization"], asked.headers["host"]) == ("Bearer k", "api.example")
    assert {"cookie", "origin", "referer"}.isdisjoint(asked.headers)
    assert (answer.json(), answer.headers["access-control-allow-origin"]) == ({"a": 1}, PAGE)
    assert (answer.headers["x-rate"], answer.headers["access-control-expose-headers"]) == ("9", "*")
    assert {"set-cookie", "access-control-allow-credentials"}.isdisjoint(answer.headers)


async def test_headers_of_one_connection_go_no_further() -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        names = ("connection", "x-hop", "proxy-authenticate", "proxy-connection", "x-kept", "date", "server")
        return httpx2.Response(200, headers={name: "close, X-Hop" if name == "connection" else "1" for name in names})

    api = Api(answer)
    hop = [("connection", "keep-alive, X-Secret , te"), ("connection", "x-second")]
    hop += [("x-secret", "1"), ("x-second", "1"), ("x-other", "2")]
    proxy = {"proxy-authorization": "Basic a", "proxy-connection": "keep-alive", "proxy-authenticate": "Basic"}
    got = await ask(api, f"{API}/v1", headers=[*hop, *proxy.items()])
    [asked] = api.asked
    assert asked.headers["x-other"] == "2"
    assert "x-secret" not in asked.headers.get("connection", "").lower()
    assert {"x-secret", "x-second", *proxy}.isdisjoint(asked.headers)
    assert got.headers["x-kept"] == "1"
    assert {"x-hop", "proxy-authenticate", "proxy-connection", "connection"}.isdisjoint(got.headers)


async def test_an_answer_has_one_date() -> None:
    api = httpx2.AsyncClient(
        transport=httpx2.MockTransport(lambda _: httpx2.Response(200, headers={"date": "then", "server": "theirs"}))
    )
    async with api, httpx2.AsyncClient(trust_env=False) as client:
        with serve_app(CorsProxy([API], client=api)) as served:
            answer = await client.get(f"{served.origin}/{API}/v1", headers={"origin": PAGE})
    assert (answer.status_code, len(answer.headers.get_list("date"))) == (200, 1)
    assert answer.headers["date"] != "then"
    assert answer.headers["server"] == "theirs"


async def test_a_body_is_sent_and_a_preflight_is_answered_here() -> None:
    api = Api(lambda request: httpx2.Response(201, content=request.content))
    assert (await ask(api, f"{API}/v1", "POST", content=b"body")).content == b"body"
    wanted = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    answer = await ask(api, f"{API}/v1", "OPTIONS", headers=wanted)
    assert (answer.status_code, answer.headers["access-control-allow-headers"]) == (204, "authorization")
    assert len(api.asked) == 1


@pytest.mark.parametrize("page", [None, "https://other.example", "null", "http://localhost.example"])
async def test_other_pages_are_refused(page: str | None) -> None:
    api = Api(ok)
    answer = await ask(api, f"{API}/v1", page=page)
    assert (answer.status_code, api.asked) == (403, [])
    assert "access-control-allow-origin" not in answer.headers


async def test_named_pages_alone_may_use_it() -> None:
    api = Api(ok)
    assert (await ask(api, f"{API}/v1", page="https://tools.example", pages=["https://tools.example"])).is_success
    assert (await ask(api, f"{API}/v1", pages=["https://tools.example"])).status_code == 403


@pytest.mark.parametrize(
    "target",
    [
        "https://other.example/",
        "http://api.example/",
        "https://api.example:444/",
        "https://api.example@other.example/",
        "https://user@api.example/",
        "file:///etc/passwd",
        "api.example/",
        "",
    ],
)
async def test_other_hosts_are_not_reached(target: str) -> None:
    api = Api(ok)
    answer = await ask(api, target)
    assert (answer.status_code, api.asked) == (403, [])
    assert "--allow-host" in answer.text


async def test_redirects_lead_to_listed_hosts_only() -> None:
    there = await ask(Api(lambda _: httpx2.Response(302, headers={"location": "/v2"})), f"{API}/v1")
    assert (there.status_code, there.headers["location"]) == (302, f"/{API}/v2")
    away = await ask(Api(lambda _: httpx2.Response(302, headers={"location": "https://other.example/"})), f"{API}/v1")
    assert (away.status_code, "location" in away.headers) == (502, False)


async def test_bodies_and_failures_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cors_proxy, "MOST_SENT", 3)
    monkeypatch.setattr(cors_proxy, "MOST_RECEIVED", 3)
    api = Api(lambda _: httpx2.Response(200, content=b"four"))
    assert (await ask(api, f"{API}/v1", "POST", content=b"four")).status_code == 413
    with pytest.raises(OSError, match="more than 3 bytes"):
        await ask(api, f"{API}/v1")

    def refuses(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    assert (await ask(Api(refuses), f"{API}/v1")).status_code == 502


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://API.example:443/a", "https://api.example"),
        ("http://[::1]:80/", "http://[::1]"),
        ("https://a.example:99999/", ""),
        ("javascript:1", ""),
    ],
)
def test_origins(url: str, origin: str) -> None:
    assert origin_of(url) == origin
