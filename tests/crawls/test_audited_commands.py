"""Whatever an operator changes on the command line has its line in the audit log, with who did it."""

from __future__ import annotations

from pathlib import Path

from crawl_kit import write_settings
from inside import gossamer

from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.settings import Settings
from gossamer.tables import audit

RULES = '[[rule]]\ndomain = "a.org"\nname = "news"\nurls = ["/news/*"]\n'


def test_every_verb_that_changes_the_crawl_is_written_down(tmp_path: Path) -> None:
    write_settings(tmp_path, {"crawl": {"contact": "test@example.org"}})
    open_frontier(DataFolder(tmp_path), Settings()).db.close()
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES)
    for words in (
        ("inject", "https://a.org/"), ("recrawl", "https://a.org/"), ("recrawl", "--failed"),
        ("mirrors", "accept", "b.org", "a.org"), ("mirrors", "reject", "c.org", "a.org"),
        ("mirrors", "forget", "c.org"),
        ("rules", "import", str(rules)), ("rules", "remove", "a.org", "news"),
        ("partition", "set", "a.org", "none"),
    ):  # fmt: skip
        done = gossamer(*words, data=tmp_path)
        assert done.code == 0, (words, done.err)
    entries = audit.entries(DataFolder(tmp_path).read())[::-1]
    assert [entry.action for entry in entries] == [
        "inject", "recrawl", "recrawl", "accept mirror", "reject mirror", "forget mirror", "save rules", "remove rule",
        "split site",
    ]  # fmt: skip
    assert all(entry.who.startswith("cli:") for entry in entries)
    assert [entry.subject for entry in entries][:3] == ["https://a.org/", "https://a.org/", "failed URLs"]
