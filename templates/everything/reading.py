"""Resources: a text, a picture, a template, and one to subscribe to."""

import json

from mcpframe import FrameServer
from samples import PNG


def static_text() -> str:
    """A text that never changes."""
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    """A picture (PNG)."""
    return PNG


def template_data(id: str) -> str:  # noqa: A002  (the template's own name)
    """What there is about an id, as JSON."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def watched() -> str:
    """A resource to subscribe to."""
    return "Watched resource content"


def register(server: FrameServer) -> None:
    """Add the resources."""
    server.resource("test://static-text", mime_type="text/plain")(static_text)
    server.resource("test://static-binary", mime_type="image/png")(static_binary)
    server.resource("test://template/{id}/data", mime_type="application/json")(template_data)
    server.resource("test://watched-resource", mime_type="text/plain")(watched)
