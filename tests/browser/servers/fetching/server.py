"""Makes requests with each of Python's HTTP libraries, as other people's servers do."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import httpx2
import requests
import urllib3
from mcp.server.mcpserver import Context, MCPServer

with contextlib.suppress(ImportError):
    import aiohttp  # which draws random numbers: a bundle with it has no snapshot of this module

server = MCPServer("fetching")
_pool = urllib3.PoolManager(retries=False)


async def _httpx(method: str, url: str, options: dict[str, Any], module: Any = httpx) -> dict[str, Any]:
    async with module.AsyncClient() as client:
        answer = await client.request(method, url, **options)
    return {"status": answer.status_code, "url": str(answer.url), "body": answer.content, "headers": answer.headers}


def _httpx_sync(method: str, url: str, options: dict[str, Any], module: Any = httpx) -> dict[str, Any]:
    answer = module.request(method, url, **options)
    return {"status": answer.status_code, "url": str(answer.url), "body": answer.content, "headers": answer.headers}


async def _httpx2(method: str, url: str, options: dict[str, Any]) -> dict[str, Any]:
    return await _httpx(method, url, options, httpx2)


def _httpx2_sync(method: str, url: str, options: dict[str, Any]) -> dict[str, Any]:
    return _httpx_sync(method, url, options, httpx2)


def _requests(method: str, url: str, options: dict[str, Any]) -> dict[str, Any]:
    answer = requests.request(method, url, **options)
    return {"status": answer.status_code, "url": answer.url, "body": answer.content, "headers": answer.headers}


def _urllib3(method: str, url: str, options: dict[str, Any]) -> dict[str, Any]:
    if "json" in options and urllib3.__version__.startswith("1."):
        options = {**options, "body": json.dumps(options["json"])}
        options["headers"] = {**options.get("headers", {}), "Content-Type": "application/json"}
        del options["json"]
    answer = _pool.request(method, url, **options)
    return {"status": answer.status, "url": answer.geturl(), "body": answer.data, "headers": answer.headers}


def _urllib(method: str, url: str, options: dict[str, Any]) -> dict[str, Any]:
    headers, data = dict(options.get("headers", {})), None
    if "json" in options:
        data = json.dumps(options["json"]).encode()
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, data, headers, method=method)
    limit = {"timeout": options["timeout"]} if "timeout" in options else {}
    try:
        with urllib.request.urlopen(request, **limit) as answer:
            return {"status": answer.status, "url": answer.url, "body": answer.read(), "headers": answer.headers}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "url": error.url, "body": error.read(), "headers": error.headers}


async def _aiohttp(method: str, url: str, options: dict[str, Any]) -> dict[str, Any]:
    options = {**options, **({"timeout": aiohttp.ClientTimeout(options["timeout"])} if "timeout" in options else {})}
    async with aiohttp.ClientSession() as session, session.request(method, url, **options) as answer:
        return {"status": answer.status, "url": str(answer.url), "body": await answer.read(), "headers": answer.headers}


LIBRARIES: dict[str, Any] = {
    "httpx": _httpx,
    "httpx-sync": _httpx_sync,
    "httpx2": _httpx2,
    "httpx2-sync": _httpx2_sync,
    "requests": _requests,
    "urllib3": _urllib3,
    "urllib.request": _urllib,
    "aiohttp": _aiohttp,
}


@server.tool()
async def ask(library: str, url: str, method: str = "GET", options: dict[str, Any] | None = None) -> dict[str, Any]:
    """Make a request, and return what came back, or what was raised and which modules were imported for it."""
    before = set(sys.modules)
    try:
        found = LIBRARIES[library](method, url, options or {})
        found = await found if asyncio.iscoroutine(found) else found
    except Exception as error:  # noqa: BLE001
        kinds = [f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(error).__mro__]
        return {"error": str(error), "kinds": kinds, "imported": sorted(set(sys.modules) - before)}
    body: bytes = found.pop("body")
    text = body.decode() if len(body) < 1000 and body.isascii() else ""
    headers = {name.lower(): value for name, value in found.pop("headers").items()}
    digest = hashlib.sha256(body).hexdigest()
    late = sorted(set(sys.modules) - before)
    return {**found, "text": text, "size": len(body), "sha256": digest, "headers": headers, "imported": late}


@server.tool()
def set_variable(name: str, value: str) -> None:
    """Set an environment variable, as `env` and `visitor_env` do."""
    os.environ[name] = value


@server.tool()
async def ask_all(libraries: list[str], requests: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Make the same requests with several libraries."""
    return {library: [await ask(library, **request) for request in requests] for library in libraries}


@contextlib.asynccontextmanager
async def _parts_of(library: str, url: str) -> AsyncIterator[Any]:
    """The parts of an answer as they come: an async or a plain iterator."""
    module = httpx2 if library.startswith("httpx2") else httpx
    if library in ("httpx", "httpx2"):
        async with module.AsyncClient() as client, client.stream("GET", url) as answer:
            yield answer.aiter_bytes()
    elif library in ("httpx-sync", "httpx2-sync"):
        with module.Client() as plain, plain.stream("GET", url) as answer:
            yield answer.iter_bytes()
    elif library == "requests":
        with requests.get(url, stream=True) as answer:  # noqa: ASYNC210
            yield answer.iter_content(100)
    elif library == "urllib3":
        yield _pool.request("GET", url, preload_content=False).stream(100)
    elif library == "urllib.request":
        with urllib.request.urlopen(url) as answer:  # noqa: ASYNC210
            yield iter(lambda: answer.read1(100), b"")
    else:
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            yield answer.content.iter_any()


@server.tool()
async def stream(library: str, origin: str) -> list[str]:
    """Read an answer part by part, and have its second part sent once the first one is here."""
    parts: list[str] = []
    async with _parts_of(library, f"{origin}/stream") as found:
        if hasattr(found, "__aiter__"):
            async for part in found:
                parts.append(part.decode())
                if len(parts) == 1:
                    await LIBRARIES["httpx"]("GET", f"{origin}/go", {})
        else:
            iterator: Iterator[bytes] = found
            for part in iterator:
                parts.append(part.decode())
                if len(parts) == 1:
                    await LIBRARIES["httpx"]("GET", f"{origin}/go", {})
    return parts


@server.tool()
async def wait(library: str, origin: str, ctx: Context[Any, Any]) -> str:
    """Make a request that is never answered, and report once the server has it; it is there to be cancelled."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(LIBRARIES[library]("GET", f"{origin}/never", {"timeout": 1000}))
        await _httpx("GET", f"{origin}/arrived", {"timeout": 1000})
        await ctx.report_progress(0.5, 1, "asked")
    return "answered"
