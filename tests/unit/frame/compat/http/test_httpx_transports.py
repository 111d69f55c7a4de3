"""The transports of httpx over a network: what is sent, what is raised, and what has no effect."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import httpx2
import pytest

from mcpframe.frame.browser import http_exchange as exchange
from mcpframe.frame.browser.http_exchange import FetchFailed, FetchTimedOut
from mcpframe.frame.compat.http import httpx_transports
from tests.support.fake_network import FakeAnswer, FakeNetwork


@pytest.fixture
def network() -> FakeNetwork:
    return FakeNetwork(FakeAnswer(b"one", b"two"))


@pytest.fixture
def library(network: FakeNetwork) -> Any:
    """A module of transports that are fitted, in place of httpx2's own."""
    module: Any = ModuleType("httpx2._transports.default")
    module.HTTPTransport = type("HTTPTransport", (httpx2.BaseTransport,), {})
    module.AsyncHTTPTransport = type("AsyncHTTPTransport", (httpx2.AsyncBaseTransport,), {})
    httpx_transports.fit(module, network)
    return module


@pytest.fixture
def client(library: Any) -> httpx2.Client:
    return httpx2.Client(transport=library.HTTPTransport(http2=True, retries=3, limits=None))


def test_a_client_sends_and_reads(client: httpx2.Client, network: FakeNetwork) -> None:
    answer = client.post("https://user:secret@api.example/a#part", json={}, headers={"X-A": "ä".encode("latin-1")})
    assert (answer.text, str(answer.url), answer.reason_phrase) == ("onetwo", "https://final.example/", "OK")
    [sent] = network.sent
    assert (sent.url, sent.body, sent.timeout) == ("https://api.example/a", b"{}", 10)
    headers = dict(sent.sent_headers)
    assert (headers["x-a"] if "x-a" in headers else headers["X-A"]) == "ä"
    assert {"authorization", "content-type", "accept"} <= {name.lower() for name in headers}
    assert not {"host", "user-agent", "connection", "content-length"} & {name.lower() for name in headers}


@pytest.mark.parametrize(
    ("url", "host", "sent"),
    [
        ("https://192.0.43.8/a?b#c", "api.example", "https://api.example/a?b"),
        ("http://192.0.43.8:8080/", "api.example:8080", "http://api.example:8080/"),
        ("https://192.0.43.8/", "api.example/b", "https://192.0.43.8/"),
        ("https://192.0.43.8/", "user@api.example", "https://192.0.43.8/"),
        ("https://10.0.0.1/", "api.example", "https://10.0.0.1/"),
    ],
)
def test_a_request_to_the_address_that_was_made_up_goes_to_its_host(
    client: httpx2.Client, network: FakeNetwork, url: str, host: str, sent: str
) -> None:
    client.get(url, headers={"Host": host}, extensions={"sni_hostname": host})
    assert network.sent[0].url == sent


@pytest.mark.parametrize(("timeout", "expected"), [(5, 5), (None, None), (httpx2.Timeout(1, read=30), 30)])
def test_the_timeout_is_the_one_for_reading(
    client: httpx2.Client, network: FakeNetwork, timeout: Any, expected: float | None
) -> None:
    client.get("https://api.example/", timeout=timeout)
    assert network.sent[0].timeout == expected


@pytest.mark.parametrize(
    ("failure", "kind"),
    [(FetchFailed("add it to connect_src"), httpx2.ConnectError), (FetchTimedOut("late"), httpx2.ReadTimeout)],
)
async def test_failures_are_the_librarys(library: Any, network: FakeNetwork, failure: Exception, kind: Any) -> None:
    network.answer = failure
    async with httpx2.AsyncClient(transport=library.AsyncHTTPTransport()) as client:
        with pytest.raises(kind, match=str(failure)) as raised:
            await client.get("https://api.example/")
        assert str(raised.value.request.url) == "https://api.example/"
        network.answer = cut = FakeAnswer(b"part", FetchFailed("cut off"))
        with pytest.raises(httpx2.ReadError, match="cut off"):
            await client.get("https://api.example/")
        assert cut.is_closed


@pytest.mark.parametrize(
    ("method", "url", "part"), [("GET", "https://api.example/", "body"), ("POST", "ftp://api.example/", "http://")]
)
def test_what_a_page_cannot_send(client: httpx2.Client, method: str, url: str, part: str) -> None:
    with pytest.raises(httpx2.UnsupportedProtocol, match=part):
        client.request(method, url, content=b"data")


@pytest.mark.parametrize("options", [{"verify": False}, {"cert": "file.pem"}, {"proxy": "http://proxy.example"}])
def test_what_has_no_effect_is_warned_of_once(
    library: Any, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(exchange, "_warned", set())
    with pytest.warns(RuntimeWarning, match="A page cannot"):
        library.HTTPTransport(**options)
    library.AsyncHTTPTransport(**options)


def test_a_page_has_no_unix_sockets(library: Any) -> None:
    with pytest.raises(ValueError, match="uds"):
        library.HTTPTransport(uds="/run/socket")
