"""The Content Security Policy of a bundle's page: its own files, and the author's sources (CSP, level 3)."""

from __future__ import annotations

from collections.abc import Iterable

from mcpframe.frame.core.origins import ANY, OPAQUE
from mcpframe.kit.bundle.output.assets import integrity
from mcpframe.kit.project.pyproject import CspConfig

LOOPBACK = ("http://localhost:*", "http://127.0.0.1:*")
"""The addresses of previews: a page finds its sandbox under the other of these names."""


def page_policy(csp: CspConfig, *, frames: bool = False, inline: Iterable[str] = (), sandbox: str | None = None) -> str:
    """Return the policy for the page's meta element.

    Args:
        csp: The author's configuration.
        frames: Whether the page may frame pages of its own origin; the author's `frame_src` takes precedence.
        inline: The inline scripts of the page.
        sandbox: The origin of the sandbox for views; None for none.
    """
    framed = csp.frame_src or (["'self'"] if frames else [])
    framed = [*framed, *([sandbox, *LOOPBACK] if sandbox else [])]
    script = ["'self'", "'wasm-unsafe-eval'", *(["'unsafe-eval'"] if csp.unsafe_eval else [])]
    script += [f"'{integrity(text.encode())}'" for text in inline]
    directives = {
        "default-src": ["'none'"],
        "script-src": script,
        "style-src": ["'self'", *csp.style_src],
        "connect-src": ["'self'", *csp.connect_src],
        "img-src": ["'self'", "data:", "blob:", *csp.img_src],
        "font-src": ["'self'", *csp.font_src],
        "media-src": ["'self'", "data:", "blob:", *csp.media_src],
        "frame-src": framed or ["'none'"],
        "worker-src": csp.worker_src or ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    return "; ".join(f"{name} {' '.join(dict.fromkeys(sources))}" for name, sources in directives.items())


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
    ancestors = " ".join(["'self'", *sorted(listed)])
    return f"{policy}; frame-ancestors {ancestors}"
