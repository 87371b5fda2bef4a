"""Large segments are merged once, started by `gossamer crawl` when some are due; ends by itself."""

from __future__ import annotations

from gossamer.supervise.turns import take_turn
from gossamer.upkeep.compacting import merge_large

if __name__ == "__main__":
    take_turn(lambda folder, db, _settings, now: merge_large(folder, db, now))
