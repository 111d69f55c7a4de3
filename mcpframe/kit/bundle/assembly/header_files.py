"""Header files for common static hosts, all from one set of rules.

| file                        | for                                  |
|-----------------------------|--------------------------------------|
| `_headers`                  | Netlify, Cloudflare Pages            |
| `.htaccess`                 | Apache, LiteSpeed                    |
| `vercel.json`               | Vercel                               |
| `firebase.json`             | Firebase Hosting                     |
| `staticwebapp.config.json`  | Azure Static Web Apps                |
| `nginx.conf`                | nginx: include it in a `server`      |
| `.nojekyll`                 | GitHub Pages, which sets no headers: keeps the folder `_mcpframe` |

All origins may read the files, as the origin of a page in a sandboxed frame is opaque.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

IMMUTABLE = "public, max-age=31536000, immutable"
FRESH = "no-cache"

# The files of a bundle with a hash in their names, to be cached for ever; `*` stays within a folder.
_HASHED = ("server.*", "snapshot.*", "packages/**", "assets-*/**")
_HASHED_PREFIXES = tuple(pattern.partition("*")[0] for pattern in _HASHED)

_TYPES = {
    "js": "text/javascript",
    "mjs": "text/javascript",
    "wasm": "application/wasm",
    "zip": "application/zip",
    "whl": "application/zip",
    "json": "application/json",
    "css": "text/css",
}

_EVERYWHERE = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
# Only denies features that no framing page grants; grantable ones stay possible.
_PERMISSIONS = "browsing-topics=(), interest-cohort=()"

SANDBOX_HEADERS = {"Connection-Allowlist": '("*://*:*");redirects=allow;webrtc=block'}
"""Headers of the sandbox proxy. Its views inherit them: any URL, as their policy limits those, and no WebRTC."""
_SANDBOX = "/_mcpframe/sandbox."


def host_files(policies: Mapping[str, str]) -> dict[str, bytes]:
    """Return the header files of an output root, by name.

    Args:
        policies: The Content-Security-Policy of each bundle's folder, with frame-ancestors.
    """
    pages = {
        name: {"Content-Security-Policy": policy, "Permissions-Policy": _PERMISSIONS}
        for name, policy in sorted(policies.items())
    }
    texts = {
        "_headers": _netlify(pages),
        ".htaccess": _apache(pages),
        "vercel.json": _json({"trailingSlash": True, "headers": _vercel(pages)}),
        "firebase.json": _json({"hosting": {"public": ".", "trailingSlash": True, "headers": _firebase(pages)}}),
        "staticwebapp.config.json": _json(_azure(pages)),
        "nginx.conf": _nginx(pages),
        ".nojekyll": "",
    }
    return {name: text.encode() for name, text in texts.items()}


def _hashed_of(name: str) -> str:
    """Return a regular expression for a bundle's paths with a hash."""
    return f"/{re.escape(name)}/({'|'.join(map(re.escape, _HASHED_PREFIXES))})"


def _quoted(value: str) -> str:
    """Return a value as a quoted text of Apache and nginx."""
    escaped = value.replace('"', '\\"')
    return f'"{escaped}"'


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _netlify(pages: Mapping[str, Mapping[str, str]]) -> str:
    lines = ["# Netlify, Cloudflare Pages. Written by mcpframe."]
    lines += ["/*", *(f"  {name}: {value}" for name, value in _EVERYWHERE.items())]
    lines += ["/_mcpframe/*", f"  Cache-Control: {IMMUTABLE}"]
    lines += [f"{_SANDBOX}*", *(f"  {name}: {value}" for name, value in SANDBOX_HEADERS.items())]
    for name, headers in pages.items():
        lines += [f"/{name}/*", *(f"  {header}: {value}" for header, value in headers.items())]
        for file in ("", "index.html", "manifest.json", "app.html", "app-inline.html", "app-inline.js"):
            lines += [f"/{name}/{file}", f"  Cache-Control: {FRESH}"]
        for prefix in _HASHED_PREFIXES:
            lines += [f"/{name}/{prefix}*", f"  Cache-Control: {IMMUTABLE}"]
    return "\n".join(lines) + "\n"


def _apache(pages: Mapping[str, Mapping[str, str]]) -> str:
    lines = [
        "# Apache, LiteSpeed: needs mod_headers, mod_mime, mod_setenvif; mod_rewrite for .gz. Written by mcpframe."
    ]
    lines += [f"AddType {kind} .{ending}" for ending, kind in _TYPES.items()]
    lines += ["<IfModule mod_headers.c>"]
    lines += [f'  Header always set {name} "{value}"' for name, value in _EVERYWHERE.items()]
    lines += [f'  SetEnvIf Request_URI "{re.escape(_SANDBOX)}" MCPFRAME_SANDBOX']
    lines += [
        f"  Header always set {key} {_quoted(value)} env=MCPFRAME_SANDBOX" for key, value in SANDBOX_HEADERS.items()
    ]
    hashed = "|".join(["/_mcpframe/", *(_hashed_of(name) for name in pages)])
    lines += [f'  SetEnvIf Request_URI "{hashed}" MCPFRAME_IMMUTABLE']
    lines += [f'  Header set Cache-Control "{FRESH}"']
    lines += [f'  Header set Cache-Control "{IMMUTABLE}" env=MCPFRAME_IMMUTABLE']
    for number, (name, headers) in enumerate(pages.items()):
        lines += [f'  SetEnvIf Request_URI "/{re.escape(name)}/" MCPFRAME_PAGE_{number}']
        lines += [f'  Header always set {key} "{value}" env=MCPFRAME_PAGE_{number}' for key, value in headers.items()]
    lines += ["</IfModule>", "<IfModule mod_rewrite.c>", "  RewriteEngine On"]
    lines += ["  RewriteCond %{HTTP:Accept-Encoding} gzip", "  RewriteCond %{REQUEST_FILENAME}.gz -f"]
    lines += ["  RewriteRule ^(.+)\\.(js|mjs|wasm|zip|json|css|html)$ $1.$2.gz [L,E=MCPFRAME_GZ:1]"]
    for ending, kind in {**_TYPES, "html": "text/html; charset=utf-8"}.items():
        lines += [f"  RewriteRule \\.{ending}\\.gz$ - [T={kind},E=no-gzip:1]".replace("; charset=utf-8", "")]
    lines += [
        '  <FilesMatch "\\.gz$">',
        "    Header set Content-Encoding gzip",
        "    Header append Vary Accept-Encoding",
    ]
    lines += ["  </FilesMatch>", "</IfModule>"]
    return "\n".join(lines) + "\n"


def _vercel(pages: Mapping[str, Mapping[str, str]]) -> list[dict[str, object]]:
    hashed = [f"{prefix}(.*)" for prefix in _HASHED_PREFIXES]
    return _rules(pages, everything="/(.*)", below="(.*)", start="(.*)", hashed=hashed)


def _firebase(pages: Mapping[str, Mapping[str, str]]) -> list[dict[str, object]]:
    return _rules(pages, everything="**", below="**", start="*", hashed=_HASHED)


def _rules(
    pages: Mapping[str, Mapping[str, str]], *, everything: str, below: str, start: str, hashed: Sequence[str]
) -> list[dict[str, object]]:
    """Return rules; a later one takes precedence.

    Args:
        pages: The headers of each bundle's folder.
        everything: The pattern of all files.
        below: The pattern of all files below a folder, after its path.
        start: The pattern of the rest of a file's name.
        hashed: The patterns of a bundle's files that are cached for ever.
    """

    def rule(source: str, headers: Mapping[str, str]) -> dict[str, object]:
        return {"source": source, "headers": [{"key": key, "value": value} for key, value in headers.items()]}

    rules = [
        rule(everything, {**_EVERYWHERE, "Cache-Control": FRESH}),
        rule(f"/_mcpframe/{below}", {"Cache-Control": IMMUTABLE}),
        rule(f"{_SANDBOX}{start}", SANDBOX_HEADERS),
    ]
    for name, headers in pages.items():
        rules.append(rule(f"/{name}/{below}", headers))
        rules += [rule(f"/{name}/{pattern}", {"Cache-Control": IMMUTABLE}) for pattern in hashed]
    return rules


def _azure(pages: Mapping[str, Mapping[str, str]]) -> dict[str, object]:
    routes: list[dict[str, object]] = [
        {"route": f"{_SANDBOX}*", "headers": {**SANDBOX_HEADERS, "Cache-Control": IMMUTABLE}},  # the first match counts
        {"route": "/_mcpframe/*", "headers": {"Cache-Control": IMMUTABLE}},
    ]
    for name, headers in pages.items():
        routes.append({"route": f"/{name}/packages/*", "headers": {**headers, "Cache-Control": IMMUTABLE}})
        routes.append({"route": f"/{name}/*", "headers": {**headers, "Cache-Control": FRESH}})
    mime = {f".{ending}": kind for ending, kind in _TYPES.items()}
    return {"globalHeaders": _EVERYWHERE, "mimeTypes": mime, "routes": routes}


def _nginx(pages: Mapping[str, Mapping[str, str]]) -> str:
    # A location with an add_header inherits none, so each one lists all headers.
    def location(path: str, cache: str, headers: Mapping[str, str]) -> list[str]:
        return [
            f"location {path} {{",
            *(f"    add_header {key} {_quoted(value)} always;" for key, value in {**_EVERYWHERE, **headers}.items()),
            f'    add_header Cache-Control "{cache}";',  # not for errors: a missing file may be uploaded later
            "}",
        ]

    lines = ["# nginx: include in the server block that serves this folder at its root. Written by mcpframe."]
    lines += ["gzip_static on;", "types {"]
    lines += [f"    {kind} {ending};" for ending, kind in _TYPES.items()]
    lines += ["    text/html html;", "    image/svg+xml svg;", "    image/png png;", "}"]
    lines += location("/_mcpframe/", IMMUTABLE, {})
    lines += location(_SANDBOX, IMMUTABLE, SANDBOX_HEADERS)
    for name, headers in pages.items():
        lines += location(f"/{name}/", FRESH, headers)
        lines += location(f"~ ^{_hashed_of(name)}", IMMUTABLE, headers)
    return "\n".join(lines) + "\n"
