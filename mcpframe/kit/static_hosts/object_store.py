"""An object store, such as S3: headers are properties of each file that is uploaded."""

from mcpframe.kit.static_hosts.static_host import StaticHost

OBJECT_STORE = StaticHost(
    "an object store", "set the types of `.mjs`, `.wasm` and `.zip`, and `Cache-Control` by folder"
)
