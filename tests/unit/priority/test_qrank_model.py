"""The model of QRank: predictions, the file, and the one that ships."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.priority.qrank.features import NAMES
from gossamer.priority.qrank.model import Model, default_model, load_model
from gossamer.priority.qrank.network import HIDDEN, Network

URLS = ["https://example.com/", "https://example.com/a/b/c?x=1", "https://example.com/tags/x/", ""]


def small_model(columns: int = 5) -> Model:
    luck = np.random.default_rng(3)
    hidden = HIDDEN * columns
    network = Network(
        np.arange(columns),
        luck.normal(size=(columns, hidden)).astype(np.float32),
        luck.normal(size=hidden).astype(np.float32),
        luck.normal(size=hidden).astype(np.float32),
        0.25,
    )
    return Model(network, np.array([0.2, 0.8], np.float32), np.array([0.1, 0.6], np.float32))


def altered(**arrays: object) -> bytes:
    with np.load(io.BytesIO(small_model().dump()), allow_pickle=False) as stored:
        content = {name: stored[name] for name in stored.files}
    target = io.BytesIO()
    np.savez(target, **{**content, **arrays})
    return target.getvalue()


def test_the_network_does_what_two_layers_of_sigmoids_do() -> None:
    network = small_model(2).network
    row = np.array([[0.3, 0.9]], np.float32)
    layer = 1 / (1 + np.exp(-(row @ network.hidden + network.hidden_bias)))
    expected = 1 / (1 + np.exp(-(layer @ network.output + network.output_bias)))
    assert network.predict(row)[0] == pytest.approx(float(expected[0]), abs=1e-6)


@given(st.lists(st.text(max_size=50), max_size=5))
def test_places_and_importances_of_any_text_lie_between_0_and_1(urls: list[str]) -> None:
    model = default_model()
    for values in (model.place(urls), model.importance(urls)):
        assert len(values) == len(urls)
        assert ((values >= 0) & (values <= 1)).all()


def test_the_same_urls_get_the_same_places_again() -> None:
    assert (default_model().place(URLS * 700) == default_model().place(URLS * 700)).all()


def test_importances_keep_the_order_of_places() -> None:
    scaled = small_model().scaled(np.linspace(0, 1, 50, dtype=np.float32))
    assert (np.diff(scaled) >= 0).all()


def test_a_stored_model_predicts_as_before() -> None:
    model = small_model()
    assert (load_model(model.dump()).importance(URLS) == model.importance(URLS)).all()


def test_the_same_model_is_stored_as_the_same_bytes() -> None:
    assert small_model().dump() == small_model().dump() == load_model(small_model().dump()).dump()


@pytest.mark.parametrize("data", [b"", b"garbage", b"PK\x03\x04 not a zip", small_model().dump()[:200]])
def test_what_is_no_model_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="not a QRank model"):
        load_model(data)


def test_a_model_that_would_run_code_is_refused() -> None:
    with pytest.raises(UsageError):
        load_model(altered(places=np.array([print], dtype=object)))


def test_a_model_of_another_version_is_refused() -> None:
    with pytest.raises(UsageError, match="version 99"):
        load_model(altered(version=np.array(99)))


def test_a_model_for_features_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match="'phase of the moon'"):
        load_model(altered(names=np.array(["phase of the moon", *NAMES[:4]])))


@pytest.mark.parametrize(
    "change",
    [
        {"hidden": np.zeros((4, 15), np.float32)},
        {"output": np.zeros(3, np.float32)},
        {"hidden_bias": np.full(15, np.nan, np.float32)},
        {"places": np.zeros((2, 2), np.float32)},
        {"places": np.zeros(3, np.float32)},
        {"names": np.arange(5)},
    ],
)
def test_a_damaged_model_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="train it anew"):
        load_model(altered(**change))


def test_the_model_that_ships_prefers_a_start_page_to_deep_pages_with_parameters() -> None:
    start, deep = default_model().place(
        ["https://example.com/", "https://example.com/shop/items/list/view.php?id=4711&sort=price&page=12"]
    )
    assert start > deep


def test_the_model_that_ships_prefers_a_section_to_a_page_of_comments_or_a_feed() -> None:
    section, comments, feed = default_model().place(
        [
            "https://example.com/news/",
            "https://example.com/2014/05/a-long-story-about-nothing/comment-page-3/",
            "https://example.com/2014/05/a-long-story-about-nothing/feed/",
        ]
    )
    assert section > comments
    assert section > feed
