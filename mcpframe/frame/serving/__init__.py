"""The surface for authors: `FrameServer`, servers of other SDKs, entries, setup, and failures that are contained."""
