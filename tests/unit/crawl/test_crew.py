"""The crew of a crawl: no more processes than the machine has memory for."""

from __future__ import annotations

import pytest

from gossamer.errors import UsageError
from gossamer.supervise.crew import check_memory


def test_as_many_workers_as_fit_into_memory_and_no_more() -> None:
    check_memory(20, 2, 4 << 30)
    check_memory(1, 2, 64 << 20)
    with pytest.raises(UsageError, match=r"500 workers with 2 parsers .* \(4 GB\): start at most 21 workers"):
        check_memory(500, 2, 4 << 30)
