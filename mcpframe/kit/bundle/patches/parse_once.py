"""The script's one function is in parentheses, so that browsers parse it once.

It is a megabyte and is called at once. JavaScript engines take the parentheses as a sign of that, and parse the whole
function while it arrives, instead of skipping it and parsing it again when it is called.

Upstream: the engines' rule is https://v8.dev/blog/preparser#pife; https://github.com/evanw/esbuild/issues/4252 lists
where it applies. Emscripten has no setting for it.
"""

from __future__ import annotations

import re

from mcpframe.kit.bundle.patches.patch import DoesNotApply, Patch

_FUNCTION = re.compile(rb"(async function (\w+)\(.*\})(export default \2;\s*)", re.DOTALL)


def _apply(script: bytes) -> bytes:
    match = _FUNCTION.fullmatch(script)
    if not match:
        raise DoesNotApply
    return b"const %b=(%b);%b" % (match[2], match[1], match[3])


PATCH = Patch("parse_once", "browsers parse the script twice", _apply)
