"""The surface for authors: `FrameServer`, servers of other SDKs, entries, setup, and contained failures."""
