"""Sinks end equal to the crawl, however often and whenever the process that fills them is killed."""

from __future__ import annotations

import hmac
import json
import shutil
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sink_kit import KILLS, PAGES, Crawls, Killer, expected, synced

import gossamer
from gossamer.api.changes import Change
from gossamer.cli.main import main
from gossamer.data.folder import DataFolder
from gossamer.sinks.contract import Mark
from gossamer.sinks.markdown_folder import MarkdownFolder, name_of, pages_in
from gossamer.sinks.syncing import sync
from gossamer.tables import forgetting
from kit.receiver import Receiver, ReceiverManners

pytestmark = pytest.mark.long


def test_a_folder_of_markdown_ends_equal(crawls: Crawls, tmp_path: Path) -> None:
    folder, killer = tmp_path / "pages", Killer()
    target = f"folder:{folder}"
    synced(f"folder:{tmp_path / 'unbroken'}", crawls.before)
    while killer.kills < KILLS:
        shutil.rmtree(folder, ignore_errors=True)
        killer.until_done(target, crawls.before)
        assert files(folder) == files(tmp_path / "unbroken")
        killer.until_done(target, crawls.after)
        wanted = {str(name_of(url)): markdown for url, markdown in expected(crawls.after).items()}
        found = files(folder)
        assert found.keys() == wanted.keys()
        assert all(found[name].endswith(f"---\n\n{wanted[name]}\n") for name in wanted)
    assert len(wanted) == PAGES + 1


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in pages_in(folder)}


def test_a_webhook_hears_of_each_change(crawls: Crawls) -> None:
    killer = Killer()
    with Receiver() as receiver:
        target = f"webhook:{receiver.url}"
        while killer.kills < KILLS:
            receiver.posts.clear()
            for data in crawls:
                shutil.rmtree(data / "sync", ignore_errors=True)
            killer.until_done(target, crawls.before)
            shutil.move(crawls.before / "sync", crawls.after / "sync")
            killer.until_done(target, crawls.after)
            assert heard(receiver) == expected(crawls.after)
        for post in receiver.posts:
            signed = post.headers["x-gossamer-timestamp"].encode() + b"." + post.body
            made = hmac.new(b"a key of the test", signed, "sha256").hexdigest()
            assert post.headers["x-gossamer-signature"] == f"sha256={made}"


def heard(receiver: Receiver) -> dict[str, str]:
    """What a receiver knows that does what it is told, each delivery once."""
    known: dict[str, str] = {}
    seen: set[str] = set()
    for post in receiver.posts:
        told = json.loads(post.body)
        assert told["id"] == post.headers["x-gossamer-delivery"]
        if told["id"] in seen:
            continue
        seen.add(told["id"])
        if told["kind"] == "removed":
            del known[told["url"]]
        else:
            known[told["url"]] = told["markdown"]
    return known


def test_a_receiver_that_refuses_gets_the_page_at_the_next_run(crawls: Crawls, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(crawls.before, data, ignore=shutil.ignore_patterns("sync"))
    with Receiver() as receiver:
        receiver.manners = ReceiverManners(status=503)
        assert main(["sync", f"webhook:{receiver.url}", "--data", str(data)]) == 1
        assert len(receiver.posts) == 1
        receiver.posts.clear()
        receiver.manners = ReceiverManners()
        assert main(["sync", f"webhook:{receiver.url}", "--data", str(data)]) == 0
        assert heard(receiver) == expected(data)


def test_it_refuses_targets_that_are_none_or_another_crawls(crawls: Crawls, tmp_path: Path) -> None:
    for wrong in ("pages", "folder:", "webhook:ftp://h/", "webhook:http://10.0.0.1/"):
        assert main(["sync", wrong, "--data", str(crawls.after)]) != 0
    folder = f"folder:{tmp_path / 'pages'}"
    assert main(["sync", folder, "--data", str(crawls.after)]) == 0
    assert main(["sync", folder, "--data", str(crawls.before)]) == 2  # it is ahead of this one


def test_a_target_that_is_too_far_behind_is_told_to_start_over(
    crawls: Crawls, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pages"
    assert main(["sync", f"folder:{folder}", "--data", str(crawls.before)]) == 0
    data = tmp_path / "data"
    shutil.copytree(crawls.after, data, ignore=shutil.ignore_patterns("run"))
    db = DataFolder(data).open_database()
    forgetting.forget_departures(db, gossamer.open(data).last_change)
    db.close()
    assert main(["sync", f"folder:{folder}", "--data", str(data)]) == 2
    assert f"too far behind: the crawl remembers for seven days which pages left: delete {folder}" in (
        " ".join(capsys.readouterr().err.split())
    )


def test_a_page_that_leaves_after_a_kill_in_the_first_part_leaves_the_target(crawls: Crawls, tmp_path: Path) -> None:
    class CutFolder(MarkdownFolder):
        def take(self, changes: Sequence[Change], mark: Mark) -> None:
            super().take(changes, self.mark() or mark)
            if changes:
                raise KeyboardInterrupt

    for data, kind in zip(crawls, (CutFolder, MarkdownFolder), strict=True):
        with closing(kind(tmp_path / "pages")) as sink, suppress(KeyboardInterrupt):
            sync(data, sink)
    assert files(tmp_path / "pages").keys() == {str(name_of(url)) for url in expected(crawls.after)}
