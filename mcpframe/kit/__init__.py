"""The tool chain: builds, serves and drives bundles. Runs in CPython and never ships in a bundle."""
