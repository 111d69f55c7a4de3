"""A server that asks for what the others don't: a permission, to be seen, a visit elsewhere, a look at what changed."""

import asyncio
from pathlib import Path

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import EmbeddedResource

from mcpframe import FrameServer, FrameSession, Permission, Setup, ui_resource

NOTE = "note://one"
VIEW = "ui://inspected/forecast"
BOARD = "ui://inspected/board"
REMOTE_DOM = "application/vnd.mcp-ui.remote-dom+javascript; framework=react"
ASKED: dict[str, object] = {"camera": {}, "clipboardWrite": {}}
HERE = Path(__file__).parent

server = FrameServer("inspected", version="1.0.0")
note = "Nothing yet"
measured = asyncio.Event()


@server.setup(visible=False, permissions=[Permission("camera", required=True, purpose="To see you")])
async def setup(session: FrameSession) -> Setup:
    """Complete at once, unseen."""
    await session.storage.set("ready", True)
    return Setup(title="Inspected", visibility="required", ephemeral_message="Ready to be inspected")


@server.ui
async def ui(session: FrameSession) -> None:
    """Show which session it is, and in a host of mcp-ui its data."""
    app, host = session.page.element("#mcpframe-app"), session.host
    app.add("p", f"Session {session.id}")
    if host.dialect == "mcp_ui":
        drawn = app.add("p", id="drawn")

        @host.on_render_data
        def draw(data: object) -> None:
            drawn.text = str(data)

        async def plan() -> None:
            drawn.text = f"answered {await host.intent('plan', {})}"

        app.add("button", "Plan").on("click", plan)


@server.resource(NOTE, name="note")
def read_note() -> str:
    """Return what was written last."""
    return note


@server.tool()
async def write(text: str) -> str:
    """Write another note."""
    global note
    note = text
    await server.resource_updated(NOTE)
    return "written"


@server.tool()
async def visit(ctx: Context) -> str:
    """Send the user to another page."""
    result = await ctx.elicit_url("Sign in there", url="https://sign-in.example/", elicitation_id="one")
    return f"the user answered {result.action}"


@server.resource(VIEW, name="forecast-view", mime_type="text/html;profile=mcp-app", meta={"ui": {"permissions": ASKED}})
def view() -> str:
    """Return the view of forecasts."""
    return (HERE / "forecast.html").read_text("utf-8")


@server.tool(meta={"ui": {"resourceUri": VIEW}})
async def forecast(place: str) -> dict[str, object]:
    """Forecast the weather, with a view."""
    if place == "Nowhere":
        raise ValueError("there is no weather")
    if place == "Later":
        measured.clear()
        await measured.wait()
    return {"place": place, "degrees": 21}


@server.tool(meta={"ui": {"resourceUri": VIEW, "visibility": ["app"]}})
def refresh() -> dict[str, object]:
    """Measure again, for the view; what is forecast for later is known then."""
    measured.set()
    return {"degrees": 22}


@server.tool()
def show_page(name: str) -> EmbeddedResource:
    """Show a page as HTML text."""
    return ui_resource(BOARD, html=(HERE / f"{name}.html").read_text("utf-8"), render_data={"tasks": 2})


@server.tool()
def show_address(url: str) -> EmbeddedResource:
    """Show a page by its address."""
    return ui_resource(BOARD, url=url, render_data={"tasks": 3})


@server.tool(meta={"ui": {"resourceUri": VIEW}})
def show_all(place: str) -> list[EmbeddedResource]:
    """Show a view, a page and a remote-dom script."""
    script = {"uri": "ui://inspected/remote", "mimeType": REMOTE_DOM, "text": "root.append('x')"}
    remote = EmbeddedResource.model_validate({"type": "resource", "resource": script})
    return [ui_resource(BOARD, html=f"<!doctype html><title>{place}</title><p>{place}</p>"), remote]


@server.resource(BOARD, name="board", mime_type="text/html")
def board() -> str:
    """Return the page of tasks."""
    return (HERE / "board.html").read_text("utf-8")


@server.prompt()
def day() -> list[UserMessage]:
    """Plan the day on the board."""
    return [UserMessage(ui_resource(BOARD, html=(HERE / "board.html").read_text("utf-8")))]


@server.tool(meta={"ui": {"visibility": ["model"]}})
def audit() -> str:
    """Check everything, for the model alone."""
    return "checked"
