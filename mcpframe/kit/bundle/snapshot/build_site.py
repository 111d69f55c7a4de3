"""The web server of a build: the page that runs one job, with the bundle in memory, on a loopback address."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mcpframe.kit.base.data import page_dir
from mcpframe.kit.bundle.assembly.page_scripts import SNAPSHOT_MAKER, snapshot_maker_script
from mcpframe.kit.bundle.assembly.snapshot_file import DECODER, Snapshot
from mcpframe.kit.bundle.snapshot.boot import changed, file_entry, with_boot
from mcpframe.kit.bundle.snapshot.outcome import MOST_BYTES, check_memory, checked
from mcpframe.kit.bundle.wasm.zeroed_malloc import with_zeroed_malloc

_SENT = ("start", "memory", "first")
_PYTHON = "/pyodide.asm.wasm"
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "css": "text/css",
    "json": "application/json",
    "wasm": "application/wasm",
}


class NoOutcome(Exception):
    """Transient: the browser crashed, or the page did not start, did not answer in time, or sent invalid data.

    Attributes:
        begun: Whether the last program of the job had begun.
    """

    begun = False


class BuildSite:
    """The ASGI application. It serves one page after another, as restarting a web server is slow.

    Attributes:
        page: The current page.
        origin: The origin of the web server.
    """

    page: JobPage
    origin: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request (ASGI)."""
        await self.page(scope, receive, send)


class JobPage:
    """The ASGI application of one page: it serves the bundle's files and the job, and receives the outcome.

    Attributes:
        begun: Set once the job has begun.
        done: Set once the page has sent its outcome.
        sent: What the page has sent before its outcome, by name: memory images, and the outcome of a first program.
    """

    def __init__(
        self,
        bundle: Mapping[str, bytes],
        name: str,
        job: Mapping[str, Any],
        *,
        layer: str,
        snapshot: Snapshot | None,
    ) -> None:
        self.begun = threading.Event()
        self.done = threading.Event()
        self._outcome = b""
        self.sent: dict[str, bytes] = {}
        maker = snapshot_maker_script()
        files: dict[str, Any] = {"snapshot_maker": file_entry(SNAPSHOT_MAKER, maker)}
        self._files = {f"/{path}": data for path, data in bundle.items()}
        if job["step"] == "take":
            self._files |= {
                path: with_zeroed_malloc(data) for path, data in self._files.items() if path.endswith(_PYTHON)
            }
        self._files[f"/{name}/{SNAPSHOT_MAKER}"] = maker
        self._files[f"/{name}/job.json"] = json.dumps(job).encode()
        links, decoder = [], (page_dir() / DECODER).read_bytes()
        for number, each in enumerate(snapshot.layers if snapshot else ()):
            self._files[f"/{name}/{number}.bin"] = each.data
            links.append(file_entry(f"{number}.bin", each.data))
        self._files[f"/{name}/{DECODER}"] = decoder
        index = f"/{name}/index.html"
        self._files[index] = with_boot(
            self._files[index],
            lambda boot: changed(
                boot,
                files,
                layer=layer,
                snapshot=snapshot,
                links=links,
                decoder=file_entry(DECODER, decoder),
                complete=job["step"] == "take",
            ),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request (ASGI)."""
        request = Request(scope, receive)
        path = request.url.path
        if request.method == "POST" and not _is_from_its_page(request):
            response = Response(status_code=403)
        elif request.method == "POST":
            response = Response(status_code=await self._take(path.rpartition("/")[2], request))
        elif path in self._files:
            kind = _TYPES.get(path.rpartition(".")[2], "application/octet-stream")
            response = Response(self._files[path], media_type=kind)
        else:
            response = Response(status_code=404)
        await response(scope, receive, send)

    async def _take(self, name: str, request: Request) -> int:
        """Store the page's data, up to its outcome, and return the HTTP status of the response."""
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return 413
        if name == "begun":
            self.begun.set()
            return 204
        if self.done.is_set() or name in self.sent or name not in ("outcome", *_SENT):
            return 409  # code of the author's, which runs later, replaces nothing
        if name == "outcome":
            self._outcome = bytes(body)
            self.done.set()
        else:
            self.sent[name] = bytes(body)
        return 204

    def said(self) -> dict[str, Any]:
        """Return the outcome that the page sent.

        Raises:
            NoOutcome: It is not one of static/build/snapshot-maker.js.
        """
        try:
            outcome = checked(json.loads(self._outcome))
            for name, sent in self.sent.items():
                if name == "first":
                    outcome["first"] = checked(json.loads(sent))
                else:
                    check_memory(sent)
        except (ValueError, RecursionError) as error:
            raise NoOutcome(str(error)) from error
        return outcome


def _is_from_its_page(request: Request) -> bool:
    """Return whether the request is from the page itself: any page on this machine can post to a loopback port."""
    server = request.scope["server"]
    host = f"{server[0]}:{server[1]}"
    return request.headers.get("host") == host and request.headers.get("origin") == f"http://{host}"
