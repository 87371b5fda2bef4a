from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.decode import decode
from gossamer.fetch.limits import Trouble
from gossamer.model.outcome import Outcome


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=3),
    "zstd": zstandard.compress,
}
LIMIT = 1_000_000


def outcome_of(body: bytes, *encodings: str, limit: int = LIMIT) -> Outcome:
    with pytest.raises(Trouble) as caught:
        decode(body, list(encodings), limit)
    return caught.value.outcome


@given(st.binary(max_size=5000), st.lists(st.sampled_from(sorted(ENCODERS)), max_size=3), st.booleans())
def test_decoding_undoes_any_stack_of_encodings(data: bytes, names: list[str], one_header: bool) -> None:
    packed = data
    for name in names:
        packed = ENCODERS[name](packed)
    assert decode(packed, [", ".join(names).upper()] if one_header else names, LIMIT) == data


@given(st.binary(max_size=5000))
def test_raw_deflate_is_understood(data: bytes) -> None:
    assert decode(raw_deflate(data), ["deflate"], LIMIT) == data


@pytest.mark.parametrize("name", ENCODERS)
def test_a_body_cut_off_anywhere_is_broken(name: str) -> None:
    packed = ENCODERS[name](bytes(range(256)) * 20)
    for end in range(1, len(packed)):
        assert outcome_of(packed[:end], name) is Outcome.BROKEN_RESPONSE


@pytest.mark.parametrize("name", ENCODERS)
def test_a_bomb_is_recognised_and_a_body_of_just_the_limit_is_none(name: str) -> None:
    assert decode(ENCODERS[name](b"\0" * LIMIT), [name], LIMIT) == b"\0" * LIMIT
    assert outcome_of(ENCODERS[name](b"\0" * (LIMIT + 1)), name) is Outcome.BOMB
    assert outcome_of(ENCODERS[name](b"\0" * 30_000_000), name) is Outcome.BOMB


def test_a_bomb_in_the_inner_layer_is_recognised() -> None:
    assert outcome_of(gzip.compress(gzip.compress(b"\0" * 50_000_000)), "gzip, gzip") is Outcome.BOMB


@pytest.mark.parametrize("name", ENCODERS)
@given(junk=st.binary(min_size=1, max_size=300))
def test_junk_is_an_outcome_and_never_another_exception(name: str, junk: bytes) -> None:
    try:
        decode(junk, [name], LIMIT)
    except Trouble as trouble:
        assert trouble.outcome in (Outcome.BROKEN_RESPONSE, Outcome.BOMB)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_members_one_after_another_are_one_body(name: str) -> None:
    parts = [bytes([n]) * (n * 700) for n in range(1, 6)]
    assert decode(b"".join(ENCODERS[name](part) for part in parts), [name], LIMIT) == b"".join(parts)


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd"])
def test_bytes_after_the_end_are_ignored(name: str) -> None:
    assert decode(ENCODERS[name](b"page") + b"\0\0trailing", [name], LIMIT) == b"page"


@pytest.mark.parametrize("name", ENCODERS)
def test_an_empty_body_is_empty_whatever_it_claims(name: str) -> None:
    assert decode(b"", [name], LIMIT) == b""


def test_words_that_mean_no_encoding_change_nothing_and_unknown_ones_are_broken() -> None:
    assert decode(b"page", ["identity, none", "UTF-8", ""], LIMIT) == b"page"
    assert outcome_of(b"page", "exi") is Outcome.BROKEN_RESPONSE
    assert outcome_of(b"page", "gzip, gzip, gzip, gzip") is Outcome.BROKEN_RESPONSE


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_body_we_cut_ourselves_yields_its_beginning(name: str) -> None:
    data = bytes(n * n % 251 for n in range(200_000))
    packed = ENCODERS[name](data)
    part = decode(packed[: len(packed) // 2], [name], LIMIT, partial=True)
    assert data.startswith(part)
    assert decode(packed, [name], 1000, partial=True) == data[:1000]


def test_a_zstd_window_beyond_the_webs_limit_is_broken() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    packed = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    body = packed.compress(b"x" * 1000) + packed.flush()
    assert outcome_of(body, "zstd") is Outcome.BROKEN_RESPONSE
