"""A board of notes that is a page server of MCP-B: an MCP server for the assistants in its visitor's browser.

The notes are kept in the browser, and all tabs show the same ones: a tab that changes them announces it to the others.
"""

from board import Board
from mcpframe import Page, page_server
from server import BoardTools
from view import View

CHANNEL = "notes-board"


async def main(page: Page) -> None:
    """Show the board, and serve assistants while it is open."""
    await page.show("board.html")
    board = Board(page.storage)
    await board.load()
    view = View(page, board)
    tools = BoardTools(board, view.tell)

    def on_change() -> None:
        view.show()
        if tools.offer():
            page.run(tools.server.tools_changed, "Announcing the tools")

    channel = page.js.defaultView.BroadcastChannel.new(CHANNEL)
    page.listen(channel, "message", lambda _: page.run(board.load, "Reading the notes"))
    board.on_change = on_change
    board.announce = lambda: channel.postMessage("changed")
    await page_server(tools.server)
