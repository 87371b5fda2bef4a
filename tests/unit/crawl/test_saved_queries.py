"""Saving a query: a webhook or mail address that cannot be meant is named at once, not when the first page matches."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.alerts.saved_queries import save_query
from gossamer.cli.main import main
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.notify.config import AlertConfig
from gossamer.search.results import Request

CONFIG = AlertConfig(secret="a long random text", smtp_host="mail.example.org")
NEAR = AlertConfig(secret="a long random text", allow_networks=("10.0.0.5/32",))


def save(db: Database, channel: str, config: AlertConfig = CONFIG) -> None:
    save_query(db, config, f"to {channel}", Request(query="rocket"), [channel], "cli:me", 1.0)


@pytest.mark.parametrize(
    ("channel", "phrase"),
    [
        ("ftp://example.org/x", "not a webhook URL: write https://host/path"),
        ("https:///x", "not a webhook URL"),
        ("https://me@example.org/x", "without a user name"),
        ("example.org/hook", "is not a mail address: write name@example.org, or https://"),
        (
            "http://localhost:9/x",
            "the webhook's host localhost: 127.0.0.1 is this machine: write alerts.allow_networks = [\"127.0.0",
        ),
        ("http://10.0.0.5/x", '10.0.0.5 is private: write alerts.allow_networks = ["10.0.0.5/32"]'),
        ("http://169.254.169.254/latest/", "is the metadata service of a cloud"),
    ],
)
def test_a_wrong_channel_is_named(db: Database, channel: str, phrase: str) -> None:
    with pytest.raises(UsageError) as error:
        save(db, channel)
    assert phrase in str(error.value)


def test_what_the_settings_allow_and_names_are_taken(db: Database) -> None:
    save(db, "http://10.0.0.5/x", NEAR)
    save(db, "https://hooks.example.org/x")


@pytest.mark.parametrize(
    ("option", "value", "phrase"),
    [
        ("--webhook", "me@example.org", "'me@example.org' is not a webhook URL: write https://host/path"),
        (
            "--mail",
            "https://example.org/x",
            "is not a mail address: for a webhook, write --webhook https://example.org/x",
        ),
    ],
)
def test_the_options_do_not_take_each_others_addresses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, phrase: str
) -> None:
    assert main(["alerts", "add", "launches", "rocket", option, value, "--data", str(tmp_path)]) == 2
    assert phrase in capsys.readouterr().err


def test_an_operator_who_cannot_be_told_is_an_error_of_the_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gossamer.toml").write_text('[alerts]\noperators = ["htps://example.org/x"]\n')
    assert main(["config", "check", "--data", str(tmp_path)]) == 2
    assert "alerts.operators: 'htps://example.org/x' is not a webhook URL" in capsys.readouterr().err
