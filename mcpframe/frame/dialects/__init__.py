"""The dialects a frame speaks, each as tables for its inner and its outer role."""
