"""How a folder is served: types, headers, compression, caching, and nothing that is outside it."""

from __future__ import annotations

import gzip
import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ServeError
from mcpframe.kit.web.serve import Served, serve_app, serve_folder
from mcpframe.kit.web.site import Site

HEADERS = """\
# comment
/*
  X-Everywhere: yes
  Vary: Origin
/app/*
  Cache-Control: public, max-age=31536000, immutable
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small site, and a secret beside it."""
    root = tmp_path_factory.mktemp("all") / "site"
    (root / "app").mkdir(parents=True)
    (root / "bare").mkdir()
    (root / "_headers").write_text(HEADERS)
    (root / ".htaccess").write_text("secret")
    (root / "vercel.json").write_text("secret")
    (root / "index.html").write_text("<p>root</p>")
    (root / "app" / "index.html").write_text("<p>app</p>")
    (root / "app" / "space and ü.txt").write_text("named")
    (root.parent / "secret").write_text("secret")
    (root / "link").symlink_to(root.parent / "secret")
    for name in ("linked index", "linked packed"):
        (root / name).mkdir()
    (root / "linked index" / "index.html").symlink_to(root.parent / "secret")
    (root / "linked packed" / "index.html").write_text("open")
    (root / "linked packed" / "index.html.gz").symlink_to(root.parent / "secret")
    for name in ("a.wasm", "a.mjs", "a.js", "a.css", "a.json", "a.zip", "a.whl", "a.svg", "a.unheard"):
        (root / name).write_text(name)
    script = b"console.log(1);" * 1000
    (root / "app" / "big.js").write_bytes(script)
    (root / "app" / "big.js.gz").write_bytes(gzip.compress(script))
    return root


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[Served]:
    """The site, served."""
    with serve_folder(site, headers={"X-Extra": "1"}) as running:
        yield running


def get(served: Served, path: str, method: str = "GET", **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection(served.host, served.port, timeout=10)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("a.wasm", "application/wasm"),
        ("a.mjs", "text/javascript; charset=utf-8"),
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.json", "application/json"),
        ("a.zip", "application/zip"),
        ("a.whl", "application/zip"),
        ("a.svg", "image/svg+xml"),
        ("a.unheard", "application/octet-stream"),
        ("", "text/html; charset=utf-8"),
    ],
)
def test_types(served: Served, name: str, content_type: str) -> None:
    status, headers, _ = get(served, f"/{name}")
    assert (status, headers["Content-Type"]) == (200, content_type)
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_headers_come_from_the_file_and_the_caller(served: Served) -> None:
    _, headers, _ = get(served, "/a.js")
    assert (headers["X-Everywhere"], headers["X-Extra"], headers["Cache-Control"]) == ("yes", "1", "no-cache")
    _, headers, _ = get(served, "/app/index.html")
    assert headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_gzip_is_sent_to_who_accepts_it(served: Served, site: Path) -> None:
    status, headers, body = get(served, "/app/big.js", Accept_Encoding="br, gzip")
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert headers["Vary"] == "Origin, Accept-Encoding"
    assert gzip.decompress(body) == (site / "app" / "big.js").read_bytes()
    assert int(headers["Content-Length"]) == len(body)


@pytest.mark.parametrize("accepted", ["", "identity", "br", "gzip;q=0", "gzip; q=0.0"])
def test_gzip_is_not_sent_to_others(served: Served, site: Path, accepted: str) -> None:
    _, headers, body = get(served, "/app/big.js", Accept_Encoding=accepted)
    assert "Content-Encoding" not in headers
    assert headers["Vary"] == "Origin, Accept-Encoding"
    assert body == (site / "app" / "big.js").read_bytes()


def test_an_unchanged_file_is_not_sent_again(served: Served) -> None:
    _, headers, _ = get(served, "/app/big.js")
    status, again, body = get(served, "/app/big.js", If_None_Match=headers["ETag"])
    assert (status, body, again["ETag"]) == (304, b"", headers["ETag"])
    assert again["Cache-Control"] == "public, max-age=31536000, immutable"
    _, compressed, _ = get(served, "/app/big.js", Accept_Encoding="gzip")
    assert compressed["ETag"] != headers["ETag"]


def test_head_has_the_headers_only(served: Served) -> None:
    status, headers, body = get(served, "/a.wasm", "HEAD")
    assert (status, headers["Content-Length"], body) == (200, "6", b"")


def test_a_part_can_be_asked_for(served: Served) -> None:
    status, _, body = get(served, "/a.wasm", Range="bytes=2-3")
    assert (status, body) == (206, b"wa")


def test_a_folder_without_its_slash_is_redirected(served: Served) -> None:
    status, headers, _ = get(served, "/app")
    assert (status, headers["Location"]) == (308, "./app/")
    assert get(served, "/app/")[2] == b"<p>app</p>"


def test_names_are_percent_decoded(served: Served) -> None:
    assert get(served, "/app/space%20and%20%C3%BC.txt")[2] == b"named"


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/bare/",
        "/bare",
        "/a.js/",
        "/a.js/b",
        "/../secret",
        "/app/../../secret",
        "/%2e%2e/secret",
        "/..%2fsecret",
        "/app/..%5c..%5csecret",
        "/%2fetc/passwd",
        "//etc/passwd",
        "/link",
        "/a%00.js",
        "/_headers",
        "/vercel.json",
        "/.htaccess",
        "/app/.hidden/x",
        pytest.param("/" + "x" * 3000, id="a name that is too long"),
    ],
)
def test_what_is_not_served(served: Served, path: str) -> None:
    status, headers, body = get(served, path)
    assert (status, body) == (404, b"Not found")
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(served: Served, method: str) -> None:
    status, headers, _ = get(served, "/a.js", method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


def test_a_connection_is_kept(served: Served) -> None:
    connection = http.client.HTTPConnection(served.host, served.port, timeout=10)
    connection.request("GET", "/a.js")
    connection.getresponse().read()
    socket = connection.sock
    connection.request("GET", "/a.css")
    assert connection.getresponse().read() == b"a.css"
    assert connection.sock is socket
    connection.close()


def test_changed_headers_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with serve_folder(tmp_path) as served:
        assert "X-Late" not in get(served, "/a.txt")[1]
        (tmp_path / "_headers").write_text("/*\n  X-Late: 1\n")
        assert get(served, "/a.txt")[1]["X-Late"] == "1"
        (tmp_path / "_headers").unlink()
        assert "X-Late" not in get(served, "/a.txt")[1]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ServeError, match="not a folder"), serve_folder(tmp_path / "nothing"):
        pass


def test_only_pages_of_these_origins_may_read(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("secret")
    (tmp_path / "_headers").write_text("/*\n  Access-Control-Allow-Origin: *\n  X-Other: 1\n")
    reader = "http://127.0.0.1:1"
    with serve_app(Site(tmp_path, readers=[reader])) as served:
        for path, status in (("/server.py", 200), ("/nothing", 404)):
            got, headers, _ = get(served, path, Origin=reader)
            assert (got, headers["access-control-allow-origin"], headers["x-other"]) == (status, reader, "1")
            for origin in ("https://other.example", "null", "http://127.0.0.1:12", "http://localhost:1", ""):
                got, headers, _ = get(served, path, Origin=origin)
                assert (got, headers["access-control-allow-origin"]) == (status, None), origin
                assert "Origin" in headers["vary"]
        got, headers, _ = get(served, "/server.py")
        assert headers["access-control-allow-origin"] is None


def test_a_file_that_is_gone_is_the_earlier_one(tmp_path: Path) -> None:
    for name, texts in {
        "now": {"a.txt": "new"},
        "before": {"a.txt": "old", "b.txt": "old", "b.txt.gz": "packed"},
    }.items():
        (tmp_path / name).mkdir()
        for file, text in texts.items():
            (tmp_path / name / file).write_text(text)
    (tmp_path / "before/out.txt").symlink_to(__file__)
    with serve_app(Site(tmp_path / "now", earlier=tmp_path / "before")) as served:
        assert get(served, "/a.txt")[2] == b"new"
        assert get(served, "/b.txt")[2] == b"old"
        assert get(served, "/b.txt", accept_encoding="gzip")[2] == b"packed"
        for path in ("/c.txt", "/out.txt", "/../before/a.txt"):
            assert get(served, path)[0] == 404


@pytest.mark.parametrize("path", ["/link", "/linked%20index/", "/linked%20index/index.html"])
def test_links_that_lead_out_are_not_followed(served: Served, path: str) -> None:
    assert get(served, path)[0] == 404


def test_a_compressed_file_that_leads_out_is_none(served: Served) -> None:
    status, headers, body = get(served, "/linked%20packed/", accept_encoding="gzip")
    assert (status, headers["content-encoding"], body) == (200, None, b"open")
