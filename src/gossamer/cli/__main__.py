"""`python -m gossamer.cli` is the `gossamer` command."""

from gossamer.cli.main import run

run()
