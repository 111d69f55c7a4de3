"""HTTP libraries over the browser's fetch. In bundles that contain one of them only; see `hooks`."""

BUNDLED_WITH = ("http",)
