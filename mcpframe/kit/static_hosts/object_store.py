"""An object store, such as S3: headers are properties of each file that is uploaded."""

from mcpframe.kit.static_hosts.static_host import StaticHost

OBJECT_STORE = StaticHost(
    "an object store",
    "set types, encodings and `Cache-Control` of the files, as the script of `mcpframe publish s3` does",
    domains=(".amazonaws.com",),
    server="AmazonS3",
)
