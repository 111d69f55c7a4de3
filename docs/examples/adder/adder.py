from mcpframe import FrameServer

server = FrameServer("adder", allowed_origins=["https://chat.example"])


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
