"""Which inline styles and handlers a build warns of."""

from __future__ import annotations

from mcpframe.kit.bundle.build_warnings import inline_code_warnings

PAGE = b"""<style>p { color: red }</style><p style="color: blue" class="style">style="x"</p>
<button onclick="go()" ONINPUT=x title='style="1"'>Go</button><svg><rect style="fill: red"/></svg>"""


def test_a_file_with_inline_styles_and_handlers_is_named_with_their_numbers() -> None:
    files = {"ui.html": PAGE, "plain.html": b'<p class="x">x</p>', "script.js": PAGE, "bad.htm": b"\xff<p style=x"}
    handlers, styles = inline_code_warnings(files, styles_allowed=False)
    assert handlers.startswith("ui.html has 2 ")
    assert "element.on" in handlers
    assert styles.startswith("ui.html has 3 ")
    assert "styles" in styles


def test_styles_that_the_policy_allows_are_not_warned_of() -> None:
    [handlers] = inline_code_warnings({"ui.html": PAGE}, styles_allowed=True)
    assert "handlers" in handlers
