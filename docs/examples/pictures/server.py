"""Pictures in both directions: a chart that a tool draws, and a picture that the user provides."""

from io import BytesIO

import png
from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError

from mcpframe import File, FrameServer, FrameSession

KINDS = {"image/png": "png", "image/jpeg": "jpeg"}
BAR, HEIGHT = 40, 120
BLUE, WHITE = (0x25, 0x57, 0xB8), (0xFF, 0xFF, 0xFF)

server = FrameServer("pictures")


@server.tool()
def draw_chart(values: list[float]) -> list[Image | str]:
    """Draw a bar chart of numbers from 0 upwards."""
    if not values or min(values) < 0 or max(values) == 0:
        raise ToolError("values: at least one number above 0, and none below.")
    return [Image(data=chart(values), format="png"), f"{len(values)} bars, the highest for {max(values):g}"]


@server.tool()
async def show_picture() -> Image:
    """Return the user's picture."""
    storage = server.session.storage
    picture = await storage.get("picture")
    if picture is None:
        raise ToolError("There is no picture: the user has to choose one in the server's page.")
    return Image(data=picture, format=await storage.get("format"))


@server.ui
async def ui(session: FrameSession) -> None:
    """Keep each picture that the user chooses."""
    page = session.page
    await page.show("ui.html")
    page.element("#save").on("click", lambda: page.download("chart.png", chart([1, 3, 2]), "image/png"))
    while True:
        for file in await page.element("#file").files():
            page.element("#status").text = await keep(session, file)


async def keep(session: FrameSession, file: File) -> str:
    """Store a picture; return what the user is told."""
    if file.kind not in KINDS or file.size > 2_000_000:
        return f"{file.name} is not a PNG or JPEG of at most 2 MB."
    await session.storage.set("picture", await file.read())
    await session.storage.set("format", KINDS[file.kind])
    return f"{file.name} can be shown now."


def chart(values: list[float]) -> bytes:
    """Return a PNG with a bar for each value."""
    tops = [HEIGHT - HEIGHT * value / max(values) for value in values]
    rows = []
    for y in range(HEIGHT):
        pixels = (BLUE if y >= top and 4 <= x < BAR - 4 else WHITE for top in tops for x in range(BAR))
        rows.append([part for pixel in pixels for part in pixel])
    data = BytesIO()
    png.Writer(BAR * len(values), HEIGHT, greyscale=False).write(data, rows)
    return data.getvalue()
