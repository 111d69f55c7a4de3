"""Azure Static Web Apps."""

from mcpframe.kit.static_hosts.rules import (
    EVERYWHERE,
    FRESH,
    IMMUTABLE,
    SANDBOX,
    SANDBOX_HEADERS,
    TYPES,
    Pages,
    json_text,
)
from mcpframe.kit.static_hosts.static_host import StaticHost


def _text(pages: Pages) -> str:
    routes: list[dict[str, object]] = [
        {"route": f"{SANDBOX}*", "headers": {**SANDBOX_HEADERS, "Cache-Control": IMMUTABLE}},  # the first match counts
        {"route": "/_mcpframe/*", "headers": {"Cache-Control": IMMUTABLE}},
    ]
    for name, headers in pages.items():
        routes.append({"route": f"/{name}/packages/*", "headers": {**headers, "Cache-Control": IMMUTABLE}})
        routes.append({"route": f"/{name}/*", "headers": {**headers, "Cache-Control": FRESH}})
    mime = {f".{ending}": kind for ending, kind in TYPES.items()}
    return json_text({"globalHeaders": EVERYWHERE, "mimeTypes": mime, "routes": routes})


AZURE = StaticHost(
    "Azure Static Web Apps",
    "nothing: `staticwebapp.config.json` is read",
    files=("staticwebapp.config.json",),
    text=_text,
    domains=(".azurestaticapps.net",),
)
