"""HTTP libraries over the browser's fetch. Only in bundles that contain one of them; see `hooks`."""

BUNDLED_WITH = ("http",)
