"""A server that asks for what the others don't: a permission, to be seen, a visit elsewhere, a look at what changed."""

from pathlib import Path

from mcp.server.mcpserver import Context

from mcpframe import FrameServer, FrameSession, Permission, Setup

NOTE = "note://one"
VIEW = "ui://inspected/forecast"

server = FrameServer("inspected", version="1.0.0")
note = "Nothing yet"


@server.setup(visible=False, permissions=[Permission("camera", required=True, purpose="To see you")])
async def setup(session: FrameSession) -> Setup:
    """Complete at once, unseen."""
    await session.storage.set("ready", True)
    return Setup(title="Inspected", visibility="required", ephemeral_message="Ready to be inspected")


@server.ui
async def ui(session: FrameSession) -> None:
    """Show which session it is."""
    session.page.element("#mcpframe-app").add("p", f"Session {session.id}")


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


@server.resource(VIEW, name="forecast-view", mime_type="text/html;profile=mcp-app")
def view() -> str:
    """Return the view of forecasts."""
    return (Path(__file__).parent / "forecast.html").read_text("utf-8")


@server.tool(meta={"ui": {"resourceUri": VIEW}})
def forecast(place: str) -> dict[str, object]:
    """Forecast the weather, with a view."""
    if place == "Nowhere":
        raise ValueError("there is no weather")
    return {"place": place, "degrees": 21}


@server.tool(meta={"ui": {"resourceUri": VIEW, "visibility": ["app"]}})
def refresh() -> dict[str, object]:
    """Measure again, for the view."""
    return {"degrees": 22}
