"""Superseded visits are thinned out once, started by `gossamer crawl` now and then; ends by itself."""

from __future__ import annotations

from gossamer.supervise.turns import take_turn
from gossamer.upkeep.thinning import thin_out

if __name__ == "__main__":
    take_turn(lambda folder, db, settings, now: thin_out(folder, db, settings.storage.keep_old, now))
