"""Remedies at a static host, which is recognized by its address or its headers."""

from __future__ import annotations

import pytest

from mcpframe.kit.publish.bundle_checks.findings import COMPRESSION, HEADERS, for_host, headers_at, warning
from mcpframe.kit.static_hosts.github_pages import GITHUB_PAGES
from mcpframe.kit.static_hosts.known import STATIC_HOSTS, recognized
from mcpframe.kit.static_hosts.netlify import NETLIFY
from mcpframe.kit.static_hosts.nginx import NGINX
from mcpframe.kit.static_hosts.object_store import OBJECT_STORE


@pytest.mark.parametrize(
    ("url", "server", "title"),
    [
        ("https://me.github.io/pi/", "", "GitHub Pages"),
        ("https://tools.example/pi/", "GitHub.com", "GitHub Pages"),
        ("https://pi.netlify.app/pi/", "Netlify", "Netlify"),
        ("https://pi.pages.dev/pi/", "cloudflare", "Cloudflare Pages"),
        ("https://tools.example/pi/", "cloudflare", None),  # a proxy for any host
        ("https://me-pi.static.hf.space/pi/", "", "Hugging Face Spaces"),
        ("https://me.s3.eu-west-1.amazonaws.com/pi/", "AmazonS3", "an object store"),
        ("https://d1.cloudfront.net/pi/", "AmazonS3", "an object store"),
        ("https://tools.example/pi/", "nginx/1.22.1", "nginx"),
        ("https://netlify.app.example/pi/", "", None),
        ("https://evilgithub.io/pi/", "", None),
    ],
)
def test_which_host_it_is(url: str, server: str, title: str | None) -> None:
    host = recognized(url, {"server": server} if server else {})
    assert (host.title if host else None) == title


def test_the_remedy_for_headers_names_the_host_s_own_file() -> None:
    finding = warning("a.js", "Asked for again.", f"Send it: {HEADERS}.")
    assert finding.needs_headers
    assert for_host(finding, None) == finding
    found = for_host(finding, NETLIFY)
    assert "_headers" in found.remedy
    assert "vercel.json" not in found.remedy
    assert found.needs_headers
    assert "another host" in for_host(finding, GITHUB_PAGES).remedy
    assert "include …/nginx.conf; in the server block" in for_host(finding, NGINX).remedy
    assert "publish s3" in for_host(finding, OBJECT_STORE).remedy


def test_what_a_host_does_not_compress_is_not_mended_there() -> None:
    archive, script = (warning(name, "Sent uncompressed.", COMPRESSION) for name in ("a.zip", "a.js"))
    assert "sends the .gz files" in for_host(archive, GITHUB_PAGES).remedy
    assert "turn compression on" in for_host(script, NETLIFY).remedy
    assert for_host(archive, None).remedy == COMPRESSION
    assert not archive.needs_headers


def test_every_host_has_a_remedy_of_its_own() -> None:
    assert len({headers_at(host) for host in STATIC_HOSTS}) > len(STATIC_HOSTS) / 2
    assert HEADERS not in {headers_at(host) for host in STATIC_HOSTS}
