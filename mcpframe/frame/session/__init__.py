"""Sessions over a window: the streams of the SDK, several clients behind one window, lines, and the setup phase."""
