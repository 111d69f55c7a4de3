"""A web site of a folder, served like on a good static host: the application for `serve`."""

from __future__ import annotations

import mimetypes
from collections.abc import Collection, Mapping
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.staticfiles import NotModifiedResponse
from starlette.types import Receive, Scope, Send

from mcpframe.kit.base.errors import ServeError
from mcpframe.kit.static_hosts.headers_file import headers_for, parse
from mcpframe.kit.static_hosts.known import CONFIGURATION

# The types that browsers require; all others are from the machine's own table (mimetypes).
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gz": "application/gzip",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".whl": "application/zip",
    ".zip": "application/zip",
}


class Site:
    """An ASGI application that serves the files of a folder, and nothing outside it.

    A folder is served as its `index.html`, without listings. A file with a `.gz` file beside it is sent compressed
    to clients that accept gzip. Headers are those of the `_headers` file in the root, read again when it changes.

    Args:
        folder: The root of the site.
        headers: Headers of every response, by name; they must not be in `_headers`, too.
        readers: The origins whose pages may read the files, instead of those that `_headers` allows
            (`Access-Control-Allow-Origin`); None to use `_headers`, like a published site.
        earlier: A folder with files to serve if the first folder lacks them.

    Raises:
        ServeError: The folder does not exist, or its `_headers` cannot be read.
    """

    def __init__(
        self,
        folder: Path,
        headers: Mapping[str, str] | None = None,
        *,
        readers: Collection[str] | None = None,
        earlier: Path | None = None,
    ) -> None:
        if not folder.is_dir():
            raise ServeError(f"{folder} is not a folder that can be served.")
        self._root = folder.resolve()
        self._roots = [self._root] if earlier is None else [self._root, earlier.resolve()]
        self._extra = dict(headers or {})
        self._readers = None if readers is None else frozenset(readers)
        self._rules = parse("")
        self._rules_stamp = -1
        self._read_rules()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request (ASGI)."""
        response = self._answer(Request(scope))
        await response(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return PlainTextResponse("Method not allowed", 405, {"Allow": "GET, HEAD"})
        path = request.url.path
        self._read_rules()
        headers = {"cache-control": "no-cache", **headers_for(path, self._rules), **self._extra}
        if self._readers is not None:
            self._limit_readers(request.headers.get("origin", ""), headers)
        file = self._find(request.scope["path"])
        if file is None:
            return PlainTextResponse("Not found", 404, {**headers, "cache-control": "no-store"})
        if file.is_dir():
            # Relative, so that it also works behind a proxy.
            return RedirectResponse(f"./{path.rpartition('/')[2]}/", 308, {**headers, "cache-control": "no-cache"})
        return self._file(file, request.headers, headers)

    def _limit_readers(self, origin: str, headers: dict[str, str]) -> None:
        assert self._readers is not None
        headers.pop("access-control-allow-origin", None)
        _vary(headers, "Origin")
        if origin in self._readers:
            headers["access-control-allow-origin"] = origin

    def _find(self, path: str) -> Path | None:
        """Return the file of a decoded URL path, or the folder if the path lacks its final slash."""
        segments = path.split("/")[1:]
        if "\0" in path or "\\" in path or any(part.startswith(".") or part in CONFIGURATION for part in segments):
            return None
        name = Path(*segments, "index.html") if path.endswith("/") else Path(*segments)
        for root in self._roots:
            try:
                file = (root / name).resolve()
                is_served = file.is_file() or (file / "index.html").is_file()
            except OSError:  # an invalid name for the file system
                return None
            if is_served and file.is_relative_to(root):
                return file
        return None

    def _compressed(self, file: Path) -> Path | None:
        """Return the compressed form of a file, if there is one."""
        packed = file.with_name(file.name + ".gz").resolve()
        return packed if packed.is_file() and any(packed.is_relative_to(root) for root in self._roots) else None

    def _file(self, file: Path, asked: Headers, headers: dict[str, str]) -> Response:
        content_type = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        headers = {"content-type": content_type, "x-content-type-options": "nosniff", **headers}
        sent = file
        compressed = self._compressed(file)
        if compressed is not None:
            _vary(headers, "Accept-Encoding")
            if _accepts_gzip(asked.get("accept-encoding", "")):
                sent = compressed
                headers["content-encoding"] = "gzip"
        # nanoseconds, so that a file that is written twice in a second looks changed
        status = sent.stat()
        headers["etag"] = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
        response = FileResponse(sent, headers=headers, stat_result=status)
        if headers["etag"] in asked.get("if-none-match", ""):
            return NotModifiedResponse(response.headers)
        return response

    def _read_rules(self) -> None:
        file = self._root / "_headers"
        try:
            stamp = file.stat().st_mtime_ns
        except FileNotFoundError:
            self._rules, self._rules_stamp = [], -1
            return
        if stamp != self._rules_stamp:
            self._rules, self._rules_stamp = parse(file.read_text("utf-8")), stamp


def _vary(headers: dict[str, str], name: str) -> None:
    headers["vary"] = f"{headers['vary']}, {name}" if "vary" in headers else name


def _accepts_gzip(accepted: str) -> bool:
    for part in accepted.split(","):
        name, _, quality = part.partition(";")
        if name.strip().lower() == "gzip":
            return quality.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
