"""Cloudflare Pages, and Workers with static assets: https://developers.cloudflare.com/workers/platform/limits/."""

from mcpframe.kit.static_hosts.headers_file import headers_text
from mcpframe.kit.static_hosts.static_host import TEXTS, StaticHost

CLOUDFLARE = StaticHost(
    "Cloudflare Pages",
    "nothing: `_headers` is read",
    files=("_headers", "_redirects", ".assetsignore"),
    text=headers_text,
    most_rules=100,
    most_file_bytes=25 * 1024 * 1024,
    most_files=20_000,
    compresses=TEXTS,
    domains=(".pages.dev", ".workers.dev"),
)
