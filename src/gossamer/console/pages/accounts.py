"""Accounts: everybody changes their own password, operators look after the others."""

from __future__ import annotations

from contextlib import closing

from starlette.responses import Response
from starlette.routing import Route

from gossamer.console.context import Asked, Console, Done
from gossamer.errors import UsageError
from gossamer.tables import accounts, logins, passwords

PATH = "/console/accounts"


class AccountPages:
    """Handlers; a new password is made here, told once, and written nowhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._crawl = console.crawl

    def routes(self) -> list[Route]:
        """Where they are."""
        does, shows = self._console.does, self._console.shows
        return [
            shows("/accounts", self.show),
            does("/accounts/own", self.change_own, everybody=True),
            does("/accounts/add", self.add),
            does("/accounts/role", self.change_role),
            does("/accounts/password", self.renew_password),
            does("/accounts/remove", self.remove),
        ]

    def show(self, asked: Asked) -> Response:
        """Who may log in, for operators; the form for one's own password, for everybody."""
        found = self._crawl.ask(accounts.accounts) if asked.visitor.is_operator else []
        return self._console.page(
            asked, "accounts.html", accounts=found, roles=accounts.ROLES, least=passwords.LEAST,
            operators=sum(one.role == "operator" for one in found),
        )  # fmt: skip

    def change_own(self, asked: Asked) -> Done:
        """One's own password; guesses at the old one count like those at the door."""
        name, old, new = asked.visitor.name, asked.form.get("old", ""), asked.form.get("new", "")
        if new != asked.form.get("again", ""):
            raise UsageError("the two new passwords differ: nothing was changed")
        most = self._crawl.settings().console.attempts
        with closing(self._crawl.folder.open_database()) as database:
            wait = logins.attempt(database, self._crawl.clock.now(), name, name, most)
            if wait > 0:
                raise UsageError(f"too many failed attempts: try again in {wait:.0f} s")
            if not accounts.is_password(database, name, old):
                raise UsageError("the old password is wrong: nothing was changed")
            logins.succeeded(database, name, name)
            accounts.set_password(database, name, new)
        return Done("change password", name, "Password changed.", "/console/login?changed=1")

    def add(self, asked: Asked) -> Done:
        """A new account, with a password made here."""
        name, role = asked.form.get("name", ""), asked.form.get("role", "reader")
        password, now = passwords.generated(), self._crawl.clock.now()
        account = self._crawl.change(lambda db: accounts.add(db, now, name, role, password))
        return Done("add account", account.name, _told(account.name, password), PATH, account.role)

    def change_role(self, asked: Asked) -> Done:
        """Another role."""
        name, role = accounts.canonical(asked.form.get("name", "")), asked.form.get("role", "")
        self._crawl.change(lambda db: accounts.set_role(db, name, role))
        what = "an operator" if role == "operator" else "a reader"
        return Done("change role", name, f"{name} is now {what}.", PATH, role)

    def renew_password(self, asked: Asked) -> Done:
        """A new password for somebody who has lost theirs."""
        name, password = accounts.canonical(asked.form.get("name", "")), passwords.generated()
        if name == asked.visitor.name:
            raise UsageError("this is your own account: use the form “Your password”")
        self._crawl.change(lambda db: accounts.set_password(db, name, password))
        return Done("new password", name, _told(name, password), PATH)

    def remove(self, asked: Asked) -> Done:
        """The end of an account."""
        name = accounts.canonical(asked.form.get("name", ""))
        if name == asked.visitor.name:
            raise UsageError("you cannot remove your own account: ask another operator")
        self._crawl.change(lambda db: accounts.remove(db, name))
        return Done("remove account", name, f"Removed {name} and ended all their sessions.", PATH)


def routes(console: Console) -> list[Route]:
    """Where accounts are."""
    return AccountPages(console).routes()


def _told(name: str, password: str) -> str:
    return (
        f"The password of {name} is {password} . Gossamer shows it only now. Hand it over and ask {name} to change it."
    )
