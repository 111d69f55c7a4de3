"""Tools that answer with each kind of content."""

from mcp.server.mcpserver import Audio, Image
from mcp_types import EmbeddedResource, ImageContent, TextContent, TextResourceContents

from mcpframe import FrameServer
from samples import PNG, WAV


def test_simple_text() -> str:
    """Answer with a text."""
    return "This is a simple text response for testing."


def test_image_content() -> Image:
    """Answer with a picture (PNG)."""
    return Image(data=PNG, format="png")


def test_audio_content() -> Audio:
    """Answer with a sound (WAV)."""
    return Audio(data=WAV, format="wav")


def test_embedded_resource() -> EmbeddedResource:
    """Answer with a resource in the answer itself."""
    return embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")


def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Answer with a text, a picture and a resource."""
    return [
        TextContent(type="text", text="Multiple content types test:"),
        Image(data=PNG, format="png").to_image_content(),
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ]


def embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    """Put a text into a resource."""
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def register(server: FrameServer) -> None:
    """Add the tools."""
    for tool in (
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
    ):
        server.add_tool(tool)
