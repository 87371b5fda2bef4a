"""Beyond the rows of tests/spec: laws, the other lines, reasons, hostile files."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.robots.rules import MAX_BYTES, MAX_WILD, Robots, within_limit

HOST = "https://a.example"
pattern_text = st.text(alphabet="/ab*$", min_size=1, max_size=8).map(lambda text: "/" + text)
rule = st.tuples(st.booleans(), pattern_text)


def of(text: str, agent: str = "Gossamer") -> Robots:
    return Robots(text.encode(), agent)


def obviously_allowed(rules: list[tuple[bool, str]], path: str) -> bool:
    """The RFC's sentence as a regular expression, slow and plain."""
    best = (0, True)
    for allowed, pattern in rules:
        body, anchored = (pattern[:-1], "$") if pattern.endswith("$") else (pattern, "")
        if re.match(".*".join(re.escape(part) for part in body.split("*")) + ("\\Z" if anchored else ""), path):
            length = len(pattern) + 2 * body.count("$")  # a literal dollar is compared as %24
            best = max(best, (length, allowed))
    return best[1]


@given(st.lists(rule, max_size=8), st.text(alphabet="/ab", max_size=8))
def test_the_longest_match_decides_and_allow_wins_ties(rules: list[tuple[bool, str]], tail: str) -> None:
    lines = [f"{'Allow' if allowed else 'Disallow'}: {pattern}" for allowed, pattern in rules]
    robots = of("\n".join(["User-agent: *", *lines]))
    assert robots.decide(f"{HOST}/{tail}").allowed is obviously_allowed(rules, f"/{tail}")


@given(st.lists(rule, max_size=8), st.randoms(use_true_random=False), st.text(alphabet="/ab", max_size=8))
def test_the_order_of_rules_does_not_matter(rules: list[tuple[bool, str]], random: object, tail: str) -> None:
    shuffled = list(rules)
    random.shuffle(shuffled)
    answers = set()
    for some in (rules, shuffled):
        lines = [f"{'Allow' if allowed else 'Disallow'}: {pattern}" for allowed, pattern in some]
        answers.add(of("\n".join(["User-agent: *", *lines])).decide(f"{HOST}/{tail}").allowed)
    assert len(answers) == 1


@given(st.binary(max_size=300), st.text(max_size=40))
def test_no_bytes_and_no_url_raise(body: bytes, url: str) -> None:
    robots = Robots(b"User-agent: *\nDisallow: /*a\n" + body, "Gossamer")
    robots.decide(url)
    robots.decide(HOST + "/" + url)
    assert all(text.isprintable() for text in (*robots.sitemaps, *robots.ai_signals, robots.host or ""))


@given(st.binary(max_size=40))
def test_the_limit_keeps_whole_lines_only(tail: bytes) -> None:
    body = b"Disallow: /a\n" * (MAX_BYTES // 13) + tail * 20
    kept = within_limit(body)
    assert len(kept) <= MAX_BYTES
    assert body.startswith(kept)
    assert kept == body or kept.endswith((b"\n", b"\r")) or body[len(kept)] in b"\r\n"


def test_a_body_of_one_endless_line_has_no_rules() -> None:
    assert within_limit(b"x" * (MAX_BYTES + 1)) == b""


def test_a_refusal_names_the_line_that_made_it() -> None:
    robots = of("User-agent: *\nDisallow: /private/\nAllow: /private/open\n")
    decision = robots.decide(HOST + "/private/a")
    assert (decision.allowed, decision.rule) == (False, "robots")
    assert decision.reason == "robots.txt forbids /private/a (Disallow: /private/)"
    assert robots.decide(HOST + "/private/open").reason == "robots.txt allows it"
    assert of("User-agent: other\nDisallow: /").decide(HOST + "/").reason == "robots.txt has no rules for us"


def test_a_refusal_is_short_and_printable_whatever_the_file_says() -> None:
    robots = Robots(b"User-agent: *\nDisallow: /\x1b[31m" + b"a" * 5_000 + b"\nDisallow: /*\x07", "Gossamer")
    for path in ("/%1B[31m" + "a" * 6_000, "/x%07"):
        decision = robots.decide(HOST + path)
        assert not decision.allowed
        assert decision.reason.isprintable()
        assert len(decision.reason) < 300


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("10", 10.0), ("0", 0.0), (".5", 0.5), ("2.5", 2.5), ("5 # seconds", 5.0), ("10s", 10.0),
        ("-1", None), ("inf", None), ("nan", None), ("", None), ("ten", None), ("[5]", None),
        ("9" * 400, None), ("3600", 3600.0),
    ],
)  # fmt: skip
def test_crawl_delay_is_a_finite_number_of_seconds_or_nothing(value: str, seconds: float | None) -> None:
    assert of(f"User-agent: *\nCrawl-delay: {value}\n").crawl_delay == seconds


def test_crawl_delay_is_read_from_our_group_and_the_longest_counts() -> None:
    text = "User-agent: *\nCrawl-delay: 30\nDisallow: /x\nUser-agent: gossamer\nCrawl-delay: 4\ncrawl-delay: 2"
    assert of(text).crawl_delay == 4
    assert of(text, "Other").crawl_delay == 30
    assert of("Crawl-delay: 7\n").crawl_delay is None, "a delay outside of all groups is addressed to nobody"


def test_sitemaps_are_listed_once_in_order_whoever_they_stand_under() -> None:
    robots = of("Sitemap: B\nUser-agent: x\nDisallow: /\nsitemap: A\nSITEMAP: B\nSitemap:\nSitemap: c:d # e\n")
    assert robots.sitemaps == ["B", "A", "c:d"]


def test_the_first_host_line_counts() -> None:
    assert of("User-agent: *\nHost: www.a.example\nHost: b.example\n").host == "www.a.example"
    assert of("Hostname: a\n").host is None


def test_ai_signals_that_concern_us_are_recorded_and_refuse_nothing() -> None:
    robots = of(
        "Content-Usage: train-ai=n\n"
        "User-agent: other\nContent-Signal: search=no\nDisallow: /x\n"
        "User-agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /\n"
    )
    assert robots.ai_signals == ["content-usage: train-ai=n", "content-signal: search=yes,ai-train=no"]
    assert robots.decide(HOST + "/a").allowed


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_understood_by_its_mark(encoding: str) -> None:
    mark = {"utf-16": "", "utf-16-le": "\ufeff", "utf-16-be": "\ufeff"}[encoding]
    body = (mark + "User-agent: *\nDisallow: /a\n").encode(encoding)
    assert not Robots(body, "Gossamer").decide(HOST + "/a").allowed


def test_a_page_in_html_instead_of_robots_txt_allows_everything() -> None:
    robots = of("<!DOCTYPE html>\n<html><head><title>Not found: /</title>\n<body>User-agent: none\n</html>")
    assert not robots.has_rules
    assert robots.decide(HOST + "/a").allowed


def test_many_stars_do_not_take_for_ever() -> None:
    """A pattern of 8,000 stars against a long path: exponential matching would never end."""
    robots = of("User-agent: *\n" + ("Disallow: /" + "*a" * 8_000 + "b$\n") * 25)
    assert robots.decide(HOST + "/" + "a" * 20_000).allowed


@pytest.mark.parametrize(
    "text",
    ["User-agent: *<BR>\nDisallow: /a/<BR>", "<p>User-agent: x</p>\nUser-agent: * <br />\nDisallow: /a/ <br></p>\n"],
)
def test_a_file_that_was_written_as_a_web_page_keeps_us_out(text: str) -> None:
    assert not of(text).decide(f"{HOST}/a/b").allowed
    assert of(text).decide(f"{HOST}/b").allowed


@pytest.mark.parametrize("line", ["Disallow: /" + "<b>" * 5_500 + "x>", "Disallow: /a" + " " * 16_600 + "x>"])
def test_half_a_megabyte_of_tags_is_read_in_no_time(line: str) -> None:
    """Taken off by one expression, they took fifteen to fifty seconds, in which a worker did nothing else."""
    began = time.process_time()
    of("User-agent: *\n" + f"{line}\n" * 30)
    assert time.process_time() - began < 2.0


def test_too_many_wildcards_forbid_more_than_they_say_and_never_less() -> None:
    some = [f"Disallow: /x*{number}$" for number in range(MAX_WILD)]
    robots = of("\n".join(["User-agent: *", *some, "Disallow: /y*z", "Allow: /x*allowed*long"]))
    assert not robots.decide(f"{HOST}/x7").allowed and robots.decide(f"{HOST}/x-").allowed
    assert not robots.decide(f"{HOST}/y").allowed, "cut at its first wildcard"
    assert not robots.decide(f"{HOST}/x-allowed-long-7").allowed, "a permission is not stretched"


def test_reading_in_steps_pauses_and_gives_the_same_rules() -> None:
    body = "\n".join(["User-agent: *", *(f"Disallow: /{number}" for number in range(3_000))]).encode()
    steps, pauses = Robots.in_steps(body, "Gossamer"), 0
    try:
        while True:
            next(steps)
            pauses += 1
    except StopIteration as end:
        robots = end.value
    assert pauses > 3
    assert robots.decide(f"{HOST}/2999") == Robots(body, "Gossamer").decide(f"{HOST}/2999")
