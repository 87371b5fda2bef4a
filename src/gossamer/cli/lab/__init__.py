"""`gossamer lab`: what other policies would have done on a crawl of one's own."""

from __future__ import annotations

from cyclopts import App

from gossamer.cli.lab.record import record
from gossamer.cli.lab.replay import replay

command = App(name="lab", help="Replay a recorded crawl under other policies, in a simulator.")
for _command in (record, replay):
    command.command(_command)
