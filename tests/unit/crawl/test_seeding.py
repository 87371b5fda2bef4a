"""Seeds at private addresses: who can give no option is told the line of the settings file."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from gossamer.discover.seeds import Seed
from gossamer.errors import UsageError
from gossamer.settings import NetworkSettings, Settings
from gossamer.supervise.seeding import check_addresses, check_reachable

LOOPBACK = [Seed("http://127.0.0.3:8080/", "argument 1")]


@pytest.mark.parametrize("allowed", [(), ("10.0.0.0/8", "::1/128")])
def test_the_line_of_the_file_allows_the_address_and_what_was_allowed_before(
    tmp_path: Path, allowed: tuple[str, ...]
) -> None:
    folder = tmp_path / "a {folder}"
    with pytest.raises(UsageError) as told:
        check_addresses(LOOPBACK, Settings(network=NetworkSettings(allow=allowed)), folder)
    line, _, rest = str(told.value).partition("to crawl it, write ")[2].partition(" under [network] in ")
    networks = tomllib.loads(line)["allow"]
    assert networks == [*allowed, "127.0.0.0/8"] and rest.startswith(f"{folder}/gossamer.toml. If a crawl is running")
    check_addresses(LOOPBACK, Settings(network=NetworkSettings(allow=tuple(networks))), folder)


def test_a_crawl_is_told_its_option() -> None:
    with pytest.raises(UsageError, match=r"--allow-network 127\.0\.0\.0/8"):
        check_reachable(LOOPBACK, Settings())
