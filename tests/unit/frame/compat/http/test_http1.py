"""Requests and answers as libraries write and parse them."""

from __future__ import annotations

import io
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

import pytest

from mcpframe.frame.browser.http_exchange import FetchFailed, FetchTimedOut
from mcpframe.frame.compat.http import http_client
from mcpframe.frame.compat.http.http1 import RequestReader, head_of
from tests.support.fake_network import FakeAnswer, FakeNetwork

PLAIN = b"POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nX-Name: v\r\n\r\nhello"
CHUNKED = (
    b"POST http://other.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\n, x\r\n0\r\n\r\n"
)


def _answer(*parts: bytes | Exception) -> FakeAnswer:
    answer = FakeAnswer(*parts)
    answer.headers = [("x-a", "1")]
    return answer


@pytest.mark.parametrize(
    ("wire", "url", "body"),
    [
        (PLAIN, "https://api.example/a?b", b"hello"),
        (CHUNKED, "http://other.example/", b"hello, x"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "https://api.example/", b""),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_request_is_complete_with_its_last_byte(wire: bytes, url: str, body: bytes, size: int) -> None:
    reader = RequestReader("https://api.example")
    parts = [wire[at : at + size] for at in range(0, len(wire), size)]
    assert [reader.feed(part) for part in parts] == [False] * (len(parts) - 1) + [True]
    request = reader.request(2.0)
    assert (request.url, request.body, request.timeout) == (url, body, 2.0)


def test_an_answer_has_no_length_of_its_own() -> None:
    assert head_of(_answer()) == b"HTTP/1.1 200 OK\r\nx-a: 1\r\nconnection: close\r\n\r\n"


@pytest.fixture
def client() -> Any:
    """A copy of `http.client` of its own."""
    spec = find_spec("http.client")
    assert isinstance(spec, ModuleSpec)
    assert spec.loader
    module: ModuleType = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_connection_sends_over_the_network(client: Any) -> None:
    network = FakeNetwork(_answer(b"first", b"second"))
    http_client.fit(client, network)
    connection = client.HTTPSConnection("api.example", timeout=3)
    connection.request("PUT", "/x", body=io.BytesIO(b"data"), headers={"User-Agent": "me", "X-Token": "t"})
    response = connection.getresponse()
    assert (response.status, response.getheader("X-A"), response.read()) == (200, "1", b"firstsecond")
    [sent] = network.sent
    assert (sent.method, sent.url, sent.body, sent.timeout) == ("PUT", "https://api.example:443/x", b"data", 3)
    assert sent.sent_headers == [("X-Token", "t")]


@pytest.mark.parametrize(("failure", "kind"), [(FetchFailed("no"), OSError), (FetchTimedOut("late"), TimeoutError)])
def test_a_connection_raises_what_sockets_do(client: Any, failure: Exception, kind: type[Exception]) -> None:
    http_client.fit(client, FakeNetwork(failure))
    connection = client.HTTPConnection("api.example")
    connection.request("GET", "/")
    with pytest.raises(kind, match=str(failure)):
        connection.getresponse()
    half = _answer(b"part", failure)
    http_client.fit(client, FakeNetwork(half))
    connection = client.HTTPConnection("api.example")
    connection.request("GET", "/")
    with pytest.raises(kind, match=str(failure)):
        connection.getresponse().read()
