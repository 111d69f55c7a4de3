"""Resources under both spellings of their URIs: as their author wrote them, and percent-encoded.

A URI has ASCII characters only (RFC 3986, section 2), and URL classes encode the others and spaces: a client that read
`docs://café/{name}` in a list asks for `docs://caf%C3%A9/menu`. The official SDKs compare URIs letter by letter.
"""

from __future__ import annotations

import re
from functools import cache, wraps
from typing import Any
from urllib.parse import quote

from mcpframe.frame.compat import sdk

_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_ESCAPE = re.compile("%[0-9a-f]{2}", re.IGNORECASE)


def encoded(uri: str) -> str:
    """Return a URI or a template of URIs with everything percent-encoded that is not a visible ASCII character."""
    return _ESCAPE.sub(lambda found: found[0].upper(), quote(uri, safe=_ASCII))


@cache
def accept_spellings() -> None:
    """Let servers of the official SDK find resources under both spellings. Does nothing when repeated."""
    resources = sdk.server_part("resources")
    manager, template = resources.ResourceManager, resources.ResourceTemplate
    get_resource, matches = manager.get_resource, template.matches

    @wraps(get_resource)
    async def get(self: Any, uri: Any, *args: Any, **options: Any) -> Any:
        known, asked = self._resources, str(uri)
        if asked not in known:
            asked = next((each for each in known if encoded(each) == encoded(asked)), asked)
        return await get_resource(self, asked, *args, **options)

    @wraps(matches)
    def match(self: Any, uri: str) -> Any:
        parameters = matches(self, uri)
        return matches(_with_encoded_uri(self), encoded(uri)) if parameters is None else parameters

    manager.get_resource, template.matches = get, match


def _with_encoded_uri(template: Any) -> Any:
    address = encoded(template.uri_template)
    fields: dict[str, Any] = {"uri_template": address}
    if hasattr(template, "parsed_template"):  # mcp 2.x
        fields["parsed_template"] = type(template.parsed_template).parse(address)
    return template.model_copy(update=fields)
