"""How to compare answers: a server of its own that the flashcards mount."""

from fastmcp import FastMCP

spelling = FastMCP("spelling")


def normalized(text: str) -> str:
    """Return a text without what does not matter in an answer."""
    return " ".join(text.casefold().split())


@spelling.tool
def same(one: str, other: str) -> bool:
    """Return whether two answers count as the same."""
    return normalized(one) == normalized(other)
