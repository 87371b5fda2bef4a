"""`python -m gossamer.cli` is the `gossamer` command."""

from gossamer.cli.start import run

run()
