"""Static Spaces of Hugging Face: https://huggingface.co/docs/hub/spaces-sdks-static."""

from mcpframe.kit.static_hosts.static_host import StaticHost

HUGGING_FACE = StaticHost(
    "Hugging Face Spaces",
    "`README.md`, which `mcpframe publish huggingface` writes. The Space's own address is to be framed, not its page "
    "on huggingface.co. Custom headers are not possible",
    sends_headers=False,
    domains=(".hf.space",),
)
