"""The server around a folder: ports, addresses, start and stop."""

from __future__ import annotations

import contextlib
import gc
import socket
import threading
import urllib.request
import warnings
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import PortTaken, ServeError
from mcpframe.kit.web.serve import Served, serve_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one page."""
    (tmp_path / "index.html").write_text("<p>here</p>")
    return tmp_path


def read(served: Served) -> bytes:
    with urllib.request.urlopen(f"{served.origin}/", timeout=10) as answer:
        return bytes(answer.read())


def test_it_answers_from_start_to_end_of_the_block(folder: Path) -> None:
    with serve_folder(folder) as served:
        assert served.origin == f"http://127.0.0.1:{served.port}"
        assert read(served) == b"<p>here</p>"
        assert f"serve 127.0.0.1:{served.port}" in {thread.name for thread in threading.enumerate()}
    assert f"serve 127.0.0.1:{served.port}" not in {thread.name for thread in threading.enumerate()}
    with pytest.raises(OSError, match="refused"):
        read(served)


def test_it_stops_while_a_client_keeps_its_connection(folder: Path) -> None:
    with serve_folder(folder) as served, socket.create_connection((served.host, served.port), timeout=10) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 200")
        port = served.port
    with serve_folder(folder, port) as again:
        assert again.port == port


def test_it_closes_the_connection_of_a_client_that_reads_no_more(tmp_path: Path) -> None:
    (tmp_path / "large.bin").write_bytes(bytes(50_000_000))  # more than the buffers of both sockets
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        with serve_folder(tmp_path) as served:
            client = socket.create_connection((served.host, served.port), timeout=10)
            client.sendall(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 200")
        with client, contextlib.suppress(ConnectionResetError):
            while client.recv(1_000_000):
                pass
        gc.collect()


def answer_for(served: Served, host: str) -> bytes:
    with socket.create_connection((served.host, served.port), timeout=10) as client:
        client.sendall(f"GET / HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode("latin-1"))
        return b"".join(iter(lambda: client.recv(1000), b""))


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "LOCALHOST:{port}", "localhost", "[::1]:1", "a-b.localhost"])
def test_requests_for_this_machine_are_answered(folder: Path, host: str) -> None:
    with serve_folder(folder) as served:
        assert b"<p>here</p>" in answer_for(served, f"Host: {host.format(port=served.port)}\r\n")


@pytest.mark.parametrize(
    "host",
    [
        "Host: rebound.example:{port}\r\n",
        "Host: localhost.example\r\n",
        "Host: notlocalhost\r\n",
        "Host: 127.0.0.1.example\r\n",
        "Host: 127.0.0.1@rebound.example\r\n",
        "Host: localhost\r\nHost: rebound.example\r\n",
        "Host: \r\n",
        "",
    ],
)
def test_a_name_that_was_rebound_to_this_machine_reads_nothing(folder: Path, host: str) -> None:
    with serve_folder(folder) as served:
        answer = answer_for(served, host.format(port=served.port))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"here" not in answer


def test_two_origins(folder: Path) -> None:
    with serve_folder(folder) as one, serve_folder(folder) as two:
        assert one.origin != two.origin
        assert read(one) == read(two)


def test_a_port_in_use_is_a_clear_error(folder: Path) -> None:
    with serve_folder(folder) as served:
        port = served.port
        with pytest.raises(PortTaken, match=f"Port {port} .* in use"), serve_folder(folder, port):
            pass
        assert read(served) == b"<p>here</p>"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com", ""])
def test_only_this_machine_is_served(folder: Path, host: str) -> None:
    with pytest.raises(ServeError, match="loopback"), serve_folder(folder, host=host):
        pass


def test_localhost(folder: Path) -> None:
    with serve_folder(folder, host="localhost") as served:
        assert served.origin.startswith("http://localhost:")
        assert read(served) == b"<p>here</p>"


def test_an_ipv6_origin_has_brackets() -> None:
    assert Served("::1", 80).origin == "http://[::1]:80"
