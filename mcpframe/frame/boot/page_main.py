"""Run the main function of a page bundle."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcpframe.frame.boot.author_page import author_page, open_storage
from mcpframe.frame.boot.reporter import last_words_to_post
from mcpframe.frame.host_api import connect as host_link

if TYPE_CHECKING:
    from mcpframe.frame.boot.config import BootConfig
    from mcpframe.frame.boot.interfaces import Loader
    from mcpframe.frame.core.events import SessionBegun
    from mcpframe.frame.page.session_page import Page
    from mcpframe.frame.session.setup_phase import SetupResult

BUNDLED_WITH = ("page",)


async def run_page(main: Callable[[Page], Any], config: BootConfig, loader: Loader) -> None:
    """Run it until it ends."""
    from mcpframe.frame.browser import window

    options = config.options
    named = bool(config.allowed_origins or any(config.dialect_origins.values()) or options.get("allow_opaque"))
    allowed = config.origins(None, window.own_origin()) if named else None

    def note_session(begun: SessionBegun | None) -> None:
        loader.at_end(last_words_to_post(begun) if begun else "null")

    def setup() -> SetupResult:
        return config.setup_result

    host_link.configure(host_link.Defaults(allowed, config.connection_options, setup, note_session, config.dialects))
    its_page = author_page(open_storage(f"page {config.name}"), config, loader)
    loader.ready(json.dumps({"state": "running"}))
    try:
        await main(its_page)
    except Exception as error:
        from mcpframe.frame.page import hints

        await hints.explain(error)
        raise
    finally:
        its_page.close()
