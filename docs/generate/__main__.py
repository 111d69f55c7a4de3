"""`python -m docs.generate [--check]`: write the generated parts, or only compare them."""

import sys

from docs.generate import ROOT, stale_pages

checking = sys.argv[1:] == ["--check"]
pages = stale_pages(write=not checking)
for page in pages:
    print(f"{page.relative_to(ROOT)}: {'stale' if checking else 'written'}")
if checking and pages:
    sys.exit("Write them with: python3 build.py docs")
