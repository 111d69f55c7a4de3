"""The page that the benchmark embeds: it takes the host's action `echo` so often as the host says, and measures it."""

from js import performance

from mcpframe import FrameServer, FrameSession

server = FrameServer("acting", version="0.1.0")


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Return the text back."""
    return text


@server.ui
async def ui(session: FrameSession) -> None:
    """Ask the host what to do until it has nothing more to do."""
    host = session.host
    if host.dialect != "mcp_ui":
        return
    samples: list[float] = []
    while texts := (await host.intent("next", {"samples": samples}))["texts"]:
        samples = []
        for text in texts:
            sent = performance.now()
            answer = await host.call_tool("echo", {"text": text})
            samples.append(performance.now() - sent)
            assert answer.content[0].text == text
