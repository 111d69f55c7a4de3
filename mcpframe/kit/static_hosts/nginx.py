"""nginx, which gets a file to include in the `server` block."""

from collections.abc import Mapping

from mcpframe.kit.static_hosts.rules import (
    EVERYWHERE,
    FRESH,
    IMMUTABLE,
    SANDBOX,
    SANDBOX_HEADERS,
    TYPES,
    Pages,
    hashed_of,
    quoted,
)
from mcpframe.kit.static_hosts.static_host import StaticHost


def _text(pages: Pages) -> str:
    lines = ["# nginx: include in the server block that serves this folder at its root. Written by mcpframe."]
    lines += ["gzip_static on;", "types {"]
    lines += [f"    {kind} {ending};" for ending, kind in TYPES.items()]
    lines += ["    text/html html;", "    image/svg+xml svg;", "    image/png png;", "}"]
    lines += _location("/_mcpframe/", IMMUTABLE, {})
    lines += _location(SANDBOX, IMMUTABLE, SANDBOX_HEADERS)
    for name, headers in pages.items():
        lines += _location(f"/{name}/", FRESH, headers)
        lines += _location(f"~ ^{hashed_of(name)}", IMMUTABLE, headers)
    return "\n".join(lines) + "\n"


def _location(path: str, cache: str, headers: Mapping[str, str]) -> list[str]:
    # A location with an add_header inherits none, so each one lists all headers.
    return [
        f"location {path} {{",
        *(f"    add_header {key} {quoted(value)} always;" for key, value in {**EVERYWHERE, **headers}.items()),
        f'    add_header Cache-Control "{cache}";',  # not for errors: a missing file may be uploaded later
        "}",
    ]


NGINX = StaticHost(
    "nginx",
    "`include …/nginx.conf;` in the `server` block that serves the folder",
    files=("nginx.conf",),
    text=_text,
    server="nginx",
)
