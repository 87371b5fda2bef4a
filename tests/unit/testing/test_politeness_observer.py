"""Every kind of violation is found in a hand-made log, and its polite twin is not."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.testing import Connection, Log, Request, violations


def request(at, *, site="a.test", ip="127.0.1.1", path="/", took=0.1, connection=1):
    return Request(site, ip, path, at, at + took, 200, connection)


def kinds(found):
    return [v.kind for v in found]


def test_requests_closer_than_the_delay_are_found():
    found = violations(Log([request(0.0), request(0.9)]), delay=1.0)
    assert kinds(found) == ["delay"]
    assert (found[0].where, found[0].first.arrived, found[0].second.arrived) == ("a.test", 0.0, 0.9)
    assert "0.9000 s after" in str(found[0])


def test_requests_exactly_one_delay_apart_are_polite():
    assert violations(Log([request(0.0), request(1.0), request(2.0)]), delay=1.0) == []


def test_tolerance_forgives_that_much_and_no_more():
    log = Log([request(0.0), request(0.95)])
    assert violations(log, delay=1.0, tolerance=0.06) == []
    assert kinds(violations(log, delay=1.0, tolerance=0.04)) == ["delay"]


def test_sites_do_not_wait_for_each_other():
    assert violations(Log([request(0.0), request(0.2, site="b.test")]), delay=1.0) == []


def test_delays_can_differ_by_site_and_are_named_by_host_or_site():
    log = Log([request(t, site="a.test:80") for t in (0, 1)] + [request(t, site="b.test:80") for t in (0.5, 1.5)])
    assert violations(log, delay={"a.test": 1.0, "b.test:80": 1.0}) == []
    assert [v.where for v in violations(log, delay={"a.test": 1.0, "b.test": 2.0})] == ["b.test:80"]


def test_a_site_without_a_delay_is_an_error_of_the_test():
    with pytest.raises(ValueError, match=r"b\.test"):
        violations(Log([request(0.0, site="b.test")]), delay={"a.test": 1.0})


def test_names_on_one_address_are_counted_together_when_asked():
    log = Log([request(0.0), request(0.5, site="b.test"), request(1.0, site="c.test", ip="127.0.1.2")])
    assert violations(log, delay=1.0) == []
    found = violations(log, delay=1.0, per_ip_delay=1.0)
    assert [(v.kind, v.where) for v in found] == [("delay", "127.0.1.1")]


def test_a_request_during_the_answer_to_another_is_found():
    log = Log([request(0.0, took=5.0), request(2.0)])
    assert kinds(violations(log, delay=1.0)) == ["overlap"]
    assert violations(Log([request(0.0, took=2.0), request(2.0)]), delay=1.0) == []


def test_a_long_answer_overlaps_with_every_request_in_it():
    log = Log([request(0.0, took=9.0, path="/long"), request(2.0), request(4.0), request(10.0)])
    found = violations(log, delay=1.0)
    assert [(v.kind, v.first.path, v.second.arrived) for v in found] == [
        ("overlap", "/long", 2.0),
        ("overlap", "/long", 4.0),
    ]


def test_an_answer_that_never_ended_overlaps_with_what_follows():
    assert kinds(violations(Log([request(0.0, took=math.inf), request(99.0)]), delay=1.0)) == ["overlap"]


def test_overlap_is_also_counted_by_address():
    log = Log([request(0.0, took=5.0), request(2.0, site="b.test")])
    assert violations(log, delay=1.0) == []
    assert [(v.kind, v.where) for v in violations(log, 1.0, per_ip_delay=0.0)] == [("overlap", "127.0.1.1")]


def _two_connections(second_opened, *, second_site="a.test"):
    return Log(
        [request(0.0, connection=1), request(3.0, connection=2, site=second_site)],
        [Connection(1, "127.0.1.1", 0.0, 2.0), Connection(2, "127.0.1.1", second_opened, 9.0)],
    )


def test_two_connections_to_a_site_at_once_are_found():
    found = violations(_two_connections(1.0), delay=1.0)
    assert [(v.kind, v.where) for v in found] == [("connections", "a.test")]


def test_connections_one_after_the_other_are_polite():
    assert violations(_two_connections(2.5), delay=1.0, per_ip_delay=1.0) == []


def test_a_close_that_the_server_reads_a_moment_late_is_forgiven():
    assert violations(_two_connections(1.95), delay=1.0) == []
    assert kinds(violations(_two_connections(1.95), delay=1.0, connection_grace=0.01)) == ["connections"]


def test_connections_of_two_sites_on_one_address_count_for_the_address():
    log = _two_connections(1.0, second_site="b.test")
    assert violations(log, delay=1.0) == []
    assert [(v.kind, v.where) for v in violations(log, 1.0, per_ip_delay=1.0)] == [("connections", "127.0.1.1")]


def test_a_connection_without_a_request_counts_for_the_address():
    log = Log([], [Connection(1, "127.0.1.1", 0.0), Connection(2, "127.0.1.1", 5.0)])
    assert kinds(violations(log, 1.0, per_ip_delay=1.0)) == ["connections"]


RULES = "User-agent: *\nDisallow: /private\nAllow: /private/open\n"


def test_a_forbidden_path_is_found_and_the_exception_is_not():
    log = Log(
        [
            request(0.0, path="/robots.txt"),
            request(1.0, path="/private/x"),
            request(2.0, path="/private/open"),
        ]
    )
    found = violations(log, delay=1.0, robots={"a.test": RULES})
    assert [(v.kind, v.second.path) for v in found] == [("disallowed", "/private/x")]


def test_rules_for_another_agent_do_not_count():
    log = Log([request(0.0, path="/x")])
    rules = {"a.test": "User-agent: other\nDisallow: /\n"}
    assert violations(log, 1.0, robots=rules) == []
    assert kinds(violations(log, 1.0, robots=rules, agent="other")) == ["disallowed"]


def test_a_page_before_robots_txt_was_answered_is_found():
    early = Log([request(0.0, path="/x"), request(1.0, path="/robots.txt")])
    late = Log([request(0.0, path="/robots.txt"), request(1.0, path="/x")])
    assert violations(late, 1.0, robots_first=True) == []
    assert kinds(violations(early, 1.0, robots_first=True)) == ["before_robots"]
    assert kinds(violations(Log([request(0.0, path="/x")]), 1.0, robots_first=True)) == ["before_robots"]
    during = Log([request(0.0, path="/robots.txt", took=5.0), request(2.0, path="/x")])
    assert "before_robots" in kinds(violations(during, 1.0, robots_first=True))


def test_exempt_paths_need_neither_permission_nor_robots_txt():
    log = Log([request(0.0, path="/moved-robots.txt")])
    found = violations(log, 1.0, robots={"a.test": "User-agent: *\nDisallow: /"}, robots_first=True)
    assert sorted(kinds(found)) == ["before_robots", "disallowed"]
    options = {
        "robots": {"a.test": "User-agent: *\nDisallow: /"},
        "exempt": ("/robots.txt", "/moved-robots.txt"),
    }
    assert violations(log, 1.0, robots_first=True, **options) == []


def test_a_url_asked_for_twice_within_the_window_is_found():
    log = Log([request(0.0, path="/x"), request(10.0, path="/y"), request(50.0, path="/x")])
    assert violations(log, 1.0) == []
    assert violations(log, 1.0, once_within=50.0) == []
    assert [(v.kind, v.second.arrived) for v in violations(log, 1.0, once_within=51.0)] == [("repeated", 50.0)]


def test_violations_come_in_order_of_time():
    log = Log([request(t / 2, site=s) for t in range(4) for s in ("b.test", "a.test")])
    times = [v.second.arrived for v in violations(log, 1.0, per_ip_delay=1.0)]
    assert times == sorted(times)
    assert times


@given(st.lists(st.floats(0, 100, allow_nan=False), min_size=2, max_size=20), st.floats(0.01, 5))
def test_law_delay_violations_are_exactly_the_close_neighbours(times, delay):
    found = violations(Log([request(t, took=0.0) for t in times]), delay)
    ordered = sorted(times)
    close = sum(b - a < delay for a, b in pairwise(ordered))
    assert kinds(found).count("delay") == close
