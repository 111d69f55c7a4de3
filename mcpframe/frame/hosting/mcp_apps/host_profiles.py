"""Profiles of hosts of MCP Apps: what each host's policy allows a view, and how it treats the view's messages.

A view that draws in one host may stay blank in another. Each profile is the policy that a host derives from a view's
`_meta.ui.csp`, and what else differs there for a view, with its public sources and the day on which they were read.
Nothing here is a host's own code, and no profile is that host: it is what is known of it.

A policy is a table of directives. `{resourceDomains}` stands for the sources that the view declares under that name,
`{frameDomains:'none'}` for those or `'none'` if it declares none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from mcpframe.frame.core.markup import escape
from mcpframe.frame.hosting.policy import DOMAINS
from mcpframe.frame.hosting.sandbox_proxy import VIEW_OPAQUE, VIEW_OWN_ORIGIN

_DECLARED: Final = """
    default-src  'none'
    script-src   'self' 'unsafe-inline' {resourceDomains}
    style-src    'self' 'unsafe-inline' {resourceDomains}
    connect-src  'self' {connectDomains}
    img-src      'self' data: {resourceDomains}
    font-src     'self' {resourceDomains}
    media-src    'self' data: {resourceDomains}
    frame-src    {frameDomains:'none'}
    object-src   'none'
    base-uri     {baseUriDomains:'self'}
"""
"""VS Code's policy for a declaration, from its source; much as the specification says."""

_DEFAULT: Final = """
    default-src  'none'
    script-src   'self' 'unsafe-inline'
    style-src    'self' 'unsafe-inline'
    img-src      'self' data:
    media-src    'self' data:
    object-src   'none'
    connect-src  'none'
"""
"""The specification's policy for a view that declares nothing; here, of a host that heeds no declaration."""

_CLAUDE: Final = """
    default-src  'none'
    script-src   'self' 'unsafe-inline' 'unsafe-eval' blob: data: https://assets.claude.ai {resourceDomains}
    style-src    'self' 'unsafe-inline' blob: data: https://assets.claude.ai {resourceDomains}
    img-src      'self' blob: data: https://assets.claude.ai {resourceDomains}
    font-src     'self' blob: data: https://assets.claude.ai {resourceDomains}
    media-src    'self' blob: data: https://assets.claude.ai {resourceDomains}
    worker-src   'self' blob: {resourceDomains}
    connect-src  'self' {connectDomains}
    frame-src    'self' blob: data:
    object-src   'none'
    base-uri     'none'
"""
"""Reports quote the sources of scripts and frames, and that only https is taken. The other directives are inferred."""

_CHATGPT: Final = """
    default-src  'none'
    script-src   'self' 'unsafe-inline' blob: data: {resourceDomains}
    style-src    'self' 'unsafe-inline' blob: data: {resourceDomains}
    connect-src  'self' blob: data: {connectDomains}
    img-src      'self' blob: data: {resourceDomains}
    font-src     'self' blob: data: {resourceDomains}
    media-src    'self' blob: data: {resourceDomains}
    frame-src    {frameDomains:'none'}
    object-src   'none'
    base-uri     {baseUriDomains:'self'}
"""
"""The specification's, with `blob:` and `data:`, as reports have it. Whether wasm is allowed is unknown: here, not."""

_GOOSE: Final = """
    default-src  'none'
    script-src   'self' 'unsafe-inline' {resourceDomains}
    style-src    'self' 'unsafe-inline' {resourceDomains}
    connect-src  'self' {connectDomains}
    img-src      'self' data: blob: {resourceDomains}
    font-src     'self' {resourceDomains}
    media-src    'self' data: blob: {resourceDomains}
    frame-src    'self' {frameDomains}
    object-src   'none'
    base-uri     'self' {baseUriDomains}
"""

_WITH_EVAL: Final = """
    default-src  'self' 'unsafe-inline'
    script-src   'self' 'unsafe-inline' 'unsafe-eval' blob: data: {resourceDomains}
    style-src    'self' 'unsafe-inline' blob: data: {resourceDomains}
    img-src      'self' data: blob: {resourceDomains}
    font-src     'self' data: blob: {resourceDomains}
    media-src    'self' data: blob: {resourceDomains}
    connect-src  'self' {connectDomains}
    worker-src   'self' blob: {resourceDomains}
    frame-src    {frameDomains:'none'}
    object-src   'none'
    base-uri     {baseUriDomains:'none'}
"""
"""The policy of ext-apps' own example host."""

_INSPECTOR: Final = """
    default-src  'none'
    connect-src  {connectDomains:'none'}
    script-src   'unsafe-inline' {resourceDomains}
    style-src    'unsafe-inline' {resourceDomains}
    img-src      {resourceDomains:'none'}
    font-src     {resourceDomains:'none'}
    media-src    {resourceDomains:'none'}
    frame-src    {frameDomains:'none'}
    base-uri     {baseUriDomains:'self'}
    form-action  'none'
    object-src   'none'
    worker-src   'none'
"""
"""From its source, 2.12.0."""

_VS_CODE_PARENT: Final = """<script>(() => {
  const real = window.parent;
  const post = (message) => real.postMessage(message, "*");
  window.parent = new Proxy(window, { get: (of, name) => (name === "postMessage" ? post : of[name]) });
  const seen = { source: window.parent, origin: self.origin };
  const add = window.addEventListener.bind(window);
  const remove = window.removeEventListener.bind(window);
  const listeners = new WeakMap();
  window.addEventListener = (type, listener, options) => {
    if (type !== "message") return add(type, listener, options);
    const wrapped = (event) =>
      listener(event.source === real ? new Proxy(event, { get: (of, name) => seen[name] ?? of[name] }) : event);
    listeners.set(listener, wrapped);
    return add(type, wrapped, options);
  };
  window.removeEventListener = (type, listener, options) => remove(type, listeners.get(listener) ?? listener, options);
})();</script>"""
"""The start of a document in VS Code: `parent` is an object around its own window, whose `postMessage` reaches the
editor. Listeners that `addEventListener` adds get events of that source, and of the view's own origin."""

_BREAKS_OUT = re.compile(r"[;,'\"\s]")


class _Sources(tuple[str, ...]):
    """Declared sources in a policy's table; the format specification is what stands there for none."""

    __slots__ = ()

    def __format__(self, instead: str) -> str:
        return " ".join(self) or instead


@dataclass(frozen=True, slots=True)
class HostProfile:
    """The known behaviour of a host of MCP Apps.

    Attributes:
        name: its short name.
        title: its name for people.
        header: the policy of its sandbox's page, which a view inherits: a table of directives; empty for none.
        meta: the policy that it writes into the head of the view; empty for none. The browser enforces both.
        schemes: the schemes of the declared sources that it takes; empty for all.
        same_origin: whether a view has an origin, rather than an opaque one.
        storage: whether the browser gives a view storage.
        top: the scheme of the page at the top.
        in_body: whether it writes the view's text into the body of a document of its own, so that a policy in that text
            has no effect.
        replaces_parent: whether it puts VS Code's object in the place of `window.parent`.
        hidden: whether a view is hidden until it is initialized.
        early: whether the tool's input and result come with the answer to `ui/initialize`, before the view is
            initialized.
        frame_per_call: whether each tool call has a frame of its own beside the earlier ones.
        sources: where that can be read.
        read_on: the day on which that was read.
    """

    name: str
    title: str
    header: str = ""
    meta: str = ""
    schemes: tuple[str, ...] = ()
    same_origin: bool = True
    storage: bool = True
    top: str = "https"
    in_body: bool = False
    replaces_parent: bool = False
    hidden: bool = False
    early: bool = False
    frame_per_call: bool = False
    sources: tuple[str, ...] = ()
    read_on: date = date(2026, 11, 23)

    @property
    def sandbox(self) -> str:
        """The `sandbox` attribute of the view's frame."""
        return VIEW_OWN_ORIGIN if self.same_origin else VIEW_OPAQUE

    def policies(self, csp: Mapping[str, Any] | None) -> tuple[str, str]:
        """Return the policies of the header and of the meta element, empty for none.

        Args:
            csp: the view's `_meta.ui.csp`, of its resource; None for none.
        """
        return self._policy(self.header, csp or {}), self._policy(self.meta, csp or {})

    def document(self, html: str, csp: Mapping[str, Any] | None) -> str:
        """Return the view's HTML text with what the host writes into its head."""
        policy = self.policies(csp)[1]
        head = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">' if policy else ""
        if self.in_body:
            html = f"<!doctype html><html><head></head><body>{html}</body></html>"
        return with_head(html, head + (_VS_CODE_PARENT if self.replaces_parent else ""))

    def _policy(self, table: str, csp: Mapping[str, Any]) -> str:
        declared = {kind: _Sources(self._sources(csp.get(kind) or ())) for kind in DOMAINS}
        return "; ".join(" ".join(line.format(**declared).split()) for line in table.strip().splitlines())

    def _sources(self, domains: Iterable[Any]) -> Iterable[str]:
        for domain in domains:
            if not isinstance(domain, str) or _BREAKS_OUT.search(domain):
                continue
            scheme, _, rest = domain.partition("://")
            if not self.schemes or (rest and scheme in self.schemes):
                yield domain


def with_head(html: str, text: str) -> str:
    """Return HTML text with more text at the start of its head."""
    if not text:
        return html
    for tag in (r"<head(?:\s[^>]*)?>", r"<html(?:\s[^>]*)?>", r"<!doctype[^>]*>"):
        if head := re.search(tag, html, re.IGNORECASE):
            return html[: head.end()] + text + html[head.end() :]
    return text + html


_EXT_APPS = "https://github.com/modelcontextprotocol/ext-apps"
_VS_CODE = (
    "https://github.com/microsoft/vscode: chatMcpAppModel.ts in src/vs/workbench/contrib/chat/browser/widget",
    "https://github.com/microsoft/vscode/issues/331633",
)
_CLAUDE_ISSUES = "https://github.com/anthropics/claude-ai-mcp/issues"

HOST_PROFILES: Final[Mapping[str, HostProfile]] = {
    profile.name: profile
    for profile in (
        HostProfile(
            "claude",
            "Claude",
            header=_CLAUDE,
            schemes=("https",),
            hidden=True,
            frame_per_call=True,
            sources=(
                *(f"{_CLAUDE_ISSUES}/{issue}" for issue in (39, 40, 54, 61, 375)),
                "https://github.com/anthropics/claude-code/issues/59351",
                "https://github.com/agentfront/frontmcp/issues/455",
            ),
        ),
        HostProfile("vscode", "VS Code", meta=_DECLARED, replaces_parent=True, early=True, sources=_VS_CODE),
        HostProfile(
            "vscode-desktop",
            "VS Code on the desktop",
            meta=_DECLARED,
            replaces_parent=True,
            early=True,
            top="file",
            sources=_VS_CODE,
        ),
        HostProfile(
            "chatgpt",
            "ChatGPT, as reported",
            header=_CHATGPT,
            sources=tuple(f"{_CLAUDE_ISSUES}/{issue}" for issue in (40, 54, 375)),
        ),
        HostProfile(
            "goose",
            "Goose",
            header=_GOOSE,
            sources=(
                "https://github.com/block/goose: crates/goose-server/src/routes/mcp_app_proxy.rs",
                "https://github.com/aaif-goose/goose/pull/6786",
            ),
            read_on=date(2026, 11, 25),
        ),
        HostProfile(
            "default",
            "The specification's default",
            header=_DEFAULT,
            sources=(f"{_EXT_APPS}/blob/main/specification/draft/apps.mdx",),
        ),
        HostProfile(
            "two-policies",
            "Two policies: eval in one",
            header=_WITH_EVAL,
            meta=_DECLARED,
            sources=("https://github.com/Boise-State-Development/agentcore-public-stack/pull/414",),
        ),
        HostProfile(
            "no-storage",
            "No storage for other sites",
            header=_WITH_EVAL,
            storage=False,
            sources=("https://developer.mozilla.org/en-US/docs/Web/API/Storage_Access_API",),
            read_on=date(2026, 11, 25),
        ),
        HostProfile(
            "frame-per-call",
            "A frame for each call",
            header=_WITH_EVAL,
            frame_per_call=True,
            sources=(f"{_CLAUDE_ISSUES}/39",),
        ),
        HostProfile(
            "opaque",
            "A sandbox without an origin",
            header=_WITH_EVAL,
            same_origin=False,
            sources=(f"{_EXT_APPS}/blob/main/specification/draft/apps.mdx",),
        ),
        HostProfile(
            "inspector",
            "The official Inspector",
            meta=_INSPECTOR,
            in_body=True,
            same_origin=False,
            sources=("https://github.com/modelcontextprotocol/inspector: clients/web/src/utils/sandbox-csp.ts",),
            read_on=date(2026, 11, 25),
        ),
    )
}
"""The profiles, by their names."""
