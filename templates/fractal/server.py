"""Draws a part of the Mandelbrot set: a heavy computation, whose tiles run side by side in processes.

In a page a process is a Web Worker, so the page stays free: it shows each tile as it comes, and its button stops the
drawing at any time, as a cancellation by the client does. In CPython the same code runs in processes.
"""

from base64 import b64encode
from dataclasses import dataclass, field
from typing import Annotated

import anyio
import anyio.to_process
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from mcpframe import FrameServer, FrameSession
from tiles import Tile, picture_of, rendered, tiles_of

SIZE = 240
"""The width and height of a picture, in pixels."""

server = FrameServer("fractal", title="Fractal", version="0.1.0")


@dataclass
class Drawing:
    """The drawings that run now, and what is shown of them."""

    running: set[anyio.CancelScope] = field(default_factory=set)
    session: FrameSession | None = None

    def stop(self) -> None:
        """Stop all of them."""
        for scope in self.running:
            scope.cancel()

    def show(self, text: str, picture: bytes | None = None) -> None:
        """Show how far a drawing is."""
        if self.session is None or self.session.closed.is_set():
            return
        page = self.session.page
        page.element("#status").text = text
        page.element("#stop").disabled = not self.running
        if picture:
            page.element("#picture").set("src", f"data:image/png;base64,{b64encode(picture).decode()}")


drawing = Drawing()


@server.ui
async def ui(session: FrameSession) -> None:
    """Show the picture, and do what the button says."""
    await session.page.show("canvas.html")
    drawing.session = session
    session.page.element("#stop").on("click", drawing.stop)


@server.tool()
async def draw(
    ctx: Context,
    x: Annotated[float, Field(description="The real part of the centre")] = -0.6,
    y: Annotated[float, Field(description="The imaginary part of the centre")] = 0.0,
    width: Annotated[float, Field(gt=0, le=10, description="The width of the part, and its height")] = 2.8,
    detail: Annotated[int, Field(ge=10, le=1_000_000, description="Iterations for each point")] = 200,
) -> Image:
    """Draw a part of the Mandelbrot set."""
    tiles = tiles_of(x, y, width, SIZE)
    done: dict[Tile, bytes] = {}

    async def compute(tile: Tile) -> None:
        done[tile] = await anyio.to_process.run_sync(rendered, tile, detail, cancellable=True)
        drawing.show(f"{len(done)} of {len(tiles)} tiles", picture_of(done, SIZE))
        await ctx.report_progress(len(done), len(tiles), f"{len(done)} of {len(tiles)} tiles")

    with anyio.CancelScope() as scope:
        drawing.running.add(scope)
        drawing.show("Computing …")
        try:
            async with anyio.create_task_group() as tasks:
                for tile in tiles:
                    tasks.start_soon(compute, tile)
        finally:
            drawing.running.discard(scope)
            drawing.show(f"{len(done)} of {len(tiles)} tiles" + ("" if len(done) == len(tiles) else ", stopped"))
    if scope.cancelled_caught:
        raise ToolError(f"It was stopped after {len(done)} of {len(tiles)} tiles.")
    return Image(data=picture_of(done, SIZE), format="png")
