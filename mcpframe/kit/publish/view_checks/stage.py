"""A browser and a web server in which pages have the addresses that they will have when they are published.

A host's policy depends on a view's own address: Claude's, for one, takes only https. So Chromium resolves the bundle's
name, and those of the hosts and sandboxes, to this machine, where one server has a certificate that only this browser
takes. No name is looked up, and nothing leaves the machine but what the bundle itself requests of others.

    https://NAME.host.test       the page of a host, empty: `static/apps_hosts/host.js` runs in it
    https://NAME.sandbox.test    its sandbox proxy, with the header of its policy
    https://tools.example        the bundle
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Error, async_playwright
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import ensure_chromium, launch_options, set_third_party_storage
from mcpframe.kit.browser.devtools.host_page import OFF
from mcpframe.kit.servers.bundle_site import BundleSite
from mcpframe.kit.web.serve import serve_app

HOST, SANDBOX = "host.test", "sandbox.test"
BUNDLE = "https://bundle.test/"
"""The root of bundles whose projects have no address of their own."""

_EMPTY = '<!doctype html><meta charset="utf-8"><title>Host</title><link rel="icon" href="data:,"><body></body>'
_ABOVE = '<!doctype html><meta charset="utf-8"><title>Editor</title><iframe src="{url}" title="Host"></iframe>'


@dataclass(frozen=True)
class Stage:
    """A running server.

    Attributes:
        certificate: The hash of its public key, in base64.
        rules: Chromium's rules for resolving names.
        folder: A folder for files of a browser.
    """

    certificate: str
    rules: str
    folder: Path

    @asynccontextmanager
    async def browser(self, *, storage: bool) -> AsyncIterator[BrowserContext]:
        """Launch a Chromium for the duration of the block.

        Args:
            storage: Whether pages of another site than the top page's have storage, as is Chrome's default.

        Raises:
            ChromiumMissing: No browser is installed.
            ToolFailed: The browser does not start.
        """
        program = ensure_chromium()
        profile = self.folder / f"profile-{storage}"
        set_third_party_storage(profile, allowed=storage)
        options = launch_options(program, off=OFF)
        options["args"] += [
            f"--host-resolver-rules={self.rules}",
            f"--ignore-certificate-errors-spki-list={self.certificate}",
        ]
        async with async_playwright() as playwright:
            try:
                context = await playwright.chromium.launch_persistent_context(profile, **options)
            except Error as error:
                raise ToolFailed(
                    f"{program} does not start: run it once by hand to see why, or set MCPFRAME_CHROMIUM to another."
                ) from error
            try:
                yield context
            finally:
                with suppress(Error):
                    await context.close()

    def page_above(self, name: str) -> str:
        """Return the address of a file that frames a host's page, as an editor's window does."""
        file = self.folder / f"{name}.html"
        file.write_text(_ABOVE.format(url=f"https://{name}.{HOST}/"), "utf-8", newline="\n")
        return file.as_uri()


@contextmanager
def stage(url: str, bundle: Path | None, headers: Mapping[str, str]) -> Iterator[Stage]:
    """Serve the pages for the duration of the block.

    Args:
        url: The address of the bundle's page in its view.
        bundle: The bundle's folder; None if it is published at that address.
        headers: The policies of the sandboxes, by the names of the hosts.

    Raises:
        ServeError: The server does not start, or the bundle cannot be served.
    """
    served = {urlsplit(url).hostname or ""} if bundle else set()
    names = [f"*.{HOST}", f"*.{SANDBOX}", *served]
    app = _Names(headers, _Placed(BundleSite.of(bundle), url) if bundle else None)
    with scratch("views") as folder:
        certificate = folder / "certificate.pem"
        key = write_certificate(certificate)
        with serve_app(app, names=names, certificate=certificate) as secure, serve_app(app, names=names) as plain:
            rules = [f"MAP {name}:443 127.0.0.1:{secure.port}" for name in names]
            if bundle and urlsplit(url).scheme == "http":
                rules.append(f"MAP {urlsplit(url).netloc} 127.0.0.1:{plain.port}")
            elif bundle and (port := urlsplit(url).port):
                rules.append(f"MAP {urlsplit(url).hostname}:{port} 127.0.0.1:{secure.port}")
            yield Stage(key, ", ".join(rules), folder)


def write_certificate(file: Path) -> str:
    """Write a certificate and its new key, and return the hash of the public key in base64."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mcpframe check")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.touch(0o600)
    file.write_bytes(private + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(public).digest()).decode()


class _Names:
    """An ASGI application that answers by the name that is requested."""

    def __init__(self, headers: Mapping[str, str], bundle: ASGIApp | None) -> None:
        self._headers = headers
        self._bundle = bundle
        self._sandbox = (static_dir() / "app" / "sandbox.html").read_text("utf-8")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(dict(scope["headers"])[b"host"].decode().partition(":")[0])(scope, receive, send)

    def _app(self, host: str) -> ASGIApp:
        name, _, rest = host.partition(".")
        if rest == HOST:
            return HTMLResponse(_EMPTY)
        if rest == SANDBOX:
            policy = self._headers.get(name)
            return HTMLResponse(self._sandbox, headers={"content-security-policy": policy} if policy else None)
        return self._bundle or PlainTextResponse("Not found", 404)


class _Placed:
    """A bundle's site at the path of its public address."""

    def __init__(self, site: BundleSite, url: str) -> None:
        self._site = site
        self._own = urlsplit(url).path.rstrip("/") + "/"
        self._root = self._own[:-1].rpartition("/")[0]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path.startswith(self._own):
            path = f"/{self._site.name}/{path.removeprefix(self._own)}"
        else:
            path = path.removeprefix(self._root)
        await self._site({**scope, "path": path, "raw_path": path.encode()}, receive, send)
