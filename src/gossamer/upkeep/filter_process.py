"""One look for automatic filters, started by `gossamer crawl` now and then; ends by itself."""

from __future__ import annotations

from gossamer.data.stored_links import stored_in
from gossamer.supervise.turns import take_turn
from gossamer.upkeep.filters.run import run_filters

if __name__ == "__main__":
    take_turn(lambda folder, db, settings, now: run_filters(stored_in(folder), db, settings.filters, now))
