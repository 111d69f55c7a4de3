"""`python -m docs.generate [--check]`: write the generated parts, or only compare them; then build the site."""

import sys

from docs.generate import ROOT, stale_pages
from docs.generate.site import build_site
from mcpframe.kit.base.errors import KitError

checking = sys.argv[1:] == ["--check"]
stale = stale_pages(write=not checking)
for page in stale:
    print(f"{page.relative_to(ROOT)}: {'stale' if checking else 'written'}")
if checking and stale:
    sys.exit("Write them with: python3 build.py docs")
try:
    print(f"site: {len(build_site(ROOT))} pages")
except KitError as error:
    sys.exit(str(error))
