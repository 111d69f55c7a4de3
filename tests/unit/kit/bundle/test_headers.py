"""The policy of a page, and the header files that say it to static hosts."""

from __future__ import annotations

import json

import pytest

from mcpframe.kit.bundle.assembly.csp import header_policy, page_policy
from mcpframe.kit.bundle.assembly.header_files import SANDBOX_HEADERS, host_files
from mcpframe.kit.project.pyproject import CspConfig
from mcpframe.kit.web.site_headers import headers_for, parse

POLICY = header_policy(page_policy(CspConfig()), ["https://chat.example"], opaque=False)


def directives(policy: str) -> dict[str, list[str]]:
    return {name: sources for name, *sources in (part.split() for part in policy.split(";"))}


def test_a_page_may_do_nothing_that_is_not_listed() -> None:
    found = directives(page_policy(CspConfig()))
    assert found["default-src"] == ["'none'"]
    assert found["script-src"] == ["'self'", "'wasm-unsafe-eval'"]
    assert found["connect-src"] == ["'self'"]
    assert found["style-src"] == ["'self'"]
    assert found["base-uri"] == found["form-action"] == found["frame-src"] == found["worker-src"] == ["'none'"]
    assert "'unsafe-inline'" not in page_policy(CspConfig())


def test_a_public_address_is_named_beside_the_page_itself() -> None:
    found = directives(page_policy(CspConfig(), url="https://tools.example/a/", frames=True))
    for name in ("script-src", "style-src", "connect-src", "img-src", "font-src", "media-src"):
        assert found[name][:2] == ["'self'", "https://tools.example"], name
    assert found["frame-src"] == ["'self'"]


def test_the_authors_list_is_added() -> None:
    csp = CspConfig(connect_src=["https://api.example"], frame_src=["https://f.example"], unsafe_eval=True)
    found = directives(page_policy(csp))
    assert found["connect-src"] == ["'self'", "https://api.example"]
    assert found["frame-src"] == ["https://f.example"]
    assert "'unsafe-eval'" in found["script-src"]


@pytest.mark.parametrize(
    ("origins", "opaque", "ancestors"),
    [
        (["https://b.example", "https://a.example"], False, ["'self'", "https://a.example", "https://b.example"]),
        (["*"], False, None),  # which would match no scheme of an editor on the desktop
        # Nothing matches an ancestor of opaque origin: tests/browser/test_view_text.py would notice.
        (["https://a.example"], True, None),
        (["null"], True, None),
        (["*", "null"], False, None),
    ],
)
def test_who_may_frame_a_page(origins: list[str], opaque: bool, ancestors: list[str] | None) -> None:
    made = directives(header_policy("default-src 'none'", origins, opaque=opaque))
    assert made.get("frame-ancestors") == ancestors


def test_netlify_and_cloudflare() -> None:
    rules = parse(host_files({"pi": POLICY})["_headers"].decode())
    page = headers_for("/pi/", rules)
    assert page["content-security-policy"] == POLICY
    assert page["cache-control"] == "no-cache"
    assert page["access-control-allow-origin"] == "*"
    assert headers_for("/pi/index.html", rules)["cache-control"] == "no-cache"
    assert headers_for("/pi/manifest.json", rules)["cache-control"] == "no-cache"
    for path in ("/_mcpframe/base.0123.zip", "/_mcpframe/pyodide-1-0/pyodide.asm.wasm", "/pi/server.0123.zip"):
        found = headers_for(path, rules)
        assert found["cache-control"] == "public, max-age=31536000, immutable"
        assert found["x-content-type-options"] == "nosniff"
        assert found["access-control-allow-origin"] == "*"
    assert "content-security-policy" not in headers_for("/_mcpframe/base.0123.zip", rules)


def test_every_host_gets_a_file_with_policy_and_caching() -> None:
    files = host_files({"pi": POLICY, "other": POLICY})
    assert files.pop(".nojekyll") == b""
    assert set(files) == {
        "_headers",
        ".htaccess",
        "vercel.json",
        "firebase.json",
        "staticwebapp.config.json",
        "nginx.conf",
    }
    for name, data in files.items():
        text = data.decode()
        if name.endswith(".json"):
            assert json.loads(text)
        assert POLICY in text
        assert "immutable" in text
        assert "no-cache" in text
        assert "frame-ancestors 'self' https://chat.example" in text


def test_every_host_gets_the_sandbox_s_headers_and_for_that_file_only() -> None:
    files = host_files({"pi": POLICY})
    rules = parse(files.pop("_headers").decode())
    [(name, value)] = SANDBOX_HEADERS.items()
    assert headers_for("/_mcpframe/sandbox.0123.html", rules)[name.lower()] == value
    assert name.lower() not in headers_for("/_mcpframe/base.0123.zip", rules) | headers_for("/pi/", rules)
    escaped = value.replace('"', '\\"')
    for file in (".htaccess", "vercel.json", "firebase.json", "staticwebapp.config.json", "nginx.conf"):
        assert f'"{escaped}"' in files[file].decode(), file


def test_types_that_some_hosts_do_not_know_are_named() -> None:
    files = host_files({"pi": POLICY})
    assert json.loads(files["staticwebapp.config.json"])["mimeTypes"][".wasm"] == "application/wasm"
    assert b"AddType application/wasm .wasm" in files[".htaccess"]
    assert b"application/wasm wasm;" in files["nginx.conf"]
    assert b"text/javascript mjs;" in files["nginx.conf"]


def test_nginx_lets_nobody_keep_an_error() -> None:
    lines = host_files({"pi": POLICY})["nginx.conf"].decode().splitlines()
    kept = [line.strip() for line in lines if "Cache-Control" in line]
    assert kept
    assert not any(line.endswith(" always;") for line in kept)


def test_the_same_bundles_give_the_same_files() -> None:
    assert host_files({"a": POLICY, "b": POLICY}) == host_files({"b": POLICY, "a": POLICY})
