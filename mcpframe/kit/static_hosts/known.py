"""All static hosts, and the files that a build writes for them."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from mcpframe.kit.static_hosts.apache import APACHE
from mcpframe.kit.static_hosts.azure import AZURE
from mcpframe.kit.static_hosts.cloudflare import CLOUDFLARE
from mcpframe.kit.static_hosts.firebase import FIREBASE
from mcpframe.kit.static_hosts.github_pages import GITHUB_PAGES
from mcpframe.kit.static_hosts.hugging_face import HUGGING_FACE
from mcpframe.kit.static_hosts.limits import rules_of, too_large
from mcpframe.kit.static_hosts.netlify import NETLIFY
from mcpframe.kit.static_hosts.nginx import NGINX
from mcpframe.kit.static_hosts.object_store import OBJECT_STORE
from mcpframe.kit.static_hosts.rules import pages_of
from mcpframe.kit.static_hosts.static_host import StaticHost
from mcpframe.kit.static_hosts.vercel import VERCEL

STATIC_HOSTS = (NETLIFY, CLOUDFLARE, VERCEL, FIREBASE, AZURE, APACHE, NGINX, GITHUB_PAGES, HUGGING_FACE, OBJECT_STORE)
CONFIGURATION = frozenset(name for host in STATIC_HOSTS for name in host.files)
"""The configuration files of static hosts, which they do not serve."""
HEADER_FILES = tuple(dict.fromkeys(host.files[0] for host in STATIC_HOSTS if host.files and host.sends_headers))
"""The files with headers that a build writes."""
WITHOUT_HEADERS = tuple(host.title for host in STATIC_HOSTS if not host.sends_headers)
"""The hosts on which a site cannot choose its headers."""


def recognized(url: str, headers: Mapping[str, str]) -> StaticHost | None:
    """Return the host of a published page; None if it is not known.

    Args:
        url: The page's address.
        headers: The headers of its response, by lower-case name.
    """
    machine, server = urlsplit(url).hostname or "", headers.get("server", "")
    by_domain = (host for host in STATIC_HOSTS if host.domains and machine.endswith(host.domains))
    by_server = (host for host in STATIC_HOSTS if host.server and server.startswith(host.server))
    return next((host for hosts in (by_domain, by_server) for host in hosts), None)


def host_files(policies: Mapping[str, str], trials: Mapping[str, Sequence[str]] | None = None) -> dict[str, bytes]:
    """Return the files for static hosts in an output root, by name.

    Args:
        policies: The Content-Security-Policy of each bundle's folder, with frame-ancestors.
        trials: See `pages_of`.
    """
    pages = pages_of(policies, trials)
    return {host.files[0]: host.text(pages).encode() for host in STATIC_HOSTS if host.files}


def limit_warnings(policies: Mapping[str, str], sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Return a warning for each host that does not read all rules of an output root, or takes no file of that size.

    Args:
        policies: As for `host_files`.
        sizes: The size of each file of a bundle, by path.
    """
    return (*_unread_rules(policies), *(text for host in STATIC_HOSTS for text in too_large(host, sizes)))


def _unread_rules(policies: Mapping[str, str]) -> tuple[str, ...]:
    count = rules_of(policies)
    return tuple(
        f"{host.title} reads {host.most_rules} rules of {host.files[0]}, and the {len(policies)} bundles of this "
        f"folder have {count}: the last bundles have no headers there. Publish them in several sites."
        for host in STATIC_HOSTS
        if host.most_rules is not None and count > host.most_rules
    )
