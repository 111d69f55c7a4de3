"""The environment variables of a server's entry: clients start it with a few of the user's only.

Without them a bridge has no proxy and no certificates, looks for another cache, or does not find its Chromium.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

_NEEDED = re.compile(
    r"(HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|"
    r"UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|CONFIG_FILE|NATIVE_TLS|SYSTEM_CERTS)|"
    r"PIP_(INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|CONFIG_FILE|CERT)|"
    r"npm_config_(registry|cafile|proxy|https_proxy|noproxy)|"
    r"MCPFRAME_(CACHE|CHROMIUM|NO_SANDBOX|PYODIDE|PYODIDE_PACKAGES|SNAPSHOT)|PLAYWRIGHT_BROWSERS_PATH|XDG_CACHE_HOME",
    re.IGNORECASE,
)


def needed_variables(variables: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the variables that a bridge needs for its fetches, its cache and its browser.

    Args:
        variables: The environment of this process.

    Returns:
        The variables of the entry, and the names of those that have a password: a client's file is not a place for one.
    """
    needed = {name: value for name, value in sorted(variables.items()) if value and _NEEDED.fullmatch(name)}
    secret = [name for name, value in needed.items() if any(map(_has_password, value.split()))]
    return {name: value for name, value in needed.items() if name not in secret}, secret


def _has_password(address: str) -> bool:
    try:
        return "@" in urlsplit(address).netloc
    except ValueError:
        return True
