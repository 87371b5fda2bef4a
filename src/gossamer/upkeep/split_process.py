"""One look for sites to be split, started by `gossamer crawl` now and then; ends by itself."""

from __future__ import annotations

from gossamer.data.stored_links import stored_in
from gossamer.supervise.turns import take_turn
from gossamer.upkeep.splitting import split_sites

if __name__ == "__main__":
    take_turn(lambda folder, db, settings, now: split_sites(stored_in(folder), db, settings, now))
