"""Requests and answers in the wire format of HTTP/1.1, for libraries that write and parse it themselves.

Source: RFC 9112.
"""

from __future__ import annotations

from mcpframe.frame.browser.http_exchange import HttpAnswer, HttpRequest

_END = b"\r\n\r\n"


class RequestReader:
    """Collects the bytes of one request.

    Args:
        origin: the origin of its address, such as `https://api.example`.

    Attributes:
        headers: Its headers, once they are complete.
    """

    def __init__(self, origin: str) -> None:
        self.headers: tuple[tuple[str, str], ...] = ()
        self._origin = origin
        self._head = bytearray()
        self._body: _Sized | _Chunked | None = None
        self._method = ""
        self._target = ""

    def feed(self, data: bytes | bytearray | memoryview) -> bool:
        """Add more bytes, and return whether the request is complete."""
        if self._body is None:
            self._head += data
            head, end, data = bytes(self._head).partition(_END)
            if not end:
                return False
            self._body = self._parse(head)
        return self._body.feed(bytes(data))

    def _parse(self, head: bytes) -> _Sized | _Chunked:
        first, *lines = head.decode("latin-1").split("\r\n")
        self._method, self._target, _ = first.split(" ", 2)
        pairs = [line.partition(":") for line in lines]
        self.headers = tuple((name, value.strip()) for name, _, value in pairs)
        named = {name.lower(): value for name, value in self.headers}
        if "chunked" in named.get("transfer-encoding", "").lower():
            return _Chunked()
        return _Sized(int(named.get("content-length", 0)))

    def request(self, timeout: float | None) -> HttpRequest:
        """Return the request, with this `HttpRequest.timeout`."""
        url = self._target if "://" in self._target else f"{self._origin}{self._target}"
        parts = self._body.parts if self._body else []
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        return HttpRequest(self._method, url, self.headers, body, timeout)


class _Sized:
    """A body of a known size."""

    def __init__(self, size: int) -> None:
        self.parts: list[bytes] = []
        self._left = size

    def feed(self, data: bytes) -> bool:
        if data:
            self.parts.append(data)
            self._left -= len(data)
        return self._left <= 0


class _Chunked:
    """A body in chunks (RFC 9112, section 7.1), without trailers."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._rest = bytearray()
        self._is_complete = False

    def feed(self, data: bytes) -> bool:
        self._rest += data
        while not self._is_complete:
            line, end, _ = self._rest.partition(b"\r\n")
            size = int(line.partition(b";")[0], 16) if end else 0
            begin = len(line) + 2
            if not end or len(self._rest) < begin + size + 2:
                break
            if size:
                self.parts.append(bytes(self._rest[begin : begin + size]))
            self._is_complete = not size
            del self._rest[: begin + size + 2]
        return self._is_complete


def head_of(answer: HttpAnswer) -> bytes:
    """Return the head of an answer. Its body ends with the connection, as its length is unknown."""
    reason = answer.reason.encode("latin-1", "replace")
    lines = [b"HTTP/1.1 %d %s" % (answer.status, reason)]
    lines += [f"{name}: {value}".encode("latin-1", "replace") for name, value in answer.headers]
    return b"\r\n".join([*lines, b"connection: close", b"", b""])
