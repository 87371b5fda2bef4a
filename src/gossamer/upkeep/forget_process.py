"""Old changes are forgotten once, started by `gossamer crawl` now and then; ends by itself."""

from __future__ import annotations

from gossamer.supervise.turns import take_turn
from gossamer.upkeep.forgetting import forget_old_changes

if __name__ == "__main__":
    take_turn(lambda folder, db, _settings, now: forget_old_changes(folder, db, now))
