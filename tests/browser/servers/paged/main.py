"""A page that is not a server: it counts its visits, and fails when it is told to."""

from mcpframe import Page


async def main(page: Page) -> None:
    """Count, then wait."""
    visits = await page.storage.get("visits", 0) + 1
    await page.storage.set("visits", visits)
    await page.show("page.html")
    page.element("#visits").text = f"{visits} visits"
    await page.element("#fail").event("click")
    raise LookupError("as told")
