"""Scripts are remembered for a while, within bounds, and only where that is allowed."""

from __future__ import annotations

from gossamer.crawl.render.resources import Resources
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response

NOW = 1_000_000.0


def resource(url: str, size: int = 100, **headers: str) -> Response:
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return Response(url, Outcome.DOCUMENT, NOW, NOW, NOW, 200, headers=pairs, body=b"x" * size, wire_body=b"x" * size)


def test_scripts_are_kept_for_an_hour_and_data_for_a_minute() -> None:
    kept = Resources()
    kept.keep("a.test", "/app.js", "script", resource("/app.js"), NOW)
    kept.keep("a.test", "/data", "fetch", resource("/data"), NOW)
    assert kept.get("a.test", "/app.js", NOW + 3599) is not None
    assert kept.get("a.test", "/data", NOW + 59) is not None
    assert kept.get("a.test", "/data", NOW + 61) is None
    assert kept.get("a.test", "/app.js", NOW + 3601) is None
    assert kept.bytes == 0


def test_pictures_and_what_nobody_may_keep_are_not_kept() -> None:
    kept = Resources()
    kept.keep("a.test", "/i.png", "image", resource("/i.png"), NOW)
    kept.keep("a.test", "/app.js", "script", resource("/app.js", cache_control="private, No-Store"), NOW)
    assert kept.get("a.test", "/i.png", NOW) is kept.get("a.test", "/app.js", NOW) is None


def test_a_site_with_many_scripts_does_not_drive_out_another_s() -> None:
    kept = Resources(most=100_000, per_site=10_000)
    kept.keep("b.test", "/b.js", "script", resource("/b.js", 2_000), NOW)
    for number in range(50):
        kept.keep("a.test", f"/{number}.js", "script", resource("/a.js", 2_000), NOW)
    assert kept.get("b.test", "/b.js", NOW) is not None
    assert kept.get("a.test", "/49.js", NOW) is not None
    assert kept.get("a.test", "/0.js", NOW) is None
    assert kept.bytes <= 10_000 + 2_500


def test_all_together_stay_within_the_bound_and_the_least_used_go_first() -> None:
    kept = Resources(most=20_000, per_site=10_000)
    for number in range(30):
        kept.keep(f"{number}.test", "/app.js", "script", resource("/app.js", 1_500), NOW)
        assert kept.get("0.test", "/app.js", NOW) is not None
        assert kept.bytes <= 20_000
    assert kept.get("1.test", "/app.js", NOW) is None
    kept.keep("big.test", "/app.js", "script", resource("/app.js", 9_000), NOW)
    assert kept.get("big.test", "/app.js", NOW) is None


def test_a_script_that_is_loaded_again_replaces_the_old_one() -> None:
    kept = Resources()
    kept.keep("a.test", "/app.js", "script", resource("/app.js", 100), NOW)
    kept.keep("a.test", "/app.js", "script", resource("/app.js", 300), NOW + 10)
    found = kept.get("a.test", "/app.js", NOW + 3_605)
    assert found is not None and len(found.body) == 300
    assert kept.bytes < 1_000
