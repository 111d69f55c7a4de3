"""A shopping list, with FastMCP of mcp 1.x."""

import json
import logging
import os
from pathlib import Path

from mcp.server.fastmcp import Context, FastMCP

logging.basicConfig(level=os.environ.get("SHOPPING_LOG_LEVEL", "WARNING"))
logger = logging.getLogger(__name__)

mcp = FastMCP("shopping-list", instructions="Keeps what to buy.")


def list_file() -> Path:
    """The file that the list is in."""
    return Path(os.environ.get("SHOPPING_LIST", "~/.shopping-list.json")).expanduser()


def read_items() -> list[str]:
    """Return what is on the list."""
    try:
        return json.loads(list_file().read_text())
    except FileNotFoundError:
        return []


@mcp.tool()
def add_item(item: str) -> str:
    """Put something on the list."""
    if not item.strip():
        raise ValueError("The item has no name.")
    items = [*read_items(), item.strip()]
    list_file().write_text(json.dumps(items))
    return f"{len(items)} on the list."


@mcp.tool()
async def show_list(ctx: Context) -> list[str]:
    """Return the list."""
    await ctx.info("Reading the list")
    return read_items()


@mcp.resource("shopping://list")
def the_list() -> str:
    """The list as text."""
    return "\n".join(read_items())


@mcp.prompt()
def plan(meal: str) -> str:
    """Ask what a meal needs."""
    return f"What do I have to buy for {meal}?"


def main() -> None:
    """Serve on standard input and output."""
    logger.info("Starting")
    mcp.run()


if __name__ == "__main__":
    main()
