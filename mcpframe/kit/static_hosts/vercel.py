"""Vercel."""

from mcpframe.kit.static_hosts.rules import HASHED_PREFIXES, Pages, json_text, source_rules
from mcpframe.kit.static_hosts.static_host import TEXTS, StaticHost


def _text(pages: Pages) -> str:
    hashed = [f"{prefix}(.*)" for prefix in HASHED_PREFIXES]
    rules = source_rules(pages, everything="/(.*)", below="(.*)", start="(.*)", hashed=hashed)
    return json_text({"trailingSlash": True, "headers": rules})


VERCEL = StaticHost(
    "Vercel",
    "nothing: `vercel.json` is read",
    files=("vercel.json",),
    text=_text,
    compresses=TEXTS,
    domains=(".vercel.app",),
    server="Vercel",
)
