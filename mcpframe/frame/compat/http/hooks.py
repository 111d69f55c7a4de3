"""Adapt each HTTP library to the page as soon as its module is executed: an import hook.

The adapting modules are imported together with this one, so that a restored page has them in its memory. None of them
imports a library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from mcpframe.frame.browser.http_exchange import Network
from mcpframe.frame.compat.http import (
    aiohttp_connector,
    http_client,
    httpx_transports,
    urllib3_connections,
    urllib3_earlier,
)

Fit = Callable[[ModuleType, Network], None]

FITS: Mapping[str, Fit] = {
    "httpx._transports.default": httpx_transports.fit,
    "httpx2._transports.default": httpx_transports.fit,
    "httpx2_jsfetch": httpx_transports.fit,
    "urllib3.contrib.emscripten.connection": urllib3_connections.fit,
    "urllib3.connection": urllib3_earlier.fit,
    "urllib3.response": urllib3_earlier.fit_responses,
    "requests.adapters": urllib3_connections.fit_requests,
    "http.client": http_client.fit,
    "urllib.request": http_client.fit_urllib,
    "aiohttp.connector": aiohttp_connector.fit,
    "aiohttp.client_reqrep": aiohttp_connector.fit_responses,
}
"""The function that adapts a module, by the module's name."""

STAND_INS: Mapping[str, Callable[[ModuleType], None]] = {
    "urllib3.contrib.emscripten.fetch": urllib3_connections.fill_fetch,
}
"""The function that fills a module that is not executed, by the module's name."""


class FittingFinder(MetaPathFinder):
    """Finds the modules of `FITS` with the finders after it, and adapts them once they are executed.

    Args:
        fits: see `FITS`.
        network: sends the requests.
    """

    def __init__(self, fits: Mapping[str, Fit], network: Network) -> None:
        self._fits = fits
        self._network = network

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in STAND_INS:
            return ModuleSpec(fullname, _Filling(STAND_INS[fullname]))
        fit = self._fits.get(fullname)
        if fit is None:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        spec = next((its_spec for finder in others if (its_spec := finder.find_spec(fullname, path, target))), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _FittingLoader(spec.loader, lambda module: fit(module, self._network))
        return spec


class _Filling(Loader):
    """The loader of a stand-in."""

    def __init__(self, fill: Callable[[ModuleType], None]) -> None:
        self._fill = fill

    def exec_module(self, module: ModuleType) -> None:
        self._fill(module)


class _FittingLoader(Loader):
    """The loader of one module, around its own loader, which may serve many modules."""

    def __init__(self, loader: Any, fit: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._fit = fit

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._fit(module)


def install() -> None:
    """Adapt the libraries that are already imported, and those imported later. Only in a page, and once."""
    if any(isinstance(finder, FittingFinder) for finder in sys.meta_path):
        return
    network: Any = import_module("mcpframe.frame.browser.fetching")
    for name, fit in FITS.items():
        if name in sys.modules:
            fit(sys.modules[name], network)
    sys.meta_path.insert(0, FittingFinder(FITS, network))
