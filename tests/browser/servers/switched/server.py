"""A server that counts the sessions which its host has begun, and says in its page which dialect that speaks."""

from mcpframe import FrameServer, FrameSession

server = FrameServer("switched", version="1.0")


@server.ui
async def ui(session: FrameSession) -> None:
    count = (await session.storage.get("count") or 0) + 1
    await session.storage.set("count", count)
    app = session.page.element("#mcpframe-app")
    app.add("p", f"{session.host.dialect} {count}", id="begun")
    app.add("button", "Say it", id="say").on("click", lambda: session.host.send_message(f"session {count}"))


@server.tool()
def dialect() -> str:
    """Return the dialect that the host speaks."""
    return server.session.host.dialect


@server.tool()
async def keep() -> int:
    """Count the calls of this caller that were ever made."""
    storage = server.session.storage
    calls = (await storage.get("calls") or 0) + 1
    await storage.set("calls", calls)
    return int(calls)
