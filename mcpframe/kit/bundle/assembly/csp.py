"""The Content Security Policy of a bundle's page: its own files, and the author's sources (CSP, level 3)."""

from __future__ import annotations

from collections.abc import Iterable

from mcpframe.frame.core.allowed_origins import ANY, OPAQUE, SELF
from mcpframe.kit.bundle.assembly.assets import integrity
from mcpframe.kit.project.pyproject import CspConfig
from mcpframe.views.csp import Sources, page_directives, policy_text
from mcpframe.views.html import url_origin

LOOPBACK = ("http://localhost:*", "http://127.0.0.1:*")
"""The addresses of previews: a page finds its sandbox under the other of these names."""


def page_policy(
    csp: CspConfig,
    *,
    url: str | None = None,
    frames: bool = False,
    inline: Iterable[str] = (),
    sandbox: str | None = None,
    worker: bool = False,
    installable: bool = False,
) -> str:
    """Return the policy for the page's meta element.

    Args:
        csp: The author's configuration.
        url: The bundle's public address, if it is known. In a sandbox without an origin WebKit (2.50) matches `'self'`
            with that, and not with the page's address: there a page needs the name of its origin.
        frames: Whether the page may frame pages of its own origin; the author's `frame_src` takes precedence.
        inline: The inline scripts of the page.
        sandbox: The origin of the sandbox for views, or `SELF`; None for none.
        worker: Whether the page has workers: the server's, or the one that unpacks a snapshot. They have this policy,
            too, as they come from a blob.
        installable: Whether the page has a web app manifest and a service worker. That one has this policy where the
            web server sends it, and fetches the page's own files only.
    """
    directives = page_directives(f"'self' {url_origin(url)}" if url else "'self'", sources_of(csp))
    if installable:  # in a tab, where 'self' is the page's own address
        directives["manifest-src"] = ["'self'"]
        directives["worker-src"].append("'self'")
    directives["script-src"] += [f"'{integrity(text.encode())}'" for text in inline]
    if frames and not csp.frame_src:
        directives["frame-src"].append("'self'")
    if worker:
        directives["worker-src"].append("blob:")
    if sandbox:
        directives["frame-src"] += ["'self'"] if sandbox == SELF else [sandbox, *LOOPBACK]
    return policy_text(directives)


def sources_of(csp: CspConfig) -> Sources:
    """Return the author's sources, by directive."""
    return {
        "script-src": ["'unsafe-eval'"] if csp.unsafe_eval else [],
        "style-src": csp.style_src,
        "connect-src": csp.connect_src,
        "img-src": csp.img_src,
        "font-src": csp.font_src,
        "media-src": csp.media_src,
        "frame-src": csp.frame_src,
        "worker-src": csp.worker_src,
    }


def header_policy(policy: str, origins: Iterable[str], *, opaque: bool) -> str:
    """Return the policy for the web server's header: the page's, and frame-ancestors, which a meta element cannot set.

    Args:
        policy: The page's policy.
        opaque: Whether frames of opaque origin are allowed.
    """
    listed = list(origins)
    # No source expression matches an opaque ancestor, not even "*" (measured in Chromium 156); and "*" matches network
    # schemes only (Content Security Policy, level 3, 6.7.2.8), which the pages of editors on the desktop do not have.
    if ANY in listed or OPAQUE in listed or opaque:
        return policy
    ancestors = " ".join(["'self'", *sorted(entry for entry in listed if entry != SELF)])
    return f"{policy}; frame-ancestors {ancestors}"
