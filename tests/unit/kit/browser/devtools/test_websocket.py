"""The WebSocket to a browser that runs already: against a server of the same protocol, and against what is none."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.browser.devtools import websocket
from mcpframe.kit.browser.devtools.protocol import DevTools
from mcpframe.kit.browser.devtools.websocket import connect
from tests.support.certificates import write_certificates
from tests.support.devtools_server import Browser, listening


async def test_commands_are_answered_over_it_and_its_end_is_the_browsers() -> None:
    browser = Browser()
    async with listening(browser) as place:
        devtools = DevTools(await connect(f"http://{place}"))
        text = "\u00e9\U0001f600" * 200_000
        for params in ({"a": 1}, {"text": text}):
            assert (await devtools.command("echo", **params))["params"] == params
        for body in ("YQ==", ["YWJj" * 100_000, "ZGVm" * 100_000, "Zw=="]):
            params = {"a": '"}}', "body": "".join(body)}
            assert (await devtools.command("echo", a='"}}', body=body))["params"] == params
        assert browser.targets == ["/json/version", "/devtools/browser/abc"]
        assert browser.pongs == 4
        with pytest.raises(BrowserGone):
            await devtools.command("close")
        assert devtools.closed.done()
        with pytest.raises(BrowserGone):
            await devtools.command("echo")
        await devtools.close()


async def test_a_browser_with_a_token_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, certificate, authority = Browser(), tmp_path / "certificate.pem", tmp_path / "authority.pem"
    write_certificates(certificate, authority)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with listening(browser, context) as place:
        port = place.partition(":")[2]
        with pytest.raises(BrowserGone, match=f"certificate of localhost:{port} is not trusted") as caught:
            await connect(f"wss://localhost:{port}/devtools/browser/abc?token=s3cret")
        assert "s3cret" not in str(caught.value)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        for address in ("https://localhost:{}?token=s3cret", "wss://localhost:{}/devtools/browser/abc?token=s3cret"):
            devtools = DevTools(await connect(address.format(port)))
            assert (await devtools.command("echo", a=1))["params"] == {"a": 1}
            await devtools.close()
    target = "/devtools/browser/abc?token=s3cret"
    assert browser.targets == ["/json/version?token=s3cret", target, target]


async def test_a_browser_that_accepts_no_host_name_gets_its_ip_address() -> None:
    """As Chromium does: in Docker's networks it is addressed by a name."""
    browser = Browser()
    browser.refused = b"localhost"
    async with listening(browser) as place:
        devtools = DevTools(await connect(f"http://localhost:{place.partition(':')[2]}"))
        assert (await devtools.command("echo", a=1))["params"] == {"a": 1}
        await devtools.close()


async def test_nothing_is_kept_for_a_browser_that_reads_no_more() -> None:
    class Hanging(Browser):
        def _heard(self, _: object, writer: asyncio.StreamWriter, __: object) -> None:
            writer.transport.pause_reading()  # type: ignore[attr-defined]

    async with listening(Hanging()) as place:
        wire = await connect(f"http://{place}")
        for _ in range(20):
            wire.send("x" * 1_000_000)
        assert wire._writer.transport.get_write_buffer_size()
        wire.close()
        async with asyncio.timeout(10):
            await wire._writer.wait_closed()


async def test_a_message_that_is_too_long_is_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page chooses what it answers."""
    monkeypatch.setattr(websocket, "LONGEST", 100_000)
    async with listening(Browser()) as place:
        devtools = DevTools(await connect(f"http://{place}"))
        for _ in range(2):
            with pytest.raises(BrowserGone, match="too long"):
                await devtools.command("echo", text="x" * 1_000_000)
            assert (await devtools.command("echo", a=1))["params"] == {"a": 1}
        await devtools.close()


async def test_what_is_no_websocket_any_more_is_the_end() -> None:
    async with listening(Browser()) as place:
        devtools = DevTools(await connect(f"ws://{place}/devtools/browser/abc"))
        with pytest.raises(BrowserGone):
            await devtools.command("garbage")
        await devtools.close()


async def answers(text: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(text)
    await writer.drain()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b'HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n{"webSocketDebuggerUrl": [1]}',
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ],
)
@pytest.mark.parametrize("address", ["http://{}", "ws://{}/devtools/browser/abc"])
async def test_what_is_no_browser_is_told(text: bytes, address: str) -> None:
    async with listening(lambda reader, writer: answers(text, reader, writer)) as place:
        with pytest.raises(BrowserGone, match="remote-debugging-port"):
            await connect(address.format(place))


async def test_a_browser_that_refuses_or_is_silent_or_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(Browser()) as place:
        with pytest.raises(BrowserGone, match="403") as caught:
            await connect(f"ws://{place}/other?token=s3cret")
        assert "s3cret" not in str(caught.value)
    with pytest.raises(BrowserGone):
        await connect(f"http://{place}")
    monkeypatch.setattr(websocket, "CONNECT_SECONDS", 0.1)

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(silent) as place:
        for address in (f"http://{place}", f"ws://{place}/devtools/browser/abc"):
            with pytest.raises(BrowserGone):
                await connect(address)
