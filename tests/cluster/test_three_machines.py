"""Three machines with one database and one store: what one loses, the others do, once and politely."""

from __future__ import annotations

import pytest
from machines_kit import run_as_user
from namespace_kit import HERE

from kit.postgres import has_postgres

pytest.importorskip("obstore", reason="obstore is not installed")
pytest.importorskip("moto", reason="moto is not installed")


@pytest.mark.timeout(2460)
@pytest.mark.skipif(not has_postgres(), reason="PostgreSQL is not installed")
def test_three_machines_end_with_the_pages_of_one() -> None:
    output = run_as_user("-m", "pytest", "-p", "no:cacheprovider", str(HERE / "three_machines.py"), seconds=2400)
    assert "1 passed" in output
