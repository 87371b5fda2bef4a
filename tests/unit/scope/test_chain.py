"""The chain: first refusal wins, who decided is known, and a crash never lets a URL pass."""

from __future__ import annotations

import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.model.decision import Decision, allow, refuse
from gossamer.scope import Chain, FilterRule, ScopeConfig, TrapLimits, build_chain

NOW = 1_750_000_000.0
DAY = 86_400.0


class Says:
    """A rule that answers by table, raises what it finds there, and notes what it was asked."""

    def __init__(self, name: str, answers: dict[str, bool | Exception | None]) -> None:
        self.name = name
        self.answers = answers
        self.asked: list[str] = []

    def decide(self, url: str, now: float) -> Decision | None:
        self.asked.append(url)
        answer = self.answers.get(url)
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            return None
        return allow(self.name, "yes") if answer else refuse(self.name, "no")


def test_an_empty_chain_rejects_nothing() -> None:
    verdict = Chain([]).decide("http://a.org/", NOW)
    assert (verdict.allowed, verdict.rule) == (True, "scope")
    assert Chain([]).split(["http://a.org/"], NOW) == (["http://a.org/"], [])


def test_the_first_refusal_wins_and_later_rules_are_not_asked() -> None:
    rules = [Says("one", {"u": True}), Says("two", {"u": False}), Says("three", {"u": False})]
    assert Chain(rules).decide("u", NOW) == refuse("two", "no")
    assert rules[2].asked == []


def test_without_a_refusal_the_last_opinion_is_named() -> None:
    rules = [Says("one", {"u": True}), Says("two", {"u": True}), Says("three", {})]
    assert Chain(rules).decide("u", NOW) == allow("two", "yes")


def test_verdicts_ask_everybody() -> None:
    rules = [Says("one", {"u": False}), Says("two", {}), Says("three", {"u": True})]
    assert [(v.rule, v.allowed) for v in Chain(rules).verdicts("u", NOW)] == [
        ("one", False),
        ("two", True),
        ("three", True),
    ]


@pytest.mark.parametrize("remember", [0, 10])
def test_a_crashing_rule_rejects_and_is_counted_each_time(remember: int) -> None:
    chain = Chain([Says("bad", {"u": ValueError("two\nlines")}), Says("good", {"u": True})], remember)
    verdict = chain.decide("u", NOW)
    assert verdict == refuse("bad.crashed", "the rule bad failed: ValueError: two lines")
    assert chain.split(["u", "v"], NOW) == (["v"], [("u", verdict)])
    assert chain.split(["u"], NOW) == ([], [("u", verdict)])
    assert chain.verdicts("u", NOW) == [verdict, allow("good", "yes")]
    assert chain.crashes == {"bad": 4}


ANSWERS = st.dictionaries(st.sampled_from("uvwxyz"), st.sampled_from([True, False, None, KeyError("k")]))


@given(st.lists(ANSWERS, max_size=4), st.lists(st.sampled_from("uvwxyz")), st.sampled_from([0, 1, 3, 100]))
def test_split_agrees_with_decide_and_keeps_the_order(
    tables: list[dict[str, bool | Exception | None]], urls: list[str], remember: int
) -> None:
    chain = Chain([Says(f"r{n}", table) for n, table in enumerate(tables)], remember)
    verdicts = [(url, chain.decide(url, NOW)) for url in urls]
    for _ in range(2):
        allowed, refused = chain.split(urls, NOW)
        assert allowed == [url for url, verdict in verdicts if verdict.allowed]
        assert refused == [(url, verdict) for url, verdict in verdicts if not verdict.allowed]


def test_split_remembers_for_a_day_and_up_to_a_number() -> None:
    rule = Says("one", {"u": False})
    chain = Chain([rule], remember=2)
    chain.split(["u"], NOW)
    chain.split(["u"], NOW)
    assert rule.asked == ["u"]
    chain.split(["u"], NOW + DAY)
    assert rule.asked == ["u", "u"]
    chain.split(["v"], NOW + DAY)
    chain.split(["u"], NOW + DAY)
    assert rule.asked == ["u", "u", "v", "u"]


def test_a_chain_that_may_not_remember_asks_again() -> None:
    rule = Says("one", {})
    chain = Chain([rule])
    chain.split(["u", "u"], NOW)
    chain.split(["u"], NOW)
    assert rule.asked == ["u", "u", "u"]


CONFIG = ScopeConfig(
    mode="host",
    hosts=("a.org", "http://b.org:81/start"),
    filters=(
        FilterRule("prefix", "allow", "/maps/"),
        FilterRule("regex", "deny", r"[?&]sort=", "sorted_lists"),
    ),
    traps=TrapLimits(path_depth=5),
)


@pytest.mark.parametrize(
    ("url", "allowed", "rule"),
    [
        ("http://a.org/x", True, "scope.host"),
        ("http://b.org:81/", True, "scope.host"),
        ("http://c.org/maps/x", False, "scope.host"),
        ("http://a.org/maps/x.png", True, "filter.allow.1"),
        ("http://a.org/maps/?sort=1", True, "filter.allow.1"),
        ("http://a.org/x.png", False, "filter.not_document"),
        ("http://a.org/?sort=1", False, "filter.sorted_lists"),
        ("http://a.org/maps/1/2/3/4/5", False, "trap.depth"),
        ("http://a.org/sitemap.xml.gz", True, "filter.sitemap"),
    ],
)
def test_the_built_chain_asks_hosts_then_filters_then_traps(url: str, allowed: bool, rule: str) -> None:
    chain = build_chain(CONFIG)
    verdict = chain.decide(url, NOW)
    assert (verdict.allowed, verdict.rule) == (allowed, rule)
    assert bool(chain.split([url], NOW)[0]) is allowed


def test_explain_sees_every_objection() -> None:
    verdicts = build_chain(CONFIG).verdicts("http://c.org/1/2/3/4/5/6.png?sort=1", NOW)
    assert [v.rule for v in verdicts if not v.allowed] == [
        "scope.host",
        "filter.sorted_lists",
        "filter.not_document",
        "trap.depth",
    ]


def test_a_config_survives_the_way_to_another_process() -> None:
    encoded = msgspec.msgpack.encode(CONFIG)
    assert msgspec.msgpack.decode(encoded, type=ScopeConfig) == CONFIG
    assert pickle.loads(pickle.dumps(CONFIG)) == CONFIG


def test_later_seeds_widen_a_chain_and_leave_the_old_one() -> None:
    old = build_chain(CONFIG)
    url = "http://new.org/x"
    assert old.split([url], NOW)[0] == []
    new = old.with_hosts(["http://new.org/"])
    assert new.split([url, "http://a.org/x.png"], NOW)[0] == [url]
    assert old.split([url], NOW)[0] == []
    assert new.with_hosts(["a.org"]) is new


def test_a_wrong_config_is_told_when_it_is_built() -> None:
    with pytest.raises(UsageError):
        build_chain(ScopeConfig(filters=(FilterRule("regex", "deny", "("),)))
    with pytest.raises(UsageError):
        build_chain(ScopeConfig(hosts=("not a host",)))


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="#"), max_size=80))
def test_no_path_makes_a_built_chain_crash(path: str) -> None:
    chain = build_chain(CONFIG)
    chain.decide(f"http://a.org/{path}", NOW)
    chain.verdicts(f"https://a.org/{path}", NOW)
    assert not chain.crashes
