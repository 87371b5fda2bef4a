"""Where real data is: the folder beside the checkout, or `$GOSSAMER_SHARED`; documentation of installed packages.

No benchmark makes pages up where real ones are missing: it says what is missing, and measures the rest.
"""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path(os.environ.get("GOSSAMER_SHARED") or Path(__file__).resolve().parents[2] / "shared")
DATA = SHARED / "data"
ARCHIVES = DATA / "sites"
WCXB = DATA / "extraction" / "wcxb-dev.tar.zst"
NEWS = DATA / "extraction" / "news-dev.tar.zst"
GRAPHS = DATA / "graph"
HISTORY = DATA / "history" / "openbsd-www-to-2020.tsv.gz"
URLS = DATA / "urls" / "russian-news-urls.txt.gz"

INSTALLED = Path(os.environ.get("GOSSAMER_DEBIAN") or "/usr/share")
"""What Debian's packages put their files into."""
DOCUMENTATION = INSTALLED / "doc"
