"""The empty host page, which the browser itself answers with (DevTools' `Fetch` domain), for both ways to drive it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

_PAGE = '<!doctype html><meta charset="utf-8"><title>Host</title><link rel="icon" href="data:,"><body></body>'


def interception(origin: str) -> dict[str, Any]:
    """Return the parameters of `Fetch.enable` for the documents of an origin."""
    return {"patterns": [{"urlPattern": f"{origin}/*", "resourceType": "Document"}]}


def fulfilment(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of `Fetch.fulfillRequest` that answer a stopped request with the page.

    Args:
        request: The parameters of `Fetch.requestPaused`.
    """
    return {
        "requestId": request["requestId"],
        "responseCode": 200,
        "responseHeaders": [{"name": "Content-Type", "value": "text/html; charset=utf-8"}],
        "body": base64.b64encode(_PAGE.encode()).decode(),
    }


def complaint(text: str, url: str) -> str:
    """Return an error of the page's console, with the address of what could not be loaded."""
    return f"{text} ({url})" if text.startswith("Failed to load resource") else text
