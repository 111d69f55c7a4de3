"""The page of that board: a bundle whose host draws it with data, and answers its actions."""

from mcpframe import FrameServer, FrameSession

server = FrameServer("board", allowed_origins=["https://chat.example"])


@server.ui
async def ui(session: FrameSession) -> None:
    app, host = session.page.element("#mcpframe-app"), session.host
    data = await host.render_data()
    for task in data["tasks"]:
        app.add("li", task)
    status = app.add("p", "")

    async def plan() -> None:
        answer = await host.intent("plan-day", {"tasks": data["tasks"]})
        status.text = f"Planned: {answer}"
        host.notify("day-planned")

    app.add("button", "Plan my day").on("click", plan)
