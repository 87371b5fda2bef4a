"""What a trickle of updates does to an index."""

from studies.merge.study import run

__all__ = ["run"]
