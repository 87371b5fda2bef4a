"""Accounts, logins and failed tries: what is stored, what ends when, who has to wait."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from gossamer.database.database import Database, open_database
from gossamer.errors import UsageError
from gossamer.tables import accounts, logins, passwords

PASSWORD = "orb-weaver-99"
MOST = 3


COST = passwords.COST


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "COST", (4, 8, 1))


@pytest.fixture
def ada(db: Database) -> str:
    return accounts.add(db, 100.0, "Ada ", "operator", PASSWORD).name


def test_a_password_is_told_from_others(db: Database, ada: str) -> None:
    assert ada == "ada"
    assert accounts.is_password(db, " ADA", PASSWORD)
    assert not accounts.is_password(db, "ada", PASSWORD + "x")
    assert not accounts.is_password(db, "nobody", PASSWORD)


def test_neither_password_nor_token_is_stored(db: Database, ada: str) -> None:
    token = logins.begin(db, 100.0, ada, 60.0)
    tables = [db.execute(f"SELECT * FROM {table}") for table in ("accounts", "logins")]
    assert PASSWORD not in str(tables) and token not in str(tables)


def test_a_guess_costs_sixteen_mebibytes_and_five_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "COST", COST)
    stored = passwords.hashed(PASSWORD)
    kind, log_n, r, p = stored.split("$")[:4]
    assert (kind, 128 * int(r) * 2 ** int(log_n), int(p)) == ("scrypt", 16 << 20, 5)
    assert passwords.fits(PASSWORD, stored) and not passwords.fits(PASSWORD + "x", stored)


def test_equal_passwords_are_stored_differently() -> None:
    assert passwords.hashed(PASSWORD) != passwords.hashed(PASSWORD)


def test_a_password_stored_with_other_parameters_still_fits() -> None:
    # Made with N = 2^4, r = 1, p = 1, as an earlier or later version might choose.
    salt = b"sixteen bytes ok"
    key = hashlib.scrypt(PASSWORD.encode(), salt=salt, n=16, r=1, p=1, dklen=32)
    stored = f"scrypt$4$1$1${base64.b64encode(salt).decode()}${base64.b64encode(key).decode()}"
    assert passwords.fits(PASSWORD, stored)
    assert not passwords.fits("orb-weaver-98", stored)


def test_generated_passwords_are_accepted_and_never_the_same() -> None:
    made = {passwords.generated() for _ in range(50)}
    assert len(made) == 50
    for password in made:
        passwords.check(password, "operator")


@pytest.mark.parametrize("password", ["short", "aaaaaaaaaaaaaa", "my-name-is-ada", "x" * 2000])
def test_weak_passwords_are_refused(db: Database, password: str) -> None:
    with pytest.raises(UsageError, match="password"):
        accounts.add(db, 1.0, "ada", "reader", password)
    assert accounts.accounts(db) == []


@pytest.mark.parametrize("name", ["", "a b", "../x", "é", "a" * 65, "<b>", "cli:root"])
def test_names_are_plain(db: Database, name: str) -> None:
    with pytest.raises(UsageError, match="a name may have"):
        accounts.add(db, 1.0, name, "reader", PASSWORD)


def test_a_name_is_given_once(db: Database, ada: str) -> None:
    with pytest.raises(UsageError, match="already"):
        accounts.add(db, 1.0, "ADA", "reader", "another-one-1")
    assert accounts.is_password(db, ada, PASSWORD)


def test_the_first_account_is_made_once(db: Database) -> None:
    password = accounts.add_first(db, 1.0)
    assert accounts.is_password(db, "operator", password)
    assert accounts.add_first(db, 2.0) == ""
    assert [account.role for account in accounts.accounts(db)] == ["operator"]


def test_the_last_operator_stays(db: Database, ada: str) -> None:
    accounts.add(db, 1.0, "bob", "reader", PASSWORD)
    with pytest.raises(UsageError, match="last operator"):
        accounts.remove(db, ada)
    with pytest.raises(UsageError, match="last operator"):
        accounts.set_role(db, ada, "reader")
    accounts.set_role(db, "bob", "operator")
    accounts.set_role(db, ada, "reader")
    accounts.remove(db, ada)
    assert [(account.name, account.role) for account in accounts.accounts(db)] == [("bob", "operator")]


def test_roles_that_do_not_exist_are_refused(db: Database, ada: str) -> None:
    with pytest.raises(UsageError, match="not a role"):
        accounts.set_role(db, ada, "root")


def test_a_login_ends_when_it_is_not_used(db: Database, ada: str) -> None:
    token = logins.begin(db, 100.0, ada, 60.0)
    assert logins.find(db, 159.0, token) == (logins.Login("ada", "operator"), 160.0)
    assert logins.find(db, 160.0, token) is None


def test_a_login_that_is_used_goes_on(db: Database, ada: str) -> None:
    token = logins.begin(db, 100.0, ada, 60.0)
    assert not logins.needs_renewal(101.0, 160.0, 60.0)
    assert logins.needs_renewal(150.0, 160.0, 60.0)
    logins.renew(db, 150.0, token, 60.0)
    assert logins.find(db, 200.0, token) is not None
    logins.renew(db, 300.0, token, 60.0)  # too late
    assert logins.find(db, 300.0, token) is None


def test_logging_out_ends_one_login_only(db: Database, ada: str) -> None:
    one, other = logins.begin(db, 100.0, ada, 60.0), logins.begin(db, 100.0, ada, 60.0)
    logins.end(db, one)
    assert logins.find(db, 101.0, one) is None
    assert logins.find(db, 101.0, other) is not None


def test_a_new_password_ends_all_logins(db: Database, ada: str) -> None:
    tokens = [logins.begin(db, 100.0, ada, 60.0) for _ in range(2)]
    accounts.set_password(db, ada, "another-one-1")
    assert [logins.find(db, 101.0, token) for token in tokens] == [None, None]
    assert not accounts.is_password(db, ada, PASSWORD)


def test_a_removed_account_is_logged_out_and_a_new_role_counts_at_once(db: Database, ada: str) -> None:
    accounts.add(db, 1.0, "bob", "operator", PASSWORD)
    token = logins.begin(db, 100.0, "bob", 60.0)
    accounts.set_role(db, "bob", "reader")
    found = logins.find(db, 101.0, token)
    assert found is not None and found[0].role == "reader"
    accounts.remove(db, "bob")
    accounts.add(db, 101.0, "bob", "reader", PASSWORD)
    assert logins.find(db, 101.0, token) is None


def fail(db: Database, now: float, account: str, address: str, times: int = 1) -> list[float]:
    return [logins.attempt(db, now, account, address, MOST) for _ in range(times)]


def test_after_so_many_failures_an_account_has_to_wait_ever_longer(db: Database) -> None:
    assert fail(db, 100.0, "ada", "1.1.1.1", MOST) == [0.0] * MOST
    assert fail(db, 100.0, "ada", "2.2.2.2") == [15.0]
    assert fail(db, 114.0, "ada", "3.3.3.3") == [1.0]
    assert fail(db, 115.0, "ada", "4.4.4.4") == [0.0]  # one more try, and wrong again
    assert fail(db, 115.0, "ada", "5.5.5.5") == [30.0]
    assert fail(db, 145.0, "ada", "6.6.6.6") == [0.0]
    assert fail(db, 145.0, "ada", "7.7.7.7") == [60.0]


def test_the_wait_has_an_end(db: Database) -> None:
    now = 100.0
    for _ in range(40):
        now += logins.attempt(db, now, "ada", "1.1.1.1", MOST)
    assert fail(db, now, "ada", "2.2.2.2", 2)[-1] <= logins.LONGEST_PAUSE


def test_an_address_that_tries_many_accounts_has_to_wait(db: Database) -> None:
    for name in ("ada", "bob", "carl"):
        assert fail(db, 100.0, name, "1.1.1.1") == [0.0]
    assert fail(db, 100.0, "dora", "1.1.1.1") == [15.0]
    assert fail(db, 100.0, "dora", "2.2.2.2") == [0.0]


def test_refused_tries_do_not_make_the_wait_longer(db: Database) -> None:
    fail(db, 100.0, "ada", "1.1.1.1", MOST)
    assert fail(db, 101.0, "ada", "1.1.1.1", 20) == [14.0] * 20
    assert fail(db, 115.0, "ada", "1.1.1.1") == [0.0]


def test_success_ends_the_row(db: Database) -> None:
    fail(db, 100.0, "ada", "1.1.1.1", MOST - 1)
    logins.succeeded(db, "ada", "1.1.1.1")
    assert fail(db, 100.0, "ada", "1.1.1.1", MOST) == [0.0] * MOST


def test_failures_survive_a_restart_and_are_forgotten_after_a_day(tmp_path: Path) -> None:
    first = open_database(tmp_path / "frontier.db")
    fail(first, 100.0, "ada", "1.1.1.1", MOST)
    first.close()
    second = open_database(tmp_path / "frontier.db")
    assert fail(second, 100.0, "ada", "1.1.1.1") == [15.0]
    assert fail(second, 100.0 + logins.MEMORY, "ada", "1.1.1.1", MOST) == [0.0] * MOST
    second.close()


def test_a_clock_that_is_set_back_locks_nobody_out(db: Database) -> None:
    fail(db, 100_000.0, "ada", "1.1.1.1", MOST)
    assert fail(db, 13_600.0, "ada", "1.1.1.1") == [0.0]


def test_what_was_typed_as_a_name_is_not_kept(db: Database) -> None:
    fail(db, 100.0, "my-secret-password", "1.1.1.1")
    assert "my-secret-password" not in str(db.execute("SELECT * FROM login_failures"))


def test_strangers_cannot_keep_the_owner_out(db: Database, ada: str) -> None:
    logins.remember(db, 100.0, ada, "1.1.1.1")
    now = 100.0 + 2 * logins.MEMORY
    for stranger in range(20):
        now += logins.attempt(db, now, ada, f"2.2.2.{stranger}", MOST)
        logins.attempt(db, now, ada, f"2.2.2.{stranger}", MOST)
    assert fail(db, now, ada, "3.3.3.3")[0] > 0, "others wait"
    assert fail(db, now, ada, "1.1.1.1") == [0.0]
    fail(db, now, ada, "1.1.1.1", MOST)
    assert fail(db, now, ada, "1.1.1.1")[0] > 0, "its own failures count"


def test_a_new_password_and_time_make_an_address_a_stranger(db: Database, ada: str) -> None:
    logins.remember(db, 100.0, ada, "1.1.1.1")
    accounts.set_password(db, ada, "another-weaver-1")
    fail(db, 100.0, ada, "2.2.2.2", MOST)
    assert fail(db, 100.0, ada, "1.1.1.1")[0] > 0
    logins.remember(db, 100.0, "bob", "1.1.1.1")
    later = 100.0 + logins.KNOWN
    fail(db, later, "bob", "2.2.2.2", MOST)
    assert fail(db, later, "bob", "1.1.1.1")[0] > 0
