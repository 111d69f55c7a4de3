"""Firebase Hosting."""

from mcpframe.kit.static_hosts.rules import HASHED, Pages, json_text, source_rules
from mcpframe.kit.static_hosts.static_host import StaticHost


def _text(pages: Pages) -> str:
    rules = source_rules(pages, everything="**", below="**", start="*", hashed=HASHED)
    return json_text({"hosting": {"public": ".", "trailingSlash": True, "headers": rules}})


FIREBASE = StaticHost(
    "Firebase Hosting",
    "nothing: `firebase.json` is read",
    files=("firebase.json",),
    text=_text,
    domains=(".web.app", ".firebaseapp.com"),
)
