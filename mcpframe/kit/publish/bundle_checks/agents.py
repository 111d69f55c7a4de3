"""Which agents of browsers see a bundle's tools at its address (WebMCP), and why others do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from mcpframe.frame.dialects.available import offered_dialects
from mcpframe.kit.project.origin_trial import WEBMCP, TrialToken, read_token, token_problems
from mcpframe.kit.publish.bundle_checks.embedding import is_local
from mcpframe.kit.publish.bundle_checks.findings import Finding, warning
from mcpframe.kit.servers.published import offered_by

_SWITCHED_ON = "WebMCP is switched on (a flag of Chromium), or the page has a polyfill"


def check_trials(manifest: Mapping[str, Any], origin: str | None, now: datetime | None = None) -> Iterator[Finding]:
    """Warn of tokens that browsers ignore.

    Args:
        origin: The origin at which the bundle is published; None if that is not known.
        now: The time; by default that of the clock.
    """
    remedy = "Get one for this origin from the trial, and put it into tool.mcpframe.origin_trials."
    tokens = _tokens(manifest)
    if len(tokens) < len(manifest.get("origin_trials") or ()):
        yield warning("origin trial", "The manifest has something that is not a token, so browsers ignore it.", remedy)
    for token in tokens:
        for problem in token_problems(token, now or datetime.now(UTC), origin):
            yield warning("origin trial", f"The token for {token.feature!r} {problem}, so browsers ignore it.", remedy)


def agents_that_see(manifest: Mapping[str, Any], origin: str, now: datetime | None = None) -> str:
    """Return which agents of browsers see the tools, and why no others do; empty if the bundle does not offer WebMCP.

    Source: WebMCP, whose `modelContext` is there in secure contexts only.

    Args:
        origin: The origin of the bundle's address.
        now: The time; by default that of the clock.
    """
    at_document = {each.name for each in offered_dialects() if each.document_module}
    if manifest.get("kind") == "page" or at_document.isdisjoint(offered_by(manifest)):
        return ""
    if not origin.startswith("https:") and not is_local(origin):
        return "none see the tools: browsers have WebMCP in pages of https only"
    now = now or datetime.now(UTC)
    tokens = [token for token in _tokens(manifest) if token.feature == WEBMCP]
    for token in tokens:
        if not token_problems(token, now, origin):
            until = f"{token.expires:%Y-%m-%d}"
            return f"those of Chrome see the tools until {until}, by its trial of WebMCP; others only if {_SWITCHED_ON}"
    reason = (
        "its token does not count here, see below"
        if tokens
        else "it has no token of Chrome's trial, which is an entry of tool.mcpframe.origin_trials"
    )
    return f"none see the tools unless {_SWITCHED_ON}: {reason}"


def _tokens(manifest: Mapping[str, Any]) -> list[TrialToken]:
    tokens = []
    for text in manifest.get("origin_trials") or ():
        with suppress(ValueError, RecursionError):  # a build lets no other ones in, but a manifest may be anybody's
            tokens.append(read_token(str(text)))
    return tokens
