"""What `bench/sites.py` measures: each figure means what its name says, on pages small enough to count by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urljoin

import pytest
from turbohtml import parse

sys.path.append(str(Path(__file__).parents[3] / "bench"))
from _site_lists import ask_titles
from _site_pages import Stored
from _site_repeats import find_repeats
from _site_report import Row, row_text
from _site_table import SITES, Site, find_sites
from _site_themes import HOSTS, judge_pairs, place, write_sites
from _site_truth import SHORTEST, Article, read_article, read_articles, score
from _site_types import judge_types
from _site_web import Folder, Folders, page_paths, sample_paths
from gossamer.demo.message import Ask

BLOG = Site(
    name="blog",
    host="blog.test",
    text="article .body",
    without=".box",
    title="h1",
    articles=r"/post/[^/]+/",
    lists=r"/|/tag/.*",
)
LONG = "The carpenter mends the old bridge before the winter comes and the river rises. "


def article(path: str, title: str, text: str) -> Article:
    return Article(path, title, text, f"<div>{text}</div>")


# Repeating lines


def test_a_line_on_a_twentieth_of_the_pages_repeats_and_its_characters_count() -> None:
    texts = [f"own words {'x' * n}" for n in range(1, 38)] + ["Subscribe now"] * 3
    found = find_repeats(texts)
    own = sum(len(text) for text in texts[:37])
    assert found.lines == 1
    assert found.characters == pytest.approx(39 / (own + 39))
    assert found.pages == pytest.approx(3 / 40)


@pytest.mark.parametrize(
    "texts",
    [
        ["Subscribe now", "Subscribe now", "something else"],  # two pages are too few
        ["Subscribe now"] * 3 + [f"text {'x' * n}" for n in range(1, 98)],  # three of a hundred, too
        ["12 / 7"] * 10,  # no word
        ["Subscribe now\nSubscribe now\nSubscribe now", "one", "two"],  # on one page only
    ],
)
def test_rare_lines_and_lines_without_a_word_do_not_repeat(texts: list[str]) -> None:
    assert find_repeats(texts).characters == 0


def test_digits_make_no_new_line() -> None:
    assert find_repeats(["3 comments", "12  comments", "170 comments"]).characters == 1


def test_no_pages_are_no_repetition() -> None:
    assert find_repeats([]).characters == 0


# What URLs and templates say


@pytest.mark.parametrize(
    ("site", "path", "kind"),
    [
        ("mircsgo", "/", "list"),
        ("mircsgo", "/bindy-v-cs-go/", "article"),
        ("mircsgo", "/category/turniry/", "list"),
        ("mircsgo", "/bindy-v-cs-go/feed/", ""),
        ("itw66", "/blog/space/167.html", "article"),
        ("itw66", "/tags/%D0%BA%D0%BE%D1%81%D0%BC%D0%BE%D1%81/", "list"),
        ("itw66", "/page12/", "list"),
        ("itw66", "/about/", ""),
        ("learning", "/2011/09/22/in-the-mood/", "article"),
        ("learning", "/2011/09/22/", "list"),
        ("learning", "/2011/09/page/2/", "list"),
        ("learning", "/2011/", "list"),
        ("learning", "/img_2/", ""),
        ("linuxcn", "/article-10000-1.html", "article"),
        ("linuxcn", "/archives/2018/09/page/3/", "list"),
        ("openoffice", "/api/docs/common/ref/com/sun/star/sdb/DataSettings.html", "article"),
        ("openoffice", "/api/docs/common/ref/com/sun/star/sdb/DataSettings-xref.html", "list"),
        ("openoffice", "/api/docs/common/ref/com/sun/star/sdb/module-ix.html", "list"),
        ("openoffice", "/de/index.html", ""),
    ],
)
def test_the_table_knows_articles_and_lists_by_their_urls(site: str, path: str, kind: str) -> None:
    assert find_sites([site])[0].kind(path) == kind


def test_a_site_that_is_not_in_the_table_is_named_beside_those_that_are() -> None:
    with pytest.raises(SystemExit, match="nowhere; there are mircsgo"):
        find_sites(["nowhere"])
    assert find_sites([site.name for site in SITES]) == list(SITES)


def page(body: str, before: str = "") -> bytes:
    return f"<html><body>{before}<article><h1>A  bridge</h1>{body}</article></body></html>".encode()


def test_the_text_of_an_article_is_what_its_template_marks_without_boxes_and_scripts() -> None:
    inside = f"<p>{LONG * 2}</p><div class='box'>Buy a hat</div><script>let hat</script>"
    found = read_article(BLOG, "/post/a/", page(f"<div class='body'>{inside}</div><p>Share</p>", "<nav>Menu</nav>"))
    assert found is not None
    assert (found.title, found.text) == ("A bridge", (LONG * 2).strip())
    assert "hat" not in found.html


@pytest.mark.parametrize(
    "html",
    [
        page("<p>no element of that class</p>"),
        page(f"<div class='body'>{'x' * (SHORTEST - 1)}</div>"),
        page(f"<div class='body'>{LONG * 2}</div><div class='body'>{LONG * 2}</div>"),  # a list of whole articles
    ],
)
def test_a_page_without_exactly_one_marked_text_has_no_truth(html: bytes) -> None:
    assert read_article(BLOG, "/post/a/", html) is None


def test_articles_come_in_the_same_order_whatever_the_order_of_their_paths(tmp_path: Path) -> None:
    paths = [f"/post/{name}/" for name in "abcdefgh"]
    for path in paths:
        folder = tmp_path / path.strip("/")
        folder.mkdir(parents=True)
        (folder / "index.html").write_bytes(page(f"<div class='body'>{LONG * 2}</div>"))
    wanted = [*paths, "/tag/x/", "/post/missing/"]
    first = [found.path for found in read_articles(BLOG, tmp_path, wanted)]
    assert first == [found.path for found in read_articles(BLOG, tmp_path, reversed(wanted))]
    assert sorted(first) == paths != first


def test_a_title_above_the_text_is_neither_right_nor_wrong() -> None:
    wanted = [article("/a", "Old bridges", "the river rises")]
    for text in ("the river rises", "Old bridges\nthe river rises"):
        assert score(wanted, {"/a": text}).f1 == 1


def test_furniture_costs_precision_and_a_page_without_text_scores_nothing() -> None:
    wanted = [article("/a", "T", "one two"), article("/b", "T", "three four")]
    found = score(wanted, {"/a": "one two menu about"})
    assert (found.pages, found.precision, found.recall) == (2, 0.25, 0.5)


def test_each_chinese_character_counts_as_a_word() -> None:
    assert score([article("/a", "T", "文件系统")], {"/a": "文件"}).recall == 0.5


def test_about_half_of_the_articles_is_looked_at_once() -> None:
    held_out = [article(f"/{number}", "T", "t").is_held_out for number in range(400)]
    assert 160 < sum(held_out) < 240


# Search and types


def test_lists_count_where_they_come_before_the_article() -> None:
    answers = {
        "found first": ["/post/1/", "/tag/x/"],
        "list first": ["/tag/x/", "/post/2/"],
        "list between": ["/post/9/", "/tag/x/", "/post/3/"],
        "never found": ["/post/9/", "/tag/x/"],
        "nothing": [],
    }
    articles = [article(f"/post/{number}/", title, "t") for number, title in enumerate(answers, start=1)]
    found = ask_titles(BLOG, articles, lambda query, size: answers[query][:size])
    assert (found.queries, found.first, found.before, found.found) == (5, 0.2, 0.6, 0.2)
    assert found.among == pytest.approx(4 / 9)


def test_a_title_is_asked_for_by_its_words_so_that_no_sign_is_an_operator() -> None:
    asked = []
    ask_titles(BLOG, [article("/post/1/", '"Old" -bridges: site:x?', "t")], lambda query, _: asked.append(query) or [])
    assert asked == ["Old bridges site x"]


def test_types_are_right_among_those_that_are_shown() -> None:
    pages = [
        Stored("http://blog.test/post/a/", "", "", "article"),
        Stored("http://blog.test/post/b/", "", "", "forum"),
        Stored("http://blog.test/post/c/", "", "", ""),
        Stored("http://blog.test/tag/x/", "", "", "collection"),
        Stored("http://blog.test/imprint/", "", "", "product"),
    ]
    found = judge_types(BLOG, pages, "article")
    assert (found.pages, found.right, found.untyped) == (3, 0.5, pytest.approx(1 / 3))
    assert judge_types(BLOG, pages, "list").right == 1
    assert judge_types(BLOG, [], "list").untyped == 0


# Two themes

ARTICLES = [
    article(f"/post/{n}/", f"Number {n}", f"{LONG}It is story {'abcdefgh'[n % 8] * 9} of the village.")
    for n in range(45)
]


@pytest.mark.parametrize("has_teasers", [False, True])
def test_both_themes_have_every_article_and_share_no_other_line(tmp_path: Path, has_teasers: bool) -> None:
    roots = write_sites(ARTICLES, tmp_path, has_teasers)
    lines = []
    for root in roots:
        assert _reachable(root) == {place(n) for n in range(len(ARTICLES))}
        body = parse((root / place(7).lstrip("/")).read_text()).select("body")[0].to_text()
        assert ARTICLES[7].text in " ".join(body.split())
        lines.append({line.strip() for line in body.split("\n") if line.strip()})
    title, text = ARTICLES[7].title, ARTICLES[7].text
    assert all(title in line or text[:40] in line for line in lines[0] & lines[1])
    assert ("You may also like" in lines[1]) is has_teasers


def _reachable(root: Path) -> set[str]:
    seen, queue = set(), ["/"]
    while queue:
        path = queue.pop()
        if path not in seen:
            seen.add(path)
            html = (root / (path.lstrip("/") or "index.html")).read_text()
            queue += [urljoin(path, str(link.attrs["href"])) for link in parse(html).select("a[href]")]
    return {path for path in seen if path.startswith("/a")}


def test_pairs_are_found_by_cluster_and_different_articles_in_one_are_wrong() -> None:
    first, second = HOSTS
    articles = [
        article("/1", "", "the river rises in spring"),
        article("/2", "", "carpenters build a wooden tower"),
        article("/3", "", "nobody reads old letters"),
        article("/4", "", "nobody reads old letters"),  # posted twice
        article("/5", "", "a short note"),
    ]
    clusters = [(0, 1, 1), (1, 1, 2), (2, 3, 3), (3, 3, 3), (4, None, None)]
    pages = [
        Stored(f"http://{host}:80{place(number)}", "", "", cluster=cluster)
        for number, *of in clusters
        for host, cluster in zip((first, second), of, strict=True)
    ]
    found = judge_pairs(articles, pages)
    assert (found.articles, found.stored, found.found) == (5, 5, pytest.approx(3 / 5))
    assert found.wrong == 1  # articles 0 and 1; 2 and 3 are one text


def test_a_pair_of_which_one_page_is_missing_is_not_found() -> None:
    found = judge_pairs(ARTICLES[:1], [Stored(f"http://{HOSTS[0]}{place(0)}", "", "", cluster=1)])
    assert (found.stored, found.found) == (0, 0)


# The server


def ask(target: str, host: str = "blog.test") -> Ask:
    return Ask("GET", target, f"{host}:80", {}, "127.0.0.1", 1)


@pytest.fixture
def site_root(tmp_path: Path) -> Path:
    (tmp_path / "secret.html").write_text("not served")
    root = tmp_path / "www"
    (root / "tag" / "ключ").mkdir(parents=True)
    (root / "index.html").write_text('<a href="https://own.example/bare">x</a>')
    (root / "bare").write_text("a page without a suffix")
    (root / "tag" / "ключ" / "index.html").write_text("tagged")
    (root / "robots.txt").write_text("User-agent: *\nDisallow: /tag/\n")
    return root


def test_a_folder_is_served_as_its_archive_names_pages(site_root: Path) -> None:
    web = Folders({"blog.test": Folder(site_root, ("https://own.example",), "http://blog.test:80")})
    assert web(ask("/")).body == b'<a href="http://blog.test:80/bare">x</a>'
    assert web(ask("/bare?x=1")).body == b"a page without a suffix"
    assert web(ask("/tag/%D0%BA%D0%BB%D1%8E%D1%87/")).body == b"tagged"
    moved = web(ask("/tag/%D0%BA%D0%BB%D1%8E%D1%87"))
    assert (moved.status, dict(moved.headers)["Location"]) == (301, "/tag/%D0%BA%D0%BB%D1%8E%D1%87/")
    assert dict(web(ask("/robots.txt")).headers)["Content-Type"] == "text/plain"
    for missing in ("/no", "/bare/", "/tag/", "/../secret.html", "/%2e%2e/secret.html", "/%00"):
        assert web(ask(missing)).status == 404
    assert web(ask("/", "other.test")).status == 404


def test_every_page_of_a_folder_has_a_path_that_the_server_answers(site_root: Path) -> None:
    web = Folders({"blog.test": Folder(site_root)})
    paths = sorted(page_paths(site_root))
    assert paths == ["/", "/bare", "/tag/%D0%BA%D0%BB%D1%8E%D1%87/"]
    assert [web(ask(path)).status for path in paths] == [200] * 3
    assert sorted(sample_paths(site_root, 10)) == ["/", "/bare"]
    assert len(sample_paths(site_root, 1)) == 1


# The table


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (Row("documents", [1200]), "| documents | 1,200 |"),
        (Row("F1", [0.72, 0.97], 3, "", 1), "| F1 | 0.720 | 0.970 | +0.250 |"),
        (Row("F1", [0.97, 0.72], 3, "", 1), "| F1 | 0.970 | 0.720 | -0.250 ✗ |"),
        (Row("repeating", [39, 2], 0, " %", -1), "| repeating | 39 % | 2 % | -37 |"),
        (Row("F1", [0.97, 0.9699], 3, "", 1), "| F1 | 0.970 | 0.970 | -0.000 |"),
    ],
)
def test_a_change_for_the_worse_is_marked(row: Row, text: str) -> None:
    assert row_text(row) == text
