"""Netlify."""

from mcpframe.kit.static_hosts.headers_file import headers_text
from mcpframe.kit.static_hosts.static_host import TEXTS, StaticHost

NETLIFY = StaticHost(
    "Netlify",
    "nothing: `_headers` is read",
    files=("_headers", "_redirects", "netlify.toml"),
    text=headers_text,
    compresses=TEXTS,
    domains=(".netlify.app",),
    server="Netlify",
)
