"""A web server of another origin for the tests of HTTP libraries: with CORS and without, slow, redirecting, streaming.

Nothing in it waits for a time: what never answers waits until the server stops, what streams until it is told to go on.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ALL_BYTES = bytes(range(256)) * 4
"""What `/binary` answers: every byte, and no text in any encoding."""
BIG = 3_000_000
"""How many bytes `/big` answers."""


class OtherOrigin:
    """A running server.

    Attributes:
        port: its port, under any name of `localhost`.
        preflights: the paths that browsers have asked for consent to.
        arrived: counts the requests for what never ends, as they come.
        left: counts those of them whose client has left.
        go_on: counts the parts that `/stream` may send.
        stopping: set when the server stops.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.preflights: list[str] = []
        self.arrived = threading.Semaphore(0)
        self.left = threading.Semaphore(0)
        self.go_on = threading.Semaphore(0)
        self.stopping = threading.Event()

    @property
    def origin(self) -> str:
        """The origin that the policy allows."""
        return f"http://api.localhost:{self.port}"

    @property
    def numbered(self) -> str:
        """The same server by its number, which programs outside of browsers know."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def blocked(self) -> str:
        """The same server under a name that the policy does not allow."""
        return f"http://blocked.localhost:{self.port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    world: OtherOrigin

    def do_OPTIONS(self) -> None:
        self.world.preflights.append(self.path)
        self.send_response(204)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "content-type, x-token, authorization")
        self.send_header("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE, PATCH")
        self.end_headers()

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        path = self.path.partition("?")[0]
        getattr(self, f"_{path[1:].replace('-', '_')}", self._missing)(body)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815

    def _answer(self, data: bytes, status: int = 200, *, cors: bool = True, **headers: str) -> None:
        self.send_response(status)
        if cors:
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Access-Control-Expose-Headers", "x-seen, content-encoding")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _echo(self, body: bytes) -> None:
        """What was sent."""
        names = ("content-type", "x-token", "authorization", "cookie")
        sent: dict[str, Any] = {"method": self.command, "path": self.path, "body": body.decode("latin-1")}
        sent |= {name: self.headers[name] for name in names if self.headers[name]}
        self._answer(json.dumps(sent).encode(), Content_Type="application/json", X_Seen="yes")

    def _closed(self, _: bytes) -> None:
        """An answer that allows no page of another origin."""
        self._answer(b"secret", cors=False)

    def _moved(self, _: bytes) -> None:
        self._answer(b"", 302, Location="/echo?moved")

    def _moved_away(self, _: bytes) -> None:
        """A redirect to where the policy does not allow connections."""
        self._answer(b"", 302, Location=f"{self.world.blocked}/echo")

    def _missing(self, _: bytes) -> None:
        self._answer(b'{"detail": "nothing here"}', 404, Content_Type="application/json")

    def _nothing(self, _: bytes) -> None:
        self.send_response(204)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    def _binary(self, _: bytes) -> None:
        self._answer(ALL_BYTES, Content_Type="application/octet-stream")

    def _big(self, _: bytes) -> None:
        self._answer(b"x" * BIG)

    def _gzip(self, _: bytes) -> None:
        self._answer(gzip.compress(b'{"packed": true}'), Content_Encoding="gzip", Content_Type="application/json")

    def _never(self, _: bytes) -> None:
        """No answer, until the server stops."""
        self.world.arrived.release()
        self._wait_for_leaving()

    def _half(self, _: bytes) -> None:
        """The first part of an answer, and nothing more."""
        self._begin()
        self.wfile.write(b"5\r\nfirst\r\n")
        self._wait_for_leaving()

    def _stream(self, _: bytes) -> None:
        """Two parts; the second when it is asked for."""
        self._begin()
        self.wfile.write(b"5\r\nfirst\r\n")
        while not self.world.go_on.acquire(timeout=0.1):
            if self.world.stopping.is_set():
                return
        self.wfile.write(b"6\r\nsecond\r\n0\r\n\r\n")

    def _go(self, _: bytes) -> None:
        """Lets the second part of `/stream` go."""
        self.world.go_on.release()
        self._answer(b"")

    def _arrived(self, _: bytes) -> None:
        """Answers when a request for `/never` has come."""
        while not self.world.arrived.acquire(timeout=0.1):
            if self.world.stopping.is_set():
                return
        self._answer(b"")

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _wait_for_leaving(self) -> None:
        self.connection.settimeout(0.1)
        while not self.world.stopping.is_set():
            try:
                if not self.connection.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        self.close_connection = True
        self.world.left.release()

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Clients that leave are not errors here."""


@contextmanager
def other_origin() -> Iterator[OtherOrigin]:
    """Run the server for as long as the block lasts."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    world = OtherOrigin(server.server_address[1])
    handler.world = world  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield world
    finally:
        world.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
