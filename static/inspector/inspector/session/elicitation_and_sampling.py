"""A server's requests to the user, elicitation and sampling, each in a dialog."""

from __future__ import annotations

from typing import Any

import mcp_types as types

from inspector.forms.form import Form, FormProblem
from inspector.results.result import json_tree, show_result
from inspector.session.telling import wire
from inspector.widgets.dialogs import Dialog
from mcpframe import Page


async def elicit(page: Page, name: str, params: types.ElicitRequestParams) -> types.ElicitResult:
    """Ask the user for the input of an elicitation request.

    Args:
        name: the name of the server.
        params: the parameters of the request: a form, or a page to visit.
    """
    with Dialog(page, f"{name} asks", "insp-elicitation") as dialog:
        dialog.body.add("p", params.message, class_="insp-message")
        content: dict[str, Any] | None = None
        dialog.button("Cancel", "cancel")
        dialog.button("Decline", "decline")
        if isinstance(params, types.ElicitRequestURLParams):
            dialog.body.add("p", "It wants you to open this page:")
            if params.url.startswith(("https://", "http://")):
                dialog.body.add("a", params.url, href=params.url, target="_blank", rel="noopener noreferrer")
            else:
                dialog.body.add("code", params.url)
            dialog.button("Accept", "accept", main=True)
        else:
            schema = {"type": "object", **params.requested_schema}
            outside = dialog.form("Accept")
            form = Form(page, outside, schema, label="What it asks for")

            async def accept() -> None:
                nonlocal content
                try:
                    content = await form.checked()
                except FormProblem:
                    return  # the form shows the problems, and moves the focus there
                dialog.answer_with("accept")

            outside.on("submit", accept)
        dialog.show()
        action: Any = await dialog.answered()
    return types.ElicitResult(action=action, content=content)


async def sample(
    page: Page, name: str, params: types.CreateMessageRequestParams
) -> types.CreateMessageResult | types.ErrorData:
    """Let the user write the answer of a model, or decline."""
    with Dialog(page, f"{name} asks the model", "insp-sampling") as dialog:
        if params.system_prompt:
            dialog.body.add("p", f"System prompt: {params.system_prompt}", class_="quiet")
        for message in params.messages:
            blocks = message.content if isinstance(message.content, list) else [message.content]
            dialog.body.add("h3", message.role.capitalize())
            show_result(page, dialog.body.add("div"), {"content": [wire(block) for block in blocks]}, read=None)
        more = dialog.body.add("details")
        more.add("summary", "The whole request")
        json_tree(page, more.add("div"), wire(params))
        answer = dialog.body.add("label", "Answer of the model", class_="insp-field").add("textarea", rows="4")
        model = dialog.body.add("label", "Name of the model", class_="insp-field").add("input", value="a-person")
        dialog.button("Refuse", "cancel")
        dialog.button("Send answer", "send", main=True)
        dialog.show()
        answer.focus()
        if await dialog.answered() != "send":
            return types.ErrorData(code=types.INVALID_REQUEST, message="The user refused the sampling request.")
        text = types.TextContent(type="text", text=answer.value)
        return types.CreateMessageResult(
            role="assistant", content=text, model=model.value or "a-person", stop_reason="endTurn"
        )
