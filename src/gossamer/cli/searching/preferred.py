"""The part of `gossamer evaluate` that tells whether clicks of readers help."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from gossamer.cli.common import out, print_json
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.model.counts import counted
from gossamer.serving.choices import trial_of


def show_trial(data: Path, json: bool) -> None:
    """Print which order readers preferred."""
    with closing(DataFolder(data).read()) as db:
        trial = trial_of(db, SystemClock().now())
    if json:
        print_json({"wins": trial.wins, "losses": trial.losses, "ties": trial.ties, "p": trial.chance})
        return
    out.print(f"{counted(trial.wins, 'reader')} preferred the order with clicks, {trial.losses:,} the one without them")
    out.print(f"{trial.ties:,} had no preference; sign test: p = {trial.chance:.3f}")
    out.print(trial.verdict)
