"""Notes that stay in the browser: the user names the notebook once, and sees its notes while the server runs."""

from mcpframe import FrameServer, FrameSession, Setup, SetupCancelled

server = FrameServer("notes", title="Notes")


@server.setup(visible=True)
async def setup(session: FrameSession) -> Setup:
    """Ask for the notebook's name."""
    page = session.page
    name = await session.storage.get("name", "")
    await page.show("setup.html")
    page.element("#name").value = name
    submitted = await page.element("form").event("submit")
    if submitted.js.submitter.value == "cancel":
        raise SetupCancelled
    name = page.element("#name").value.strip() or "Notes"
    await session.storage.set("name", name)
    return Setup(title=name, visibility="optional", visibility_message="Shows the notes.", ephemeral_message="Ready")


@server.ui
async def ui(session: FrameSession) -> None:
    """Show the notes whenever the page is seen."""
    await session.page.show("ui.html")
    async for visible in session.page.visibility():
        if visible:
            await show_notes(session)


@server.tool()
async def add_note(text: str) -> str:
    """Write a note down."""
    # not get and then set: another call, or another page of the session, may come in between
    notes = await server.session.storage.update("notes", lambda notes: [*notes, text], [])
    if server.session.page.visible:
        await show_notes(server.session)
    return f"{len(notes)} notes."


@server.tool()
async def list_notes() -> list[str]:
    """Return all notes."""
    notes: list[str] = await server.session.storage.get("notes", [])
    return notes


async def show_notes(session: FrameSession) -> None:
    page = session.page
    name, notes = await session.storage.get("name", "Notes"), await session.storage.get("notes", [])
    # nothing is awaited from here on: another call, which draws too, would come in between
    page.element("#title").text = name
    listed = page.element("#notes")
    listed.clear()
    for note in notes:
        listed.add("li", note)
