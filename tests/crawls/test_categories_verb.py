"""`gossamer categories` on a crawl: taught by URLs, files, folders or rules; new pages get their category."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawl_kit import crawl, exported
from inside import fails, gossamer

from gossamer.data.classifier import categoriser, save_model
from gossamer.data.folder import DataFolder
from gossamer.testing import FakeWeb

FOOD = "Fry the onions in butter, add salt and pepper, boil the soup and bake the bread in a hot oven".split()
GAME = "The striker scored a goal, the goalkeeper saved the match and the referee showed a red card".split()
HOST = "news.test"


def text(words: list[str], number: int) -> str:
    """A page of its own: the words turned round, and some that stand nowhere else."""
    turned = words[number % len(words) :] + words[: number % len(words)]
    return f"{' '.join(turned)}. Number {'abcdefghijkl'[number]}{'mnopqrstuvwx'[number]} of the {words[number]} report."


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    web = FakeWeb("127.0.57")
    site = web.site(HOST)
    paths = [f"/{part}/{n}" for part in ("food", "sport") for n in range(10)]
    start = "A start page of a small site about two things."
    site.page("/", start, title="Start", links=[*paths, "/new/soup", "/new/cup"])
    for n in range(10):
        site.page(f"/food/{n}", text(FOOD, n), title=f"Kitchen {n}")
        site.page(f"/sport/{n}", text(GAME, n), title=f"Stadium {n}")
    site.page("/new/soup", text(FOOD, 11), title="Today")
    site.page("/new/cup", text(GAME, 11), title="Today")
    with web:
        yield web


@pytest.fixture(scope="module")
def crawled(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("categories") / "data"
    crawl(web, data, [web.url(HOST)])
    return data


def labelled(web: FakeWeb, path: Path) -> Path:
    rows = [{"category": part, "url": web.url(HOST, f"/{part}/{n}")} for part in ("food", "sport") for n in range(10)]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    return path


def test_urls_of_stored_pages_are_enough_to_teach(web: FakeWeb, crawled: Path, tmp_path: Path) -> None:
    done = gossamer("categories", "train", str(labelled(web, tmp_path / "urls.jsonl")), "--json", data=crawled)
    assert done.code == 0, done.err
    assert done.json["examples"] == 20 and done.json["accuracy"] == 1.0
    shown = gossamer("categories", "show", data=crawled).out
    one = gossamer("categories", "show", "SPORT", "--json", data=crawled).json
    assert "food" in shown and one["words"][0] in shown and "100% of the guesses are right" in shown
    assert one["examples"] == 10 and one["guessed"] == {"sport": 10} and "goal" in " ".join(one["words"])
    assert gossamer("categories", "test", web.url(HOST, "/new/cup"), "--json", data=crawled).json["category"] == "sport"
    page = tmp_path / "page.html"
    page.write_text(f"<title>x</title><p>{text(FOOD, 10)}")
    said = gossamer("categories", "test", str(page), data=crawled).out
    assert said.startswith("food  (") and "for it: " in said
    unsure = tmp_path / "other.txt"
    unsure.write_text("Ministers voted on pensions and taxes in parliament until late at night.")
    assert gossamer("categories", "test", str(unsure), data=crawled).out.startswith("unsure: most likely ")
    categorise = categoriser(DataFolder(crawled))
    assert categorise("Today", text(GAME, 11)) == ("sport", "bayes")
    assert categorise("", "") == ("", "")


def test_rules_teach_and_new_pages_get_their_category(web: FakeWeb, tmp_path: Path) -> None:
    data = tmp_path / "data"
    crawl(web, data, [web.url(HOST)])
    rules = tmp_path / "rules.toml"
    rules.write_text(
        "".join(
            f'[[rule]]\ndomain = "{HOST}"\nname = "{part}"\nurls = ["/{part}/{{id}}"]\ncategory = "{part}"\n'
            for part in ("food", "sport")
        )
    )
    fails(gossamer("categories", "train", "--from-rules", data=data), 2, "no document rule names a category")
    imported = gossamer("rules", "import", str(rules), data=data)
    assert imported.code == 0, imported.err
    trained = gossamer("categories", "train", "--from-rules", "--json", data=data)
    assert trained.code == 0, trained.err
    assert trained.json["examples"] == 20
    gossamer("recrawl", f"http://{HOST}:{web.port}/", data=data)
    crawl(web, data, [web.url(HOST)])
    pages = {row["url"].rpartition(str(web.port))[2]: row for row in exported("pages", data)}
    assert (pages["/new/soup"]["category"], pages["/new/soup"]["category_source"]) == ("food", "bayes")
    assert (pages["/new/cup"]["category"], pages["/new/cup"]["category_source"]) == ("sport", "bayes")
    assert (pages["/food/3"]["category"], pages["/food/3"]["category_source"]) == ("food", "rule")


def test_folders_and_files_teach_without_a_crawl(tmp_path: Path) -> None:
    tree = tmp_path / "examples"
    for part, words in (("food", FOOD), ("sport", GAME)):
        (tree / part / "deep").mkdir(parents=True)
        for n in range(5):
            (tree / part / f"{n}.txt").write_text(text(words, n))
            (tree / part / "deep" / f"{n}.html").write_text(f"<title>Page {n}</title><p>{text(words, n + 5)}")
        (tree / part / "picture.png").write_bytes(b"\x89PNG")
    (tree / "stray.txt").write_text("in no category")
    lines = tmp_path / "more.jsonl"
    lines.write_text(
        "\n".join(
            json.dumps({"category": "garden", "title": "Roses", "text": f"Roses {n} grow in the garden {'xyz'[n]}"})
            for n in range(3)
        )
    )
    data = tmp_path / "data"
    done = gossamer("categories", "train", str(tree), str(lines), "--json", data=data)
    assert done.code == 0, done.err
    assert [(one["name"], one["examples"]) for one in done.json["categories"]] == [
        ("food", 10), ("garden", 3), ("sport", 10),
    ]  # fmt: skip
    assert any("stray.txt" in warning for warning in done.json["warnings"])
    assert [path.name for path in data.iterdir() if "categories" in path.name] == ["categories.model"]


def test_what_is_wrong_is_said_in_one_line(web: FakeWeb, crawled: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    fails(gossamer("categories", "show", data=empty), 2, "no categories yet", "gossamer categories train")
    fails(gossamer("categories", "train", data=empty), 2, "name files or folders")
    fails(gossamer("categories", "train", str(tmp_path / "none.jsonl"), data=empty), 2, "cannot read")
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"category": "a", "text": "x"}\n{"category": 3}\n')
    fails(gossamer("categories", "train", str(wrong), data=empty), 2, "wrong.jsonl line 2", '"category": "sport"')
    wrong.write_text('{"category": "a"}\n')
    fails(gossamer("categories", "train", str(wrong), data=empty), 2, "neither text nor url")
    wrong.write_text('{"category": "a", "url": "http://news.test/"}\n')
    fails(gossamer("categories", "train", str(wrong), data=empty), 2, "no crawl")
    fails(gossamer("categories", "train", str(wrong), data=crawled), 2, "there are no examples")
    wrong.write_text('{"category": "a", "text": "x"}\n')
    fails(gossamer("categories", "train", str(wrong), "--precision", "2", data=empty), 2, "--precision")
    gossamer("categories", "train", str(labelled(web, tmp_path / "urls.jsonl")), data=crawled)
    fails(gossamer("categories", "show", "music", data=crawled), 2, "no category 'music'", "food, sport")
    fails(gossamer("categories", "test", "http://news.test/none", data=crawled), 2, "no stored document with that URL")


def test_a_damaged_model_is_named_with_the_way_out(crawled: Path, web: FakeWeb, tmp_path: Path) -> None:
    gossamer("categories", "train", str(labelled(web, tmp_path / "urls.jsonl")), data=crawled)
    folder = DataFolder(crawled)
    whole = folder.categories.read_bytes()
    try:
        folder.categories.write_bytes(whole[:-1])
        fails(gossamer("categories", "show", data=crawled), 1, "categories.model", "damaged", "train again")
    finally:
        folder.categories.write_bytes(whole)


def test_a_model_takes_the_place_of_the_one_before(web: FakeWeb, crawled: Path, tmp_path: Path) -> None:
    from gossamer.data.classifier import load_model

    gossamer("categories", "train", str(labelled(web, tmp_path / "urls.jsonl")), data=crawled)
    folder = DataFolder(crawled)
    model = load_model(folder)
    save_model(folder, model)
    assert load_model(folder).to_bytes() == model.to_bytes()
    assert not list(crawled.glob("*.part"))
