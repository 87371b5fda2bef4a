"""Two sites are mirrors only by plain evidence; who is main does not hang on the order; nothing leads in circles."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dedup.mirrors import Evidence, SiteFacts, choose_main, declare, follow, resolve

ONE, OTHER = SiteFacts("one.org", first_seen=1.0), SiteFacts("other.org", first_seen=2.0)


@dataclass
class Case:
    what: str
    same: int
    compared: int
    equal: int
    exact: int
    is_mirror: bool


CASES = [
    Case("every page of a small site", 25, 25, 25, 25, True),
    Case("a large site, and lists that changed between the visits", 900, 800, 760, 760, True),
    Case("just enough", 20, 20, 18, 18, True),
    Case("a date on every other page", 40, 40, 40, 20, True),
    Case("two versions of a manual", 300, 200, 195, 80, False),
    Case("only the terms of use", 1, 1, 1, 1, False),
    Case("parked domains, one page each", 1, 0, 0, 0, False),
    Case("legal notes, help and errors of one publisher", 14, 400, 14, 14, False),
    Case("the manual of the tool that both are made with, and own pages else", 120, 300, 120, 120, False),
    Case("nineteen pages, all of them equal", 19, 19, 19, 19, False),
    Case("one in eight differs", 70, 80, 70, 70, False),
    Case("many signs, hardly anything compared yet", 40, 4, 4, 4, False),
    Case("nothing", 0, 0, 0, 0, False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_a_mirror_needs_plain_evidence(case: Case) -> None:
    found = declare(Evidence(ONE, OTHER, case.same, case.compared, case.equal, case.exact))
    assert (found is not None) == case.is_mirror
    if found is not None:
        assert (found.site, found.main) == ("other.org", "one.org")
        assert f"{case.equal} of {case.compared} pages" in found.reason and found.reason.endswith("was seen first")


@pytest.mark.parametrize(
    ("main", "mirror", "why"),
    [
        (SiteFacts("a.org", 9, named=3), SiteFacts("b.org", 1, 0, True, True, 99), "named as canonical"),
        (SiteFacts("a.org", 9, is_seed=True), SiteFacts("b.org", 1, 0, False, True, 99), "seed"),
        (SiteFacts("a.org", 9, is_secure=True), SiteFacts("b.org", 1, documents=99), "https"),
        (SiteFacts("www.a.org", 9, documents=30), SiteFacts("a.org", 1, documents=29), "more documents"),
        (SiteFacts("a.org", 9), SiteFacts("www.a.org", 1), "without www"),
        (SiteFacts("b.org", 1), SiteFacts("a.org", 9), "seen first"),
        (SiteFacts("a.org", 1), SiteFacts("b.org", 1), "alphabet"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_main_site_is_chosen_step_by_step(main: SiteFacts, mirror: SiteFacts, why: str) -> None:
    for pair in ((main, mirror), (mirror, main)):
        chosen, reason = choose_main(*pair)
        assert chosen == main and why in reason


sites = st.builds(
    SiteFacts, st.sampled_from(["a.org", "www.a.org", "b.org", "b.org:8080"]), st.floats(0, 3), st.integers(0, 2),
    st.booleans(), st.booleans(), st.integers(0, 2),
)  # fmt: skip


@given(sites, sites, st.integers(0, 60), st.integers(0, 60), st.data())
def test_the_order_of_the_two_sites_does_not_matter(
    one: SiteFacts, other: SiteFacts, same: int, compared: int, data: st.DataObject
) -> None:
    if one.name == other.name:
        return
    equal = data.draw(st.integers(0, compared))
    exact = data.draw(st.integers(0, equal))
    found = declare(Evidence(one, other, same, compared, equal, exact))
    assert found == declare(Evidence(other, one, same, compared, equal, exact))
    if found is not None:
        assert {found.site, found.main} == {one.name, other.name}
        assert declare(Evidence(one, other, same + 1, compared + 1, equal + 1, exact + 1)) is not None, (
            "more of the same"
        )


def test_mirrors_of_mirrors_lead_to_the_last_main_site() -> None:
    assert resolve({"a": "b", "b": "c", "x": "c"}) == {"a": "c", "b": "c", "x": "c"}


def test_sites_that_lead_round_in_a_circle_stand_for_themselves() -> None:
    mirrors = {"a": "b", "b": "a", "c": "a", "d": "e", "s": "s"}
    assert resolve(mirrors) == {"d": "e"}
    assert follow(mirrors, "a") is follow(mirrors, "c") is None and follow(mirrors, "e") == "e"


names = st.sampled_from("abcdef")


@given(st.lists(st.tuples(names, names)))
def test_what_is_resolved_is_never_a_mirror_itself(pairs: list[tuple[str, str]]) -> None:
    found = resolve(dict(pairs))
    assert not set(found) & set(found.values())
    assert found == resolve(dict(sorted(dict(pairs).items()))), "whatever the order"
    assert resolve(found) == found
