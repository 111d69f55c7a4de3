"""Cloudflare Pages: https://developers.cloudflare.com/pages/configuration/headers/."""

from mcpframe.kit.static_hosts.headers_file import headers_text
from mcpframe.kit.static_hosts.static_host import StaticHost

CLOUDFLARE = StaticHost(
    "Cloudflare Pages",
    "nothing: `_headers` is read",
    files=("_headers", "_redirects"),
    text=headers_text,
    most_rules=100,
)
