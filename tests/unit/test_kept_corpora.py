"""What fuzzing once found worth keeping still ends well: each input through its target."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "fuzz"))
import corpora
import targets


@pytest.mark.parametrize("name", sorted(targets.TARGETS))
def test_every_kept_input_ends_well(name: str) -> None:
    kept = list(corpora.inputs(name))
    assert kept, "every target has inputs to begin with"
    for file, data in kept:
        try:
            targets.TARGETS[name](data)
        except Exception as error:
            raise AssertionError(f"{name}/{file}: {error}") from error
