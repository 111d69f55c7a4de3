"""A page that shows the inspector's forms and results for whatever it is given."""

import asyncio
import json
from typing import Any

from inspector.forms.form import Form, FormProblem
from inspector.forms.patterns import PATTERNS, BrowserWorker
from inspector.results.result import show_result
from mcpframe import Page

CITIES = ["Paris", "Prague", "Porto", "Oslo"]


async def main(page: Page) -> None:
    """Make what is asked for."""
    await page.show("page.html")
    given, value = page.element("#given"), page.element("#value")
    form: Form | None = None

    def make() -> None:
        nonlocal form
        page.element("#place").clear()
        form = Form(page, page.element("#place"), json.loads(given.value), label="Arguments")
        value.text = "made"

    def fill() -> None:
        assert form is not None
        form.fill(json.loads(given.value))

    def run() -> None:
        value.text = "running"
        page.run(check, "Run")

    async def check() -> None:
        assert form is not None
        try:
            value.text = json.dumps(await form.checked(), ensure_ascii=False)
        except FormProblem as problem:
            value.text = f"wrong: {problem}"

    async def complete(text: str) -> list[str]:
        await asyncio.sleep(0)
        return [city for city in CITIES if text and city.startswith(text)]

    async def read(uri: str) -> dict[str, Any]:
        if uri.endswith("absent"):
            raise LookupError("there is no such resource")
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": f"the text of {uri}"}]}

    page.element("#make").on("click", make)
    page.element("#fill").on("click", fill)
    page.element("#complete").on("click", lambda: form and form.complete("city", complete))
    page.element("#place").on("submit", run)
    page.element("#show").on(
        "click", lambda: show_result(page, page.element("#result"), json.loads(given.value), read=read)
    )
    PATTERNS.start = lambda: BrowserWorker(page)
    value.text = "ready"
    await asyncio.Event().wait()
