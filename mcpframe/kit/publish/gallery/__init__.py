"""A gallery: bundles of many servers, and one page on which each can be tried."""
