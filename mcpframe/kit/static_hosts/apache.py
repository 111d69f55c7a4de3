"""Apache and LiteSpeed."""

import re

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

_COPY = "MCPFRAME_COPY"
"""The variable of a request that is answered with the compressed copy of a file: an asset may end with `.gz`, too."""


def _text(pages: Pages) -> str:
    lines = [
        "# Apache, LiteSpeed: needs mod_headers, mod_mime, mod_setenvif; mod_rewrite for .gz. Written by mcpframe."
    ]
    lines += [f"AddType {kind} .{ending}" for ending, kind in TYPES.items()]
    lines += ["<IfModule mod_headers.c>"]
    lines += [f'  Header always set {name} "{value}"' for name, value in EVERYWHERE.items()]
    lines += [f'  SetEnvIf Request_URI "{re.escape(SANDBOX)}" MCPFRAME_SANDBOX']
    lines += [
        f"  Header always set {key} {quoted(value)} env=MCPFRAME_SANDBOX" for key, value in SANDBOX_HEADERS.items()
    ]
    hashed = "|".join(["/_mcpframe/", *(hashed_of(name) for name in pages)])
    lines += [f'  SetEnvIf Request_URI "{hashed}" MCPFRAME_IMMUTABLE']
    lines += [f'  Header set Cache-Control "{FRESH}"']
    lines += [f'  Header set Cache-Control "{IMMUTABLE}" env=MCPFRAME_IMMUTABLE']
    for number, (name, headers) in enumerate(pages.items()):
        lines += [f'  SetEnvIf Request_URI "/{re.escape(name)}/" MCPFRAME_PAGE_{number}']
        lines += [f'  Header always set {key} "{value}" env=MCPFRAME_PAGE_{number}' for key, value in headers.items()]
    lines += ["</IfModule>", "<IfModule mod_rewrite.c>", "  RewriteEngine On"]
    lines += ["  RewriteCond %{HTTP:Accept-Encoding} gzip", "  RewriteCond %{REQUEST_FILENAME}.gz -f"]
    lines += ["  RewriteRule ^(.+)\\.(js|mjs|wasm|zip|json|css|html)$ $1.$2.gz [L]"]
    lines += ["  RewriteCond %{REQUEST_FILENAME} ^(.+)\\.gz$", "  RewriteCond %1 -f"]
    lines += [f"  RewriteRule \\.gz$ - [E=no-gzip:1,E={_COPY}:1]"]
    for ending, kind in {**TYPES, "html": "text/html"}.items():
        lines += [f"  RewriteCond %{{ENV:{_COPY}}} 1", f"  RewriteRule \\.{ending}\\.gz$ - [T={kind}]"]
    lines += [f"  Header set Content-Encoding gzip env={_COPY}", f"  Header append Vary Accept-Encoding env={_COPY}"]
    lines += ["</IfModule>"]
    return "\n".join(lines) + "\n"


APACHE = StaticHost(
    "Apache, LiteSpeed",
    "allow `.htaccess`, with `mod_headers` and `mod_mime`",
    files=(".htaccess",),
    text=_text,
    server="Apache",
)
