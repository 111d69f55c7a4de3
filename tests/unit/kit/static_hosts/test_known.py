"""The files for static hosts, and their limits."""

from __future__ import annotations

import json

from mcpframe.kit.static_hosts.headers_file import headers_for, parse
from mcpframe.kit.static_hosts.known import CONFIGURATION, STATIC_HOSTS, host_files, limit_warnings
from mcpframe.kit.static_hosts.rules import SANDBOX_HEADERS

POLICY = "default-src 'none'; frame-ancestors 'self' https://chat.example"


def test_netlify_and_cloudflare() -> None:
    rules = parse(host_files({"pi": POLICY})["_headers"].decode())
    page = headers_for("/pi/", rules)
    assert page["content-security-policy"] == POLICY
    assert page["cache-control"] == "no-cache"
    assert page["access-control-allow-origin"] == "*"
    assert headers_for("/pi/index.html", rules)["cache-control"] == "no-cache"
    assert headers_for("/pi/manifest.json", rules)["cache-control"] == "no-cache"
    for path in (
        *("/_mcpframe/base.zip.0123.wasm", "/_mcpframe/layer.0123.bin", "/_mcpframe/pyodide-1-0/pyodide.asm.wasm"),
        *("/pi/server.zip.0123.wasm", "/pi/snapshot.0123.bin", "/pi/packages/a.0123.whl"),
    ):
        found = headers_for(path, rules)
        assert found["cache-control"] == "public, max-age=31536000, immutable"
        assert found["x-content-type-options"] == "nosniff"
        assert found["access-control-allow-origin"] == "*"
    assert "content-security-policy" not in headers_for("/_mcpframe/base.zip.0123.wasm", rules)


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
    assert name.lower() not in headers_for("/_mcpframe/base.zip.0123.wasm", rules) | headers_for("/pi/", rules)
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


def test_a_host_that_would_not_read_all_rules_is_named() -> None:
    [cloudflare] = [host for host in STATIC_HOSTS if host.most_rules]
    sizes = {count: {f"server-{number}": POLICY for number in range(count)} for count in range(1, 101)}
    rules = {count: len(parse(host_files(policies)["_headers"].decode())) for count, policies in sizes.items()}
    first = next(count for count, number in rules.items() if number > cloudflare.most_rules)
    assert first > 80, "each bundle has one rule, besides those of all"
    assert limit_warnings(sizes[first - 1], {}) == ()
    [warning] = limit_warnings(sizes[first], {})
    assert warning.startswith(f"{cloudflare.title} reads {cloudflare.most_rules} rules of _headers, and the {first} ")


def test_a_file_that_a_host_does_not_take_is_named() -> None:
    sizes = {"pi/fits.bin": 26_214_400, "pi/large.bin": 26_214_401}
    [warning] = limit_warnings({"pi": POLICY}, sizes)
    assert warning.startswith("pi/large.bin has 26.2 MB, and Cloudflare Pages takes files of at most 26.2 MB")


def test_every_file_that_is_written_is_one_that_its_host_does_not_serve() -> None:
    assert host_files({"pi": POLICY}).keys() <= CONFIGURATION
