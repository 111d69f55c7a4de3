"""The extension's page notes the layers of its snapshot as any page does."""

import re

from mcpframe.kit.base.data import static_dir


def test_the_extension_remembers_layers_under_the_key_of_pages():
    page, extension = (
        re.findall(r"`mcpframe snapshot (.*)`", (static_dir() / path).read_text("utf-8"))
        for path in ("page/remembered.js", "extension/remember.js")
    )
    [key] = page
    assert [key.replace('new URL(".", new URL(url, document.baseURI)).pathname', "pathname")] == extension
