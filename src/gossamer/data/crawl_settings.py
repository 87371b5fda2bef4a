"""The settings by which the crawl of a data folder runs."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gossamer.data.folder import DataFolder
from gossamer.settings import OWN_SECTIONS, Settings, load


def settings_of_crawl(data: Path) -> Settings:
    """The settings of a folder, with what the options of the last `gossamer crawl` changed."""
    folder = DataFolder(data)
    own = load(data, folder.last_options() if folder.has_crawl() else {})
    shared = folder.crawl_settings() if folder.is_shared else None
    if shared is None:
        return own
    # One crawl, one set of settings; what only concerns this machine is its own affair.
    return msgspec.structs.replace(shared, **{name: getattr(own, name) for name in OWN_SECTIONS})
