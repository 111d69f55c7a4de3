"""A network for the fits of HTTP libraries: it answers as a test says, without a browser."""

from __future__ import annotations

from mcpframe.frame.browser.http_exchange import HttpAnswer, HttpRequest


class FakeAnswer:
    """An answer of these parts; one that is an exception is raised in its turn."""

    status, reason, redirected = 200, "OK", True
    url = "https://final.example/"

    def __init__(self, *parts: bytes | Exception) -> None:
        self.headers: list[tuple[str, str]] = [("content-type", "text/plain")]
        self.parts = [*parts]
        self.is_closed = False

    def read_now(self, limit: float | None = None) -> bytes:
        part = self.parts.pop(0) if self.parts else b""
        if isinstance(part, Exception):
            raise part
        return part

    async def read(self, limit: float | None = None) -> bytes:
        return self.read_now(limit)

    def close(self) -> None:
        self.is_closed = True


class FakeNetwork:
    """Answers each request with what it is given, and keeps the request."""

    def __init__(self, answer: FakeAnswer | Exception) -> None:
        self.answer = answer
        self.sent: list[HttpRequest] = []

    def send_now(self, request: HttpRequest) -> HttpAnswer:
        request.check()
        self.sent.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def send(self, request: HttpRequest) -> HttpAnswer:
        return self.send_now(request)
