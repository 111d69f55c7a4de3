"""Files as they are sent: missing, changed, of the wrong type, uncompressed, not kept."""

from __future__ import annotations

import gzip
import hashlib
from typing import Any

import pytest

from mcpframe.kit.publish.bundle_checks import files
from mcpframe.kit.publish.bundle_checks.files import check_file, check_files
from mcpframe.kit.servers.published import Fetched

BODY = b"export {};" * 50_000
ENTRY = {
    "path": "_mcpframe/loader.0123456789abcdef.js",
    "bytes": len(BODY),
    "gzip_bytes": len(gzip.compress(BODY)),
    "sha256": hashlib.sha256(BODY).hexdigest(),
}
HEADERS = {
    "content-type": "text/javascript; charset=utf-8",
    "content-encoding": "gzip",
    "access-control-allow-origin": "*",
    "cache-control": "public, max-age=31536000, immutable",
}


def found(entry: dict[str, Any] = ENTRY, *, status: int = 200, body: bytes | None = None, **headers: str) -> list[str]:
    """The findings for a good answer with these changes; an empty header is not sent."""
    sent = {**HEADERS, **{key.replace("_", "-"): value for key, value in headers.items()}}
    sent = {key: value for key, value in sent.items() if value}
    data = gzip.compress(BODY) if body is None else body
    answer = Fetched("https://tools.example/x", status, sent, data)
    return [f"{item.severity}: {item.message} {item.remedy}" for item in check_file(entry, answer)]


def test_a_good_answer_has_no_finding() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"status": 404}, "error: The web server answers with status 404"),
        ({"body": gzip.compress(BODY + b" ")}, "error: It is not the file that was built"),
        ({"body": b"no gzip"}, "error: Its Content-Encoding is gzip, but it is not compressed"),
        ({"content_type": "text/plain"}, "error: It is sent as text/plain, not as text/javascript"),
        ({"access_control_allow_origin": ""}, "warning: It cannot be read from a sandboxed page"),
        ({"content_encoding": "", "body": BODY}, "warning: It is sent uncompressed"),
        ({"cache_control": "no-cache"}, "warning: Browsers ask for it again"),
    ],
)
def test_each_thing_that_is_wrong(change: dict[str, Any], said: str) -> None:
    [finding] = found(**change)
    assert finding.startswith(said)


def test_a_wasm_file_of_another_type_only_starts_slower() -> None:
    entry = {**ENTRY, "path": "_mcpframe/pyodide-0-0123456789abcdef/pyodide.asm.wasm"}
    assert found(entry, content_type="application/octet-stream")[0].startswith("warning: It is sent as")
    assert found(entry, content_type="application/wasm") == []


def test_only_files_of_the_site_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetch(url: str, **_: object) -> Fetched:
        asked.append(url)
        return Fetched(url, 404, {}, b"")

    monkeypatch.setattr(files, "fetch", fetch)
    elsewhere = ["//127.0.0.1/a", "/b", "../c", "pi/../../../d"]
    paths = ["pi/assets-0123456789abcdef/50 % #1?.txt", "http://127.0.0.1/", *elsewhere]
    found = [*check_files("https://tools.example/site/pi/", {"files": [{**ENTRY, "path": path} for path in paths]})]
    assert sorted(asked) == [
        "https://tools.example/site/http%3A/127.0.0.1/",
        "https://tools.example/site/pi/assets-0123456789abcdef/50%20%25%20%231%3F.txt",
    ]
    assert [item.subject for item in found if "outside of the site" in item.message] == sorted(elsewhere)
