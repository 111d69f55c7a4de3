"""The check of a bundle's view under the profiles of hosts (`HOST_PROFILES`), in headless Chromium."""
