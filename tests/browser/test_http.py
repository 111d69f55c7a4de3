"""Python's HTTP libraries in a page, against a server of another origin."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from playwright.async_api import Page

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.cors_proxy import CorsProxy
from mcpframe.kit.web.serve import serve_app, serve_folder
from tests.browser.clients import PythonClient
from tests.browser.conftest import Bundle, Origins, Troubles
from tests.support.built import SERVERS, SNAPSHOTS
from tests.support.other_origin import ALL_BYTES, BIG, OtherOrigin, other_origin
from tests.support.suites import except_for

ERRORS = {
    "httpx": ("httpx.ConnectError", "httpx.ReadTimeout"),
    "httpx-sync": ("httpx.ConnectError", "httpx.ReadTimeout"),
    "httpx2": ("httpx2.ConnectError", "httpx2.ReadTimeout"),
    "httpx2-sync": ("httpx2.ConnectError", "httpx2.ReadTimeout"),
    "requests": ("requests.ConnectionError", "requests.ReadTimeout"),
    "urllib3": ("urllib3.NewConnectionError", "urllib3.ReadTimeoutError"),
    "urllib.request": ("urllib.URLError", "builtins.TimeoutError"),
    "aiohttp": ("aiohttp.ClientConnectorError", "builtins.TimeoutError"),
}
"""The types of each library for a request without an answer, and for one whose answer is late."""
EARLIER = {f"{library} with urllib3 1.x": ERRORS[library] for library in ("requests", "urllib3")}
IN_WORKER = {f"{library} in a worker": ERRORS[library] for library in ("httpx", "requests", "urllib.request")}
BUNDLES = {
    "fetching": ('"urllib3"', "with the server imported"),
    "fetching-aiohttp": ('"urllib3", "aiohttp"', "of the SDK"),
    "fetching-urllib3-1": ('"urllib3<2"', "with the server imported"),
    "fetching-in-a-worker": ('"urllib3"', "with the server imported"),
}
"""What each bundle requires in place of "urllib3", and what its page starts from."""

NOBODY = "http://127.0.0.1:9"
"""An origin that browsers do not connect to."""


@pytest.fixture(scope="module")
def world() -> Iterator[OtherOrigin]:
    with other_origin() as world:
        yield world


@pytest.fixture(scope="module")
def proxy(world: OtherOrigin) -> Iterator[str]:
    """The address of `mcpframe proxy`, which reaches the server under its number."""
    behind = httpx2.AsyncClient(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))  # keeps none open
    with serve_app(CorsProxy([world.numbered], client=behind)) as served:
        yield served.origin


@pytest.fixture(scope="module")
def bundle_named(
    world: OtherOrigin, proxy: str, origins: Origins, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Bundle]]:
    """The server with httpx, httpx2, requests and urllib3; with aiohttp besides; and with urllib3 1.x."""
    folder = tmp_path_factory.mktemp("bundles")
    with serve_folder(folder) as served:

        @cache
        def found(name: str) -> Bundle:
            required, start = BUNDLES[name]
            sources = [NOBODY, proxy, world.numbered, world.origin]
            project = make_project(tmp_path_factory.mktemp("projects") / name, sources, required)
            built = build(project, folder, allowed_origins=[origins.host], snapshot=SNAPSHOTS)
            assert not SNAPSHOTS or start in built.manifest["start"]
            return Bundle(folder, f"http://bundle.localhost:{served.port}", built.url_path)

        yield found


def make_project(folder: Path, sources: list[str], required: str) -> Path:
    """Copy the server to a folder, with a policy that allows connections to these origins."""
    shutil.copytree(SERVERS / "fetching", folder)
    file = folder / "pyproject.toml"
    text = file.read_text().replace('"urllib3"', required)
    name = text.replace('name = "fetching"', f'name = "{folder.name}"')
    name += 'runs_in = "worker"\n' if folder.name.endswith("worker") else ""
    file.write_text(f"{name}csp = {{ connect_src = {json.dumps(sources)} }}\n")
    return folder


class Caller:
    """A client whose calls give what the tools return."""

    def __init__(self, client: PythonClient, library: str, origin: str) -> None:
        self.client = client
        self.library = library
        self.origin = origin

    async def ask(self, url: str, method: str = "GET", **options: Any) -> dict[str, Any]:
        answer = await self.client.call("ask", library=self.library, url=url, method=method, options=options)
        assert not answer.get("isError"), answer
        result: dict[str, Any] = answer["structuredContent"]
        return result


@pytest.fixture(params=except_for([*ERRORS, *EARLIER, *IN_WORKER], "httpx", "requests", "urllib.request"))
async def caller(
    request: pytest.FixtureRequest, host_page: Page, bundle_named: Callable[[str], Bundle]
) -> AsyncIterator[Caller]:
    special = {
        "aiohttp": "-aiohttp",
        **dict.fromkeys(EARLIER, "-urllib3-1"),
        **dict.fromkeys(IN_WORKER, "-in-a-worker"),
    }
    bundle = bundle_named(f"fetching{special.get(request.param, '')}")
    async with AsyncExitStack() as stack:
        client = PythonClient(host_page, "modern", stack)
        await client.open(bundle.url)
        yield Caller(client, request.param.partition(" ")[0], bundle.origin)


async def test_a_library(caller: Caller, world: OtherOrigin, troubles: Troubles) -> None:
    origin = world.origin
    troubles.expect("404 (Not Found)")
    world.preflights.clear()
    first = await caller.ask(f"{origin}/echo?q=1", headers={"Accept": "application/json", "User-Agent": "weather/1"})
    assert (first["status"], first["url"], first["headers"]["x-seen"]) == (200, f"{origin}/echo?q=1", "yes")
    assert '"method": "GET"' in first["text"]
    assert world.preflights == []  # none of its own headers needs the server's consent
    assert first["imported"] == []

    posted = await caller.ask(f"{origin}/echo", "POST", json={"a": "ä"}, headers={"X-Token": "t"})
    assert '"content-type": "application/json"' in posted["text"]
    assert '"x-token": "t"' in posted["text"]
    assert "\\\\u00e4" in posted["text"] or "\\u00c3" in posted["text"]
    assert world.preflights == ["/echo"]
    assert posted["imported"] == []

    missing = await caller.ask(f"{origin}/nowhere")
    assert (missing["status"], missing["text"]) == (404, '{"detail": "nothing here"}')
    assert (await caller.ask(f"{origin}/nothing"))["size"] == 0
    assert (await caller.ask(f"{origin}/echo", "HEAD"))["size"] == 0
    moved = await caller.ask(f"{origin}/moved")
    assert (moved["status"], moved["url"]) == (200, f"{origin}/echo?moved")
    packed = await caller.ask(f"{origin}/gzip")
    assert (packed["text"], "content-encoding" in packed["headers"]) == ('{"packed": true}', False)
    assert (await caller.ask(f"{origin}/binary"))["sha256"] == hashlib.sha256(ALL_BYTES).hexdigest()
    assert (await caller.ask(f"{origin}/big"))["size"] == BIG


@pytest.mark.extended
async def test_what_a_library_raises(caller: Caller, world: OtherOrigin, troubles: Troubles) -> None:
    for part in ("Content Security Policy", "CORS policy", "Failed to load resource", "Refused to connect"):
        troubles.expect(part)
    failed, late = ERRORS[caller.library]
    blocked = await caller.ask(f"{world.blocked}/echo")
    assert failed in blocked["kinds"]
    assert f'"{world.origin}", "{world.blocked}"] }}' in blocked["error"]
    closed = await caller.ask(f"{world.origin}/closed")
    assert failed in closed["kinds"]
    assert "CORS" in closed["error"]
    assert caller.origin in closed["error"]
    away = await caller.ask(f"{world.origin}/moved-away")
    assert failed in away["kinds"]
    assert "redirects" in away["error"]
    for path in ("never", "half"):
        answer = await caller.ask(f"{world.origin}/{path}", timeout=1)  # time enough for the request to arrive
        assert late in answer["kinds"] or path == "half", answer
        assert await anyio.to_thread.run_sync(lambda: world.left.acquire(timeout=30))  # the request was aborted
    assert (await caller.ask(f"{world.origin}/echo"))["status"] == 200


async def test_a_server_that_allows_no_page_is_reached_by_the_proxy(
    host_page: Page, bundle_named: Callable[[str], Bundle], world: OtherOrigin, proxy: str, troubles: Troubles
) -> None:
    for part in ("CORS policy", "Failed to load resource"):
        troubles.expect(part)
    bundle, closed = bundle_named("fetching"), f"{world.numbered}/closed"
    async with AsyncExitStack() as stack:
        client = PythonClient(host_page, "modern", stack)
        await client.open(bundle.url)
        direct = Caller(client, "httpx", bundle.origin)
        assert "`mcpframe proxy`" in (await direct.ask(closed))["error"]
        await client.call("set_variable", name="MCPFRAME_CORS_PROXY", value=proxy)
        for library in ("httpx", "urllib.request"):
            caller = Caller(client, library, bundle.origin)
            answer = await caller.ask(closed)
            assert (answer["status"], answer["url"], answer["text"]) == (200, closed, "secret")
            moved = await caller.ask(f"{world.numbered}/moved", headers={"X-Token": "t"})
            assert moved["url"] == f"{world.numbered}/echo?moved"
            assert '"x-token": "t"' in moved["text"]
            refused = await caller.ask(f"{world.origin}/echo")
            assert (refused["status"], "--allow-host" in refused["text"]) == (403, True)
        await client.call("set_variable", name="MCPFRAME_CORS_PROXY", value=NOBODY)
        assert f"`mcpframe proxy --allow-host {world.origin}`" in (await direct.ask(f"{world.origin}/echo"))["error"]


@pytest.mark.extended
async def test_a_library_streams(caller: Caller, world: OtherOrigin) -> None:
    answer = await caller.client.call("stream", library=caller.library, origin=world.origin)
    assert answer["structuredContent"] == {"result": ["first", "second"]}, answer


async def test_a_cancelled_call_aborts_its_request(caller: Caller, world: OtherOrigin) -> None:
    if caller.library not in ("httpx", "httpx2", "aiohttp"):
        pytest.skip("a synchronous call ends with its request")
    while world.arrived.acquire(blocking=False) or world.left.acquire(blocking=False):
        pass  # those of other tests
    await caller.client.call_and_cancel("wait", library=caller.library, origin=world.origin)
    assert await anyio.to_thread.run_sync(lambda: world.left.acquire(timeout=30))
